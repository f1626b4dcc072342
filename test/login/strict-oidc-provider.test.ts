import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient, sharedClient } from '../../src/client.ts';
import { getToken } from '../../src/get-token.ts';
import { createTokenSource } from '../../src/token-source.ts';
import { Browser } from '../support/browser.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { LoginFixture } from '../support/client.ts';
import { ACCOUNT, RESOURCES, type StrictProvider, startStrictProvider } from '../support/oidc-provider.ts';
import { variablesWith } from '../support/profiles.ts';

const authority = new Authority();
const robot = authority.issue({ name: 'robot', usage: 'clientAuth' });
const certFile = authority.file('robot.pem', robot.cert + robot.key);
const keyPair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keyFile = authority.file(
  'key.json',
  JSON.stringify({ ...keyPair.privateKey.export({ format: 'jwk' }), kid: 'k1' }),
);
const jwk = { ...keyPair.publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig' };
const certJwk = {
  ...new X509Certificate(robot.cert).publicKey.export({ format: 'jwk' }),
  x5c: [new X509Certificate(robot.cert).raw.toString('base64')],
};
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const native = {
  application_type: 'native' as const,
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token', DEVICE],
};
const machine = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
const signed = { token_endpoint_auth_method: 'private_key_jwt' as const, jwks: { keys: [jwk] } };
const certified = {
  token_endpoint_auth_method: 'tls_client_auth' as const,
  tls_client_auth_subject_dn: 'CN=robot',
  tls_client_certificate_bound_access_tokens: true,
};
const clients = [
  { client_id: 'app', ...native, ...signed, dpop_bound_access_tokens: true },
  { client_id: 'tool', ...native, token_endpoint_auth_method: 'none' as const, dpop_bound_access_tokens: true },
  { client_id: 'secret', client_secret: 'the secret: of the app', ...native, dpop_bound_access_tokens: true },
  { client_id: 'robot', ...machine, ...signed, dpop_bound_access_tokens: true },
  { client_id: 'mtls', ...machine, ...certified },
  { client_id: 'mtls-app', ...native, ...certified },
  {
    client_id: 'self-signed',
    ...machine,
    token_endpoint_auth_method: 'self_signed_tls_client_auth' as const,
    tls_client_certificate_bound_access_tokens: true,
    jwks: { keys: [certJwk] },
  },
];
const key = { client_auth: 'private_key_jwt', key_file: keyFile, dpop: 'true' };
const certificate = { client_auth: 'tls_client_auth', cert_file: certFile };

/** `strict` requires signed requests too, which public clients cannot send; `signedUrl` has no endpoint for pushed requests. */
const servers: Record<'strict' | 'open' | 'signedUrl', StrictProvider> = {} as never;
const fixtures: LoginFixture[] = [];
beforeAll(async () => {
  const tls = { ...authority.issue({ name: 'server', hosts: SERVER_NAMES }), ca: authority.ca.cert };
  const requestObjects = { enabled: true, requireSignedRequestObject: true };
  servers.strict = await startStrictProvider(clients, tls, { requestObjects });
  servers.open = await startStrictProvider(clients, tls, { requestObjects: { enabled: true } });
  servers.signedUrl = await startStrictProvider(clients, tls, {
    requestObjects,
    pushedAuthorizationRequests: { enabled: false },
  });
});
afterAll(async () => {
  for (const server of Object.values(servers)) await server.close();
});
beforeEach(() => {
  for (const { events, pushed } of Object.values(servers)) {
    events.length = 0;
    pushed.length = 0;
  }
});
afterEach(async () => {
  await Promise.all(fixtures.splice(0).map((fixture) => fixture.close()));
});

type Fields = Readonly<Record<string, string | string[] | undefined>>;

/** The fields of a profile of one of the servers. */
function fieldsAt(issuer: string, fields: Fields, options: Readonly<Record<string, string>>) {
  const endpoints = { authorization_url: `${issuer}/auth`, device_authorization_url: `${issuer}/device/auth` };
  const common = { ca_file: authority.caFile, ...endpoints };
  return { type: 'custom', url: `${issuer}/token`, ...fields, options: { ...common, ...options } };
}

/** A profile of one of the servers, with a store of its own. */
function profileAt(
  { issuer }: StrictProvider,
  fields: Fields,
  options: Readonly<Record<string, string>>,
): LoginFixture {
  const client = createClient({ environment: { env: {}, cwd: '/' }, store: 'memory' });
  const variables = variablesWith('svc', fieldsAt(issuer, fields, options));
  const fixture = new LoginFixture('svc', variables, client, undefined);
  fixtures.push(fixture);
  return fixture;
}

const scope = 'openid offline_access read';

/** Opens the page of the login. The server signs in, consents and redirects. */
async function open(url: string): Promise<void> {
  const { url: redirect } = await new Browser(authority.ca.cert).visit(url);
  await new Browser().visit(redirect);
}

describe('an oidc-provider that requires nonces in proofs and pushed requests', () => {
  it.each([
    ['strict', 'app', key, {}],
    ['open', 'app', { ...key, signed_request: 'true' }, {}],
    ['open', 'tool', { dpop: 'true' }, {}],
    [
      'open',
      'secret',
      { dpop: 'true', client_auth: 'client_secret_basic' },
      { client_secret: 'the secret: of the app' },
    ],
  ] as const)(
    '(%s) accepts a login with a browser and rotations of %s with %j',
    async (name, client_id, options, fields) => {
      const server = servers[name];
      const svc = profileAt(server, { client_id, scope, prompt: 'consent', ...fields }, options);
      await svc.loginWithBrowser(open);
      expect(svc.shown).toHaveLength(1);
      expect([...new URL(svc.shown[0] ?? '').searchParams.keys()]).toEqual(['client_id', 'request_uri']);
      const first = await svc.token();
      expect(first).toMatchObject({ fromCache: true, response: { token_type: 'DPoP' } });
      const second = await svc.token(true);
      const third = await svc.token(true);
      expect(new Set([first.token, second.token, third.token]).size).toBe(3);
      // The nonce of the pushed request is used for all others.
      expect(server.events).toEqual([
        'pushed use_dpop_nonce',
        'pushed',
        'authorization_code',
        'refresh_token',
        'refresh_token',
      ]);
    },
  );

  it('accepts a signed request in the URL where it has no endpoint for pushed requests', async () => {
    const svc = profileAt(servers.signedUrl, { client_id: 'app', scope, prompt: 'consent' }, key);
    await svc.loginWithBrowser(open);
    const { searchParams } = new URL(svc.shown[0] ?? '');
    expect([...searchParams.keys()]).toEqual(['scope', 'response_type', 'client_id', 'request']);
    expect(decodeJwt(searchParams.get('request') ?? '')).toMatchObject({
      aud: servers.signedUrl.issuer,
      scope,
      prompt: 'consent',
    });
    expect(await svc.token(true)).toMatchObject({ response: { token_type: 'DPoP' } });
  });

  it('rejects a login without a key to sign with before anything is sent', async () => {
    const svc = profileAt(servers.strict, { client_id: 'tool', scope }, { dpop: 'true' });
    await expect(svc.loginWithBrowser(open)).rejects.toMatchObject({ code: 'profile_invalid' });
    expect(servers.strict.events).toEqual([]);
  });

  it('accepts a login with a device code and a refresh', async () => {
    const svc = profileAt(servers.open, { client_id: 'tool', scope }, { dpop: 'true' });
    let approve = (): void => {};
    const approved = new Promise<void>((resolve) => {
      approve = resolve;
    });
    const prompt = {
      showCode: async ({ verificationUriComplete = '' }) => {
        const user = new Browser(authority.ca.cert);
        await user.submit(await user.submit(await user.visit(verificationUriComplete)));
        approve();
      },
      showWaiting: () => {},
    };
    const clock = { ...svc.client.ports.clock, sleep: () => approved };
    await svc.loginWithDevice(prompt, { ports: { clock } });
    expect(await svc.token(true)).toMatchObject({ response: { token_type: 'DPoP' } });
    expect(servers.open.events).toEqual(['use_dpop_nonce', DEVICE, 'refresh_token']);
  });

  it('issues tokens for the resource of the login', async () => {
    const fields = { client_id: 'app', scope, prompt: 'consent', resource: RESOURCES[1] };
    const svc = profileAt(servers.strict, fields, key);
    await svc.loginWithBrowser(open);
    const { token } = await svc.token(true);
    expect(await servers.strict.provider.AccessToken.find(token)).toMatchObject({ aud: RESOURCES[1], scope: 'read' });
  });

  it('receives several resources, and rejects a token for all of them', async () => {
    const svc = profileAt(servers.strict, { client_id: 'app', scope, prompt: 'consent', resource: RESOURCES }, key);
    await expect(svc.loginWithBrowser(open)).rejects.toMatchObject({ provider: { error: 'invalid_target' } });
    expect(servers.strict.events).toEqual(expect.arrayContaining(['pushed', 'invalid_target']));
    expect(servers.strict.pushed.at(-1)).toMatchObject({ resource: RESOURCES });
  });

  it('issues client_credentials tokens that are bound to a key, which is cached with the token', async () => {
    const svc = profileAt(servers.open, { client_id: 'robot', grant_type: 'client_credentials', scope: 'read' }, key);
    const get = () => getToken(svc.client, 'svc', { variables: svc.variables, reuse: true });
    const { token, profile, fromCache } = await get();
    expect({ type: token.tokenType, fromCache }).toEqual({ type: 'DPoP', fromCache: false });
    const cached = await get();
    expect(cached.fromCache).toBe(true);
    expect(cached.profile.dpopKey?.reveal()).toBe(profile.dpopKey?.reveal());
    expect(servers.open.events).toEqual(['use_dpop_nonce', 'client_credentials']);
  });

  it.each([
    ['mtls', 'tls_client_auth'],
    ['self-signed', 'self_signed_tls_client_auth'],
  ])('issues a token to %s that is bound to the certificate of %s', async (client_id, client_auth) => {
    const fields = { client_id, grant_type: 'client_credentials', scope: 'read', resource: RESOURCES[0] };
    const svc = profileAt(servers.open, fields, { ...certificate, client_auth });
    const { token } = await svc.token();
    expect(servers.open.events).toEqual(['client_credentials']);
    const { 'x5t#S256': thumbprint } = (await servers.open.provider.ClientCredentials.find(token)) ?? {};
    expect(thumbprint).toBe(createHash('sha256').update(new X509Certificate(robot.cert).raw).digest('base64url'));
  });

  it('accepts a login and rotations with a certificate', async () => {
    const svc = profileAt(servers.open, { client_id: 'mtls-app', scope, prompt: 'consent' }, certificate);
    await svc.loginWithBrowser(open);
    await svc.token(true);
    expect(servers.open.events).toEqual(['pushed', 'authorization_code', 'refresh_token']);
  });

  it('accepts requests to its API with the token and a proof', async () => {
    const { issuer } = servers.open;
    const { source } = await logInAt(servers.open);
    const response = await source.fetch(`${issuer}/me?fields=sub`, { method: 'POST' });
    expect({ status: response.status, body: await response.json() }).toEqual({ status: 200, body: { sub: ACCOUNT } });
    // Without a proof, the API rejects the token.
    const headers = { authorization: `DPoP ${await source.getAccessToken()}` };
    expect((await new Browser(authority.ca.cert).visit(`${issuer}/me`, undefined, headers)).status).toBe(400);
  });

  const claims = JSON.stringify({ id_token: { acr: { value: 'urn:example:mfa' } } });
  it.each([
    [
      'DPoP error="insufficient_user_authentication", acr_values="urn:example:mfa", max_age=60',
      { acr_values: 'urn:example:mfa', max_age: '60' },
    ],
    [`Bearer realm="", error="insufficient_claims", claims="${btoa(claims)}"`, { claims }],
  ])('gets the login that an API requires with %s', async (header, expected) => {
    const { issuer, pushed } = servers.open;
    const { svc, source } = await logInAt(servers.open);
    servers.open.apiChallenge = header;
    await expect(source.fetch(`${issuer}/api`)).rejects.toMatchObject({
      code: 'login_required',
      hint: 'run: oauth-profile login svc',
    });
    await svc.loginWithBrowser(open);
    expect(pushed.at(-1)).toMatchObject(expected);
    await svc.loginWithBrowser(open);
    for (const name of Object.keys(expected)) expect(pushed.at(-1)).not.toHaveProperty(name);
  });
});

/** Logs in, and creates a token source with the same store. */
async function logInAt({ issuer }: StrictProvider) {
  const profile = fieldsAt(issuer, { client_id: 'tool', scope, prompt: 'consent' }, { dpop: 'true' });
  const svc = new LoginFixture('svc', variablesWith('svc', profile), sharedClient({ store: 'memory' }), undefined);
  await svc.loginWithBrowser(open);
  return { svc, source: createTokenSource('svc', { data: { svc: profile }, store: 'memory', origins: [issuer] }) };
}
