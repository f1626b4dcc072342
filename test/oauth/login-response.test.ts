import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { parseLoginResponse } from '../../src/oauth/login-response.ts';
import { buildTokenRequest } from '../../src/oauth/token-request.ts';
import { RECEIVED_AT, readAcme, replyWith } from '../support/read-sample.ts';
import { failureOf } from '../support/resolving.ts';
import { samples } from '../support/sample-profiles.ts';

function signIn(fields: DataObject, body: object) {
  const profile = readAcme(fields);
  return parseLoginResponse(profile, buildTokenRequest(profile, '1'), replyWith(200, body), RECEIVED_AT);
}

describe('the reply that ends a sign-in', () => {
  it('brings a refresh token', () => {
    const { accessToken, refreshToken } = signIn(samples.custom, { access_token: 'a', refresh_token: 'r' });
    expect([accessToken.reveal(), refreshToken.reveal()]).toEqual(['a', 'r']);
  });

  it('may be a refusal', () => {
    expect(failureOf(() => signIn(samples.custom, { error: 'access_denied' }))).toMatchObject({
      code: 'provider_rejected',
      message: 'id.example.com refused profile acme (HTTP 200, access_denied)',
    });
  });

  it('says why it is of no use without one: what a server that is not known may want', () => {
    expect(failureOf(() => signIn(samples.custom, { access_token: 'a' }))).toMatchObject({
      code: 'provider_rejected',
      message: 'id.example.com signed the person in, but sent no refresh token to keep',
      hint: 'many servers send one only with the scope offline_access, or to clients that are registered for refresh tokens: check acme.scope, then get a new one and set acme.refresh_token',
    });
  });

  it('says why it is of no use without one: what is known of the provider', () => {
    expect(failureOf(() => signIn(samples.google, { access_token: 'a' }))).toMatchObject({
      message: 'google signed the person in, but sent no refresh token to keep',
      hint: 'Google sends one with a consent only: remove the app at https://myaccount.google.com/connections, then run: oauth-profile login acme',
    });
  });
});
