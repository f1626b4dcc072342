import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OAuthProfileError } from '../../../src/errors.ts';
import { onSecretCreated, type Secret } from '../../../src/redaction/secret.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { Authority } from '../../support/certificates.ts';
import { leaksIn } from '../../support/leaks.ts';
import { freePort, hasRedis, RedisServer, type RedisServerOptions } from '../../support/redis-server.ts';
import { anyKey, kept, patient } from '../../support/store-home.ts';
import { errorOf } from '../../support/wire-request.ts';

const PASSWORD = 'p@ss/w0rd:of+the%fleet';
const env = { OAUTH_PROFILE_KEY: anyKey() };
const open = (url: string, warnings: string[] = []) =>
  openRedisStore(url, { env, warn: (text) => warnings.push(text) });

/** Hangs up on whoever comes to the port, until so many have come. */
async function slamDoor(port: number): Promise<{ slammed(times: number): Promise<void> }> {
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async slammed(times) {
      for (let count = 0; count < times; count++) await once(server, 'connection');
      server.close();
      await once(server, 'close');
    },
  };
}

describe('the address of a Redis', () => {
  it.each([
    '',
    'redis://',
    'redis:///1',
    'http://localhost',
    'localhost:6379',
    'redis://localhost/one',
    'redis://localhost/1/2',
    'redis://localhost/-1',
    'redis://localhost?password=secret-in-query',
    'redis://localhost#1',
    'redis://:bad%escape@localhost',
    'redis://localhost:99999',
  ])('is refused without repeating it: %s', async (address) => {
    const error = (await errorOf(open(address))) as OAuthProfileError;
    expect(error).toMatchObject({ code: 'usage', message: 'the store is no address of a Redis' });
    expect(error.hint).toContain('redis://host:6379');
    expect(JSON.stringify(error)).not.toMatch(/escape|secret-in-query/);
  });

  it('hides its password from the moment that it is read', async () => {
    const seen: Secret[] = [];
    const stop = onSecretCreated((secret) => seen.push(secret));
    const port = await freePort();
    const error = await errorOf(open(`redis://user:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/3`));
    stop();
    expect(seen.some((secret) => secret.reveal() === PASSWORD)).toBe(true);
    expect(error.message).toContain(`redis://127.0.0.1:${port}/3`);
    expect(leaksIn(`${error.message} ${JSON.stringify(error)} ${error.stack}`, [PASSWORD])).toEqual([]);
  });
});

describe.concurrent('a Redis that is not there', () => {
  it('is an error at once', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    expect(await errorOf(open(url))).toMatchObject({
      code: 'store_unreadable',
      message: `the Redis at ${url} does not serve: nobody listens there`,
      hint: expect.stringContaining('nothing is refreshed without it'),
    });
  });

  it('is told from a name that nobody knows', async () => {
    const error = await errorOf(open('redis://no-such-host.invalid'));
    expect(error).toMatchObject({ code: 'store_unreadable' });
    expect(error.message).toMatch(/there is no host of that name|EAI_AGAIN/);
  });

  it.each([
    ['says nothing', () => {}],
    ['says something else', (say: (text: string) => void) => say('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['hangs up', (_: unknown, end: () => void) => end()],
  ])('is told from a server that %s', async (_, answer) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () =>
        answer(
          (text) => socket.write(text),
          () => socket.destroy(),
        ),
      );
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const error = await errorOf(open(`redis://127.0.0.1:${port}`));
    expect(error).toMatchObject({
      code: 'store_unreadable',
      message: expect.stringContaining(`the Redis at redis://127.0.0.1:${port} does not serve: `),
    });
    server.close();
  });
});

describe.skipIf(!hasRedis).concurrent('a Redis (needs redis-server)', () => {
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
      server = await RedisServer.start({ password: PASSWORD });
      const redis = server.connect();
      const documented = readFileSync(new URL('../../../docs/fleet.md', import.meta.url), 'utf8');
      const [, rights = ''] = /^user runner on >password (.+)$/m.exec(documented) ?? [];
      await redis.call('ACL', 'SETUSER', 'runner', 'on', '>runner-password', ...rights.split(' '));
      await redis.call('ACL', 'SETUSER', 'guest', 'on', '>guest-password', '~other:*', '+@all');
      redis.disconnect();
    });
    afterAll(() => server.remove());

    it('takes it, with every sign in it', async () => {
      const store = await open(server.url);
      expect(await store.update('a', (held) => held.write(kept('one')), patient)).toBe(true);
      await store.close();
    });

    it('takes a user who is allowed no more than what the documentation gives him', async () => {
      const warnings: string[] = [];
      const store = await open(`redis://runner:runner-password@127.0.0.1:${server.port}/1`, warnings);
      expect(await store.update('a', (held) => held.write(kept('one')), patient)).toBe(true);
      expect(await store.list()).toHaveLength(1);
      await store.update('a', (held) => held.remove(), patient);
      await store.close();
      expect(warnings).toEqual([]);
    });

    it.each([
      ['no password', 'redis://127.0.0.1:', 'it wants a password'],
      ['a wrong password', 'redis://:wrong-password@127.0.0.1:', 'it does not know this user and password'],
      ['an unknown user', 'redis://nobody:wrong-password@127.0.0.1:', 'it does not know this user and password'],
      [
        'a user who may do nothing',
        'redis://guest:guest-password@127.0.0.1:',
        'it does not allow this user what is needed',
      ],
    ])('says clearly that it got %s', async (_, address, what) => {
      const error = (await errorOf(open(`${address}${server.port}`))) as OAuthProfileError;
      expect(error).toMatchObject({
        code: 'store_unreadable',
        message: `the Redis at redis://127.0.0.1:${server.port} does not serve: ${what}`,
      });
      expect(error.hint).toMatch(/OAUTH_PROFILE_STORE|TIME, INFO, SELECT/);
      expect(leaksIn(JSON.stringify(error), ['wrong-password', 'guest-password'])).toEqual([]);
    });
  });

  it('without a password is not given one', async () => {
    const { port } = await start();
    const error = await errorOf(open(`redis://:unneeded-password@127.0.0.1:${port}`));
    expect(error).toMatchObject({ code: 'store_unreadable' });
    expect(error.message).not.toContain('unneeded');
  });

  it('keeps databases apart, and refuses one that it does not have', async () => {
    const server = await start();
    const [zero, one] = [await open(server.url), await open(`${server.url}/1`)];
    await zero.update('a', (held) => held.write(kept('of 0')), patient);
    expect(await one.read('a')).toBeUndefined();
    await Promise.all([zero.close(), one.close()]);
    expect(await errorOf(open(`${server.url}/99`))).toMatchObject({ code: 'store_unreadable' });
  });

  describe('over TLS', () => {
    const authority = new Authority('Fleet CA');

    it('is not trusted without its authority, and nothing is said to it', async () => {
      const server = await start({ authority, password: PASSWORD });
      const error = await errorOf(open(server.url));
      expect(error).toMatchObject({
        code: 'store_unreadable',
        message: expect.stringMatching(/SELF_SIGNED|UNABLE_TO/),
      });
      const plain = await errorOf(open(server.url.replace('rediss:', 'redis:').replace('localhost', '127.0.0.1')));
      expect(plain).toMatchObject({ code: 'store_unreadable' });
    });
  });

  describe('that may lose something', () => {
    it.each([
      ['appendonly no', ['--appendonly', 'no'], [/no append-only persistence: a restart can lose/]],
      ['allkeys-lru', ['--maxmemory-policy', 'allkeys-lru'], [/may drop records when memory is short.*allkeys-lru/]],
      ['INFO renamed away', ['--rename-command', 'INFO', ''], [/does not show that it has append-only/, /may drop/]],
      ['nothing', [], []],
    ])('is warned of: %s', async (_, args, expected) => {
      const server = await start({ args });
      const warnings: string[] = [];
      const store = await open(server.url, warnings);
      await store.close();
      expect(warnings).toEqual(expected.map((text) => expect.stringMatching(text)));
      for (const warning of warnings) expect(warning).toContain(`the Redis at ${server.url}: `);
    });
  });

  it('whose memory is full refuses a journal before anything is sent, and takes the successor of what was sent', async () => {
    const server = await start();
    const redis = server.connect();
    const store = await open(server.url);
    await store.update(
      'a',
      async (held) => {
        expect(await held.write(kept('one'), { reserve: true })).toBe(true);
        await redis.config('SET', 'maxmemory', '1');
        expect(await held.write(kept('two', 'x'.repeat(10_000)))).toBe(true);
        const refused = held.write(kept('two', '{"journal":2}'), { reserve: true });
        expect(await errorOf(refused)).toMatchObject({
          code: 'store_unwritable',
          message: expect.stringContaining('its memory is full'),
        });
      },
      patient,
    );
    redis.disconnect();
    expect((await store.read('a'))?.content.reveal()).toHaveLength(10_000);
    await store.close();
  });

  it('that is a replica is not written to', async () => {
    const server = await start({ args: ['--replicaof', '127.0.0.1 1'] });
    const store = await open(server.url);
    const refused = store.update('a', (held) => held.write(kept('one')), { timeoutMs: 200, signal: undefined });
    expect(await errorOf(refused)).toMatchObject({
      code: 'store_unwritable',
      message: expect.stringContaining('it is a replica'),
    });
    await store.close();
  });

  it('restarted between the exchange and the write gets the write all the same', async () => {
    const server = await start();
    const store = await open(`${server.url}/1`);
    const written = await store.update(
      'a',
      async (held) => {
        await held.write(kept('one'), { reserve: true });
        await server.kill();
        const door = await slamDoor(server.port);
        const writing = held.write(kept('two'));
        await door.slammed(2);
        await server.start();
        return writing;
      },
      patient,
    );
    expect(written).toBe(true);
    expect((await store.read('a'))?.head).toBe('two');
    await store.close();
  });

  it('restarted while it was not needed is not noticed', async () => {
    const server = await start();
    const store = await open(server.url);
    await store.update('a', (held) => held.write(kept('one')), patient);
    await server.kill();
    await server.start();
    expect((await store.read('a'))?.head).toBe('one');
    expect(await store.update('a', (held) => held.write(kept('two')), patient)).toBe(true);
    await store.close();
  });

  it('that goes away lets nobody in', async () => {
    const server = await start();
    const store = await open(server.url);
    await server.kill();
    let inside = false;
    const refused = store.update(
      'a',
      async () => {
        inside = true;
      },
      { timeoutMs: 500, signal: undefined },
    );
    expect(await errorOf(refused)).toMatchObject({
      code: 'store_unreadable',
      message: expect.stringContaining('nobody listens'),
    });
    expect(inside).toBe(false);
    await store.close();
  });

  it('that hangs is asked again over a new connection', async () => {
    const server = await start();
    const store = await open(server.url);
    server.signal('SIGSTOP');
    const writing = store.update('a', (held) => held.write(kept('one')), patient);
    // Longer than an answer may take.
    setTimeout(() => server.signal('SIGCONT'), 5500);
    expect(await writing).toBe(true);
    await store.close();
  });
});
