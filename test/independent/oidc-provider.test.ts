import { createHash, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { ask, refusalOf } from '../support/independent-asking.ts';
import { Browser } from '../support/independent-browser.ts';
import { type OidcProvider, startOidcProvider } from '../support/independent-oidc-provider.ts';
import { leaksIn } from '../support/leaks.ts';
import { Sandbox } from '../support/run-cli.ts';

const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const REDIRECT = 'https://app.example.test/callback';
/** Every character that a client secret may have (RFC 6749 Appendix A.2). */
const EVERY_CHARACTER = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');
/** Those of them that mean themselves in a form. */
const LITERAL_CHARACTERS = EVERY_CHARACTER.replace(/[%+]/g, '');
const ODD = { id: 'odd id/+~:%', secret: 'p@ss w/+~:%' };

const authority = new Authority();
const tls = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const spareRsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const strangerEc = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const publicJwk = (key: KeyObject, members: object = {}) => ({ ...key.export({ format: 'jwk' }), ...members });
const privateJwk = (key: KeyObject, members: object = {}) =>
  JSON.stringify({ ...key.export({ format: 'jwk' }), ...members });

/** A client that needs no person. */
const machine = (client_id: string, client_secret: string, more: Partial<ClientMetadata> = {}): ClientMetadata => ({
  client_id,
  client_secret,
  grant_types: ['client_credentials'],
  redirect_uris: [],
  response_types: [],
  ...more,
});
/** A client that people sign in to. */
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

/** Lets time pass for the server, which has no timers. */
function passSeconds(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

type Fields = Record<string, string | Record<string, string>>;

/** A profile of this server. */
function profile(fields: Fields, options: Record<string, string> = {}): Fields {
  return { type: 'custom', url: server.tokenUrl, ...fields, options: { ca_file: authority.caFile, ...options } };
}

const secretOf = (client: string): Fields => ({ client_id: client, client_secret: `${client}-secret` });

describe('client_credentials', () => {
  it.each([
    ['client_secret_basic', 'robot', 'client_secret_basic'],
    ['client_secret_basic, named as basic.user and basic.password', 'robot', 'pair'],
    ['client_secret_post', 'poster', 'client_secret_post'],
    ['client_secret_post, as given', 'poster', 'as given'],
  ])('gives a token to a client with %s', async (_, client, how) => {
    const fields: Fields =
      how === 'pair' ? { 'basic.user': client, 'basic.password': `${client}-secret` } : secretOf(client);
    const options: Record<string, string> = how === 'client_secret_post' || how === 'basic' ? { client_auth: how } : {};
    const token = await ask(profile({ grant_type: 'client_credentials', scope: 'read', ...fields }, options));
    expect(token).toEqual({
      access_token: expect.stringMatching(/^[\w-]{43}$/),
      expires_in: 600,
      scope: 'read',
      token_type: 'Bearer',
    });
  });

  it('does not trust a server whose authority the profile does not name', async () => {
    const fields = { type: 'custom', url: server.tokenUrl, grant_type: 'client_credentials', ...secretOf('robot') };
    await expect(ask(fields)).rejects.toMatchObject({ code: 'tls_failed' });
  });

  it.each([
    ['okta', 'robot', { grant_type: 'client_credentials' }],
    ['twitter', 'robot', {}],
    ['gitlab', 'poster', { grant_type: 'client_credentials' }],
    ['microsoft', 'poster', { grant_type: 'client_credentials' }],
  ])('D8 gives a token to the type %s at an address of its own', async (type, client, fields) => {
    const token = await ask(profile({ ...secretOf(client), ...fields, type }));
    expect(token).toMatchObject({ token_type: 'Bearer', access_token: expect.any(String) });
  });
});

describe('D12 secrets with characters that mean something elsewhere', () => {
  it.each([
    ['client_secret_post', ODD.id, ODD.secret],
    ['client_secret_basic', ODD.id, ODD.secret],
    ['client_secret_post', 'every', EVERY_CHARACTER],
    ['client_secret_basic', 'every', EVERY_CHARACTER],
    ['client_secret_basic_raw', 'robot', 'robot-secret'],
    ['client_secret_basic_raw', 'literal', LITERAL_CHARACTERS],
  ])('client_auth %s reaches the client %s', async (client_auth, client_id, client_secret) => {
    const fields = { grant_type: 'client_credentials', client_id, client_secret };
    expect(await ask(profile(fields, { client_auth }))).toMatchObject({ token_type: 'Bearer' });
  });

  it.each([
    ['a percent sign is no escape', 'every', EVERY_CHARACTER, 400, 'invalid_request', /not properly encoded/],
    ['a plus is read as a blank', 'plus', 'plus+secret', 401, 'invalid_client', /authentication failed/],
  ])(
    'client_auth basic_raw does not, as it is decoded: %s',
    async (_, client_id, client_secret, status, error, words) => {
      const fields = { grant_type: 'client_credentials', client_id, client_secret };
      const { code, provider } = await refusalOf(profile(fields, { client_auth: 'client_secret_basic_raw' }));
      expect({ code, provider }).toMatchObject({
        code: 'provider_rejected',
        provider: { status, error, description: expect.stringMatching(words) },
      });
    },
  );

  it.each([
    ['client_secret_basic', 400, 'invalid_request'],
    ['client_secret_post', 401, 'invalid_client'],
  ])(
    'client_auth %s brings letters beyond ASCII there, where no secret can have them',
    async (client_auth, status, error) => {
      const fields = { grant_type: 'client_credentials', client_id: 'robot', client_secret: 'p@ss w/+~:%é' };
      const refusal = await refusalOf(profile(fields, { client_auth }));
      expect(refusal).toMatchObject({ code: 'provider_rejected', provider: { status, error } });
    },
  );
});

describe('private_key_jwt', () => {
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
    ['PS256, JWK that says so', 'ps256', privateJwk(rsa.privateKey, { alg: 'PS256' })],
    ['ES256, PKCS #8', 'es256', ec.privateKey.export({ format: 'pem', type: 'pkcs8' })],
    ['ES256, SEC 1', 'es256', ec.privateKey.export({ format: 'pem', type: 'sec1' })],
    ['ES256, JWK', 'es256', privateJwk(ec.privateKey)],
  ])('signs with %s', async (_, client, key) => {
    expect(await ask(sign(client, String(key)))).toMatchObject({ token_type: 'Bearer' });
  });

  it('D18 signs a new assertion each time: the server takes none twice', async () => {
    const fields = sign('es256', privateJwk(ec.privateKey));
    const [one, two] = [await ask(fields), await ask(fields)];
    expect(one['access_token']).not.toBe(two['access_token']);
  });

  it('is meant for the token URL, or for the issuer that options.audience names', async () => {
    const key = privateJwk(ec.privateKey);
    expect(await ask(sign('es256', key, { audience: server.issuer }))).toMatchObject({ token_type: 'Bearer' });
    const refusal = await refusalOf(sign('es256', key, { audience: 'https://elsewhere.example.test' }));
    expect(refusal).toMatchObject({ code: 'provider_rejected', provider: { status: 401, error: 'invalid_client' } });
  });

  it('names the key that options.key_id says', async () => {
    const key = privateJwk(spareRsa.privateKey);
    expect(await ask(sign('rs256', key, { key_id: 'two' }))).toMatchObject({ token_type: 'Bearer' });
    expect((await refusalOf(sign('rs256', key, { key_id: 'one' }))).provider.error).toBe('invalid_client');
  });

  it.each([
    ['a key that is not registered', 'es256', strangerEc.privateKey],
    ['an algorithm that is not registered', 'ps256', rsa.privateKey],
    ['a client that is not registered', 'es512', ec.privateKey],
  ])('with %s is refused, and the key file is named', async (_, client, key) => {
    const refusal = await refusalOf(sign(client, privateJwk(key)));
    expect(refusal).toMatchObject({
      code: 'provider_rejected',
      hint: expect.stringContaining('acme.options.key_file'),
      provider: { status: 401, error: 'invalid_client', description: 'client authentication failed' },
    });
  });
});

/** Signs the person in on the pages of the server and brings the code back. */
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

/** The first refresh token of a sign-in. */
async function firstRefreshToken(client = 'web', client_auth = 'client_secret_basic'): Promise<string> {
  const { refresh_token } = await ask(profile(await exchange(client), { client_auth }));
  return String(refresh_token);
}

const dead = { status: 400, error: 'invalid_grant', description: 'grant request is invalid' };

describe('authorization_code', () => {
  it.each([
    ['in a header', 'web', 'client_secret_basic'],
    ['in the body', 'web', 'client_secret_post'],
    ['not at all', 'app', 'none'],
  ])('D7 exchanges a code with its verifier; the client authenticates %s', async (_, client, client_auth) => {
    const token = await ask(profile(await exchange(client), { client_auth }));
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
  ])('is refused when %s', async (_, changed) => {
    const refusal = await refusalOf(profile({ ...(await exchange('web')), ...changed }));
    expect(refusal).toMatchObject({
      code: 'provider_rejected',
      hint: expect.stringContaining('acme.code'),
      provider: dead,
    });
  });

  it('is refused without the verifier that the sign-in promised', async () => {
    const { code_verifier, ...fields } = await exchange('web');
    expect(code_verifier).toBeTypeOf('string');
    expect(await refusalOf(profile(fields))).toMatchObject({ code: 'provider_rejected', provider: dead });
  });

  it('is refused when the code has expired', async () => {
    const fields = profile(await exchange('web'));
    passSeconds(61);
    expect(await refusalOf(fields)).toMatchObject({ code: 'provider_rejected', provider: dead });
  });

  it('is refused the second time, and what the first brought is revoked', async () => {
    const fields = profile(await exchange('web'));
    const { refresh_token } = await ask(fields);
    expect(await refusalOf(fields)).toMatchObject({ code: 'provider_rejected', provider: dead });
    const refresh = { grant_type: 'refresh_token', ...secretOf('web'), refresh_token: String(refresh_token) };
    expect(await refusalOf(profile(refresh))).toMatchObject({ code: 'login_required', provider: dead });
  });
});

describe('refresh_token, rotating', () => {
  const refresh = (refresh_token: string, more: Fields = {}): Fields =>
    profile(
      { grant_type: 'refresh_token', ...secretOf('web'), refresh_token, ...more },
      { client_auth: 'client_secret_basic' },
    );

  it('brings a new refresh token each time', async () => {
    const tokens = [await firstRefreshToken()];
    for (const turn of [1, 2, 3]) {
      const token = await ask(refresh(tokens.at(-1) ?? ''));
      expect(token, `turn ${turn}`).toMatchObject({ token_type: 'Bearer', refresh_token: expect.any(String) });
      tokens.push(String(token['refresh_token']));
    }
    expect(new Set(tokens).size).toBe(4);
  });

  it('needs a person when an old one is used again: that revokes the new one too', async () => {
    const old = await firstRefreshToken();
    const { refresh_token: renewed } = await ask(refresh(old));
    const hint = expect.stringContaining('acme.refresh_token');
    expect(await refusalOf(refresh(old))).toMatchObject({ code: 'login_required', hint, provider: dead });
    expect(await refusalOf(refresh(String(renewed)))).toMatchObject({ code: 'login_required', provider: dead });
  });

  it('serves a client without a secret', async () => {
    const token = await firstRefreshToken('app', 'none');
    const fields = { grant_type: 'refresh_token', client_id: 'app', refresh_token: token };
    expect(await ask(profile(fields))).toMatchObject({ refresh_token: expect.any(String) });
  });

  it.each(['okta', 'google', 'gitlab', 'microsoft', 'microsoft-refresh'])(
    'D6 D8 is what the type %s asks for at an address of its own',
    async (type) => {
      const refresh_token = await firstRefreshToken();
      const token = await ask(profile({ ...secretOf('web'), refresh_token, type }));
      expect(token).toMatchObject({ token_type: 'Bearer', refresh_token: expect.any(String) });
      expect(token['refresh_token']).not.toBe(refresh_token);
    },
  );

  it('narrows the scope, and does not widen it', async () => {
    const old = await firstRefreshToken();
    const narrowed = await ask(refresh(old, { scope: 'openid read' }));
    expect(narrowed).toMatchObject({ scope: 'openid read' });
    expect(await refusalOf(refresh(String(narrowed['refresh_token']), { scope: 'openid write' }))).toMatchObject({
      code: 'provider_rejected',
      hint: expect.stringContaining('acme.scope'),
      provider: { status: 400, error: 'invalid_scope', description: 'refresh token missing requested scope' },
    });
  });

  it('needs a person when the token is unknown, expired or of another client', async () => {
    expect(await refusalOf(refresh('A'.repeat(43)))).toMatchObject({ code: 'login_required', provider: dead });
    const token = await firstRefreshToken();
    expect(await refusalOf(refresh(token, secretOf('other')))).toMatchObject({
      code: 'login_required',
      provider: dead,
    });
    passSeconds(86_401);
    expect(await refusalOf(refresh(token))).toMatchObject({ code: 'login_required', provider: dead });
  });

  it('is no matter of a person when the secret is wrong: nothing is used up', async () => {
    const token = await firstRefreshToken();
    expect(await refusalOf(refresh(token, { client_secret: 'wrong-secret' }))).toMatchObject({
      code: 'provider_rejected',
      provider: { status: 401, error: 'invalid_client' },
    });
    expect(await ask(refresh(token))).toMatchObject({ token_type: 'Bearer' });
  });
});

describe('device_code', () => {
  const browser = (): Browser => new Browser(authority.ca.cert);

  async function newDevice(): Promise<{ device_code: string; verification_uri_complete: string }> {
    const form = { client_id: 'web', client_secret: 'web-secret', scope: 'openid offline_access', prompt: 'consent' };
    const { status, text } = await browser().visit(`${server.issuer}/device/auth`, form);
    expect(status, text).toBe(200);
    return JSON.parse(text);
  }
  const poll = (device_code: string): Fields => profile({ grant_type: DEVICE, ...secretOf('web'), device_code });

  it('D7 tells that the person has not decided yet, then brings tokens, once', async () => {
    const { device_code, verification_uri_complete } = await newDevice();
    expect(await refusalOf(poll(device_code))).toMatchObject({
      code: 'provider_rejected',
      provider: {
        status: 400,
        error: 'authorization_pending',
        description: expect.stringContaining('authorization request is still pending'),
      },
    });
    const person = browser();
    const confirm = await person.submit(await person.visit(verification_uri_complete));
    expect((await person.submit(confirm)).text).toBe('signed in');
    expect(await ask(poll(device_code))).toMatchObject({ token_type: 'Bearer', refresh_token: expect.any(String) });
    expect(await refusalOf(poll(device_code))).toMatchObject({ code: 'provider_rejected', provider: dead });
  });

  it('tells that the person said no', async () => {
    const { device_code, verification_uri_complete } = await newDevice();
    const person = browser();
    await person.submit(await person.visit(verification_uri_complete), { abort: 'yes' });
    expect(await refusalOf(poll(device_code))).toMatchObject({
      code: 'provider_rejected',
      provider: { status: 400, error: 'access_denied', description: 'End-User aborted interaction' },
    });
  });

  it('tells that the code is unknown, or too old', async () => {
    expect(await refusalOf(poll('A'.repeat(43)))).toMatchObject({ code: 'provider_rejected', provider: dead });
    const { device_code } = await newDevice();
    passSeconds(601);
    expect(await refusalOf(poll(device_code))).toMatchObject({
      code: 'provider_rejected',
      provider: { status: 400, error: 'expired_token', description: 'device code is expired' },
    });
  });
});

describe('refusals', () => {
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
      { ...good, client_id: 'nobody' },
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
  ])('%s', async (_, fields, options, status, error, words, hint) => {
    const refusal = await refusalOf(profile(fields, options));
    expect(refusal).toMatchObject({
      code: 'provider_rejected',
      provider: { status, error, description: expect.stringMatching(words) },
    });
    if (hint !== undefined) expect(refusal.hint).toMatch(hint);
  });

  it('an address that is no endpoint', async () => {
    const refusal = await refusalOf({ ...profile(good), url: `${server.issuer}/tokens` });
    expect(refusal).toMatchObject({ code: 'provider_rejected', provider: { status: 404 } });
  });
});

describe('without TLS, on this machine', () => {
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
      const { refresh_token } = await ask({ ...base, ...redeem });
      const refresh = { grant_type: 'refresh_token', refresh_token: String(refresh_token) };
      expect(await ask({ ...base, ...refresh })).toMatchObject({ token_type: 'Bearer' });
      expect((await refusalOf({ ...base, ...refresh })).code).toBe('login_required');
    } finally {
      await plain.close();
    }
  });
});

describe('the command line', () => {
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

  it('prints a token for a secret with odd characters', async () => {
    const fields = { grant_type: 'client_credentials', client_id: ODD.id, client_secret: ODD.secret };
    const { stdout, stderr, exit } = await run({ ...fields, 'options.client_auth': 'client_secret_basic' });
    expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
    expect(stdout).toMatch(/^[\w-]{43}\n$/);
  });

  it('follows a refresh token through its rotations; another machine that uses the old one needs a login', async () => {
    const refresh_token = await firstRefreshToken();
    const fields = { grant_type: 'refresh_token', client_id: 'web', client_secret: 'web-secret', refresh_token };
    for (let call = 0; call < 3; call++) {
      const finished = await run(fields, 'oauth-profile token acme --force-refresh --field token_type');
      expect(finished).toEqual({ stdout: 'Bearer\n', stderr: '', exit: 0 });
    }
    const elsewhere = await run(fields, 'OAUTH_PROFILE_HOME=$PWD/elsewhere oauth-profile token acme');
    expect(elsewhere).toMatchObject({ stdout: '', exit: 5 });
    expect(elsewhere.stderr).toContain('HTTP 400, invalid_grant: grant request is invalid');
    expect(elsewhere.stderr).toContain('set acme.refresh_token');
  });

  it('ends with status 3 and the words of the server when the secret is wrong', async () => {
    const fields = { grant_type: 'client_credentials', client_id: 'robot', client_secret: 'wrong-secret' };
    const { stdout, stderr, exit } = await run(fields);
    expect({ stdout, exit }).toEqual({ stdout: '', exit: 3 });
    expect(stderr).toContain('HTTP 401, invalid_client: client authentication failed');
  });
});
