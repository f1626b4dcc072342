import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEmulator } from '../src/emulator.ts';
import { createTokenSource } from '../src/index.ts';

let server: Server;
let origin: string;
let issued: number;
let expiresIn: number;
/** Authorization headers that the API saw, and the tokens that it takes. */
let seen: (string | undefined)[];
let good: (token: string) => boolean;

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/token') {
      issued++;
      response.end(JSON.stringify({ access_token: `token-${issued}`, expires_in: expiresIn }));
      return;
    }
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      const { authorization } = request.headers;
      seen.push(authorization);
      if (request.url === '/away') response.writeHead(302, { location: 'http://localhost:1/' });
      else response.statusCode = good(authorization?.slice('Bearer '.length) ?? '') ? 200 : 401;
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
  [issued, expiresIn, seen, good] = [0, 3600, [], () => true];
});

let profiles = 0;
const source = (options: { origins?: string[]; minTtlMs?: number } = {}) => {
  // A client of its own each time: the memory of the process outlives a test.
  const robot = {
    type: 'custom',
    url: `${origin}/token`,
    grant_type: 'client_credentials',
    client_id: `c${++profiles}`,
  };
  return createTokenSource('robot', { data: { robot }, store: 'memory', origins: [origin], ...options });
};

describe('a token source', () => {
  it('asks once for a thousand callers, and hands the token out while it is fresh', async () => {
    const robot = source();
    const tokens = await Promise.all(Array.from({ length: 1000 }, () => robot.get()));
    expect(new Set(tokens.map(({ access_token }) => access_token))).toEqual(new Set(['token-1']));
    expect((await robot.get()).access_token).toBe('token-1');
    expect(issued).toBe(1);
  });

  it('gets the next one in time', async () => {
    expiresIn = 30;
    const robot = source();
    await robot.get();
    expect((await robot.get()).access_token).toBe('token-2');
    expect((await source({ minTtlMs: 1000 }).get()).access_token).toBe('token-3');
  });

  it('keeps one that does not say how long it lives no longer than the call', async () => {
    expiresIn = undefined as unknown as number;
    const robot = source();
    await robot.get();
    expect((await robot.get()).access_token).toBe('token-2');
  });

  it('shares with another source of the same profile', async () => {
    const robot = { type: 'custom', url: `${origin}/token`, grant_type: 'client_credentials', client_id: 'shared' };
    const options = { data: { robot }, store: 'memory' } as const;
    await createTokenSource('robot', options).get();
    expect((await createTokenSource('robot', options).get()).access_token).toBe('token-1');
  });

  it('tells an abort, and goes on working', async () => {
    const robot = source();
    await expect(robot.get({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
    expect((await robot.get()).access_token).toBe('token-1');
  });

  it('reads its variables again where they could not be read', async () => {
    const robot = { type: 'custom', url: `${origin}/token`, grant_type: 'client_credentials', client_id: 'mended' };
    const data: Record<string, unknown> = { robot, 'robot.type': 'custom' };
    const mended = createTokenSource('robot', { data: data as never, store: 'memory' });
    await expect(mended.get()).rejects.toMatchObject({ code: 'data_invalid' });
    delete data['robot.type'];
    expect((await mended.get()).access_token).toBe('token-1');
  });

  it('warns as Node does of what cannot be kept', async () => {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    process.env['OAUTH_PROFILE_HOME'] = '/proc/nowhere';
    try {
      const robot = { type: 'custom', url: `${origin}/token`, grant_type: 'client_credentials', client_id: 'unkept' };
      expect((await createTokenSource('robot', { data: { robot } }).get()).access_token).toBe('token-1');
    } finally {
      delete process.env['OAUTH_PROFILE_HOME'];
    }
    expect(await warned).toMatchObject({
      name: 'OAuthProfileWarning',
      message: expect.stringContaining('the token is not kept'),
    });
  });

  it('lets one caller leave while the others wait for the same request', async () => {
    const robot = source();
    const leaving = new AbortController();
    const left = expect(robot.get({ signal: leaving.signal })).rejects.toMatchObject({ code: 'aborted' });
    const staying = [robot.get(), robot.get({ signal: new AbortController().signal })];
    leaving.abort();
    await left;
    const tokens = await Promise.all(staying);
    expect(tokens.map(({ access_token }) => access_token)).toEqual(['token-1', 'token-1']);
    expect(issued).toBe(1);
  });

  it('asks again after the token was refused, once however often that is said', async () => {
    const robot = source();
    await robot.get();
    robot.invalidate();
    robot.invalidate();
    expect((await robot.get()).access_token).toBe('token-2');
  });
});

describe('its fetch', () => {
  it('adds the token', async () => {
    const response = await source().fetch(`${origin}/me`, { method: 'POST', body: 'hello' });
    expect(await response.text()).toBe('POST hello');
    expect(seen).toEqual(['Bearer token-1']);
  });

  it('after a 401 sends again once, with a new token and the same body', async () => {
    good = (token) => token === 'token-2';
    const response = await source().fetch(`${origin}/me`, { method: 'PUT', body: 'hello' });
    expect(await response.text()).toBe('PUT hello');
    expect(seen).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it('asks for one new token however many are refused the old one', async () => {
    good = (token) => token === 'token-2';
    const robot = source();
    const responses = await Promise.all(Array.from({ length: 20 }, () => robot.fetch(`${origin}/me`)));
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(issued).toBe(2);
  });

  it('gives back the second 401', async () => {
    good = () => false;
    const response = await source().fetch(`${origin}/me`);
    expect(response.status).toBe(401);
    expect(seen).toHaveLength(2);
  });

  it('sends the token to the origins it was given and to no other', async () => {
    const robot = source();
    const other = origin.replace('127.0.0.1', 'localhost');
    await expect(robot.fetch(`${other}/me`)).rejects.toMatchObject({ code: 'usage' });
    expect(seen).toEqual([]);
    expect(issued).toBe(0);
  });

  it.each(['http://api.example.com', 'https://api.example.com/path', 'ftp://127.0.0.1', 'nonsense'])(
    'takes no %s for an origin',
    (text) => expect(() => source({ origins: [text] })).toThrow(TypeError),
  );

  it('talks to an emulator at real addresses', async () => {
    const data = {
      graph: {
        type: 'microsoft',
        tenant_id: 'contoso.onmicrosoft.com',
        client_id: 'app',
        refresh_token: 'first-refresh-1',
      },
    };
    const emulator = await startEmulator({ profiles: data });
    try {
      const graph = createTokenSource('graph', { data, emulator, origins: ['https://graph.microsoft.com'] });
      const response = await graph.fetch('https://graph.microsoft.com/v1.0/me');
      expect(response.status).toBe(200);
      expect(await response.json()).toHaveProperty('userPrincipalName');
    } finally {
      await emulator.close();
    }
  });
});
