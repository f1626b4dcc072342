import { describe, expect, it } from 'vitest';
import { buildRevocationRequest, parseRevocationResponse } from '../../src/oauth/revocation.ts';
import { buildTokenRequest } from '../../src/oauth/token-request.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { createResponse, loginProfileOf, loginProfiles, RECEIVED_AT, toWire } from '../support/profiles.ts';

const { google, okta } = loginProfiles;

describe('buildRevocationRequest()', () => {
  it('RFC 7009 §2.1 sends the token and authenticates the client', () => {
    const login = loginProfileOf(okta);
    expect(
      toWire(buildRevocationRequest(login, login.endpoints.revocationUrl as URL, new Secret('rt-1'), 'refresh_token')),
    ).toEqual({
      url: 'https://acme.okta.com/oauth2/default/v1/revoke',
      form: { token: 'rt-1', token_type_hint: 'refresh_token' },
      authorization: `Basic ${btoa('0oa1:okta-secret')}`,
    });
  });

  it('sends client_id of a public client', () => {
    const login = loginProfileOf({ type: 'custom', url: 'https://id.example.com/token', client_id: 'tool' });
    const request = buildRevocationRequest(
      login,
      new URL('https://id.example.com/revoke'),
      new Secret('r'),
      'access_token',
    );
    expect(toWire(request).form).toEqual({ token: 'r', token_type_hint: 'access_token', client_id: 'tool' });
    expect(request.fields.map(({ source }) => source)).toEqual(['login', 'login', 'data']);
  });

  it.each([{}, { client_auth: 'client_secret_basic' }])('sends Google the token only, with options %j', (options) => {
    const login = loginProfileOf({ ...google, options });
    expect(
      toWire(buildRevocationRequest(login, login.endpoints.revocationUrl as URL, new Secret('rt-1'), 'refresh_token')),
    ).toEqual({
      url: 'https://oauth2.googleapis.com/revoke',
      form: { token: 'rt-1' },
      authorization: undefined,
    });
  });
});

describe('parseRevocationResponse()', () => {
  const login = loginProfileOf(okta);
  const request = buildRevocationRequest(
    login,
    login.endpoints.revocationUrl as URL,
    new Secret('rt-1'),
    'refresh_token',
  );
  const parse = (status: number, body: string) =>
    parseRevocationResponse({
      profile: request,
      request: buildTokenRequest(request, '1'),
      response: createResponse(status, body),
      receivedAt: RECEIVED_AT,
    });

  it.each(['', '{}', '{"error":"x"}', 'OK'])('RFC 7009 §2.2 accepts status 200 with the body %j', (body) => {
    expect(() => parse(200, body)).not.toThrow();
  });

  it.each(['invalid_token', 'invalid_grant'])('accepts that the token is invalid already: %s', (error) => {
    expect(() => parse(400, JSON.stringify({ error }))).not.toThrow();
    expect(() => parse(401, JSON.stringify({ error }))).toThrow();
  });

  it.each([
    [400, 'provider_rejected'],
    [503, 'provider_unavailable'],
    [302, 'redirected'],
  ])('throws a ProviderError for status %i', (status, code) => {
    expect(() => parse(status, '{"error":"unsupported_token_type"}')).toThrow(
      expect.objectContaining({ name: 'ProviderError', code }),
    );
  });
});
