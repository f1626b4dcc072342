import { createHash } from 'node:crypto';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { basic, type EmulatorFixture, profiles, sendRequest, tokenUrls, useEmulator } from '../fixture.ts';

const users = {
  'bob@acme.test': {
    password: 'pw-bob-acme',
    name: 'Bob Builder',
    given_name: 'Bob',
    family_name: 'Builder',
    groups: ['builders'],
    roles: ['Task.Write'],
    claims: { department: 'construction' },
  },
};
const clients = [
  { client_id: 'daemon', client_secret: 'daemon-secret', provider: 'microsoft', roles: ['Orders.Read.All'] },
  { client_id: 'web', client_secret: 'web-secret', host: 'login.example.test', claims: { plan: 'gold' } },
];

/** The clock of the emulator is real: independent verifiers use the real time. */
function useRealTime(alg: 'RS256' | 'PS256' | 'ES256' = 'RS256'): EmulatorFixture {
  return useEmulator({ profiles, users, clients, signing: { alg }, clock: Date.now });
}

const user = { grant_type: 'password', username: 'bob@acme.test', password: 'pw-bob-acme' };

/** The token request of each provider on loopback, with its issuer and audience there. */
const requests = {
  microsoft: {
    host: 'login.microsoftonline.com',
    path: '/contoso.com/oauth2/v2.0/token',
    form: { ...user, client_id: 'ms', client_secret: 'ms~secret', scope: 'openid profile email api://orders/read' },
    headers: {},
    issuer: /^login\.microsoftonline\.com\/[0-9a-f-]{36}\/v2\.0$/,
    audience: 'api://orders',
  },
  okta: {
    host: 'acme.okta.com',
    path: '/oauth2/default/v1/token',
    form: { ...user, scope: 'openid profile email read' },
    headers: basic('o', 'o-secret'),
    issuer: /^acme\.okta\.com\/oauth2\/default$/,
    audience: 'api://default',
  },
  custom: {
    host: 'login.example.test',
    path: '/oauth/token',
    form: {
      ...user,
      client_id: 'c',
      client_secret: 'c secret',
      scope: 'openid profile email',
      resource: 'https://api.test',
    },
    headers: {},
    issuer: /^login\.example\.test$/,
    audience: 'https://api.test',
  },
};

describe.each(Object.entries(requests))('tokens of %s', (name, { host, path, form, headers, issuer, audience }) => {
  const server = useRealTime();

  const issue = async (base: string) =>
    (await sendRequest(server.emulator, `${base}${host}${path}`, { form, headers })).json;
  /** Discovery as a resource server does it: nothing but the issuer is known. */
  const discover = async (token: string) => {
    const { iss } = decodeJwt(token);
    const { json } = await server.get(`${iss}/.well-known/openid-configuration`);
    return { iss: String(iss), json };
  };

  it('are verified by jose with the JWKS that discovery finds at their issuer, on loopback', async () => {
    const { access_token: accessToken, id_token: idToken } = await issue(`${server.emulator.url}/`);
    const { iss, json } = await discover(accessToken);
    expect(iss.replace(`${server.emulator.url}/`, '')).toMatch(issuer);
    expect(json.issuer).toBe(iss);
    const keys = createRemoteJWKSet(new URL(json.jwks_uri));
    const access = await jwtVerify(accessToken, keys, { issuer: iss, audience });
    expect(access.protectedHeader.alg).toBe('RS256');
    const id = await jwtVerify(idToken, keys, { issuer: iss, audience: String(form['client_id' as never] ?? 'o') });
    if (name !== 'microsoft')
      expect(id.payload['at_hash']).toBe(
        createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url'),
      );
    await expect(jwtVerify(accessToken, keys, { issuer: iss, audience: 'other' })).rejects.toThrow('aud');
    await expect(jwtVerify(accessToken, keys, { issuer: 'https://other', audience })).rejects.toThrow('iss');
  });

  it('have the production issuer if they are requested at the production URL', async () => {
    const { access_token: accessToken } = await issue('https://');
    const { iss, json } = await discover(accessToken);
    expect(iss.replace('https://', '')).toMatch(issuer);
    expect(json.issuer).toBe(iss);
    const { json: keys } = await server.get(json.jwks_uri);
    expect(keys.keys.map(({ kid }: { kid: string }) => kid)).toContain(decodeProtectedHeader(accessToken).kid);
  });

  it('have the user and the claims of the configuration, also in userinfo', async () => {
    const { access_token: accessToken, id_token: idToken } = await issue(`${server.emulator.url}/`);
    const { json } = await discover(accessToken);
    for (const token of [accessToken, idToken])
      expect(decodeJwt(token)).toMatchObject({
        department: 'construction',
        groups: ['builders'],
      });
    const userinfo = await server.get(json.userinfo_endpoint, { Authorization: `Bearer ${accessToken}` });
    expect(userinfo.json).toMatchObject({ department: 'construction', name: 'Bob Builder', email: 'bob@acme.test' });
    const id = decodeJwt(idToken);
    expect(userinfo.json.sub).toBe(id.sub);
  });

  const faults = [
    ['wrong-audience', /"aud"/],
    ['wrong-issuer', /"iss"/],
    ['wrong-kid', /no applicable key/],
    ['bad-signature', /signature verification failed/],
    ['expired-token', /"exp"/],
    ['expired-signing-key', /no applicable key/],
    ['clock-skew', /"nbf"/],
  ] as const;
  it.each(faults)('are rejected by jose with the fault %s', async (kind, reason) => {
    const put = (list: unknown[]) =>
      sendRequest(server.emulator, `${server.emulator.url}/_emulator/faults`, {
        method: 'PUT',
        body: JSON.stringify({ faults: list }),
        headers: { 'Content-Type': 'application/json' },
      });
    const good = await issue(`${server.emulator.url}/`);
    const { iss, json } = await discover(good.access_token);
    await put([{ kind }]);
    const bad = await issue(`${server.emulator.url}/`);
    await put([]);
    const keys = createRemoteJWKSet(new URL(json.jwks_uri));
    await expect(jwtVerify(bad.access_token, keys, { issuer: iss, audience })).rejects.toThrow(reason);
    await jwtVerify(good.access_token, keys, { issuer: iss, audience });
  });
});

describe('an access token', () => {
  const server = useRealTime();

  it('of microsoft has the documented claims of a v2.0 token', async () => {
    const { json } = await server.post(tokenUrls.microsoft, requests.microsoft.form);
    const { tid } = decodeJwt(json.access_token);
    expect(decodeJwt(json.access_token)).toEqual({
      aud: 'api://orders',
      iss: `https://login.microsoftonline.com/${tid}/v2.0`,
      iat: expect.any(Number),
      nbf: expect.any(Number),
      exp: expect.any(Number),
      azp: 'ms',
      azpacr: '1',
      name: 'Bob Builder',
      preferred_username: 'bob@acme.test',
      oid: expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      sub: expect.any(String),
      tid: expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      scp: 'email read',
      roles: ['Task.Write'],
      groups: ['builders'],
      uti: expect.any(String),
      ver: '2.0',
      department: 'construction',
    });
    expect(decodeProtectedHeader(json.access_token)).toEqual({ typ: 'JWT', alg: 'RS256', kid: expect.any(String) });
    expect(decodeJwt(json.id_token)).toMatchObject({ aud: 'ms', ver: '2.0', email: 'bob@acme.test', tid });
    expect(decodeJwt(json.id_token)).not.toHaveProperty('at_hash');
  });

  it('of a microsoft app has roles and no scope', async () => {
    const guid = '6e74172b-be56-4843-9ff4-e66a39bb12e3';
    const { json } = await server.post(tokenUrls.microsoft, {
      grant_type: 'client_credentials',
      client_id: 'daemon',
      client_secret: 'daemon-secret',
      scope: `api://${guid}/.default`,
    });
    const claims = decodeJwt(json.access_token);
    expect(claims).toMatchObject({ aud: guid, azp: 'daemon', roles: ['Orders.Read.All'], ver: '2.0' });
    expect(claims.sub).toBe(claims.oid);
    for (const name of ['scp', 'name', 'preferred_username']) expect(claims).not.toHaveProperty(name);
  });

  it('of okta has the documented claims', async () => {
    const { json } = await server.post(tokenUrls.okta, requests.okta.form, requests.okta.headers);
    expect(decodeJwt(json.access_token)).toEqual({
      ver: 1,
      jti: expect.stringMatching(/^AT\./),
      iss: 'https://acme.okta.com/oauth2/default',
      aud: 'api://default',
      iat: expect.any(Number),
      exp: expect.any(Number),
      cid: 'o',
      uid: expect.stringMatching(/^00u/),
      scp: ['openid', 'profile', 'email', 'read'],
      auth_time: expect.any(Number),
      sub: 'bob@acme.test',
      groups: ['builders'],
      department: 'construction',
    });
    expect(decodeJwt(json.id_token)).toMatchObject({
      ver: 1,
      jti: expect.stringMatching(/^ID\./),
      aud: 'o',
      amr: ['pwd'],
      idp: expect.stringMatching(/^00o/),
      sub: expect.stringMatching(/^00u/),
      preferred_username: 'bob@acme.test',
    });
  });

  it('of custom is as RFC 9068 defines it', async () => {
    const { json } = await server.post(tokenUrls.custom, requests.custom.form);
    expect(decodeProtectedHeader(json.access_token).typ).toBe('at+jwt');
    expect(decodeJwt(json.access_token)).toEqual({
      iss: 'https://login.example.test',
      exp: expect.any(Number),
      aud: 'https://api.test',
      sub: 'bob@acme.test',
      client_id: 'c',
      iat: expect.any(Number),
      jti: expect.any(String),
      scope: 'openid profile email',
      auth_time: expect.any(Number),
      groups: ['builders'],
      roles: ['Task.Write'],
      department: 'construction',
    });
  });

  it('has the claims of its client', async () => {
    const form = { grant_type: 'client_credentials', client_id: 'web', client_secret: 'web-secret' };
    const { json } = await server.post(tokenUrls.custom, form);
    expect(decodeJwt(json.access_token)).toMatchObject({ sub: 'web', plan: 'gold', aud: 'https://login.example.test' });
  });

  it('of google and gitlab is opaque, and the id token has the documented claims', async () => {
    const google = await server.post(tokenUrls.google, {
      grant_type: 'refresh_token',
      client_id: 'g',
      client_secret: 'g-secret',
      refresh_token: 'g-rt',
      scope: 'openid email profile',
    });
    expect(google.json.access_token.split('.')).toHaveLength(2);
    expect(decodeJwt(google.json.id_token)).toEqual({
      iss: 'https://accounts.google.com',
      azp: 'g',
      aud: 'g',
      sub: expect.stringMatching(/^\d{21}$/),
      hd: 'example.com',
      email: 'ada@example.com',
      email_verified: true,
      at_hash: expect.any(String),
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
    const info = await server.get(`https://oauth2.googleapis.com/tokeninfo?access_token=${google.json.access_token}`);
    expect(info.json).toMatchObject({ aud: 'g', azp: 'g', scope: 'openid email profile', email: 'ada@example.com' });
    const gitlab = await server.post(tokenUrls.gitlab, {
      ...{ grant_type: 'password', client_id: 'l', client_secret: 'gloas-secret' },
      ...{ username: 'bob@acme.test', password: 'pw-bob-acme', scope: 'openid email' },
    });
    expect(gitlab.json.access_token).not.toContain('.');
    expect(decodeJwt(gitlab.json.id_token)).toMatchObject({
      iss: 'https://gitlab.com',
      aud: 'l',
      sub: expect.stringMatching(/^\d+$/),
      sub_legacy: expect.any(String),
      nickname: 'bob',
      preferred_username: 'bob',
      email: 'bob@acme.test',
      groups: ['builders'],
      groups_direct: ['builders'],
    });
    const userinfo = await server.get('https://gitlab.com/oauth/userinfo', {
      Authorization: `Bearer ${gitlab.json.access_token}`,
    });
    expect(userinfo.json).toMatchObject({ nickname: 'bob', department: 'construction' });
  });

  it.each([
    ['okta', 'https://acme.okta.com/oauth2/default/v1/introspect', requests.okta, {}, { uid: expect.any(String) }],
    [
      'custom',
      'https://login.example.test/oauth/introspect',
      requests.custom,
      { client_id: 'c', client_secret: 'c secret' },
      { username: 'bob@acme.test' },
    ],
  ])(
    'of %s can be introspected until it is revoked',
    async (_, url, { host, path, form, headers }, client, members) => {
      const { json } = await server.post(`https://${host}${path}`, form, headers as Record<string, string>);
      const introspect = async (token: string) =>
        (await server.post(url, { ...client, token } as Record<string, string>, headers as Record<string, string>))
          .json;
      expect(await introspect(json.access_token)).toMatchObject({
        active: true,
        department: 'construction',
        ...members,
      });
      expect(await introspect('unknown')).toEqual({ active: false });
      const revoke = url.replace('introspect', 'revoke');
      await server.post(revoke, { ...client, token: json.access_token } as Record<string, string>, headers as never);
      expect(await introspect(json.access_token)).toEqual({ active: false });
      const unauthenticated = await server.post(url, { token: json.access_token });
      expect(unauthenticated.status).toBeGreaterThanOrEqual(400);
    },
  );

  it('of another emulator of the same process is not accepted', async () => {
    const { json } = await server.post(tokenUrls.custom, requests.custom.form);
    const { startEmulator } = await import('../../../src/emulator/start-emulator.ts');
    const other = await startEmulator({ profiles, users });
    const headers = { Authorization: `Bearer ${json.access_token}` };
    expect((await server.get('https://login.example.test/userinfo', headers)).status).toBe(200);
    const response = await sendRequest(other, 'https://login.example.test/userinfo', { headers });
    expect(response.status).toBe(401);
    await other.close();
  });
});

describe.each(['PS256', 'ES256'] as const)('with %s, tokens', (alg) => {
  const server = useRealTime(alg);

  it('are verified by jose', async () => {
    const { form, headers, host, path, audience } = requests.okta;
    const { json } = await server.post(`${server.emulator.url}/${host}${path}`, form, headers);
    const keys = createRemoteJWKSet(new URL(`${server.emulator.url}/${host}/oauth2/default/v1/keys`));
    const verified = await jwtVerify(json.access_token, keys, { audience, algorithms: [alg] });
    expect(verified.protectedHeader.alg).toBe(alg);
  });
});
