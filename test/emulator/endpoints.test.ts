import { describe, expect, it } from 'vitest';
import { basic, tokenUrls, useEmulator } from './fixture.ts';

describe('in the emulator,', () => {
  const server = useEmulator();
  const { get, post } = server;

  it.each([
    [
      'microsoft',
      'https://graph.microsoft.com/v1.0/me',
      tokenUrls.microsoft,
      {
        grant_type: 'password',
        client_id: 'ms',
        client_secret: 'ms~secret',
        username: 'ada@contoso.com',
        password: 'pw-ada',
      },
      { givenName: 'Ada' },
    ],
    [
      'google',
      'https://www.googleapis.com/oauth2/v3/userinfo',
      tokenUrls.google,
      { grant_type: 'refresh_token', client_id: 'g', client_secret: 'g-secret', refresh_token: 'g-rt' },
      { email: 'ada@example.com' },
    ],
    [
      'custom',
      'https://login.example.test/userinfo',
      tokenUrls.custom,
      { grant_type: 'password', client_id: 'c', client_secret: 'c secret', username: 'eve', password: 'pw-eve' },
      { sub: 'eve' },
    ],
  ])(
    '%s has a protected resource that identifies the user until the token expires',
    async (_, resource, url, form, member) => {
      const { json } = await post(url, form);
      const bearer = { Authorization: `Bearer ${json.access_token}` };
      expect((await get(resource, bearer)).json).toMatchObject(member);
      expect((await get(resource)).status).toBe(401);
      expect((await get(resource, { Authorization: 'Bearer made-up' })).status).toBe(401);
      const before = server.now;
      server.now += json.expires_in * 1000;
      expect((await get(resource, bearer)).status).toBe(401);
      server.now = before;
    },
  );

  it('microsoft has no user for an app-only token', async () => {
    const client = { client_id: 'ms', client_secret: 'ms~secret', scope: 'https://graph.microsoft.com/.default' };
    const { json } = await post(tokenUrls.microsoft, { grant_type: 'client_credentials', ...client });
    const headers = { Authorization: `Bearer ${json.access_token}` };
    const graph = (path: string) => get(`https://graph.microsoft.com/v1.0/${path}`, headers);
    expect(await graph('me')).toMatchObject({
      status: 400,
      json: { error: { message: '/me request is only valid with delegated authentication flow.' } },
    });
    expect(await graph('organization')).toMatchObject({ status: 200, json: { value: [{ displayName: 'Contoso' }] } });
    expect(await graph('users')).toMatchObject({ status: 200, json: { value: [] } });
  });

  it.each([
    [
      'google',
      'https://oauth2.googleapis.com/revoke',
      tokenUrls.google,
      { client_id: 'g', client_secret: 'g-secret' },
      'g-rt',
      {},
    ],
    [
      'gitlab',
      'https://gitlab.com/oauth/revoke',
      tokenUrls.gitlab,
      { client_id: 'l', client_secret: 'gloas-secret' },
      'l-rt',
      {},
    ],
    ['okta', 'https://acme.okta.com/oauth2/default/v1/revoke', tokenUrls.okta, {}, 'o-rt', basic('o', 'o-secret')],
  ])('%s revokes a refresh token', async (_, revoke, url, client, token, headers) => {
    expect(
      (await post(revoke, { ...(client as Record<string, string>), token }, headers as Record<string, string>)).status,
    ).toBe(200);
    const response = await post(
      url,
      { grant_type: 'refresh_token', ...(client as Record<string, string>), refresh_token: token },
      headers as Record<string, string>,
    );
    expect(response.json.error).toBe('invalid_grant');
  });

  it('a host that is not emulated gets the response not_emulated', async () => {
    const response = await post('https://login.elsewhere.test/token', { grant_type: 'password' });
    expect([response.status, response.json.error, response.headers['x-oauth-profile-emulator']]).toEqual([
      421,
      'not_emulated',
      'not_emulated',
    ]);
  });

  it('the same endpoints are available over plain HTTP below the real host', async () => {
    const url = `${server.emulator.url}/api.twitter.com/oauth2/token`;
    expect((await post(url, { grant_type: 'client_credentials' }, basic('key', 'x-secret'))).status).toBe(200);
  });
});
