import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { basic, profiles, tokenUrls, useEmulator } from './fixture.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const account = 'robot@project.iam.gserviceaccount.com';

describe('like the real provider, the emulated', () => {
  const server = useEmulator({
    profiles: {
      ...profiles,
      shared: { ...profiles.graph, client_id: 'both' },
      sharedPublic: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'both' },
      sharedOkta: { ...profiles.org, client_id: 'both' },
      sharedOktaPublic: { type: 'okta', tenant_id: 'acme', client_id: 'both' },
      otherLab: { type: 'gitlab', client_id: 'other', client_secret: 'other-secret' },
      publicLab: { type: 'gitlab', client_id: 'public' },
      robot: {
        type: 'google',
        'options.key': JSON.stringify({
          client_email: account,
          private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        }),
      },
    },
    clock: Date.now,
  });
  const { get, post } = server;

  describe('microsoft', () => {
    const client = { client_id: 'ms', client_secret: 'ms~secret' };

    it('rejects the parameter resource', async () => {
      const form = { grant_type: 'refresh_token', ...client, refresh_token: 'ms-rt', resource: 'https://api.test' };
      const token = await post(tokenUrls.microsoft, form);
      expect([token.status, token.json.error, token.json.error_codes]).toEqual([400, 'invalid_request', [901002]]);
      const base = 'https://login.microsoftonline.com/contoso.com/oauth2/v2.0';
      const device = await post(`${base}/devicecode`, { client_id: 'ms', scope: 'a', resource: 'https://api.test' });
      expect(device.json.error_codes).toEqual([901002]);
      const query = { client_id: 'ms', redirect_uri: 'http://localhost:1/', response_type: 'code', resource: 'x' };
      const page = await get(`${base}/authorize?${new URLSearchParams(query)}`);
      expect(String(page.headers['location'])).toContain('AADSTS901002');
    });

    it('has user codes without a dash', async () => {
      const url = 'https://login.microsoftonline.com/organizations/oauth2/v2.0/devicecode';
      expect((await post(url, { client_id: 'ms', scope: 'a' })).json.user_code).toMatch(/^[A-Z0-9]{8,9}$/);
    });
  });

  describe('google', () => {
    const client = { client_id: 'g', client_secret: 'g-secret' };

    it('rejects a request without grant_type with unsupported_grant_type', async () => {
      const { status, json } = await post(tokenUrls.google, client);
      expect([status, json]).toEqual([
        400,
        { error: 'unsupported_grant_type', error_description: 'Invalid grant_type: ' },
      ]);
    });

    it('rejects a refresh with scopes that were not granted with invalid_scope', async () => {
      const start = await post('https://oauth2.googleapis.com/device/code', { client_id: 'g', scope: 'email' });
      const page = await post(start.json.verification_url, { user_code: start.json.user_code });
      expect(page.text).toContain('Sign in');
      const form = {
        username: 'ada@example.com',
        password: 'lovelace',
        step: 'sign-in',
        user_code: start.json.user_code,
      };
      const consent = await post(start.json.verification_url, form);
      const [, ticket = ''] = /name="ticket" value="([^"]*)"/.exec(consent.text) ?? [];
      await post(start.json.verification_url, { user_code: start.json.user_code, ticket, step: 'allow' });
      const token = await post(tokenUrls.google, {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: start.json.device_code,
        ...client,
      });
      const refresh = { grant_type: 'refresh_token', ...client, refresh_token: token.json.refresh_token };
      const wider = await post(tokenUrls.google, { ...refresh, scope: 'email https://mail.google.com/' });
      expect([wider.status, wider.json.error]).toEqual([400, 'invalid_scope']);
      expect((await post(tokenUrls.google, { ...refresh, scope: 'email' })).status).toBe(200);
    });

    it('calls the page for the user code verification_url', async () => {
      const { json } = await post('https://oauth2.googleapis.com/device/code', { client_id: 'g', scope: 'email' });
      expect(json).toMatchObject({ verification_url: expect.stringMatching(/\/device$/) });
      expect(json).not.toHaveProperty('verification_uri');
    });

    it('rejects the revocation of an unknown or revoked token with 400', async () => {
      const revoke = (token: string) => post('https://oauth2.googleapis.com/revoke', { token });
      const { status, json } = await revoke('unknown');
      expect([status, json.error]).toEqual([400, 'invalid_token']);
      const { json: issued } = await post(tokenUrls.google, {
        grant_type: 'refresh_token',
        ...client,
        refresh_token: 'g-rt',
      });
      expect((await revoke(issued.access_token)).status).toBe(200);
      expect((await revoke(issued.access_token)).status).toBe(400);
    });

    describe('with the jwt-bearer grant', () => {
      const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
      const url = 'https://oauth2.googleapis.com/token';
      const sign = (claims: Record<string, unknown>, key = privateKey) =>
        new SignJWT({ iss: account, aud: url, ...claims })
          .setProtectedHeader({ alg: 'RS256' })
          .setIssuedAt()
          .setExpirationTime('1h')
          .sign(key);

      it('issues an access token without a refresh token', async () => {
        const assertion = await sign({ scope: 'https://www.googleapis.com/auth/devstorage.read_only' });
        const { status, json } = await post(url, { grant_type, assertion });
        expect(status).toBe(200);
        expect(json).toEqual({
          access_token: expect.stringMatching(/^ya29\./),
          token_type: 'Bearer',
          expires_in: 3599,
        });
      });

      it('issues an id token for target_audience', async () => {
        const { json } = await post(url, {
          grant_type,
          assertion: await sign({ target_audience: 'https://run.test' }),
        });
        expect(Object.keys(json)).toEqual(['id_token']);
        const claims = decodeJwt(json.id_token);
        expect(claims).toMatchObject({ iss: 'https://accounts.google.com', aud: 'https://run.test', azp: account });
      });

      it.each([
        ['another key', () => sign({}, generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey)],
        ['another audience', () => sign({ aud: 'https://evil.test' })],
        ['an unknown account', () => sign({ iss: 'other@project.iam.gserviceaccount.com' })],
        ['an unknown user', () => sign({ sub: 'unknown@example.com' })],
      ])('rejects an assertion with %s', async (_, assertion) => {
        const { status, json } = await post(url, { grant_type, assertion: await assertion() });
        expect([status, json.error]).toEqual([400, 'invalid_grant']);
      });

      it('is announced in the metadata', async () => {
        const { json } = await get('https://accounts.google.com/.well-known/openid-configuration');
        expect(json.grant_types_supported).toContain(grant_type);
      });
    });
  });

  describe('okta', () => {
    it('rejects client_credentials without a scope with invalid_scope', async () => {
      const { status, json } = await post(tokenUrls.okta, { grant_type: 'client_credentials' }, basic('o', 'o-secret'));
      expect([status, json.error]).toEqual([400, 'invalid_scope']);
      expect(json.error_description).toContain('default scopes');
    });

    it.each(['v1/token', 'v1/keys', 'v1/userinfo', '.well-known/openid-configuration'])(
      'does not find %s of an unknown authorization server',
      async (path) => {
        const url = `https://acme.okta.com/oauth2/nosuch/${path}`;
        const form = { grant_type: 'client_credentials', scope: 'a' };
        const { status, json } = path === 'v1/token' ? await post(url, form, basic('o', 'o-secret')) : await get(url);
        expect([status, json.errorCode]).toEqual([404, 'E0000007']);
      },
    );
  });

  describe('gitlab', () => {
    const client = { client_id: 'l', client_secret: 'gloas-secret' };
    const revoke = (form: Record<string, string>) => post('https://gitlab.com/oauth/revoke', form);

    it('rejects unknown scopes, at the token endpoint and on the page', async () => {
      const form = { grant_type: 'client_credentials', ...client, scope: 'nonsense' };
      const { status, json } = await post(tokenUrls.gitlab, form);
      expect([status, json.error]).toEqual([400, 'invalid_scope']);
      const query = { client_id: 'l', redirect_uri: 'http://127.0.0.1:1/', response_type: 'code', scope: 'nonsense' };
      const page = await get(`https://gitlab.com/oauth/authorize?${new URLSearchParams(query)}`);
      expect(String(page.headers['location'])).toContain('error=invalid_scope');
    });

    it.each([
      ['another client', { client_id: 'other', client_secret: 'other-secret' }],
      ['another public client', { client_id: 'public' }],
      ['a wrong secret', { client_id: 'l', client_secret: 'wrong' }],
    ])('rejects a revocation with %s', async (_, other) => {
      const { json } = await post(tokenUrls.gitlab, { grant_type: 'client_credentials', ...client, scope: 'api' });
      const response = await revoke({ ...other, token: json.access_token });
      expect([response.status, response.json.error]).toEqual([403, 'unauthorized_client']);
      const bearer = { Authorization: `Bearer ${json.access_token}` };
      expect((await get('https://gitlab.com/api/v4/user', bearer)).status).toBe(200);
      expect((await revoke({ ...client, token: json.access_token })).status).toBe(200);
      expect((await get('https://gitlab.com/api/v4/user', bearer)).status).toBe(401);
    });

    it('rejects client_credentials without a client with invalid_client', async () => {
      const { status, json } = await post(tokenUrls.gitlab, { grant_type: 'client_credentials' });
      expect([status, json.error]).toEqual([401, 'invalid_client']);
    });
  });

  it('microsoft accepts a client_id that two profiles share, with and without its secret', async () => {
    const form = { grant_type: 'password', client_id: 'both', username: 'ada@contoso.com', password: 'pw-ada' };
    expect((await post(tokenUrls.microsoft, form)).status).toBe(200);
    expect((await post(tokenUrls.microsoft, { ...form, client_secret: 'ms~secret' })).status).toBe(200);
    expect((await post(tokenUrls.microsoft, { ...form, client_secret: 'wrong' })).json.error_codes).toEqual([7000215]);
  });

  it('okta accepts a client_id that two profiles share, each with its own method', async () => {
    const form = { grant_type: 'password', username: 'bob', password: 'pw-bob', scope: 'openid' };
    expect((await post(tokenUrls.okta, form, basic('both', 'o-secret'))).status).toBe(200);
    expect((await post(tokenUrls.okta, { ...form, client_id: 'both' })).status).toBe(200);
    expect((await post(tokenUrls.okta, form, basic('both', 'wrong'))).json.error).toBe('invalid_client');
  });
});
