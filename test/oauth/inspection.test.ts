import { expect, it } from 'vitest';
import { decodeToken } from '../../src/oauth/inspection.ts';
import { Secret } from '../../src/redaction/secret.ts';

const jwtOf = (claims: string): Secret =>
  new Secret(['{"alg":"none"}', claims, ''].map((part) => Buffer.from(part).toString('base64url')).join('.'));

it.each([
  ['a JWT', '{"sub":"ada"}', 'jwt'],
  ['claims that are nested too deeply to be shown', `{"a":${'['.repeat(60_000)}${']'.repeat(60_000)}}`, 'opaque'],
  ['claims that are not an object', '[1]', 'opaque'],
])('decodeToken() returns the format of %s', (_, claims, format) => {
  expect(decodeToken(jwtOf(claims)).format).toBe(format);
});
