import { describe, expect, it } from 'vitest';
import { buildAuthorizationParameters, buildCodeTokenRequest } from '../../src/oauth/login/authorization.ts';
import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { issuesOf, loginProfileOf, profileOf } from '../support/profiles.ts';

const fields = { type: 'custom', url: 'https://id.example.com/token', client_id: 'app', scope: 'a b' };
const refresh = { ...fields, grant_type: 'refresh_token', refresh_token: 'r' };

describe('a custom profile', () => {
  it('refreshes at options.refresh_url', () => {
    const options = { refresh_url: 'https://id.example.com/refresh' };
    expect(profileOf({ ...refresh, options }).url.href).toBe('https://id.example.com/refresh');
    expect(profileOf({ ...fields, grant_type: 'client_credentials', options }).url.href).toBe(fields.url);
    expect(loginProfileOf({ ...fields, options }).url.href).toBe(fields.url);
  });

  it.each(['https://evil.example/refresh', 'https://id.example.com:8443/refresh'])(
    'never sends a refresh token to another origin: %s',
    (refresh_url) => {
      const issues = issuesOf(() => profileOf({ ...refresh, options: { refresh_url } }));
      expect(issues.map(({ variable }) => variable)).toEqual(['svc.options.refresh_url']);
    },
  );

  it('sends JSON with options.request_format', () => {
    const request = buildTokenRequest(profileOf({ ...refresh, options: { request_format: 'json' } }), '1.2.3');
    expect(request.headers['Content-Type']).toBe('application/json');
    expect(JSON.parse(encodeForm(request))).toEqual({
      grant_type: 'refresh_token',
      client_id: 'app',
      scope: 'a b',
      refresh_token: 'r',
    });
  });

  it('separates scopes with commas, in the request and in the login', () => {
    const profile = { ...refresh, options: { scope_separator: 'comma' } };
    expect(profileOf(profile).fields).toContainEqual(expect.objectContaining({ name: 'scope', value: 'a,b' }));
    expect(loginProfileOf(profile).scope?.value).toBe('a,b');
  });

  it.each([
    ['true', 'challenge'],
    ['false', null],
  ])('logs in with options.pkce: %s and the code challenge %s', (pkce, expected) => {
    const login = loginProfileOf({ ...fields, options: { pkce } });
    const redirectUri = 'http://127.0.0.1/';
    const request = { redirectUri, state: 's', challenge: 'challenge', promptForConsent: false };
    expect(buildAuthorizationParameters(login, request).get('code_challenge')).toBe(expected);
    const exchange = { code: new Secret('code-1'), redirectUri, verifier: new Secret('verifier-1') };
    const names = buildCodeTokenRequest(login, exchange).fields.map(({ name }) => name);
    expect(names.includes('code_verifier')).toBe(expected !== null);
  });

  it('has the parameters of the redirect that options.redirect_members lists', () => {
    const { options } = profileOf({ ...refresh, options: { redirect_members: 'accounts-server, location' } });
    expect(options.redirectMembers).toEqual(['accounts-server', 'location']);
  });
});
