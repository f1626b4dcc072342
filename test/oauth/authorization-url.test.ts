import { describe, expect, it } from 'vitest';
import { buildAuthorizationUrl } from '../../src/oauth/authorization-url.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { loginProfileOf } from '../support/login-world.ts';
import { failureOf } from '../support/resolving.ts';

const okta = loginProfileOf({ type: 'okta', tenant_id: 'acme', client_id: '0oa1', scope: 'openid' });
const endpoint = new URL('https://acme.okta.com/authorize');
const request = { redirectUri: 'http://127.0.0.1:1/', state: 'st', challenge: 'ch' };

describe('the address of a sign-in page', () => {
  it('is not made with a client id that is a secret, for it shows it', () => {
    const error = failureOf(() =>
      buildAuthorizationUrl({ ...okta, clientId: new Secret('hidden') }, endpoint, request),
    );
    expect(error).toMatchObject({
      code: 'profile_invalid',
      message: 'svc.client_id is made from a secret',
      hint: 'an address shows the client id: take it from a variable whose name does not say secret, or use --device',
    });
  });

  it('names no scope where none is asked for', () => {
    expect(buildAuthorizationUrl({ ...okta, scope: undefined }, endpoint, request).searchParams.has('scope')).toBe(
      false,
    );
  });
});
