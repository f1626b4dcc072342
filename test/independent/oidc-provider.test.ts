import { createHash, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Browser } from '../support/browser.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { Sandbox } from '../support/cli.ts';
import { request, requestError } from '../support/client.ts';
import { leaksIn } from '../support/leaks.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const REDIRECT = 'https://app.example.test/callback';
/** Every character that a client secret may have (RFC 6749 Appendix A.2). */
const EVERY_CHARACTER = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
/** Those of them that form decoding does not change. */
const LITERAL_CHARACTERS = EVERY_CHARACTER.replace(/[%+]/g, '');
const ODD = { id: 'odd id/+~:%', secret: 'p@ss w/+~:%' };

const authority = new Authority();
const tls = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const spareRsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const otherEc = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const publicJwk = (key: KeyObject, members: object = {}) => ({ ...key.export({ format: 'jwk' }), ...members });
const privateJwk = (key: KeyObject, members: object = {}) =>
  JSON.stringify({ ...key.export({ format: 'jwk' }), ...members });

/** A client without users. */
const machine = (client_id: string, client_secret: string, more: Partial<ClientMetadata> = {}): ClientMetadata => ({
  client_id,
  client_secret,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
  ...more,
});
/** A client with users. */
const web = (client_id: string, more: Partial<ClientMetadata>): ClientMetadata => ({
  client_id,
  grant_types: ['authorization_code', 'refresh_token', DEVICE],
  redirect_uris: [REDIRECT],
  ...more,
});
const signer = (client_id: string, keys: object[], alg: 'RS256' | 'ES256' | 'PS256'): ClientMetadata => ({
  client_id,
  token_endpoint_auth_method: 'private_key_jwt',
  token_endpoint_auth_signing_alg: alg,
  jwks: { keys },
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
});

const clients: ClientMetadata[] = [
  machine('robot', 'robot-secret', { token_endpoint_auth_method: 'client_secret_basic', scope: 'read' }),
  machine('poster', 'poster-secret', { token_endpoint_auth_method: 'client_secret_post' }),
  machine(ODD.id, ODD.secret),
  machine('every', EVERY_CHARACTER),
  machine('literal', LITERAL_CHARACTERS),
  machine('plus', 'plus+secret'),
  machine('hmac', EVERY_CHARACTER, { token_endpoint_auth_method: 'client_secret_jwt' }),
  signer('rs256', [publicJwk(rsa.publicKey, { kid: 'one' }), publicJwk(spareRsa.publicKey, { kid: 'two' })], 'RS256'),
  signer('ps256', [publicJwk(rsa.publicKey)], 'PS256'),
  signer('es256', [publicJwk(ec.publicKey)], 'ES256'),
  web('web', { client_secret: 'web-secret' }),
  web('other', { client_secret: 'other-secret' }),
  web('app', { token_endpoint_auth_method: 'none', application_type: 'native' }),
];

let server: OidcProvider;
beforeAll(async () => {
  server = await startOidcProvider(clients, tls);
});
afterAll(() => server.close());
afterEach(() => {
  vi.useRealTimers();
});

/** Advances the clock of the server, which has no timers. */
function passSeconds(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

type Fields = Record<string, string | Record<string, string>>;

/** A profile of this server. */
function profile(fields: Fields, options: Record<string, string> = {}): Fields {
  return { type: 'custom', url: server.tokenUrl, ...fields, options: { ca_file: authority.caFile, ...options } };
}

const secretOf = (client: string): Fields => ({ client_id: client, client_secret: `${client}-secret` });

describe('oidc-provider', () => {
  it.each([
    ['client_secret_basic', 'robot', 'client_secret_basic'],
    ['basic.user and basic.password', 'robot', 'pair'],
    ['client_secret_post', 'poster', 'client_secret_post'],
    ['client_secret_post by default', 'poster', 'default'],
  ])('gives a client_credentials token to a client with %s', async (_, client, how) => {
    const fields: Fields =
      how === 'pair' ? { 'basic.user': client, 'basic.password': `${client}-secret` } : secretOf(client);
    const options: Record<string, string> = how.startsWith('client_secret') ? { client_auth: how } : {};
    const token = await request(profile({ grant_type: 'client_credentials', scope: 'read', ...fields }, options));
    expect(token).toEqual({
      access_token: expect.stringMatching(/^[\w-]{43}$/),
      expires_in: 600,
      scope: 'read',
      token_type: 'Bearer',
    });
  });

  it('is not trusted without options.ca_file', async () => {
    const fields = { type: 'custom', url: server.tokenUrl, grant_type: 'client_credentials', ...secretOf('robot') };
    await expect(request(fields)).rejects.toMatchObject({ code: 'tls_failed' });
  });

  it.each([
    ['okta', 'robot', { grant_type: 'client_credentials' }],
    ['twitter', 'robot', {}],
    ['gitlab', 'poster', { grant_type: 'client_credentials' }],
    ['microsoft', 'poster', { grant_type: 'client_credentials' }],
  ])('gives a token to a profile of type %s whose url is set', async (type, client, fields) => {
    const token = await request(profile({ ...secretOf(client), ...fields, type }));
    expect(token).toMatchObject({ token_type: 'Bearer', access_token: expect.any(String) });
  });
});

describe('oidc-provider and secrets with special characters:', () => {
  it.each([
    ['client_secret_post', ODD.id, ODD.secret],
    ['client_secret_basic', ODD.id, ODD.secret],
    ['client_secret_post', 'every', EVERY_CHARACTER],
    ['client_secret_basic', 'every', EVERY_CHARACTER],
    ['client_secret_basic_raw', 'robot', 'robot-secret'],
    ['client_secret_basic_raw', 'literal', LITERAL_CHARACTERS],
  ])('client_auth %s works for the client %s', async (client_auth, client_id, client_secret) => {
    const fields = { grant_type: 'client_credentials', client_id, client_secret };
    expect(await request(profile(fields, { client_auth }))).toMatchObject({ token_type: 'Bearer' });
  });

  it.each([
    ['a percent sign that is not an escape', 'every', EVERY_CHARACTER, 400, 'invalid_request', /not properly encoded/],
    ['a plus, which means a space', 'plus', 'plus+secret', 401, 'invalid_client', /authentication failed/],
  ])(
    'client_auth client_secret_basic_raw does not work for %s, because the header is decoded',
    async (_, client_id, client_secret, status, error, description) => {
      const fields = { grant_type: 'client_credentials', client_id, client_secret };
      const { code, provider } = await requestError(profile(fields, { client_auth: 'client_secret_basic_raw' }));
      expect({ code, provider }).toMatchObject({
        code: 'provider_rejected',
        provider: { status, error, description: expect.stringMatching(description) },
      });
    },
  );

  it.each([
    ['client_secret_basic', 400, 'invalid_request'],
    ['client_secret_post', 401, 'invalid_client'],
  ])(
    'client_auth %s gets an error response for a non-ASCII character, which no secret can have',
    async (client_auth, status, errorCode) => {
      const fields = { grant_type: 'client_credentials', client_id: 'robot', client_secret: 'p@ss w/+~:%é' };
      const error = await requestError(profile(fields, { client_auth }));
      expect(error).toMatchObject({ code: 'provider_rejected', provider: { status, error: errorCode } });
    },
  );
});

describe('oidc-provider with client_secret_jwt', () => {
  const sign = (client_secret: string): Fields =>
    profile(
      { grant_type: 'client_credentials', client_id: 'hmac', client_secret },
      { client_auth: 'client_secret_jwt' },
    );

  it('accepts an assertion that is signed with the secret', async () => {
    expect(await request(sign(EVERY_CHARACTER))).toMatchObject({ token_type: 'Bearer' });
  });

  it('rejects an assertion that is signed with another secret, and the hint names the secret', async () => {
    expect(await requestError(sign(`${EVERY_CHARACTER}!`))).toMatchObject({
      code: 'provider_rejected',
      hint: expect.stringContaining('acme.client_secret'),
      provider: { status: 401, error: 'invalid_client' },
    });
  });
});

describe('oidc-provider with private_key_jwt', () => {
  const sign = (client_id: string, key: string, options: Record<string, string> = {}): Fields => {
    const key_file = authority.file(`key-${randomBytes(6).toString('hex')}`, key);
    return profile(
      { grant_type: 'client_credentials', client_id },
      { client_auth: 'private_key_jwt', key_file, ...options },
    );
  };

  it.each([
    ['RS256, PKCS #8', 'rs256', rsa.privateKey.export({ format: 'pem', type: 'pkcs8' })],
    ['RS256, PKCS #1', 'rs256', rsa.privateKey.export({ format: 'pem', type: 'pkcs1' })],
    ['RS256, JWK', 'rs256', privateJwk(rsa.privateKey)],
    ['RS256, JWK with its kid', 'rs256', privateJwk(spareRsa.privateKey, { kid: 'two', alg: 'RS256' })],
    ['PS256, JWK with its alg', 'ps256', privateJwk(rsa.privateKey, { alg: 'PS256' })],
    ['ES256, PKCS #8', 'es256', ec.privateKey.export({ format: 'pem', type: 'pkcs8' })],
    ['ES256, SEC 1', 'es256', ec.privateKey.export({ format: 'pem', type: 'sec1' })],
    ['ES256, JWK', 'es256', privateJwk(ec.privateKey)],
  ])('accepts a signature with %s', async (_, client, key) => {
    expect(await request(sign(client, String(key)))).toMatchObject({ token_type: 'Bearer' });
  });

  it('accepts each assertion once, and every request has a new one', async () => {
    const fields = sign('es256', privateJwk(ec.privateKey));
    const [one, two] = [await request(fields), await request(fields)];
    expect(one['access_token']).not.toBe(two['access_token']);
  });

  it('accepts the issuer as options.audience and rejects another audience', async () => {
    const key = privateJwk(ec.privateKey);
    expect(await request(sign('es256', key, { audience: server.issuer }))).toMatchObject({ token_type: 'Bearer' });
    const error = await requestError(sign('es256', key, { audience: 'https://elsewhere.example.test' }));
    expect(error).toMatchObject({ code: 'provider_rejected', provider: { status: 401, error: 'invalid_client' } });
  });

  it('finds the key by options.key_id', async () => {
    const key = privateJwk(spareRsa.privateKey);
    expect(await request(sign('rs256', key, { key_id: 'two' }))).toMatchObject({ token_type: 'Bearer' });
    expect((await requestError(sign('rs256', key, { key_id: 'one' }))).provider.error).toBe('invalid_client');
  });

  it.each([
    ['a key that is not registered', 'es256', otherEc.privateKey],
    ['an algorithm that is not registered', 'ps256', rsa.privateKey],
    ['a client that is not registered', 'es512', ec.privateKey],
  ])('rejects %s, and the hint names the key file', async (_, client, key) => {
    const error = await requestError(sign(client, privateJwk(key)));
    expect(error).toMatchObject({
      code: 'provider_rejected',
      hint: expect.stringContaining('acme.options.key_file'),
      provider: { status: 401, error: 'invalid_client', description: 'client authentication failed' },
    });
  });
});

/** Signs the user in at the pages of the server and returns the code. */
async function signIn(client: string, verifier: string, scope = 'openid offline_access read'): Promise<string> {
  const query = new URLSearchParams({
    client_id: client,
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope,
    prompt: 'consent',
    state: 'st&te',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const { url } = await new Browser(authority.ca.cert).visit(`${server.issuer}/auth?${query}`);
  const back = new URL(url);
  expect(back.origin + back.pathname).toBe(REDIRECT);
  expect(back.searchParams.get('state')).toBe('st&te');
  return back.searchParams.get('code') ?? expect.fail(url);
}

const newVerifier = (): string => randomBytes(32).toString('base64url');

/** The fields of an exchange that succeeds, once. */
async function exchange(client: string, scope?: string): Promise<Fields> {
  const code_verifier = newVerifier();
  const code = await signIn(client, code_verifier, scope);
  return { ...secretOf(client), grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier };
}

/** The first refresh token of a login. */
async function firstRefreshToken(client = 'web', client_auth = 'client_secret_basic'): Promise<string> {
  const { refresh_token } = await request(profile(await exchange(client), { client_auth }));
  return String(refresh_token);
}

const invalidGrant = { status: 400, error: 'invalid_grant', description: 'grant request is invalid' };

describe('oidc-provider with an authorization code', () => {
  it.each([
    ['in a header', 'web', 'client_secret_basic'],
    ['in the body', 'web', 'client_secret_post'],
    ['not at all', 'app', 'none'],
  ])('exchanges it with its verifier for a client that authenticates %s', async (_, client, client_auth) => {
    const token = await request(profile(await exchange(client), { client_auth }));
    expect(token).toEqual({
      access_token: expect.any(String),
      expires_in: 3600,
      id_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refresh_token: expect.any(String),
      scope: 'openid offline_access read',
      token_type: 'Bearer',
    });
  });

  it.each([
    ['the verifier is another one', { code_verifier: newVerifier() }],
    ['the redirect is another one', { redirect_uri: `${REDIRECT}/` }],
    ['the code is another one', { code: 'A'.repeat(43) }],
    ['the code is of another client', secretOf('other')],
  ])('rejects it if %s', async (_, changed) => {
    const error = await requestError(profile({ ...(await exchange('web')), ...changed }));
    expect(error).toMatchObject({
      code: 'provider_rejected',
      hint: expect.stringContaining('acme.code'),
      provider: invalidGrant,
    });
  });

  it('rejects it without its verifier', async () => {
    const { code_verifier, ...fields } = await exchange('web');
    expect(code_verifier).toBeTypeOf('string');
    expect(await requestError(profile(fields))).toMatchObject({ code: 'provider_rejected', provider: invalidGrant });
  });

  it('rejects it if it has expired', async () => {
    const fields = profile(await exchange('web'));
    passSeconds(61);
    expect(await requestError(fields)).toMatchObject({ code: 'provider_rejected', provider: invalidGrant });
  });

  it('rejects its second use and revokes the refresh token of the first', async () => {
    const fields = profile(await exchange('web'));
    const { refresh_token } = await request(fields);
    expect(await requestError(fields)).toMatchObject({ code: 'provider_rejected', provider: invalidGrant });
    const refresh = { grant_type: 'refresh_token', ...secretOf('web'), refresh_token: String(refresh_token) };
    expect(await requestError(profile(refresh))).toMatchObject({ code: 'login_required', provider: invalidGrant });
  });
});

describe('oidc-provider with rotating refresh tokens', () => {
  const refresh = (refresh_token: string, more: Fields = {}): Fields =>
    profile(
      { grant_type: 'refresh_token', ...secretOf('web'), refresh_token, ...more },
      { client_auth: 'client_secret_basic' },
    );

  it('returns a new refresh token each time', async () => {
    const tokens = [await firstRefreshToken()];
    for (const round of [1, 2, 3]) {
      const token = await request(refresh(tokens.at(-1) ?? ''));
      expect(token, `round ${round}`).toMatchObject({ token_type: 'Bearer', refresh_token: expect.any(String) });
      tokens.push(String(token['refresh_token']));
    }
    expect(new Set(tokens).size).toBe(4);
  });

  it('requires a login after a refresh token is used twice, which revokes the new one too', async () => {
    const old = await firstRefreshToken();
    const { refresh_token: renewed } = await request(refresh(old));
    const hint = expect.stringContaining('acme.refresh_token');
    expect(await requestError(refresh(old))).toMatchObject({ code: 'login_required', hint, provider: invalidGrant });
    expect(await requestError(refresh(String(renewed)))).toMatchObject({
      code: 'login_required',
      provider: invalidGrant,
    });
  });

  it('accepts a client without a secret', async () => {
    const token = await firstRefreshToken('app', 'none');
    const fields = { grant_type: 'refresh_token', client_id: 'app', refresh_token: token };
    expect(await request(profile(fields))).toMatchObject({ refresh_token: expect.any(String) });
  });

  it.each(['okta', 'google', 'gitlab', 'microsoft', 'microsoft-refresh'])(
    'accepts a profile of type %s whose url is set',
    async (type) => {
      const refresh_token = await firstRefreshToken();
      const token = await request(profile({ ...secretOf('web'), refresh_token, type }));
      expect(token).toMatchObject({ token_type: 'Bearer', refresh_token: expect.any(String) });
      expect(token['refresh_token']).not.toBe(refresh_token);
    },
  );

  it('accepts a narrower scope and rejects a wider one', async () => {
    const old = await firstRefreshToken();
    const narrowed = await request(refresh(old, { scope: 'openid read' }));
    expect(narrowed).toMatchObject({ scope: 'openid read' });
    expect(await requestError(refresh(String(narrowed['refresh_token']), { scope: 'openid write' }))).toMatchObject({
      code: 'provider_rejected',
      hint: expect.stringContaining('acme.scope'),
      provider: { status: 400, error: 'invalid_scope', description: 'refresh token missing requested scope' },
    });
  });

  it('requires a login if the refresh token is unknown, expired or of another client', async () => {
    expect(await requestError(refresh('A'.repeat(43)))).toMatchObject({
      code: 'login_required',
      provider: invalidGrant,
    });
    const token = await firstRefreshToken();
    expect(await requestError(refresh(token, secretOf('other')))).toMatchObject({
      code: 'login_required',
      provider: invalidGrant,
    });
    passSeconds(86_401);
    expect(await requestError(refresh(token))).toMatchObject({ code: 'login_required', provider: invalidGrant });
  });

  it('does not require a login after a request with a wrong client secret', async () => {
    const token = await firstRefreshToken();
    expect(await requestError(refresh(token, { client_secret: 'wrong-secret' }))).toMatchObject({
      code: 'provider_rejected',
      provider: { status: 401, error: 'invalid_client' },
    });
    expect(await request(refresh(token))).toMatchObject({ token_type: 'Bearer' });
  });
});

describe('oidc-provider with a device code', () => {
  const browser = (): Browser => new Browser(authority.ca.cert);

  async function newDevice(): Promise<{ device_code: string; verification_uri_complete: string }> {
    const form = { client_id: 'web', client_secret: 'web-secret', scope: 'openid offline_access', prompt: 'consent' };
    const { status, text } = await browser().visit(`${server.issuer}/device/auth`, form);
    expect(status, text).toBe(200);
    return JSON.parse(text);
  }
  const poll = (device_code: string): Fields => profile({ grant_type: DEVICE, ...secretOf('web'), device_code });

  it('reports that the user has not decided yet, then returns tokens once', async () => {
    const { device_code, verification_uri_complete } = await newDevice();
    expect(await requestError(poll(device_code))).toMatchObject({
      code: 'provider_rejected',
      provider: {
        status: 400,
        error: 'authorization_pending',
        description: expect.stringContaining('authorization request is still pending'),
      },
    });
    const user = browser();
    const confirm = await user.submit(await user.visit(verification_uri_complete));
    expect((await user.submit(confirm)).text).toBe('signed in');
    expect(await request(poll(device_code))).toMatchObject({ token_type: 'Bearer', refresh_token: expect.any(String) });
    expect(await requestError(poll(device_code))).toMatchObject({ code: 'provider_rejected', provider: invalidGrant });
  });

  it('reports that the user denied access', async () => {
    const { device_code, verification_uri_complete } = await newDevice();
    const user = browser();
    await user.submit(await user.visit(verification_uri_complete), { abort: 'yes' });
    expect(await requestError(poll(device_code))).toMatchObject({
      code: 'provider_rejected',
      provider: { status: 400, error: 'access_denied', description: 'End-User aborted interaction' },
    });
  });

  it('reports that the code is unknown or expired', async () => {
    expect(await requestError(poll('A'.repeat(43)))).toMatchObject({
      code: 'provider_rejected',
      provider: invalidGrant,
    });
    const { device_code } = await newDevice();
    passSeconds(601);
    expect(await requestError(poll(device_code))).toMatchObject({
      code: 'provider_rejected',
      provider: { status: 400, error: 'expired_token', description: 'device code is expired' },
    });
  });
});

describe('error responses of oidc-provider', () => {
  const good = { grant_type: 'client_credentials', ...secretOf('robot') };
  it.each<[string, Fields, Record<string, string>, number, string, RegExp, RegExp | undefined]>([
    [
      'a wrong secret in a header',
      { ...good, client_secret: 'wrong-secret' },
      { client_auth: 'client_secret_basic' },
      401,
      'invalid_client',
      /^client authentication failed$/,
      /acme\.client_id and acme\.client_secret/,
    ],
    [
      'a wrong secret in the body',
      { ...good, client_secret: 'wrong-secret' },
      {},
      401,
      'invalid_client',
      /^client authentication failed$/,
      /acme\.client_secret/,
    ],
    [
      'a wrong secret in basic.password',
      { grant_type: 'client_credentials', 'basic.user': 'robot', 'basic.password': 'wrong-secret' },
      {},
      401,
      'invalid_client',
      /^client authentication failed$/,
      /acme\.basic\.user and acme\.basic\.password/,
    ],
    [
      'an unknown client',
      { ...good, client_id: 'unknown-client' },
      {},
      401,
      'invalid_client',
      /^client authentication failed$/,
      /acme\.client_id/,
    ],
    [
      'no secret',
      { grant_type: 'client_credentials', client_id: 'robot' },
      {},
      401,
      'invalid_client',
      /^client authentication failed$/,
      /acme\.client_secret/,
    ],
    [
      'no client',
      { grant_type: 'client_credentials' },
      {},
      400,
      'invalid_request',
      /^no client authentication mechanism provided$/,
      undefined,
    ],
    [
      'a scope that the client may not have',
      { ...good, scope: 'read write' },
      {},
      400,
      'invalid_scope',
      /^requested scope is not allowed$/,
      /acme\.scope/,
    ],
    [
      'a malformed scope',
      { ...good, scope: 'read "write"' },
      {},
      400,
      'invalid_scope',
      /^scope contains invalid characters$/,
      /acme\.scope/,
    ],
    [
      'an unsupported grant',
      { ...good, grant_type: 'password', username: 'ada', password: 'lovelace' },
      {},
      400,
      'unsupported_grant_type',
      /^unsupported grant_type requested$/,
      /acme\.grant_type/,
    ],
    [
      'a grant that the client may not use',
      { ...good, grant_type: 'refresh_token', refresh_token: 'whatever' },
      {},
      400,
      'invalid_request',
      /^requested grant type is not allowed for this client$/,
      undefined,
    ],
    ['no grant', secretOf('robot'), {}, 400, 'invalid_request', /^missing required parameter 'grant_type'$/, undefined],
    [
      'no refresh token',
      { ...secretOf('web'), grant_type: 'refresh_token' },
      {},
      400,
      'invalid_request',
      /^missing required parameter 'refresh_token'$/,
      undefined,
    ],
  ])('name the cause and the variable for %s', async (_, fields, options, status, errorCode, description, hint) => {
    const error = await requestError(profile(fields, options));
    // Some servers reject an expired refresh token with invalid_request.
    const mayHaveEnded = errorCode === 'invalid_request' && 'grant_type' in fields;
    expect(error).toMatchObject({
      code: mayHaveEnded && fields.grant_type === 'refresh_token' ? 'login_required' : 'provider_rejected',
      provider: { status, error: errorCode, description: expect.stringMatching(description) },
    });
    if (hint !== undefined) expect(error.hint).toMatch(hint);
  });

  it('are reported for a URL without an endpoint', async () => {
    const error = await requestError({ ...profile(good), url: `${server.issuer}/tokens` });
    expect(error).toMatchObject({ code: 'provider_rejected', provider: { status: 404 } });
  });
});

describe('oidc-provider without TLS on this machine', () => {
  it('gives tokens and refreshes them', async () => {
    const plain = await startOidcProvider(clients);
    try {
      const verifier = newVerifier();
      const query = new URLSearchParams({
        client_id: 'web',
        response_type: 'code',
        redirect_uri: REDIRECT,
        scope: 'openid offline_access',
        prompt: 'consent',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      });
      const { url } = await new Browser().visit(`${plain.issuer}/auth?${query}`);
      const code = new URL(url).searchParams.get('code') ?? '';
      const base = {
        type: 'custom',
        url: plain.tokenUrl,
        ...secretOf('web'),
        'options.client_auth': 'client_secret_basic',
      };
      const redeem = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier };
      const { refresh_token } = await request({ ...base, ...redeem });
      const refresh = { grant_type: 'refresh_token', refresh_token: String(refresh_token) };
      expect(await request({ ...base, ...refresh })).toMatchObject({ token_type: 'Bearer' });
      expect((await requestError({ ...base, ...refresh })).code).toBe('login_required');
    } finally {
      await plain.close();
    }
  });
});

describe('the command line with oidc-provider', () => {
  const sandbox = new Sandbox();
  afterAll(() => sandbox.remove());

  const run = async (fields: Record<string, string>, line = 'oauth-profile token acme') => {
    const data = { acme: { type: 'custom', url: server.tokenUrl, 'options.ca_file': authority.caFile, ...fields } };
    sandbox.write('acme.json', JSON.stringify(data));
    const finished = await sandbox.run(`${line} --data acme.json`);
    const secrets = [fields['client_secret'], fields['refresh_token']].filter((secret) => secret !== undefined);
    expect(leaksIn(finished.stdout + finished.stderr, secrets)).toEqual([]);
    return finished;
  };

  it('prints a token for a secret with special characters', async () => {
    const fields = { grant_type: 'client_credentials', client_id: ODD.id, client_secret: ODD.secret };
    const { stdout, stderr, exit } = await run({ ...fields, 'options.client_auth': 'client_secret_basic' });
    expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
    expect(stdout).toMatch(/^[\w-]{43}\n$/);
  });

  it('finds the newest refresh token, and another machine with the old one requires a login', async () => {
    const refresh_token = await firstRefreshToken();
    const fields = { grant_type: 'refresh_token', client_id: 'web', client_secret: 'web-secret', refresh_token };
    for (let call = 0; call < 3; call++) {
      const finished = await run(fields, 'oauth-profile token acme --force-refresh --field token_type');
      expect(finished).toEqual({ stdout: 'Bearer\n', stderr: '', exit: 0 });
    }
    const otherMachine = await run(fields, 'OAUTH_PROFILE_HOME=$PWD/other oauth-profile token acme');
    expect(otherMachine).toMatchObject({ stdout: '', exit: 5 });
    expect(otherMachine.stderr).toContain('invalid_grant: grant request is invalid');
    expect(otherMachine.stderr).toContain('acme.refresh_token');
  });

  it('exits with 3 and prints the error description if the secret is wrong', async () => {
    const fields = { grant_type: 'client_credentials', client_id: 'robot', client_secret: 'wrong-secret' };
    const { stdout, stderr, exit } = await run(fields);
    expect({ stdout, exit }).toEqual({ stdout: '', exit: 3 });
    expect(stderr).toContain('invalid_client: client authentication failed');
  });
});
