import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import { ask, basic, type Replied } from '../support/ask.ts';

const profiles = {
  graph: {
    type: 'microsoft',
    tenant_id: 'contoso.com',
    client_id: 'ms',
    client_secret: 'ms~secret',
    username: 'ada@contoso.com',
    password: 'pw-ada',
    refresh_token: 'ms-rt',
  },
  public: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'ms-public' },
  drive: { type: 'google', client_id: 'g', client_secret: 'g-secret', refresh_token: 'g-rt' },
  org: {
    type: 'okta',
    tenant_id: 'acme',
    client_id: 'o',
    client_secret: 'o-secret',
    username: 'bob',
    password: 'pw-bob',
    refresh_token: 'o-rt',
    scope: 'openid offline_access',
  },
  lab: {
    type: 'gitlab',
    client_id: 'l',
    client_secret: 'gloas-secret',
    username: 'root',
    password: 'pw-root',
    refresh_token: 'l-rt',
  },
  x: { type: 'twitter', client_id: 'key', client_secret: 'x-secret' },
  acme: {
    type: 'custom',
    url: 'https://login.example.test/oauth/token',
    client_id: 'c',
    client_secret: 'c secret',
    username: 'eve',
    password: 'pw-eve',
    refresh_token: 'c-rt',
  },
};

const urls = {
  microsoft: 'https://login.microsoftonline.com/contoso.com/oauth2/v2.0/token',
  google: 'https://accounts.google.com/o/oauth2/token',
  okta: 'https://acme.okta.com/oauth2/default/v1/token',
  gitlab: 'https://gitlab.com/oauth/token',
  twitter: 'https://api.twitter.com/oauth2/token',
  custom: 'https://login.example.test/oauth/token',
};

describe('the providers in a box', () => {
  let emulator: Emulator;
  let now = Date.parse('2026-01-01T00:00:00Z');
  beforeAll(async () => {
    emulator = await startEmulator({ profiles, clock: () => now });
  });
  afterAll(() => emulator.close());
  const post = (url: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Replied> =>
    ask(emulator, url, { form, headers });

  describe('microsoft', () => {
    const client = { client_id: 'ms', client_secret: 'ms~secret' };

    it('answers the password grant with its own members, an id token for openid and a refresh token for offline_access', async () => {
      const form = {
        grant_type: 'password',
        ...client,
        username: 'ada@contoso.com',
        password: 'pw-ada',
        scope: 'user.read openid offline_access',
      };
      const { status, json } = await post(urls.microsoft, form);
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
      const without = await post(urls.microsoft, { ...form, scope: 'user.read' });
      expect(Object.keys(without.json)).toEqual([
        'token_type',
        'scope',
        'expires_in',
        'ext_expires_in',
        'access_token',
      ]);
    });

    it('gives client_credentials three members and ext_expires_in', async () => {
      const { json } = await post(urls.microsoft, {
        grant_type: 'client_credentials',
        ...client,
        scope: 'https://graph.microsoft.com/.default',
      });
      expect(Object.keys(json)).toEqual(['token_type', 'expires_in', 'ext_expires_in', 'access_token']);
    });

    it('returns a new refresh token each time and keeps the old one valid', async () => {
      const form = { grant_type: 'refresh_token', ...client, refresh_token: 'ms-rt' };
      const first = await post(urls.microsoft, form);
      const second = await post(urls.microsoft, form);
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(first.json.refresh_token).not.toBe(second.json.refresh_token);
      const third = await post(urls.microsoft, { ...form, refresh_token: first.json.refresh_token });
      expect(third.status).toBe(200);
    });

    it.each([
      ['a wrong secret', { client_secret: 'x' }, 401, 'invalid_client', 7000215],
      ['an unknown client', { client_id: 'nobody' }, 400, 'unauthorized_client', 700016],
      ['a wrong password', { password: 'x' }, 400, 'invalid_grant', 50126],
      ['an unknown user', { username: 'x' }, 400, 'invalid_grant', 50126],
      ['a missing password', { password: '' }, 400, 'invalid_request', 900144],
      ['a missing grant_type', { grant_type: '' }, 400, 'invalid_request', 900144],
      ['an unknown grant', { grant_type: 'magic' }, 400, 'unsupported_grant_type', 70003],
      ['a dead refresh token', { grant_type: 'refresh_token', refresh_token: 'x' }, 400, 'invalid_grant', 9002313],
      [
        'a scope without .default',
        { grant_type: 'client_credentials', scope: 'user.read' },
        400,
        'invalid_scope',
        70011,
      ],
      ['a secret of a public client', { client_id: 'ms-public' }, 401, 'invalid_client', 700025],
    ])('refuses %s with its number, and line ends in the description', async (_, changed, status, error, code) => {
      const reply = await post(urls.microsoft, {
        grant_type: 'password',
        ...client,
        username: 'ada@contoso.com',
        password: 'pw-ada',
        ...changed,
      });
      expect(reply.status).toBe(status);
      expect(reply.json).toMatchObject({
        error,
        error_codes: [code],
        correlation_id: expect.any(String),
        trace_id: expect.any(String),
      });
      expect(reply.json.error_description).toMatch(new RegExp(`^AADSTS${code}: .+\\r\\nTrace ID`));
    });

    it('refuses an unknown tenant, and the password grant on common', async () => {
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
      const { json } = await post(urls.microsoft, form);
      const before = now;
      now += 91 * 86_400_000;
      const late = await post(urls.microsoft, {
        grant_type: 'refresh_token',
        ...client,
        refresh_token: json.refresh_token,
      });
      now = before;
      expect(late.json.error_codes).toEqual([700082]);
    });
  });

  describe('google', () => {
    const client = { client_id: 'g', client_secret: 'g-secret' };

    it('refreshes without a new refresh token, on both hosts', async () => {
      for (const url of [urls.google, 'https://oauth2.googleapis.com/token']) {
        const { status, json } = await post(url, { grant_type: 'refresh_token', ...client, refresh_token: 'g-rt' });
        expect(status).toBe(200);
        expect(Object.keys(json).sort()).toEqual(['access_token', 'expires_in', 'scope', 'token_type']);
      }
    });

    it.each([
      ['a wrong secret', { client_secret: 'x' }, 401, 'invalid_client', 'Unauthorized'],
      ['an unknown client', { client_id: 'x' }, 401, 'invalid_client', 'The OAuth client was not found.'],
      ['a missing secret', { client_secret: '' }, 400, 'invalid_request', 'client_secret is missing.'],
      ['a dead refresh token', { refresh_token: 'x' }, 400, 'invalid_grant', 'Bad Request'],
      ['the password grant', { grant_type: 'password' }, 400, 'unsupported_grant_type', 'Invalid grant_type: password'],
    ])('refuses %s in its own words', async (_, changed, status, error, description) => {
      const reply = await post(urls.google, {
        grant_type: 'refresh_token',
        ...client,
        refresh_token: 'g-rt',
        ...changed,
      });
      expect(reply.status).toBe(status);
      expect(reply.json).toEqual({ error, error_description: description });
    });
  });

  describe('okta', () => {
    const auth = basic('o', 'o-secret');

    it('takes only the registered client authentication', async () => {
      const form = { grant_type: 'password', username: 'bob', password: 'pw-bob', scope: 'openid' };
      expect((await post(urls.okta, form, auth)).status).toBe(200);
      const body = await post(urls.okta, { ...form, client_id: 'o', client_secret: 'o-secret' });
      expect([body.status, body.json.error]).toEqual([401, 'invalid_client']);
      const both = await post(urls.okta, { ...form, client_id: 'o', client_secret: 'o-secret' }, auth);
      expect([both.status, both.json.error]).toEqual([401, 'invalid_request']);
    });

    it.each([
      ['a wrong secret', {}, basic('o', 'x'), 401, 'invalid_client'],
      ['a wrong password', { password: 'x' }, auth, 400, 'invalid_grant'],
      ['a missing scope', { scope: '' }, auth, 400, 'invalid_request'],
      ['no credentials', { client_id: 'o' }, {}, 401, 'invalid_client'],
    ])('refuses %s', async (_, changed, headers, status, error) => {
      const reply = await post(
        urls.okta,
        { grant_type: 'password', username: 'bob', password: 'pw-bob', scope: 'openid', ...changed },
        headers as Record<string, string>,
      );
      expect([reply.status, reply.json.error]).toEqual([status, error]);
    });

    it('refuses repeated parameters', async () => {
      const reply = await ask(emulator, urls.okta, { body: 'grant_type=password&scope=a&scope=b', headers: auth });
      expect([reply.status, reply.json.error]).toEqual([400, 'invalid_request']);
    });

    it('answers an org that it does not know as the platform does', async () => {
      const reply = await post('https://other.okta.com/oauth2/default/v1/token', { grant_type: 'password' });
      expect(reply.status).toBe(404);
      expect(reply.json).toMatchObject({ errorCode: 'E0000007', errorSummary: expect.any(String), errorCauses: [] });
    });

    describe('with rotation', () => {
      const refresh = (token: string): Promise<Replied> =>
        post(urls.okta, { grant_type: 'refresh_token', refresh_token: token }, auth);
      let first: string;
      beforeEach(async () => {
        const { json } = await post(
          urls.okta,
          { grant_type: 'password', username: 'bob', password: 'pw-bob', scope: 'openid offline_access' },
          auth,
        );
        first = json.refresh_token;
      });

      it('accepts a used refresh token again within 30 seconds', async () => {
        const used = await refresh(first);
        now += 29_000;
        const again = await refresh(first);
        expect([used.status, again.status]).toEqual([200, 200]);
        expect((await refresh(used.json.refresh_token)).status).toBe(200);
      });

      it('revokes the whole family, access tokens included, when one is used later', async () => {
        const { json } = await refresh(first);
        now += 31_000;
        expect((await refresh(first)).json.error).toBe('invalid_grant');
        expect((await refresh(json.refresh_token)).json.error).toBe('invalid_grant');
        const resource = await ask(emulator, 'https://acme.okta.com/oauth2/default/v1/userinfo', {
          headers: { Authorization: `Bearer ${json.access_token}` },
        });
        expect(resource.status).toBe(401);
      });
    });
  });

  describe('gitlab', () => {
    const client = { client_id: 'l', client_secret: 'gloas-secret' };

    it('answers with created_at, and serves the password grant without a client', async () => {
      const { status, json } = await post(urls.gitlab, {
        grant_type: 'password',
        username: 'root',
        password: 'pw-root',
      });
      expect(status).toBe(200);
      expect(json).toMatchObject({
        token_type: 'Bearer',
        expires_in: 7200,
        scope: 'api',
        created_at: Math.floor(now / 1000),
        refresh_token: expect.any(String),
      });
    });

    it('takes a refresh token once, and kills the access token that it came with', async () => {
      const start = await post(urls.gitlab, {
        grant_type: 'password',
        ...client,
        username: 'root',
        password: 'pw-root',
      });
      const user = (token: string): Promise<Replied> =>
        ask(emulator, 'https://gitlab.com/api/v4/user', { headers: { Authorization: `Bearer ${token}` } });
      expect((await user(start.json.access_token)).json).toMatchObject({ username: 'root' });
      const form = { grant_type: 'refresh_token', ...client, refresh_token: start.json.refresh_token };
      const next = await post(urls.gitlab, form);
      expect(next.status).toBe(200);
      expect((await user(start.json.access_token)).status).toBe(401);
      expect((await user(next.json.access_token)).status).toBe(200);
      const again = await post(urls.gitlab, form);
      expect([again.status, again.json.error]).toEqual([400, 'invalid_grant']);
      expect(again.json.error_description).toMatch(/^The provided authorization grant is invalid, expired, revoked,/);
      expect(again.headers['www-authenticate']).toContain('Doorkeeper');
      expect((await post(urls.gitlab, { ...form, refresh_token: next.json.refresh_token })).status).toBe(200);
    });

    it('compares a Basic header without decoding it', async () => {
      const form = { grant_type: 'client_credentials' };
      expect((await post(urls.gitlab, form, basic('l', 'gloas-secret'))).status).toBe(200);
      expect((await post(urls.gitlab, form, basic('l', 'gloas%2Dsecret'))).json.error).toBe('invalid_client');
    });
  });

  describe('twitter', () => {
    const token = (headers: Record<string, string>): Promise<Replied> =>
      post(urls.twitter, { grant_type: 'client_credentials' }, headers);

    it('gives two members, percent escapes in the token, and the same token again', async () => {
      const { json } = await token(basic('key', 'x-secret'));
      expect(json).toEqual({ token_type: 'bearer', access_token: expect.stringMatching(/^A{21}.*%2F.*%3D$/) });
      now += 1000;
      expect((await token(basic('key', 'x-secret'))).json).toEqual(json);
    });

    it('refuses all else with 403 and code 99, a missing field with 170', async () => {
      const wrong = await token(basic('key', 'x'));
      expect(wrong.status).toBe(403);
      expect(wrong.json.errors[0]).toMatchObject({ code: 99, label: 'authenticity_token_error' });
      const inBody = await post(urls.twitter, {
        grant_type: 'client_credentials',
        client_id: 'key',
        client_secret: 'x-secret',
      });
      expect(inBody.json.errors[0].code).toBe(99);
      const missing = await post(urls.twitter, {}, basic('key', 'x-secret'));
      expect(missing.json.errors[0].code).toBe(170);
    });

    it('invalidates its one token, and gives another then', async () => {
      const { json } = await token(basic('key', 'x-secret'));
      const bearer = { Authorization: `Bearer ${json.access_token}` };
      expect((await ask(emulator, 'https://api.twitter.com/2/users/by/username/x', { headers: bearer })).status).toBe(
        200,
      );
      await post(
        'https://api.twitter.com/oauth2/invalidate_token',
        { access_token: json.access_token },
        basic('key', 'x-secret'),
      );
      expect((await ask(emulator, 'https://api.twitter.com/2/users/by/username/x', { headers: bearer })).status).toBe(
        401,
      );
      expect((await token(basic('key', 'x-secret'))).json.access_token).not.toBe(json.access_token);
    });
  });

  describe('custom', () => {
    it('takes its client in the body or form-encoded in a header, not both', async () => {
      const form = { grant_type: 'client_credentials' };
      expect((await post(urls.custom, { ...form, client_id: 'c', client_secret: 'c secret' })).status).toBe(200);
      expect((await post(urls.custom, form, basic('c', 'c%20secret'))).status).toBe(200);
      expect((await post(urls.custom, form, basic('c', 'c+secret'))).status).toBe(200);
      const both = await post(
        urls.custom,
        { ...form, client_id: 'c', client_secret: 'c secret' },
        basic('c', 'c%20secret'),
      );
      expect([both.status, both.json.error]).toEqual([400, 'invalid_request']);
    });

    it('rotates strictly: a refresh token used twice ends the family', async () => {
      const client = { client_id: 'c', client_secret: 'c secret' };
      const start = await post(urls.custom, { grant_type: 'password', ...client, username: 'eve', password: 'pw-eve' });
      const next = await post(urls.custom, {
        grant_type: 'refresh_token',
        ...client,
        refresh_token: start.json.refresh_token,
      });
      expect(next.status).toBe(200);
      expect(
        (await post(urls.custom, { grant_type: 'refresh_token', ...client, refresh_token: start.json.refresh_token }))
          .json.error,
      ).toBe('invalid_grant');
      expect(
        (await post(urls.custom, { grant_type: 'refresh_token', ...client, refresh_token: next.json.refresh_token }))
          .json.error,
      ).toBe('invalid_grant');
    });
  });

  it.each([
    [
      'microsoft',
      'https://graph.microsoft.com/v1.0/me',
      urls.microsoft,
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
      urls.google,
      { grant_type: 'refresh_token', client_id: 'g', client_secret: 'g-secret', refresh_token: 'g-rt' },
      { email: 'ada@example.com' },
    ],
    [
      'custom',
      'https://login.example.test/userinfo',
      urls.custom,
      { grant_type: 'password', client_id: 'c', client_secret: 'c secret', username: 'eve', password: 'pw-eve' },
      { sub: 'eve' },
    ],
  ])(
    '%s has a protected resource that knows the owner of a token, until it expires',
    async (_, resource, url, form, member) => {
      const { json } = await post(url, form);
      const bearer = { Authorization: `Bearer ${json.access_token}` };
      expect((await ask(emulator, resource, { headers: bearer })).json).toMatchObject(member);
      expect((await ask(emulator, resource)).status).toBe(401);
      expect((await ask(emulator, resource, { headers: { Authorization: 'Bearer made-up' } })).status).toBe(401);
      const before = now;
      now += json.expires_in * 1000;
      expect((await ask(emulator, resource, { headers: bearer })).status).toBe(401);
      now = before;
    },
  );

  it('microsoft knows no person behind the token of an application', async () => {
    const client = { client_id: 'ms', client_secret: 'ms~secret', scope: 'https://graph.microsoft.com/.default' };
    const { json } = await post(urls.microsoft, { grant_type: 'client_credentials', ...client });
    const headers = { Authorization: `Bearer ${json.access_token}` };
    const get = (path: string) => ask(emulator, `https://graph.microsoft.com/v1.0/${path}`, { headers });
    expect(await get('me')).toMatchObject({
      status: 400,
      json: { error: { message: '/me request is only valid with delegated authentication flow.' } },
    });
    expect(await get('organization')).toMatchObject({ status: 200, json: { value: [{ displayName: 'Contoso' }] } });
    expect(await get('users')).toMatchObject({ status: 200, json: { value: [] } });
  });

  it.each([
    [
      'google',
      'https://oauth2.googleapis.com/revoke',
      urls.google,
      { client_id: 'g', client_secret: 'g-secret' },
      'g-rt',
      {},
    ],
    [
      'gitlab',
      'https://gitlab.com/oauth/revoke',
      urls.gitlab,
      { client_id: 'l', client_secret: 'gloas-secret' },
      'l-rt',
      {},
    ],
    ['okta', 'https://acme.okta.com/oauth2/default/v1/revoke', urls.okta, {}, 'o-rt', basic('o', 'o-secret')],
  ])('%s revokes a refresh token', async (_, revoke, url, client, token, headers) => {
    expect(
      (await post(revoke, { ...(client as Record<string, string>), token }, headers as Record<string, string>)).status,
    ).toBe(200);
    const reply = await post(
      url,
      { grant_type: 'refresh_token', ...(client as Record<string, string>), refresh_token: token },
      headers as Record<string, string>,
    );
    expect(reply.json.error).toBe('invalid_grant');
  });

  it('says of a host that it does not emulate just that', async () => {
    const reply = await post('https://login.elsewhere.test/token', { grant_type: 'password' });
    expect([reply.status, reply.json.error, reply.headers['x-oauth-profile-emulator']]).toEqual([
      421,
      'not_emulated',
      'not_emulated',
    ]);
  });

  it('serves the same over plain http below the real host, for a browser', async () => {
    const url = `${emulator.url}/api.twitter.com/oauth2/token`;
    expect((await post(url, { grant_type: 'client_credentials' }, basic('key', 'x-secret'))).status).toBe(200);
  });
});
