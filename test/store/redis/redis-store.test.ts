import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RecordLock, TokenStore } from '../../../src/ports.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { encryptRecord, parseKeys, recordId } from '../../../src/store/encryption.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { errorOf } from '../../support/errors.ts';
import { leaksIn } from '../../support/leaks.ts';
import {
  activeResources,
  hasRedis,
  locksTaken,
  RedisMonitor,
  RedisProxy,
  RedisServer,
  settledResources,
} from '../../support/redis.ts';
import { anyKey, longWait, plaintext, put, storedRecord, withLock } from '../../support/store.ts';
import { describeStore } from '../contract.ts';

const KEY_IDS = 'oauth-profile:{store}:keys';
const keysOf = (value: string) => parseKeys(new Secret(value), 'the key');
const keyId = (value: string) => keysOf(value)[0].id;
const recordsKey = (value: string) => `oauth-profile:{store}:records:${keyId(value)}`;
const idOf = (name: string, value: string) => recordId(keysOf(value)[0], name);

describe.skipIf(!hasRedis)('the Redis store (needs redis-server)', () => {
  let server: RedisServer;
  let redis: Redis;
  let key: string;
  const opened: TokenStore[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.connect();
  });

  afterAll(async () => {
    redis?.disconnect();
    await server?.remove();
  });

  beforeEach(async () => {
    key = anyKey();
    await redis.flushall();
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });

  async function open(keys = key, url = server.url): Promise<TokenStore> {
    const store = await openRedisStore(url, { env: { OAUTH_PROFILE_KEY: keys }, warn: () => {} });
    opened.push(store);
    return store;
  }

  const lockKeys = () => redis.keys('oauth-profile:{store}:lock:*');

  describeStore(
    'fulfils the contract of every store',
    () => ({
      open: () => openRedisStore(server.url, { env: { OAUTH_PROFILE_KEY: key }, warn: () => {} }),
      async writeWithoutLock(name, record) {
        // Another handle takes the lock away, as it does after the lease.
        const locks = await lockKeys();
        const nonces = await Promise.all(locks.map((lock) => redis.get(lock)));
        await redis.del(locks);
        await put(await open(), name, record);
        await Promise.all(locks.map((lock, index) => redis.set(lock, nonces[index] ?? '', 'PX', 5000)));
      },
      remove: () => {},
    }),
    { locksCanBeLost: true },
  );

  it('stores records and the id of their key only, without an expiry', async () => {
    const store = await open();
    await Promise.all(['a', 'b'].map((name) => put(store, name, storedRecord('one'))));
    await withLock(store, 'b', (lock) => lock.remove());
    expect((await redis.keys('*')).sort()).toEqual([KEY_IDS, recordsKey(key)]);
    expect(await redis.smembers(KEY_IDS)).toEqual([keyId(key)]);
    expect(await redis.hkeys(recordsKey(key))).toEqual([idOf('a', key)]);
    expect(await redis.pttl(recordsKey(key))).toBe(-1);
  });

  it('sends no plaintext of names, versions, tokens or keys to Redis', async () => {
    const monitor = await RedisMonitor.start(server);
    const store = await open();
    const secrets = ['refresh-token-of-the-family', 'access-token-of-the-family', 'name-of-the-family', 'its-version'];
    const [refresh, access, name = '', version = ''] = secrets;
    await put(store, name, storedRecord(version, JSON.stringify({ refresh, access })));
    await store.read(name);
    await store.list();
    const lines = await monitor.stop();
    expect(lines.length).toBeGreaterThan(5);
    expect(leaksIn(lines.join('\n'), [...secrets, key])).toEqual([]);
    expect(lines.join('\n')).not.toContain(store.fingerprint(version));
  });

  it('does not keep the process alive while it is idle, and closes its sockets', async () => {
    const before = await settledResources();
    const store = await open();
    await put(store, 'a', storedRecord('one'));
    await expect.poll(activeResources).toBeLessThanOrEqual(before);
    await store.close();
    await expect.poll(activeResources).toBeLessThanOrEqual(before);
  });

  it('uses the clock of Redis', async () => {
    const store = await open();
    const [seconds] = await redis.time();
    expect(Math.abs(store.now() - Number(seconds) * 1000)).toBeLessThan(5000);
  });

  it('renews the lease of a lock that is held', async () => {
    const lock = await (await open()).lock('a', longWait);
    const [name = ''] = await lockKeys();
    await redis.pexpire(name, 60_000);
    // The renewal sets the lease back to 5 s.
    await expect.poll(() => redis.pttl(name), { timeout: 10_000 }).toBeLessThanOrEqual(5000);
    await lock.release();
    expect(await lockKeys()).toEqual([]);
  });

  it('serves all waiters with the written record, and none of them acquires the lock', async () => {
    const owner = await (await open()).lock('a', longWait);
    const stores = await Promise.all(Array.from({ length: 8 }, () => open()));
    const monitor = await RedisMonitor.start(server);
    let checks = 0;
    const waiting = stores.map((store) =>
      store.lock('a', {
        ...longWait,
        acceptIf(record) {
          checks++;
          return record?.version === 'new' ? 'accepted' : undefined;
        },
      }),
    );
    await expect.poll(() => checks).toBe(8);
    expect(await owner.write(storedRecord('new'))).toBe(true);
    await owner.release();
    expect((await Promise.all(waiting)).map(({ accepted }) => accepted)).toEqual(Array(8).fill('accepted'));
    expect(locksTaken(await monitor.stop())).toBe(0);
    expect(checks).toBe(16);
    expect(await lockKeys()).toEqual([]);
  });

  describe('an owner that lost its lock', () => {
    /** Runs `work` with a lost lock while the next owner, which wrote a journal entry, holds the lock. */
    async function withLostLock<T>(work: (lock: RecordLock) => Promise<T>): Promise<T> {
      const [slow, quick] = [await open(), await open()];
      await put(slow, 'a', storedRecord('one'));
      return withLock(slow, 'a', async (lost) => {
        await redis.del(await lockKeys());
        return withLock(quick, 'a', async (next) => {
          expect(await next.write(storedRecord('one', '{"journal":"next"}'), { reserve: true })).toBe(true);
          return work(lost);
        });
      });
    }

    it('can still write a successor', async () => {
      expect(await withLostLock((lock) => lock.write(storedRecord('two')))).toBe(true);
      expect((await (await open()).read('a'))?.version).toBe('two');
    });

    it.each([
      ['a journal entry', storedRecord('one', '{"journal":"lost"}'), { reserve: true }],
      ['a journal entry with a new version', storedRecord('two'), { reserve: true }],
      ['a cached error', storedRecord('one', '{"failure":1}'), {}],
    ])('cannot write %s', async (_, next, options) => {
      expect(await withLostLock((lock) => lock.write(next, options))).toBe(false);
      expect(plaintext(await (await open()).read('a'))).toEqual(plaintext(storedRecord('one', '{"journal":"next"}')));
    });

    it('cannot remove the record', async () => {
      expect(await errorOf(withLostLock((lock) => lock.remove()))).toMatchObject({ code: 'store_locked' });
      expect((await (await open()).read('a'))?.version).toBe('one');
    });

    it('does not release the lock of the next owner', async () => {
      const [slow, quick] = [await open(), await open()];
      const lost = await slow.lock('a', longWait);
      await redis.del(await lockKeys());
      const next = await quick.lock('a', longWait);
      await lost.release();
      expect(await lockKeys()).toHaveLength(1);
      await next.release();
      expect(await lockKeys()).toEqual([]);
    });
  });

  describe('a lost response', () => {
    let proxy: RedisProxy;
    let store: TokenStore;

    beforeEach(async () => {
      proxy = await RedisProxy.start(server.port);
      store = await open(key, proxy.url);
    });

    afterEach(() => proxy.remove());

    /** Shorter than a lease: an owner that mistook its own lock for another's would time out. */
    const shorterThanLease = { timeoutMs: 3000, signal: undefined };

    it('to an acquisition does not lock the owner out', async () => {
      const lost = proxy.loseResponseTo(':lock:');
      expect(await withLock(store, 'a', (lock) => lock.write(storedRecord('one')), shorterThanLease)).toBe(true);
      await lost;
      expect(await lockKeys()).toEqual([]);
    });

    it.each([
      ['a journal entry', storedRecord('one', '{"journal":1}'), { reserve: true }],
      ['a successor', storedRecord('two'), {}],
    ])('to the write of %s does not fail the write', async (_, next, options) => {
      await put(store, 'a', storedRecord('one'));
      const written = await withLock(
        store,
        'a',
        async (lock) => {
          const lost = proxy.loseResponseTo(':records:');
          const result = await lock.write(next, options);
          await lost;
          return result;
        },
        shorterThanLease,
      );
      expect(written).toBe(true);
      expect(plaintext(await store.read('a'))).toEqual(plaintext(next));
    });

    it('to a read or a removal is requested again', async () => {
      await put(store, 'a', storedRecord('one'));
      const lostRead = proxy.loseResponseTo(':records:');
      expect((await store.read('a'))?.version).toBe('one');
      await lostRead;
      await withLock(
        store,
        'a',
        async (lock) => {
          const lost = proxy.loseResponseTo(':records:');
          await lock.remove();
          await lost;
        },
        shorterThanLease,
      );
      expect(await redis.exists(recordsKey(key))).toBe(0);
    });
  });

  describe('encryption keys', () => {
    it('can be changed: the first key encrypts, all keys decrypt, and all records are re-encrypted', async () => {
      const [old, fresh] = [key, anyKey()];
      const before = await open(old);
      for (const name of ['a', 'b', 'c']) await put(before, name, storedRecord(`version of ${name}`));
      const during = await open(`${fresh},${old}`);
      expect((await during.list()).map((entry) => entry.key).sort()).toEqual(['a', 'b', 'c']);
      expect((await during.read('b'))?.version).toBe('version of b');
      await put(during, 'a', storedRecord('new'));
      const after = await open(fresh);
      expect((await after.list()).map((entry) => [entry.key, entry.version]).sort()).toEqual([
        ['a', 'new'],
        ['b', 'version of b'],
        ['c', 'version of c'],
      ]);
      expect((await redis.keys('*')).sort()).toEqual([KEY_IDS, recordsKey(fresh)]);
      expect(await redis.smembers(KEY_IDS)).toEqual([keyId(fresh)]);
    });

    it('in another order still allow one owner only', async () => {
      const other = anyKey();
      const stores = [await open(`${key},${other}`), await open(`${other},${key}`)];
      let owners = 0;
      const increment = async (lock: RecordLock) => {
        expect(++owners).toBe(1);
        expect(await lock.write(storedRecord(String(Number(lock.record?.version ?? 0) + 1)))).toBe(true);
        expect(--owners).toBe(0);
      };
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => withLock(stores[index % 2] as TokenStore, 'a', increment)),
      );
      for (const store of stores) expect((await store.read('a'))?.version).toBe('20');
      expect((await redis.hlen(recordsKey(key))) + (await redis.hlen(recordsKey(other)))).toBe(1);
    });

    it('that are unknown are rejected when the store is opened', async () => {
      await put(await open(), 'a', storedRecord('one'));
      const error = await errorOf(open(anyKey()));
      expect(error).toMatchObject({ code: 'store_unreadable', hint: expect.stringContaining('OAUTH_PROFILE_KEY') });
      expect(error.message).toContain(keyId(key));
    });

    it('that another machine added are rejected before the lock is acquired', async () => {
      const early = await open(anyKey());
      await put(await open(), 'a', storedRecord('one'));
      expect(await errorOf(early.lock('a', longWait))).toMatchObject({ code: 'store_unreadable' });
      expect(await redis.hlen(recordsKey(key))).toBe(1);
      expect(await lockKeys()).toEqual([]);
    });

    it('that no record uses any more are forgotten', async () => {
      const before = await open();
      await put(before, 'a', storedRecord('one'));
      await withLock(before, 'a', (lock) => lock.remove());
      expect(await redis.keys('*')).toEqual([]);
      const other = anyKey();
      await put(await open(other), 'a', storedRecord('two'));
      expect(await redis.smembers(KEY_IDS)).toEqual([keyId(other)]);
    });

    it.each([
      ['is not set', undefined],
      ['is empty', '  '],
    ])('are required: OAUTH_PROFILE_KEY %s', async (_, value) => {
      const error = await errorOf(openRedisStore(server.url, { env: { OAUTH_PROFILE_KEY: value }, warn: () => {} }));
      expect(error).toMatchObject({ code: 'store_unreadable', message: expect.stringContaining('OAUTH_PROFILE_KEY') });
    });
  });

  describe('a value that is not a record of this store', () => {
    let store: TokenStore;

    beforeEach(async () => {
      store = await open();
      await put(store, 'a', storedRecord('one'));
    });

    const overwrite = () => withLock(store, 'a', (lock) => lock.write(storedRecord('two')));
    const attempts = [() => store.read('a'), () => store.list(), overwrite];

    it.each([
      ['short', 'hello'],
      ['long', 'x'.repeat(500)],
    ])('is rejected and not overwritten: a %s string', async (_, value) => {
      await redis.hset(recordsKey(key), idOf('a', key), value);
      for (const attempt of attempts) expect(await errorOf(attempt())).toMatchObject({ code: 'store_unreadable' });
      expect(await redis.hget(recordsKey(key), idOf('a', key))).toBe(value);
      expect(await lockKeys()).toEqual([]);
    });

    it('is rejected and not overwritten: a key of another type', async () => {
      await redis.set(recordsKey(key), 'value');
      for (const attempt of attempts) expect(await errorOf(attempt())).toMatchObject({ code: 'store_unreadable' });
      expect(await redis.get(recordsKey(key))).toBe('value');
    });

    it('is rejected and not overwritten: a record with one changed bit', async () => {
      const value = (await redis.hgetBuffer(recordsKey(key), idOf('a', key))) as Buffer;
      value[value.length - 20] = (value.at(-20) as number) ^ 1;
      await redis.hset(recordsKey(key), idOf('a', key), value);
      expect(await errorOf(overwrite())).toMatchObject({ code: 'store_unreadable' });
      expect(await redis.hgetBuffer(recordsKey(key), idOf('a', key))).toEqual(value);
    });

    it('is rejected: the record of another name', async () => {
      const copy = { key: 'b', revision: 1, ...storedRecord('version of b') };
      const value = Buffer.concat([Buffer.from('0'.repeat(64)), encryptRecord(copy, keysOf(key)[0])]);
      await redis.hset(recordsKey(key), idOf('a', key), value);
      expect(await errorOf(store.read('a'))).toMatchObject({ code: 'store_unreadable' });
    });
  });
});
