import { createHash, randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { basic, type ReceivedResponse, sendRequest, useEmulator } from './fixture.ts';

const profiles = {
  graph: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'ms' },
  drive: { type: 'google', client_id: 'g', client_secret: 'g-secret' },
  org: {
    type: 'okta',
    tenant_id: 'acme',
    client_id: 'o',
    client_secret: 'o-secret',
    username: 'bob',
    password: 'pw-bob',
  },
  lab: { type: 'gitlab', client_id: 'l', client_secret: 'l-secret' },
  acme: { type: 'custom', url: 'https://login.example.test/token', client_id: 'c', client_secret: 'c-secret' },
};

const providers = {
  microsoft: {
    resource: 'https://graph.microsoft.com/v1.0/me',
    authorize: 'https://login.microsoftonline.com/contoso.com/oauth2/v2.0/authorize',
    device: 'https://login.microsoftonline.com/organizations/oauth2/v2.0/devicecode',
    token: 'https://login.microsoftonline.com/organizations/oauth2/v2.0/token',
    form: { client_id: 'ms' },
    headers: {},
  },
  google: {
    resource: 'https://openidconnect.googleapis.com/v1/userinfo',
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    device: 'https://oauth2.googleapis.com/device/code',
    token: 'https://accounts.google.com/o/oauth2/token',
    form: { client_id: 'g', client_secret: 'g-secret' },
    headers: {},
  },
  okta: {
    resource: 'https://acme.okta.com/oauth2/default/v1/userinfo',
    authorize: 'https://acme.okta.com/oauth2/default/v1/authorize',
    device: 'https://acme.okta.com/oauth2/default/v1/device/authorize',
    token: 'https://acme.okta.com/oauth2/default/v1/token',
    form: { client_id: 'o' },
    headers: basic('o', 'o-secret'),
  },
  gitlab: {
    resource: 'https://gitlab.com/api/v4/user',
    authorize: 'https://gitlab.com/oauth/authorize',
    device: 'https://gitlab.com/oauth/authorize_device',
    token: 'https://gitlab.com/oauth/token',
    form: { client_id: 'l', client_secret: 'l-secret' },
    headers: {},
  },
  custom: {
    resource: 'https://login.example.test/userinfo',
    authorize: 'https://login.example.test/authorize',
    device: 'https://login.example.test/device_authorization',
    token: 'https://login.example.test/token',
    form: { client_id: 'c', client_secret: 'c-secret' },
    headers: {},
  },
};
type Name = keyof typeof providers;
const names = Object.keys(providers) as Name[];
/** GitLab has no scope for refresh tokens. */
const scopeOf = (name: Name): string => (name === 'gitlab' ? 'openid' : 'openid offline_access');
const redirect = 'http://127.0.0.1:5555/callback';
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** The hidden fields of a form, as a browser sends them. */
function hidden(page: string): Record<string, string> {
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
}

describe('login at the emulator', () => {
  const server = useEmulator({ profiles });

  /** The URL of a page in the user's browser. */
  const page = (url: string): string => url.replace('https://', `${server.emulator.url}/`);

  describe.each(names)('with an authorization code, %s', (name) => {
    const { authorize, token, form, headers, resource } = providers[name];
    const verifier = randomBytes(32).toString('base64url');
    const query = {
      client_id: form.client_id,
      redirect_uri: redirect,
      response_type: 'code',
      state: 'st&te',
      scope: scopeOf(name),
      access_type: 'offline',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    const authorizeUrl = (changed: Record<string, string> = {}): string =>
      page(`${authorize}?${new URLSearchParams({ ...query, ...changed })}`);
    const exchange = (code: string, changed: Record<string, string> = {}): Promise<ReceivedResponse> => {
      const fields = Object.keys(headers).length > 0 ? {} : form;
      return sendRequest(server.emulator, token, {
        form: {
          grant_type: 'authorization_code',
          code,
          redirect_uri: redirect,
          code_verifier: verifier,
          ...fields,
          ...changed,
        },
        headers,
      });
    };

    async function signIn(step = 'allow', changed: Record<string, string> = {}): Promise<URL> {
      const url = authorizeUrl(changed);
      const first = await sendRequest(server.emulator, url);
      expect(first.text).toContain('Sign in');
      const second = await sendRequest(server.emulator, url, {
        form: { ...hidden(first.text), username: 'ada@example.com', password: 'lovelace', step: 'sign-in' },
      });
      expect(second.text).toContain('Allow access?');
      const third = await sendRequest(server.emulator, url, { form: { ...hidden(second.text), step } });
      expect(third.status).toBe(302);
      return new URL(String(third.headers['location']));
    }

    it('shows sign-in and consent pages and redirects with a code that works once', async () => {
      const redirected = await signIn();
      expect(redirected.origin + redirected.pathname).toBe(redirect);
      expect(redirected.searchParams.get('state')).toBe('st&te');
      const code = redirected.searchParams.get('code') ?? '';
      const first = await exchange(code);
      expect(first.status).toBe(200);
      expect(first.json).toMatchObject({
        access_token: expect.any(String),
        refresh_token: expect.any(String),
        id_token: expect.any(String),
      });
      const again = await exchange(code);
      expect([again.status, again.json.error]).toEqual([400, 'invalid_grant']);
    });

    it('sends iss where the provider does, also when the user denies access', async () => {
      const host = { google: 'accounts.google.com', custom: 'login.example.test' }[name as string];
      const wanted = host === undefined ? null : `${server.emulator.url}/${host}`;
      expect((await signIn()).searchParams.get('iss')).toBe(wanted);
      expect((await signIn('deny')).searchParams.get('iss')).toBe(wanted);
      // The page of a client that uses the production URLs.
      const production = await signIn('allow', { oauth_profile_page: '1' });
      expect(production.searchParams.get('iss')).toBe(host === undefined ? null : `https://${host}`);
    });

    it(`${name === 'custom' ? 'revokes' : 'does not revoke'} the tokens of a code that is used twice`, async () => {
      const code = (await signIn()).searchParams.get('code') ?? '';
      const { json } = await exchange(code);
      const bearer = { Authorization: `Bearer ${json.access_token}` };
      const refresh = async (): Promise<number> => {
        const fields = Object.keys(headers).length > 0 ? {} : form;
        const renewed = { grant_type: 'refresh_token', refresh_token: json.refresh_token, ...fields };
        return (await sendRequest(server.emulator, token, { form: renewed, headers })).status;
      };
      expect((await sendRequest(server.emulator, resource, { headers: bearer })).status).toBe(200);
      for (let time = 0; time < 2; time++) expect((await exchange(code)).json.error).toBe('invalid_grant');
      const revoked = name === 'custom';
      expect((await sendRequest(server.emulator, resource, { headers: bearer })).status).toBe(revoked ? 401 : 200);
      expect(await refresh()).toBe(revoked ? 400 : 200);
    });

    it('checks the code verifier, the redirect URI and the age of the code', async () => {
      const code = async (): Promise<string> => (await signIn()).searchParams.get('code') ?? '';
      expect((await exchange(await code(), { code_verifier: 'wrong' })).json.error).toBe('invalid_grant');
      expect((await exchange(await code(), { redirect_uri: 'http://127.0.0.1:1/x' })).status).toBeGreaterThanOrEqual(
        400,
      );
      const old = await code();
      server.now += 601_000;
      expect((await exchange(old)).json.error).toBe('invalid_grant');
    });

    it('redirects with access_denied when the user denies access', async () => {
      const redirected = await signIn('deny');
      expect(redirected.searchParams.get('error')).toBe('access_denied');
      expect(redirected.searchParams.get('state')).toBe('st&te');
    });

    it('reports a wrong password on the page, and accepts no consent without sign-in', async () => {
      const wrong = await sendRequest(server.emulator, authorizeUrl(), {
        form: { username: 'ada@example.com', password: 'x', step: 'sign-in' },
      });
      expect(wrong.status).toBe(401);
      expect(wrong.text).toContain('role="alert"');
      const forged = await sendRequest(server.emulator, authorizeUrl(), {
        form: { ticket: 'eyJ.e30.x', step: 'allow' },
      });
      expect([forged.status, forged.text.includes('Sign in')]).toEqual([200, true]);
    });

    it('does not redirect to an unchecked URI', async () => {
      for (const changed of [
        { client_id: 'unknown' },
        { redirect_uri: 'http://evil.example/' },
        { redirect_uri: '<script>' },
      ]) {
        const response = await sendRequest(server.emulator, authorizeUrl(changed));
        expect(response.status).toBe(400);
        expect(response.headers['location']).toBeUndefined();
        expect(response.text).not.toContain('<script>');
      }
    });
  });

  it('returns a refresh token of google only for access_type=offline', async () => {
    const { token, form } = providers.google;
    const url = page(
      `${providers.google.authorize}?${new URLSearchParams({ client_id: 'g', redirect_uri: redirect, response_type: 'code', scope: 'a' })}`,
    );
    const second = await sendRequest(server.emulator, url, {
      form: { username: 'ada@example.com', password: 'lovelace', step: 'sign-in' },
    });
    const third = await sendRequest(server.emulator, url, { form: { ...hidden(second.text), step: 'allow' } });
    const code = new URL(String(third.headers['location'])).searchParams.get('code') ?? '';
    const { json } = await sendRequest(server.emulator, token, {
      form: { grant_type: 'authorization_code', code, redirect_uri: redirect, ...form },
    });
    expect(json.refresh_token).toBeUndefined();
  });

  describe.each(names)('with a device code, %s', (name) => {
    const { device, token, form, headers } = providers[name];
    const credentials = Object.keys(headers).length > 0 ? {} : form;
    let started: ReceivedResponse;
    beforeEach(async () => {
      started = await sendRequest(server.emulator, device, {
        form: { ...form, scope: scopeOf(name) },
        headers: {},
      });
    });
    const poll = (): Promise<ReceivedResponse> =>
      sendRequest(server.emulator, token, {
        form: { grant_type: DEVICE_GRANT, device_code: started.json.device_code, ...credentials },
        headers,
      });
    const verify = async (step: string): Promise<ReceivedResponse> => {
      const { verification_uri, verification_url, user_code } = started.json;
      const uri = verification_uri ?? verification_url;
      const first = await sendRequest(server.emulator, uri, {
        form: { user_code: user_code.toLowerCase().replace('-', ' ') },
      });
      const second = await sendRequest(server.emulator, uri, {
        form: { ...hidden(first.text), username: 'ada@example.com', password: 'lovelace', step: 'sign-in' },
      });
      return sendRequest(server.emulator, uri, { form: { ...hidden(second.text), step } });
    };

    it('waits for the user, then returns the tokens once', async () => {
      expect(started.status).toBe(200);
      expect(started.json).toMatchObject({
        interval: 5,
        expires_in: expect.any(Number),
        user_code: expect.stringMatching(name === 'google' || name === 'custom' ? /^[A-Z]{4}-[A-Z]{4}$/ : /^[A-Z]{8}$/),
      });
      expect((await poll()).json.error).toBe('authorization_pending');
      expect((await verify('allow')).text).toContain('signed in');
      server.now += 5_000;
      expect((await poll()).json).toMatchObject({
        access_token: expect.any(String),
        refresh_token: expect.any(String),
      });
      expect((await poll()).status).toBe(400);
    });

    it('responds with slow_down to fast polling and extends the interval permanently', async () => {
      await poll();
      expect((await poll()).json.error).toBe('slow_down');
      server.now += 6_000;
      expect((await poll()).json.error).toBe('slow_down');
      server.now += 15_000;
      expect((await poll()).json.error).toBe('authorization_pending');
    });

    it('reports denial and expiry', async () => {
      expect((await verify('deny')).text).toContain('Denied');
      expect((await poll()).json.error).toBe(name === 'microsoft' ? 'authorization_declined' : 'access_denied');
      started = await sendRequest(server.emulator, device, { form: { ...form, scope: 'openid' } });
      server.now += started.json.expires_in * 1000;
      expect((await poll()).json.error).toBe('expired_token');
    });
  });

  it('R4.3 microsoft also accepts the device code in the field code, and returns a message for the user', async () => {
    const started = await sendRequest(server.emulator, providers.microsoft.device, {
      form: { client_id: 'ms', scope: 'a offline_access' },
    });
    expect(started.json.message).toContain(started.json.user_code);
    expect(started.json.verification_uri_complete).toBeUndefined();
    const response = await sendRequest(server.emulator, providers.microsoft.token, {
      form: { grant_type: DEVICE_GRANT, client_id: 'ms', code: started.json.device_code },
    });
    expect(response.json.error).toBe('authorization_pending');
  });

  it('has pages that identify the emulator and run no scripts', async () => {
    const { text, headers } = await sendRequest(server.emulator, page('https://gitlab.com/oauth/device'));
    expect(text).toContain('This is not gitlab');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(text).toContain('<label for="user_code">');
  });
});
