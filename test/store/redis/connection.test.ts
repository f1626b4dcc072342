import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { OAuthProfileError } from '../../../src/errors.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { Authority } from '../../support/certificates.ts';
import { errorOf } from '../../support/errors.ts';
import { leaksIn } from '../../support/leaks.ts';
import { hasRedis, RedisServer, type RedisServerOptions } from '../../support/redis.ts';
import { closedPort } from '../../support/server.ts';
import { anyKey, longWait, put, storedRecord, withLock } from '../../support/store.ts';

const PASSWORD = 'p@ss/w0rd:of+the%fleet';
const env = { OAUTH_PROFILE_KEY: anyKey() };
const open = (url: string, warnings: string[] = []) =>
  openRedisStore(url, { env, warn: (message) => warnings.push(message) });

/** Writes, reads and removes one record. */
async function useStore(url: string, warnings: string[] = []): Promise<void> {
  const store = await open(url, warnings);
  await put(store, 'a', storedRecord('one'));
  expect((await store.read('a'))?.version).toBe('one');
  expect(await store.list()).toHaveLength(1);
  await withLock(store, 'a', (lock) => lock.remove());
  await store.close();
}

/** Closes every connection to the port until so many were made. */
async function rejectConnections(port: number, count: number): Promise<void> {
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
  await once(server, 'listening');
  for (let connections = 0; connections < count; connections++) await once(server, 'connection');
  server.close();
  await once(server, 'close');
}

describe.concurrent('opening fails with store_unreadable', () => {
  it('if nothing listens on the port', async () => {
    const port = await closedPort();
    expect(await errorOf(open(`redis://:secret-password@127.0.0.1:${port}/3`))).toMatchObject({
      code: 'store_unreadable',
      message: `cannot connect to Redis at 127.0.0.1:${port}: connection refused`,
      hint: expect.any(String),
    });
  });

  it.each([
    'redis://no-such-host.invalid',
    'redis+cluster://no-such-host.invalid',
    'redis+sentinel://no-such-host.invalid/main',
    'redis+cluster://127.0.0.1:1',
    'redis+sentinel://127.0.0.1:1/main',
    'unix:///does/not/exist.sock',
  ])('if no server can be reached: %s', async (url) => {
    expect(await errorOf(open(url))).toMatchObject({
      code: 'store_unreadable',
      message: expect.stringContaining('cannot connect to Redis at '),
    });
  });

  it.each([
    ['never responds', () => {}],
    ['speaks HTTP', (write: (data: string) => void) => write('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['closes the connection', (_: unknown, close: () => void) => close()],
  ])('if the server %s', async (_, respond) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () =>
        respond(
          (data) => socket.write(data),
          () => socket.destroy(),
        ),
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect(await errorOf(open(`redis://127.0.0.1:${port}`))).toMatchObject({ code: 'store_unreadable' });
    server.close();
  });
});

describe.skipIf(!hasRedis).concurrent('a connection to Redis (needs redis-server)', () => {
  const servers: RedisServer[] = [];
  const start = async (options?: RedisServerOptions): Promise<RedisServer> => {
    const server = await RedisServer.start(options);
    servers.push(server);
    return server;
  };
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.remove()));
  });

  describe('with a password', () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await start({ password: PASSWORD });
      const redis = server.connect();
      const documented = readFileSync(new URL('../../../docs/how-to/redis.md', import.meta.url), 'utf8');
      const [, permissions = ''] = /^user runner on >password (.+)$/m.exec(documented) ?? [];
      await redis.call('ACL', 'SETUSER', 'runner', 'on', '>runner-password', ...permissions.split(' '));
      await redis.call('ACL', 'SETUSER', 'no-info', 'on', '>no-info-password', ...permissions.split(' '), '-info');
      await redis.call('ACL', 'SETUSER', 'guest', 'on', '>guest-password', '~other:*', '+@all');
      redis.disconnect();
    });

    it('accepts a password with special characters', () => useStore(server.url));

    it('needs no permissions beyond the documented ones', async () => {
      const warnings: string[] = [];
      await useStore(`redis://runner:runner-password@${server.host}/1`, warnings);
      expect(warnings).toEqual([]);
    });

    it('warns if the user may not verify persistence and eviction', async () => {
      const warnings: string[] = [];
      await useStore(`redis://no-info:no-info-password@${server.host}/2`, warnings);
      expect(warnings).toEqual([expect.stringMatching(/cannot verify .*appendonly/)]);
    });

    it.each([
      ['no password', ''],
      ['a wrong password', ':wrong-password@'],
      ['an unknown user', 'unknown:wrong-password@'],
      ['a user without permissions', 'guest:guest-password@'],
    ])('fails without repeating credentials: %s', async (_, login) => {
      const error = (await errorOf(open(`redis://${login}${server.host}`))) as OAuthProfileError;
      expect(error).toMatchObject({ code: 'store_unreadable', message: expect.stringContaining(server.host) });
      expect(error.hint).toMatch(/OAUTH_PROFILE_STORE|oauth-profile:\*/);
      const secrets = ['wrong-password', 'guest-password'];
      expect(leaksIn(`${JSON.stringify(error)} ${error.stack} ${error.cause}`, secrets)).toEqual([]);
    });
  });

  it('separates databases, and fails if the database does not exist', async () => {
    const server = await start();
    const [zero, one] = [await open(server.url), await open(`${server.url}/1`)];
    await put(zero, 'a', storedRecord('in 0'));
    expect(await one.read('a')).toBeUndefined();
    await Promise.all([zero.close(), one.close()]);
    expect(await errorOf(open(`${server.url}/99`))).toMatchObject({
      code: 'store_unreadable',
      message: expect.stringContaining('no such database'),
    });
    expect(await errorOf(open(`redis+cluster://${server.host}`))).toMatchObject({
      code: 'store_unreadable',
      message: expect.stringContaining('not a cluster'),
    });
  });

  it('works through a Unix socket', async () => {
    const server = await start();
    await useStore(`unix://${server.socket}?db=1`);
  });

  describe('over TLS', () => {
    const authority = new Authority('Fleet CA');

    it('works with a private certificate authority, and fails without it or without TLS', async () => {
      const server = await start({ authority, password: PASSWORD });
      await useStore(`${server.url}?ca_file=${authority.caFile}`);
      expect(await errorOf(open(server.url))).toMatchObject({
        code: 'store_unreadable',
        hint: expect.stringContaining('ca_file'),
      });
      const withoutTls = server.url.replace('rediss:', 'redis:').replace('localhost', '127.0.0.1');
      expect(await errorOf(open(withoutTls))).toMatchObject({ code: 'store_unreadable' });
    });

    it('fails if the certificate is for another host', async () => {
      const server = await start({ authority });
      const url = `rediss://127.0.0.2:${server.port}?ca_file=${authority.caFile}`;
      expect(await errorOf(open(url))).toMatchObject({ code: 'store_unreadable' });
    });
  });

  it.each([
    ['appendonly no', ['--appendonly', 'no'], [/appendonly yes/]],
    ['eviction', ['--maxmemory-policy', 'allkeys-lru'], [/maxmemory-policy allkeys-lru/]],
    ['a renamed INFO', ['--rename-command', 'INFO', ''], [/cannot verify .*appendonly.*maxmemory-policy/]],
    ['nothing', [], []],
  ])('warns about %s', async (_, args, expected) => {
    const server = await start({ args });
    const warnings: string[] = [];
    await useStore(server.url, warnings);
    expect(warnings).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
    for (const warning of warnings) expect(warning).toContain(server.host);
  });

  it('fails before a request is sent if maxmemory is reached, but a successor is written', async () => {
    const server = await start();
    const redis = server.connect();
    const store = await open(server.url);
    const lock = await store.lock('a', longWait);
    expect(await lock.write(storedRecord('one'), { reserve: true })).toBe(true);
    await redis.config('SET', 'maxmemory', '1');
    expect(await lock.write(storedRecord('two', 'x'.repeat(10_000)))).toBe(true);
    const journal = lock.write(storedRecord('two', '{"journal":2}'), { reserve: true });
    expect(await errorOf(journal)).toMatchObject({
      code: 'store_unwritable',
      message: expect.stringContaining('maxmemory'),
    });
    await lock.release();
    expect(await errorOf(store.lock('b', longWait))).toMatchObject({ code: 'store_unwritable' });
    redis.disconnect();
    expect((await store.read('a'))?.content.reveal()).toHaveLength(10_000);
    await store.close();
  });

  it('does not write to a replica', async () => {
    const server = await start({ args: ['--replicaof', '127.0.0.1 1'] });
    const store = await open(server.url);
    const locked = store.lock('a', { timeoutMs: 200, signal: undefined });
    expect(await errorOf(locked)).toMatchObject({
      code: 'store_unwritable',
      message: expect.stringContaining('replica'),
    });
    await store.close();
  });

  it('writes a successor although Redis restarts between the exchange and the write', async () => {
    const server = await start();
    const store = await open(`${server.url}/1`);
    const lock = await store.lock('a', longWait);
    await lock.write(storedRecord('one'), { reserve: true });
    await server.kill();
    const rejected = rejectConnections(server.port, 2);
    const writing = lock.write(storedRecord('two'));
    await rejected;
    await server.start();
    expect(await writing).toBe(true);
    await lock.release();
    expect((await store.read('a'))?.version).toBe('two');
    await store.close();
  });

  it('is replaced after a restart of Redis', async () => {
    const server = await start();
    const store = await open(server.url);
    await put(store, 'a', storedRecord('one'));
    await server.kill();
    await server.start();
    expect((await store.read('a'))?.version).toBe('one');
    await put(store, 'a', storedRecord('two'));
    await store.close();
  });

  it('grants no lock while Redis is unavailable, and an abort ends the wait', async () => {
    const server = await start();
    const store = await open(server.url);
    await server.kill();
    expect(await errorOf(store.lock('a', { timeoutMs: 500, signal: undefined }))).toMatchObject({
      code: 'store_unreadable',
      message: expect.stringContaining('connection refused'),
    });
    const controller = new AbortController();
    const waiting = errorOf(store.lock('a', { timeoutMs: 60_000, signal: controller.signal }));
    controller.abort();
    expect(await waiting).toMatchObject({ code: 'aborted' });
    await store.close();
  });

  it('is replaced if Redis does not respond for 5 s', async () => {
    const server = await start();
    const redis = server.connect();
    const store = await open(server.url);
    await redis.client('SETNAME', 'inspector');
    const clients = async () => ((await redis.client('LIST')) as string).trim().split('\n').length;
    expect(await clients()).toBe(2);
    server.signal('SIGSTOP');
    const writing = put(store, 'a', storedRecord('one'));
    // Longer than the timeout of a command.
    setTimeout(() => server.signal('SIGCONT'), 5500);
    await writing;
    expect(await clients()).toBe(2);
    await store.close();
    await vi.waitFor(async () => expect(await clients()).toBe(1));
    redis.disconnect();
  });
});
