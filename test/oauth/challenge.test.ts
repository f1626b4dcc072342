import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findLoginChallenge, parseChallenges } from '../../src/oauth/challenge.ts';

const toObjects = (header: string | string[]) =>
  parseChallenges(header).map(({ scheme, parameters }) => ({ scheme, ...Object.fromEntries(parameters) }));

describe('parseChallenges()', () => {
  it.each([
    ['', []],
    ['Negotiate', [{ scheme: 'negotiate' }]],
    ['Bearer', [{ scheme: 'bearer' }]],
    [
      'Bearer realm="a, b=\\"c\\"", error=invalid_token',
      [{ scheme: 'bearer', realm: 'a, b="c"', error: 'invalid_token' }],
    ],
    ['BEARER Realm = "x" ,ERROR="y"', [{ scheme: 'bearer', realm: 'x', error: 'y' }]],
    [
      'Negotiate dG9rZW4=, Basic realm="x", charset="UTF-8", DPoP algs="ES256 PS256"',
      [
        { scheme: 'negotiate' },
        { scheme: 'basic', realm: 'x', charset: 'UTF-8' },
        { scheme: 'dpop', algs: 'ES256 PS256' },
      ],
    ],
    ['Bearer error="first", error="second"', [{ scheme: 'bearer', error: 'first' }]],
    ['Bearer error="not closed, realm="x"', [{ scheme: 'bearer' }]],
    ['Bearer bad=a b, error="y"', [{ scheme: 'bearer', error: 'y' }]],
    [
      ', ,Bearer a=1,, ,Basic b=2',
      [
        { scheme: 'bearer', a: '1' },
        { scheme: 'basic', b: '2' },
      ],
    ],
  ])('RFC 9110 §11.6.1 parses %s', (header, expected) => {
    expect(toObjects(header)).toEqual(expected);
  });

  it('parses several headers as one', () => {
    expect(toObjects(['Bearer a=1', 'DPoP b="2"'])).toEqual([
      { scheme: 'bearer', a: '1' },
      { scheme: 'dpop', b: '2' },
    ]);
    expect(parseChallenges(undefined)).toEqual([]);
  });

  const token = fc.stringMatching(/^[!#$%&'*+.^_`|~\w-]{1,12}$/);
  const name = token.map((text) => text.toLowerCase());
  const challenge = fc.record({
    scheme: name,
    // With a single parameter of an empty token, a challenge could also be read as credentials.
    parameters: fc.dictionary(name, fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), token), {
      minKeys: 1,
      maxKeys: 4,
    }),
  });
  const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

  it('finds every parameter of any challenges, whatever their values contain', () => {
    const spaces = fc.constantFrom('', ' ', '\t');
    fc.assert(
      fc.property(fc.array(challenge, { maxLength: 4 }), spaces, (challenges, space) => {
        const header = challenges
          .map(({ scheme, parameters }) => {
            const list = Object.entries(parameters).map(([key, value]) => `${key}${space}=${space}${quote(value)}`);
            return `${scheme} ${list.join(`${space},${space}`)}`;
          })
          .join(`${space},${space}`);
        const parsed = parseChallenges(header).map(({ scheme, parameters }) => ({
          scheme,
          parameters: Object.fromEntries(parameters),
        }));
        expect(parsed).toEqual(challenges.map(({ scheme, parameters }) => ({ scheme, parameters: { ...parameters } })));
      }),
    );
  });

  it('accepts any string', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (header) => parseChallenges(header).length >= 0));
    const parts = fc.constantFrom('Bearer', 'DPoP ', 'error', '=', '"', '\\', ',', ' ', 'claims="', 'e30=');
    fc.assert(fc.property(fc.array(parts), (list) => parseChallenges(list.join('')).length >= 0));
  });
});

describe('findLoginChallenge()', () => {
  const claims = { access_token: { acrs: { essential: true, value: 'cp1 – é' } } };
  const base64 = Buffer.from(JSON.stringify(claims)).toString('base64');

  it.each([
    ['base64', base64],
    ['base64url', Buffer.from(JSON.stringify(claims)).toString('base64url')],
    ['JSON', JSON.stringify(claims).replaceAll('"', '\\"')],
  ])('returns the claims of insufficient_claims as JSON: %s', (_, value) => {
    const header = `Bearer realm="", authorization_uri="https://login.example.com/authorize", error="insufficient_claims", claims="${value}"`;
    const found = findLoginChallenge(header);
    expect(JSON.parse(found?.claims ?? '')).toEqual(claims);
    expect(Object.keys(found ?? {})).toEqual(['claims']);
  });

  it('RFC 9470 §3 returns acr_values and max_age, for tokens with a key too', () => {
    const header = (scheme: string) =>
      `Basic realm="x", ${scheme} error="insufficient_user_authentication", error_description="a, b", acr_values="mfa other", max_age="5"`;
    for (const scheme of ['Bearer', 'DPoP'])
      expect(findLoginChallenge(header(scheme))).toEqual({ acr_values: 'mfa other', max_age: '5' });
    expect(findLoginChallenge('Bearer error="insufficient_user_authentication"')).toEqual({});
  });

  it.each([
    'Bearer error="invalid_token"',
    'Basic error="insufficient_claims"',
    `Bearer claims="${base64}"`,
    'Bearer realm="error=\\"insufficient_claims\\""',
    null,
  ])('does not change the login for %s', (header) => {
    expect(findLoginChallenge(header)).toBeUndefined();
  });

  it.each(['!!', 'bm90IGpzb24=', 'W10=', 'bnVsbA==', `${'A'.repeat(5000)}`])('ignores the claims %s', (value) => {
    expect(findLoginChallenge(`Bearer error="insufficient_claims", claims="${value}", max_age="x"`)).toEqual({});
  });

  it('returns the claims of any object', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 10 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
        (object) => {
          const json = JSON.stringify(object);
          fc.pre(json.length < 2000);
          const header = `Bearer error=insufficient_claims, claims="${Buffer.from(json).toString('base64')}"`;
          expect(findLoginChallenge(header)?.claims).toBe(json === '{}' ? '{}' : json);
        },
      ),
    );
  });
});
