import { describe, expect, it } from 'vitest';
import { tokenUrls, useEmulator } from './fixture.ts';

describe('the emulated', () => {
  const server = useEmulator();
  const { post } = server;

  describe('microsoft', () => {
    const client = { client_id: 'ms', client_secret: 'ms~secret' };

    it('returns an id token for openid and a refresh token for offline_access', async () => {
      const form = {
        grant_type: 'password',
        ...client,
        username: 'ada@contoso.com',
        password: 'pw-ada',
        scope: 'user.read openid offline_access',
      };
      const { status, json } = await post(tokenUrls.microsoft, form);
      expect(status).toBe(200);
      expect(json).toEqual({
        token_type: 'Bearer',
        scope: 'user.read',
        expires_in: 3599,
        ext_expires_in: 3599,
        access_token: expect.stringMatching(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/),
        refresh_token: expect.any(String),
        id_token: expect.stringMatching(/^eyJ/),
      });
      const without = await post(tokenUrls.microsoft, { ...form, scope: 'user.read' });
      expect(Object.keys(without.json).sort()).toEqual([
        'access_token',
        'expires_in',
        'ext_expires_in',
        'scope',
        'token_type',
      ]);
    });

    it('returns four members for client_credentials', async () => {
      const { json } = await post(tokenUrls.microsoft, {
        grant_type: 'client_credentials',
        ...client,
        scope: 'https://graph.microsoft.com/.default',
      });
      expect(Object.keys(json).sort()).toEqual(['access_token', 'expires_in', 'ext_expires_in', 'token_type']);
    });

    it('returns a new refresh token each time, and the old one stays valid', async () => {
      const form = { grant_type: 'refresh_token', ...client, refresh_token: 'ms-rt' };
      const first = await post(tokenUrls.microsoft, form);
      const second = await post(tokenUrls.microsoft, form);
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(first.json.refresh_token).not.toBe(second.json.refresh_token);
      const third = await post(tokenUrls.microsoft, { ...form, refresh_token: first.json.refresh_token });
      expect(third.status).toBe(200);
    });

    it.each([
      ['a wrong secret', { client_secret: 'x' }, 401, 'invalid_client', 7000215],
      ['an unknown client', { client_id: 'unknown' }, 400, 'unauthorized_client', 700016],
      ['a wrong password', { password: 'x' }, 400, 'invalid_grant', 50126],
      ['an unknown user', { username: 'x' }, 400, 'invalid_grant', 50126],
      ['a missing password', { password: '' }, 400, 'invalid_request', 900144],
      ['a missing grant_type', { grant_type: '' }, 400, 'invalid_request', 900144],
      ['an unknown grant', { grant_type: 'magic' }, 400, 'unsupported_grant_type', 70003],
      ['an invalid refresh token', { grant_type: 'refresh_token', refresh_token: 'x' }, 400, 'invalid_grant', 9002313],
      [
        'a scope without .default',
        { grant_type: 'client_credentials', scope: 'user.read' },
        400,
        'invalid_scope',
        70011,
      ],
      ['a secret for a public client', { client_id: 'ms-public' }, 401, 'invalid_client', 700025],
    ])('rejects %s with an AADSTS code and line ends in the description', async (_, changed, status, error, code) => {
      const response = await post(tokenUrls.microsoft, {
        grant_type: 'password',
        ...client,
        username: 'ada@contoso.com',
        password: 'pw-ada',
        ...changed,
      });
      expect(response.status).toBe(status);
      expect(response.json).toMatchObject({
        error,
        error_codes: [code],
        correlation_id: expect.any(String),
        trace_id: expect.any(String),
      });
      expect(response.json.error_description).toMatch(new RegExp(`^AADSTS${code}: .+\\r\\nTrace ID`));
    });

    it('rejects an unknown tenant, and the password grant on common', async () => {
      const form = { grant_type: 'password', ...client, username: 'ada@contoso.com', password: 'pw-ada' };
      const unknown = await post('https://login.microsoftonline.com/fabrikam.com/oauth2/v2.0/token', form);
      expect(unknown.json.error_codes).toEqual([90002]);
      const common = await post('https://login.microsoftonline.com/common/oauth2/v2.0/token', form);
      expect(common.json.error_codes).toEqual([9001023]);
    });

    it('lets a refresh token expire after 90 days', async () => {
      const form = {
        grant_type: 'password',
        ...client,
        username: 'ada@contoso.com',
        password: 'pw-ada',
        scope: 'offline_access',
      };
      const { json } = await post(tokenUrls.microsoft, form);
      const before = server.now;
      server.now += 91 * 86_400_000;
      const expired = await post(tokenUrls.microsoft, {
        grant_type: 'refresh_token',
        ...client,
        refresh_token: json.refresh_token,
      });
      server.now = before;
      expect(expired.json.error_codes).toEqual([700082]);
    });
  });

  describe('google', () => {
    const client = { client_id: 'g', client_secret: 'g-secret' };

    it('refreshes without a new refresh token, on both hosts', async () => {
      for (const url of [tokenUrls.google, 'https://oauth2.googleapis.com/token']) {
        const { status, json } = await post(url, { grant_type: 'refresh_token', ...client, refresh_token: 'g-rt' });
        expect(status).toBe(200);
        expect(Object.keys(json).sort()).toEqual(['access_token', 'expires_in', 'scope', 'token_type']);
      }
    });

    it.each([
      ['a wrong secret', { client_secret: 'x' }, 401, 'invalid_client', 'Unauthorized'],
      ['an unknown client', { client_id: 'x' }, 401, 'invalid_client', 'The OAuth client was not found.'],
      ['a missing secret', { client_secret: '' }, 400, 'invalid_request', 'client_secret is missing.'],
      ['an invalid refresh token', { refresh_token: 'x' }, 400, 'invalid_grant', 'Bad Request'],
      ['the password grant', { grant_type: 'password' }, 400, 'unsupported_grant_type', 'Invalid grant_type: password'],
    ])('rejects %s in its own format', async (_, changed, status, error, description) => {
      const response = await post(tokenUrls.google, {
        grant_type: 'refresh_token',
        ...client,
        refresh_token: 'g-rt',
        ...changed,
      });
      expect(response.status).toBe(status);
      expect(response.json).toEqual({ error, error_description: description });
    });
  });
});
