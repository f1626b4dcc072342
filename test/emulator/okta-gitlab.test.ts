import { beforeEach, describe, expect, it } from 'vitest';
import { basic, type ReceivedResponse, sendRequest, tokenUrls, useEmulator } from './fixture.ts';

describe('the emulated', () => {
  const server = useEmulator();
  const { post } = server;

  describe('okta', () => {
    const auth = basic('o', 'o-secret');

    it('accepts only the registered client authentication method', async () => {
      const form = { grant_type: 'password', username: 'bob', password: 'pw-bob', scope: 'openid' };
      expect((await post(tokenUrls.okta, form, auth)).status).toBe(200);
      const body = await post(tokenUrls.okta, { ...form, client_id: 'o', client_secret: 'o-secret' });
      expect([body.status, body.json.error]).toEqual([401, 'invalid_client']);
      const both = await post(tokenUrls.okta, { ...form, client_id: 'o', client_secret: 'o-secret' }, auth);
      expect([both.status, both.json.error]).toEqual([401, 'invalid_request']);
    });

    it.each([
      ['a wrong secret', {}, basic('o', 'x'), 401, 'invalid_client'],
      ['a wrong password', { password: 'x' }, auth, 400, 'invalid_grant'],
      ['a missing scope', { scope: '' }, auth, 400, 'invalid_scope'],
      ['no credentials', { client_id: 'o' }, {}, 401, 'invalid_client'],
    ])('rejects %s', async (_, changed, headers, status, error) => {
      const response = await post(
        tokenUrls.okta,
        { grant_type: 'password', username: 'bob', password: 'pw-bob', scope: 'openid', ...changed },
        headers as Record<string, string>,
      );
      expect([response.status, response.json.error]).toEqual([status, error]);
    });

    it('rejects repeated parameters', async () => {
      const response = await sendRequest(server.emulator, tokenUrls.okta, {
        body: 'grant_type=password&scope=a&scope=b',
        headers: auth,
      });
      expect([response.status, response.json.error]).toEqual([400, 'invalid_request']);
    });

    it('responds with 404 for an unknown org', async () => {
      const response = await post('https://other.okta.com/oauth2/default/v1/token', { grant_type: 'password' });
      expect(response.status).toBe(404);
      expect(response.json).toMatchObject({ errorCode: 'E0000007', errorSummary: expect.any(String), errorCauses: [] });
    });

    describe('with refresh token rotation', () => {
      const refresh = (token: string): Promise<ReceivedResponse> =>
        post(tokenUrls.okta, { grant_type: 'refresh_token', refresh_token: token }, auth);
      let first: string;
      beforeEach(async () => {
        const { json } = await post(
          tokenUrls.okta,
          { grant_type: 'password', username: 'bob', password: 'pw-bob', scope: 'openid offline_access' },
          auth,
        );
        first = json.refresh_token;
      });

      it('accepts a used refresh token again within 30 seconds', async () => {
        const used = await refresh(first);
        server.now += 29_000;
        const again = await refresh(first);
        expect([used.status, again.status]).toEqual([200, 200]);
        expect((await refresh(used.json.refresh_token)).status).toBe(200);
      });

      it('revokes the token family and its access tokens when a refresh token is used again later', async () => {
        const { json } = await refresh(first);
        server.now += 31_000;
        expect((await refresh(first)).json.error).toBe('invalid_grant');
        expect((await refresh(json.refresh_token)).json.error).toBe('invalid_grant');
        const resource = await sendRequest(server.emulator, 'https://acme.okta.com/oauth2/default/v1/userinfo', {
          headers: { Authorization: `Bearer ${json.access_token}` },
        });
        expect(resource.status).toBe(401);
      });
    });
  });

  describe('gitlab', () => {
    const client = { client_id: 'l', client_secret: 'gloas-secret' };

    it('returns created_at, and supports the password grant without a client', async () => {
      const { status, json } = await post(tokenUrls.gitlab, {
        grant_type: 'password',
        username: 'root',
        password: 'pw-root',
      });
      expect(status).toBe(200);
      expect(json).toMatchObject({
        token_type: 'Bearer',
        expires_in: 7200,
        scope: 'api',
        created_at: Math.floor(server.now / 1000),
        refresh_token: expect.any(String),
      });
    });

    it('accepts a refresh token once, and invalidates its access token then', async () => {
      const start = await post(tokenUrls.gitlab, {
        grant_type: 'password',
        ...client,
        username: 'root',
        password: 'pw-root',
      });
      const user = (token: string): Promise<ReceivedResponse> =>
        sendRequest(server.emulator, 'https://gitlab.com/api/v4/user', {
          headers: { Authorization: `Bearer ${token}` },
        });
      expect((await user(start.json.access_token)).json).toMatchObject({ username: 'root' });
      const form = { grant_type: 'refresh_token', ...client, refresh_token: start.json.refresh_token };
      const next = await post(tokenUrls.gitlab, form);
      expect(next.status).toBe(200);
      expect((await user(start.json.access_token)).status).toBe(401);
      expect((await user(next.json.access_token)).status).toBe(200);
      const again = await post(tokenUrls.gitlab, form);
      expect([again.status, again.json.error]).toEqual([400, 'invalid_grant']);
      expect(again.json.error_description).toMatch(/^The provided authorization grant is invalid, expired, revoked,/);
      expect(again.headers['www-authenticate']).toContain('Doorkeeper');
      expect((await post(tokenUrls.gitlab, { ...form, refresh_token: next.json.refresh_token })).status).toBe(200);
    });

    it('compares a Basic header without decoding it', async () => {
      const form = { grant_type: 'client_credentials' };
      expect((await post(tokenUrls.gitlab, form, basic('l', 'gloas-secret'))).status).toBe(200);
      expect((await post(tokenUrls.gitlab, form, basic('l', 'gloas%2Dsecret'))).json.error).toBe('invalid_client');
    });
  });
});
