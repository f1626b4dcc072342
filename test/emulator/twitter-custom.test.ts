import { describe, expect, it } from 'vitest';
import { basic, type ReceivedResponse, tokenUrls, useEmulator } from './fixture.ts';

describe('the emulated', () => {
  const server = useEmulator();
  const { get, post } = server;

  describe('twitter', () => {
    const token = (headers: Record<string, string>): Promise<ReceivedResponse> =>
      post(tokenUrls.twitter, { grant_type: 'client_credentials' }, headers);

    it('returns two members, a percent-encoded token, and the same token each time', async () => {
      const { json } = await token(basic('key', 'x-secret'));
      expect(json).toEqual({ token_type: 'bearer', access_token: expect.stringMatching(/^A{21}.*%2F.*%3D$/) });
      server.now += 1000;
      expect((await token(basic('key', 'x-secret'))).json).toEqual(json);
    });

    it('rejects a missing field with code 170 and everything else with 403 and code 99', async () => {
      const wrong = await token(basic('key', 'x'));
      expect(wrong.status).toBe(403);
      expect(wrong.json.errors[0]).toMatchObject({ code: 99, label: 'authenticity_token_error' });
      const inBody = await post(tokenUrls.twitter, {
        grant_type: 'client_credentials',
        client_id: 'key',
        client_secret: 'x-secret',
      });
      expect(inBody.json.errors[0].code).toBe(99);
      const missing = await post(tokenUrls.twitter, {}, basic('key', 'x-secret'));
      expect(missing.json.errors[0].code).toBe(170);
    });

    it('returns another token after invalidation', async () => {
      const { json } = await token(basic('key', 'x-secret'));
      const bearer = { Authorization: `Bearer ${json.access_token}` };
      expect((await get('https://api.twitter.com/2/users/by/username/x', bearer)).status).toBe(200);
      await post(
        'https://api.twitter.com/oauth2/invalidate_token',
        { access_token: json.access_token },
        basic('key', 'x-secret'),
      );
      expect((await get('https://api.twitter.com/2/users/by/username/x', bearer)).status).toBe(401);
      expect((await token(basic('key', 'x-secret'))).json.access_token).not.toBe(json.access_token);
    });
  });

  describe('custom', () => {
    it('accepts the client in the body or form-encoded in a header, not in both', async () => {
      const form = { grant_type: 'client_credentials' };
      expect((await post(tokenUrls.custom, { ...form, client_id: 'c', client_secret: 'c secret' })).status).toBe(200);
      expect((await post(tokenUrls.custom, form, basic('c', 'c%20secret'))).status).toBe(200);
      expect((await post(tokenUrls.custom, form, basic('c', 'c+secret'))).status).toBe(200);
      const both = await post(
        tokenUrls.custom,
        { ...form, client_id: 'c', client_secret: 'c secret' },
        basic('c', 'c%20secret'),
      );
      expect([both.status, both.json.error]).toEqual([400, 'invalid_request']);
    });

    it('revokes the token family when a refresh token is used twice', async () => {
      const client = { client_id: 'c', client_secret: 'c secret' };
      const start = await post(tokenUrls.custom, {
        grant_type: 'password',
        ...client,
        username: 'eve',
        password: 'pw-eve',
      });
      const next = await post(tokenUrls.custom, {
        grant_type: 'refresh_token',
        ...client,
        refresh_token: start.json.refresh_token,
      });
      expect(next.status).toBe(200);
      expect(
        (
          await post(tokenUrls.custom, {
            grant_type: 'refresh_token',
            ...client,
            refresh_token: start.json.refresh_token,
          })
        ).json.error,
      ).toBe('invalid_grant');
      expect(
        (
          await post(tokenUrls.custom, {
            grant_type: 'refresh_token',
            ...client,
            refresh_token: next.json.refresh_token,
          })
        ).json.error,
      ).toBe('invalid_grant');
    });
  });
});
