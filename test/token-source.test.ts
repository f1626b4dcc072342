import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startEmulator } from '../src/emulator.ts';
import { createTokenSource } from '../src/index.ts';
import type { TokenSourceOptions } from '../src/token-source.ts';
import { Authority } from './support/certificates.ts';

let server: Server;
let origin: string;
let issued: number;
/** Members of each token response, in addition to the access token. */
let members: Record<string, unknown>;
/** Authorization headers that the API received. */
let received: (string | undefined)[];
/** Whether the API accepts a token. */
let isAccepted: (token: string) => boolean;
/** Target of the redirect at `/redirect`. */
let redirectTo: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/token') {
      issued++;
      response.end(JSON.stringify({ access_token: `token-${issued}`, ...members }));
      return;
    }
    if (request.url === '/redirect') {
      response.writeHead(307, { Location: redirectTo }).end();
      return;
    }
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { authorization } = request.headers;
      received.push(authorization);
      response.statusCode = isAccepted(authorization?.slice('Bearer '.length) ?? '') ? 200 : 401;
      response.end(`${request.method} ${body}`);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => server.close());

beforeEach(() => {
  [issued, members, received, isAccepted] = [0, { expires_in: 3600 }, [], () => true];
});

/** Fields of a profile that no other test uses: the store in memory is shared by all tests. */
const robotFields = (changes: object = {}) => ({
  type: 'custom',
  url: `${origin}/token`,
  grant_type: 'client_credentials',
  client_id: crypto.randomUUID(),
  ...changes,
});
const createSource = (options: Partial<TokenSourceOptions> = {}, changes: object = {}) =>
  createTokenSource('robot', {
    data: { robot: robotFields(changes) },
    store: 'memory',
    origins: [origin],
    ...options,
  });

/** Sets the time of this process to a number of seconds after the start of the test. */
function advanceTo(seconds: number): void {
  vi.setSystemTime(startedAt + seconds * 1000);
}
let startedAt: number;
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  vi.spyOn(process, 'uptime').mockImplementation(() => performance.now() / 1000);
});
afterAll(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
beforeEach(() => {
  // The time of a client, which the tests share, does not go back.
  startedAt = Date.now();
});

describe('a token source', () => {
  it('sends one request for a thousand callers, and returns the token while it is usable', async () => {
    const source = createSource();
    const tokens = await Promise.all(Array.from({ length: 1000 }, () => source.get()));
    expect(new Set(tokens.map(({ access_token }) => access_token))).toEqual(new Set(['token-1']));
    advanceTo(3539);
    expect(await source.get()).toMatchObject({ access_token: 'token-1', expires_in: 61 });
    expect(issued).toBe(1);
    advanceTo(3541);
    expect(await source.get()).toMatchObject({ access_token: 'token-2' });
  });

  it.each([
    ['half of a short lifetime', 30, undefined, 15],
    ['its own minimum', 3600, 600_000, 600],
    ['half of the lifetime if its own minimum is longer', 100, 600_000, 50],
  ])('requests a new token when the remaining lifetime is %s', async (_, expires_in, minTtlMs, marginSeconds) => {
    members = { expires_in };
    const source = createSource({ minTtlMs });
    await source.get();
    advanceTo(expires_in - marginSeconds - 1);
    expect(await source.get()).toMatchObject({ access_token: 'token-1', expires_in: marginSeconds + 1 });
    advanceTo(expires_in - marginSeconds + 1);
    expect(await source.get()).toMatchObject({ access_token: 'token-2', expires_in });
  });

  it('does not reuse a token without expires_in', async () => {
    members = {};
    const source = createSource();
    await source.get();
    advanceTo(1);
    expect(await source.get()).toMatchObject({ access_token: 'token-2' });
  });

  it('reuses a token without expires_in for options.default_ttl', async () => {
    members = {};
    const source = createSource({}, { options: { default_ttl: '1h' } });
    await source.get();
    advanceTo(3539);
    expect(await source.get()).toMatchObject({ access_token: 'token-1' });
    advanceTo(3541);
    expect(await source.get()).toMatchObject({ access_token: 'token-2' });
  });

  it('returns expires_in in the type of the response, also next to a nested token', async () => {
    members = { expires_in: '3600', data: { token: 'nested', expires_in: 3600 } };
    const source = createSource({}, { options: { token_path: 'data.token' } });
    await source.get();
    advanceTo(100);
    expect(await source.get()).toMatchObject({ expires_in: '3500', data: { token: 'nested', expires_in: 3500 } });
  });

  it.each([
    ['a flat response', {}],
    ['a nested response', { data: { list: [1] } }],
    ['a response without expires_in', { expires_in: undefined }],
  ])('returns copies: a change by one caller is not seen by the next: %s', async (_, changes) => {
    members = { ...members, ...changes };
    const source = createSource({}, { options: { default_ttl: '1h' } });
    const expected = { access_token: 'token-1', ...JSON.parse(JSON.stringify(members)) };
    const concurrent = await Promise.all([source.get(), source.get()]);
    for (const { expiresAt, ...response } of [...concurrent, await source.get(), await source.get()]) {
      expect(expiresAt === undefined).toBe(members['expires_in'] === undefined);
      expect(response).toEqual(expected);
      const changed = response as { access_token: string; data?: { list: number[] } };
      changed.access_token = 'changed';
      changed.data?.list.push(2);
    }
  });

  it('returns the time of expiry as a Date', async () => {
    const source = createSource();
    const { expiresAt } = await source.get();
    expect(expiresAt).toEqual(new Date(startedAt + 3_600_000));
    advanceTo(1000);
    expect((await source.get()).expiresAt).toEqual(expiresAt);
  });

  it('returns no time of expiry if it is outside the range of dates', async () => {
    members = { expires_in: 1e13 };
    expect((await createSource().get()).expiresAt).toBeUndefined();
  });

  it('returns the access token alone, also a nested one', async () => {
    expect(await createSource().getAccessToken()).toBe('token-1');
    members = { data: { token: 'nested' } };
    expect(await createSource({}, { options: { token_path: 'data.token' } }).getAccessToken()).toBe('nested');
  });

  it('requests a new token in time after the clock was set back', async () => {
    members = { expires_in: 65 };
    const source = createSource();
    await source.get();
    advanceTo(-3_600);
    onTestFinished(() => void vi.setSystemTime(startedAt + 100_000));
    expect(await source.get()).toMatchObject({ access_token: 'token-1', expires_in: 65 });
    vi.advanceTimersByTime(60_000);
    expect(await source.get()).toMatchObject({ access_token: 'token-2', expires_in: 65 });
  });

  it('shares its tokens with another source of the same profile', async () => {
    const options = { data: { robot: robotFields() }, store: 'memory' } as const;
    await createTokenSource('robot', options).get();
    expect(await createTokenSource('robot', options).get()).toMatchObject({ access_token: 'token-1' });
  });

  it('rejects an aborted call with an AbortError, also if it has a token, and can be used afterwards', async () => {
    const source = createSource();
    const aborted = { name: 'AbortError', code: 'aborted' };
    await expect(source.get({ signal: AbortSignal.abort() })).rejects.toMatchObject(aborted);
    expect(await source.get()).toMatchObject({ access_token: 'token-1' });
    await expect(source.get({ signal: AbortSignal.abort() })).rejects.toMatchObject(aborted);
    await expect(source.getAccessToken({ signal: AbortSignal.abort() })).rejects.toMatchObject(aborted);
    await expect(source.fetch(origin, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('detaches one aborted caller while others wait for the same request', async () => {
    const source = createSource();
    const controller = new AbortController();
    const left = expect(source.get({ signal: controller.signal })).rejects.toMatchObject({ code: 'aborted' });
    const staying = [source.get(), source.get({ signal: new AbortController().signal })];
    controller.abort();
    await left;
    const tokens = await Promise.all(staying);
    expect(tokens.map(({ access_token }) => access_token)).toEqual(['token-1', 'token-1']);
    expect(issued).toBe(1);
  });

  it('causes no warning of Node if many callers share a signal', async () => {
    const { signal } = new AbortController();
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const source = createSource();
    await Promise.all(Array.from({ length: 20 }, () => source.get({ signal })));
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  it('reads its variables again if they could not be read', async () => {
    const data: Record<string, unknown> = { robot: robotFields(), 'robot.type': 'custom' };
    const source = createTokenSource('robot', { data: data as never, store: 'memory' });
    await expect(source.get()).rejects.toMatchObject({ code: 'data_invalid' });
    delete data['robot.type'];
    expect(await source.get()).toMatchObject({ access_token: 'token-1' });
  });

  it('emits a warning of the process if a token cannot be stored', async () => {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    vi.stubEnv('OAUTH_PROFILE_HOME', '/proc/missing');
    onTestFinished(() => void vi.unstubAllEnvs());
    const source = createTokenSource('robot', { data: { robot: robotFields() } });
    expect(await source.get()).toMatchObject({ access_token: 'token-1' });
    expect(await warned).toMatchObject({ name: 'OAuthProfileWarning' });
  });

  it('requests one new token after its token was invalidated, once or more often', async () => {
    const source = createSource();
    await source.get();
    source.invalidate();
    source.invalidate();
    expect(await source.get()).toMatchObject({ access_token: 'token-2' });
    expect(issued).toBe(2);
  });
});

describe('fetch of a token source', () => {
  it.each(['line\nend', 'line\rend', 'nul\0byte', 'h\u00e4\u00df\u4e00'])(
    'does not show a token that is not allowed in a header: %j',
    async (part) => {
      const token = `the-token-with-a-${part}`;
      members = { access_token: token };
      const error: Error = await createSource()
        .fetch(`${origin}/me`)
        .catch((thrown) => thrown);
      expect(error).toMatchObject({ name: 'OAuthProfileError', code: 'response_unreadable' });
      expect(inspect(error, { depth: 9 })).not.toContain('the-token-with-a');
      expect(received).toEqual([]);
    },
  );

  it('sends a nested access token', async () => {
    members = { data: { token: 'nested' } };
    await createSource({}, { options: { token_path: 'data.token' } }).fetch(`${origin}/me`);
    expect(received).toEqual(['Bearer nested']);
  });

  it('adds the token', async () => {
    const response = await createSource().fetch(`${origin}/me`, { method: 'POST', body: 'hello' });
    expect(await response.text()).toBe('POST hello');
    expect(received).toEqual(['Bearer token-1']);
  });

  it('repeats a request once after a 401, with a new token and the same body', async () => {
    isAccepted = (token) => token === 'token-2';
    const response = await createSource().fetch(`${origin}/me`, { method: 'PUT', body: 'hello' });
    expect(await response.text()).toBe('PUT hello');
    expect(received).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it('requests one new token for any number of requests that fail with 401', async () => {
    isAccepted = (token) => token === 'token-2';
    const source = createSource();
    const responses = await Promise.all(Array.from({ length: 20 }, () => source.fetch(`${origin}/me`)));
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(issued).toBe(2);
  });

  it('keeps its token after a 401 of another origin, to which the token was not sent', async () => {
    isAccepted = (token) => token !== '';
    redirectTo = `${origin.replace('127.0.0.1', 'localhost')}/me`;
    const source = createSource();
    for (let call = 0; call < 3; call++) expect((await source.fetch(`${origin}/redirect`)).status).toBe(401);
    expect(received).toEqual([undefined, undefined, undefined]);
    expect(issued).toBe(1);
  });

  it('uses the certificates of the profile', async () => {
    const authority = new Authority();
    const api = createHttpsServer(
      { ...authority.issue({ name: 'api', hosts: 'IP:127.0.0.1' }), ca: authority.ca.cert, requestCert: true },
      (request, response) => response.end(String((request.socket as TLSSocket).authorized)),
    );
    await new Promise<void>((resolve) => {
      api.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void api.close());
    const apiOrigin = `https://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const { cert, key } = authority.issue({ name: 'client', usage: 'clientAuth' });
    const files = { ca_file: authority.caFile, cert_file: authority.file('client.pem', cert + key) };
    const source = createSource({ origins: [apiOrigin] }, { options: files });
    expect(await (await source.fetch(`${apiOrigin}/me`)).text()).toBe('true');
    const plain = createSource({ origins: [apiOrigin] });
    await expect(plain.fetch(`${apiOrigin}/me`)).rejects.toThrow();
  });

  it('returns the second 401', async () => {
    isAccepted = () => false;
    const response = await createSource().fetch(`${origin}/me`);
    expect(response.status).toBe(401);
    expect(received).toHaveLength(2);
  });

  it('sends nothing to another origin than the given ones', async () => {
    const source = createSource();
    const other = origin.replace('127.0.0.1', 'localhost');
    await expect(source.fetch(`${other}/me`)).rejects.toMatchObject({ code: 'usage' });
    expect([received, issued]).toEqual([[], 0]);
  });

  it('uses the origins and the header of the profile', async () => {
    const options = { origins: [origin], api_header: 'X-Api-Token' };
    const headers: unknown[] = [];
    const onRequest = ({ headers: sent }: IncomingMessage) => headers.push(sent['x-api-token'], sent.authorization);
    const source = createSource({ origins: undefined }, { options });
    await source.get();
    server.prependOnceListener('request', onRequest);
    await source.fetch(`${origin}/me`);
    expect(headers).toEqual(['token-1', undefined]);
    const other = createSource({ origins: ['https://api.example.com'] }, { options });
    await expect(other.fetch(`${origin}/me`)).rejects.toMatchObject({ code: 'usage' });
    const none = createSource({ origins: undefined });
    await expect(none.fetch(`${origin}/me`)).rejects.toMatchObject({ code: 'usage' });
    expect(issued).toBe(1);
  });

  it('does not send a token of another type than Bearer', async () => {
    members = { token_type: 'DPoP' };
    await expect(createSource().fetch(`${origin}/me`)).rejects.toMatchObject({ code: 'response_unreadable' });
    expect(received).toEqual([]);
  });

  it.each(['http://api.example.com', 'https://api.example.com/path', 'ftp://127.0.0.1', 'no URL'])(
    'does not accept the origin %s',
    (value) => {
      expect(() => createSource({ origins: [value] })).toThrow(TypeError);
    },
  );

  it('sends the token in the header and to the origin of the provider, without further options', async () => {
    const shop = {
      type: 'shopify',
      shop: 'acme',
      client_id: 'app',
      client_secret: 's',
      grant_type: 'client_credentials',
    };
    const emulator = await startEmulator({ profiles: { shop } });
    onTestFinished(() => emulator.close());
    const source = createTokenSource('shop', { data: { shop }, emulator });
    const { status } = await source.fetch('https://acme.myshopify.com/admin/api/2026-10/shop.json');
    expect(status).toBe(200);
    await expect(source.fetch('https://other.myshopify.com/')).rejects.toMatchObject({ code: 'usage' });
  });

  it('sends requests with their real URLs to an emulator', async () => {
    const graph = {
      type: 'microsoft',
      tenant_id: 'contoso.onmicrosoft.com',
      client_id: 'app',
      refresh_token: 'first-1',
    };
    const emulator = await startEmulator({ profiles: { graph } });
    onTestFinished(() => emulator.close());
    const origins = ['https://graph.microsoft.com'];
    const source = createTokenSource('graph', { data: { graph }, emulator, origins });
    const response = await source.fetch('https://graph.microsoft.com/v1.0/me');
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveProperty('userPrincipalName');
  });
});
