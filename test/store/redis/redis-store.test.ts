import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Held, Kept, TokenStore, Wait } from '../../../src/ports.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { readKeys } from '../../../src/store/encryption.ts';
import { RedisClient } from '../../../src/store/redis/redis-client.ts';
import { namesOf, toStored } from '../../../src/store/redis/redis-record.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { leaksIn } from '../../support/leaks.ts';
import { locksTaken, RedisMonitor } from '../../support/redis-monitor.ts';
import { RedisProxy } from '../../support/redis-proxy.ts';
import { hasRedis, RedisServer } from '../../support/redis-server.ts';
import { anyKey, kept, patient, shown } from '../../support/store-home.ts';
import { errorOf } from '../../support/wire-request.ts';
import { describeStore } from '../contract.ts';

describe.skipIf(!hasRedis)('a store in Redis (needs redis-server)', () => {
  let server: RedisServer;
  let redis: Redis;
  let key: string;
  const opened: TokenStore[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.connect();
  });

  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    redis.disconnect();
    await server.remove();
  });

  beforeEach(async () => {
    key = anyKey();
    await redis.flushall();
  });

  async function open(keys = key, url = server.url): Promise<TokenStore> {
    const store = await openRedisStore(url, { env: { OAUTH_PROFILE_KEY: keys }, warn: () => {} });
    opened.push(store);
    return store;
  }

  const put = async (store: TokenStore, name: string, next: Kept): Promise<void> => {
    expect(await store.update(name, (held) => held.write(next), patient)).toBe(true);
  };
  const recordNames = () => redis.keys('oauth-profile:record:*');
  const lockNames = () => redis.keys('oauth-profile:lock:*');
  const idOf = (text: string) => readKeys(new Secret(text), 'the key')[0].id;

  /** Writes as a holder does who was thought lost. */
  async function intrude(name: string, next: Kept): Promise<void> {
    const ring = readKeys(new Secret(key), 'the key');
    const client = new RedisClient(server.url);
    const names = namesOf(name, ring);
    const [found] = await client.read(names);
    const stored = toStored({ name, turn: 1000, kept: next }, ring[0]);
    expect(await client.write(names, 'nobody', found?.stamp.slice(0, 32) ?? '', stored, false)).toBe(true);
    client.close();
  }

  describeStore(
    'like every store',
    () => ({
      open: () => openRedisStore(server.url, { env: { OAUTH_PROFILE_KEY: key }, warn: () => {} }),
      intrude,
      remove: () => {},
    }),
    { intrusion: true },
  );

  it('leaves nothing behind but records and the id of their key', async () => {
    const store = await open();
    await Promise.all(['a', 'b'].map((name) => put(store, name, kept('one'))));
    await store.update('b', (held) => held.remove(), patient);
    const ring = readKeys(new Secret(key), 'the key');
    const [{ keyId, id } = { keyId: '', id: '' }] = namesOf('a', ring);
    expect((await redis.keys('*')).sort()).toEqual(['oauth-profile:keys', `oauth-profile:record:${keyId}:${id}`]);
    expect(await redis.smembers('oauth-profile:keys')).toEqual([keyId]);
    expect(await redis.pttl(`oauth-profile:record:${keyId}:${id}`)).toBe(-1);
  });

  it('tells Redis nothing that a stranger could read', async () => {
    const monitor = await RedisMonitor.start(server);
    const store = await open();
    const secrets = [
      'a-refresh-token-of-the-family',
      'an-access-token-of-the-family',
      'the-name-of-a-family',
      'the-head-of-it',
    ];
    const [refresh, access, name = '', head = ''] = secrets;
    await put(store, name, { head, content: new Secret(JSON.stringify({ refresh, access })) });
    await store.read(name);
    await store.list();
    const lines = await monitor.stop();
    expect(lines.length).toBeGreaterThan(5);
    expect(leaksIn(lines.join('\n'), [...secrets, key])).toEqual([]);
    expect(lines.join('\n')).not.toContain(store.fingerprint(head));
  });

  it('lets nobody write whose turn is over', async () => {
    const store = await open();
    const late = await store.update('a', async (held): Promise<Held> => held, patient);
    await expect(late.write(kept('late'))).rejects.toThrow(TypeError);
    await expect(late.readAgain()).rejects.toThrow(TypeError);
    await expect(late.remove()).rejects.toThrow(TypeError);
    expect(await store.read('a')).toBeUndefined();
  });

  it('goes by the time of Redis', async () => {
    const store = await open();
    const [seconds] = await redis.time();
    expect(Math.abs(store.now() - Number(seconds) * 1000)).toBeLessThan(5000);
  });

  describe('those who wait', () => {
    /** A holder in his turn, until he is told to write and go. */
    async function startHolder(store: TokenStore): Promise<{ finish(next: Kept): Promise<void> }> {
      let go: (next: Kept) => void = () => {};
      const told = new Promise<Kept>((resolve) => {
        go = resolve;
      });
      let begin = (): void => {};
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const holding = store.update(
        'a',
        async (held) => {
          begin();
          expect(await held.write(await told)).toBe(true);
        },
        patient,
      );
      await begun;
      return {
        async finish(next) {
          go(next);
          await holding;
        },
      };
    }

    const contentWith = (head: string): Wait<string> => ({
      ...patient,
      contentWith: (found) => (found?.head === head ? 'content' : undefined),
    });

    it('are served by what was written, and nobody of them takes the lock', async () => {
      const holder = await startHolder(await open());
      const stores = await Promise.all(Array.from({ length: 8 }, () => open()));
      const monitor = await RedisMonitor.start(server);
      let asked = 0;
      const waiting = stores.map((store) =>
        store.update('a', async () => 'a turn', {
          ...patient,
          contentWith(found, queuedAt) {
            asked++;
            expect(queuedAt).toBeLessThanOrEqual(store.now());
            return found?.head === 'new' ? 'content' : undefined;
          },
        }),
      );
      await expect.poll(() => asked).toBe(8);
      await holder.finish(kept('new'));
      expect(await Promise.all(waiting)).toEqual(Array.from({ length: 8 }, () => 'content'));
      const lines = await monitor.stop();
      expect(locksTaken(lines)).toBe(0);
      // Once before, once for what was new.
      expect(asked).toBe(16);
      expect(await lockNames()).toEqual([]);
    });

    it('get their turn where what was written does not do', async () => {
      const holder = await startHolder(await open());
      const waiting = (await open()).update('a', async (held) => held.kept?.head, contentWith('another'));
      await holder.finish(kept('new'));
      expect(await waiting).toBe('new');
      expect(await lockNames()).toEqual([]);
    });

    it('are ended by what the question throws', async () => {
      const store = await open();
      await put(store, 'a', kept('one'));
      const holder = await startHolder(store);
      const failing: Wait<string> = {
        ...patient,
        contentWith: () => {
          throw new Error('refused meanwhile');
        },
      };
      await expect((await open()).update('a', async () => 'a turn', failing)).rejects.toThrow('refused meanwhile');
      await holder.finish(kept('two'));
    });
  });

  describe('a holder who lost the lease', () => {
    /** Runs `late` in a turn that somebody else has been given meanwhile; that one wrote a journal and is still at it. */
    async function overtaken<T>(late: (held: Held) => Promise<T>): Promise<T> {
      const [slow, quick] = [await open(), await open()];
      await put(slow, 'a', kept('one'));
      return slow.update(
        'a',
        async (held) => {
          await redis.del(await lockNames());
          return quick.update(
            'a',
            async (next) => {
              expect(await next.write(kept('one', '{"journal":"of the next"}'), { reserve: true })).toBe(true);
              return late(held);
            },
            patient,
          );
        },
        patient,
      );
    }

    it('still writes a successor, since nobody else has it', async () => {
      expect(await overtaken((held) => held.write(kept('two')))).toBe(true);
      expect(shown(await (await open()).read('a'))).toEqual(shown(kept('two')));
    });

    it.each([
      ['says that he is about to send', kept('one', '{"journal":"of the late"}'), { reserve: true }],
      ['says that he is about to send something new', kept('two'), { reserve: true }],
      ['notes how it ended', kept('one', '{"failure":1}'), {}],
    ])('writes nothing when he %s', async (_, next, options) => {
      expect(await overtaken((held) => held.write(next, options))).toBe(false);
      expect(shown(await (await open()).read('a'))).toEqual(shown(kept('one', '{"journal":"of the next"}')));
    });

    it('removes nothing', async () => {
      const error = await errorOf(overtaken((held) => held.remove()));
      expect(error).toMatchObject({ code: 'store_locked' });
      expect((await (await open()).read('a'))?.head).toBe('one');
    });

    it('does not take the lock of the next away', async () => {
      const [slow, quick] = [await open(), await open()];
      let finish = (): void => {};
      let next: Promise<void> | undefined;
      await slow.update(
        'a',
        async () => {
          await redis.del(await lockNames());
          await new Promise<void>((begun) => {
            next = quick.update(
              'a',
              () => {
                begun();
                return new Promise<void>((resolve) => {
                  finish = resolve;
                });
              },
              patient,
            );
          });
        },
        patient,
      );
      expect(await lockNames()).toHaveLength(1);
      finish();
      await next;
      expect(await lockNames()).toEqual([]);
    });
  });

  describe('an answer that is lost', () => {
    let proxy: RedisProxy;
    let store: TokenStore;

    beforeEach(async () => {
      proxy = await RedisProxy.start(server.port);
      store = await open(key, proxy.url);
    });

    /** Shorter than a lease: who took his own lock for another's would wait too long. */
    const hasty = { timeoutMs: 3000, signal: undefined };

    it('to the taking of a lock does not lock its holder out', async () => {
      const lost = proxy.loseAnswerTo('oauth-profile:lock:');
      expect(await store.update('a', (held) => held.write(kept('one')), hasty)).toBe(true);
      await lost;
      await proxy.remove();
      expect(await lockNames()).toEqual([]);
    });

    it.each([
      ['a journal', kept('one', '{"journal":1}'), { reserve: true }],
      ['a successor', kept('two'), {}],
    ])('to the write of %s does not make it look overtaken', async (_, next, options) => {
      await put(store, 'a', kept('one'));
      const written = await store.update(
        'a',
        async (held) => {
          const lost = proxy.loseAnswerTo('oauth-profile:record:');
          const result = await held.write(next, options);
          await lost;
          return result;
        },
        hasty,
      );
      expect(written).toBe(true);
      expect(shown(await store.read('a'))).toEqual(shown(next));
      await proxy.remove();
    });

    it('to a read or a removal is asked for again', async () => {
      await put(store, 'a', kept('one'));
      const lostRead = proxy.loseAnswerTo('oauth-profile:record:');
      expect((await store.read('a'))?.head).toBe('one');
      await lostRead;
      await store.update(
        'a',
        async (held) => {
          const lost = proxy.loseAnswerTo('oauth-profile:record:');
          await held.remove();
          await lost;
        },
        hasty,
      );
      expect(await recordNames()).toEqual([]);
      await proxy.remove();
    });
  });

  describe('keys', () => {
    it('can change: the first seals, all open, and everything is sealed anew', async () => {
      const [old, fresh] = [key, anyKey()];
      const before = await open(old);
      for (const name of ['a', 'b', 'c']) await put(before, name, kept(`of ${name}`));
      const during = await open(`${fresh},${old}`);
      expect((await during.list()).map(({ name }) => name).sort()).toEqual(['a', 'b', 'c']);
      await put(during, 'a', kept('new'));
      const after = await open(fresh);
      const list = (await after.list()).map(({ name, kept: { head } }) => [name, head]).sort();
      expect(list).toEqual([
        ['a', 'new'],
        ['b', 'of b'],
        ['c', 'of c'],
      ]);
      expect(await redis.smembers('oauth-profile:keys')).toEqual([idOf(fresh)]);
      expect(await recordNames()).toHaveLength(3);
      expect(await lockNames()).toEqual([]);
    });

    it('do not let two in who have them in another order', async () => {
      const other = anyKey();
      const stores = [await open(`${key},${other}`), await open(`${other},${key}`)];
      let inside = 0;
      const change = async (held: Held) => {
        expect(++inside).toBe(1);
        expect(await held.write(kept(String(Number(held.kept?.head ?? 0) + 1)))).toBe(true);
        expect(--inside).toBe(0);
      };
      const turns = Array.from({ length: 20 }, (_, at) => stores[at % 2]?.update('a', change, patient));
      await Promise.all(turns);
      for (const store of stores) expect((await store.read('a'))?.head).toBe('20');
      expect(await recordNames()).toHaveLength(1);
    });

    it('that are unknown are refused when the store is opened, by a clear error', async () => {
      await put(await open(), 'a', kept('one'));
      const error = await errorOf(open(anyKey()));
      expect(error).toMatchObject({
        code: 'store_unreadable',
        message: `what the Redis at ${server.url} keeps is sealed with another key (${idOf(key)})`,
        hint: expect.stringContaining('OAUTH_PROFILE_KEY'),
      });
    });

    it('that came meanwhile are noticed before anything is sent', async () => {
      const early = await open(anyKey());
      await put(await open(), 'a', kept('one'));
      const sent = { request: false };
      const late = early.update(
        'a',
        async () => {
          sent.request = true;
        },
        patient,
      );
      expect(await errorOf(late)).toMatchObject({ code: 'store_unreadable' });
      expect(sent.request).toBe(false);
      expect(await recordNames()).toHaveLength(1);
      expect(await lockNames()).toEqual([]);
    });

    it('that nothing is sealed with any more are forgotten', async () => {
      await put(await open(), 'a', kept('one'));
      await redis.del(await recordNames());
      const other = anyKey();
      await put(await open(other), 'a', kept('two'));
      expect(await redis.smembers('oauth-profile:keys')).toEqual([idOf(other)]);
    });

    it.each([
      ['is not set', undefined],
      ['is empty', '  '],
    ])('are needed: OAUTH_PROFILE_KEY %s', async (_, value) => {
      const error = await errorOf(openRedisStore(server.url, { env: { OAUTH_PROFILE_KEY: value }, warn: () => {} }));
      expect(error).toMatchObject({ code: 'store_unreadable', message: expect.stringContaining('OAUTH_PROFILE_KEY') });
    });
  });

  describe('what is not ours', () => {
    let store: TokenStore;
    let record: string;

    beforeEach(async () => {
      store = await open();
      await put(store, 'a', kept('one'));
      record = (await recordNames())[0] as string;
    });

    const overwrite = () => store.update('a', (held) => held.write(kept('two')), patient);

    it.each([
      ['a text', 'hello', 'is damaged'],
      ['a long text', 'x'.repeat(500), 'is damaged'],
    ])('in the place of a record is refused and stays: %s', async (_, value, message) => {
      await redis.set(record, value);
      for (const attempt of [() => store.read('a'), () => store.list(), overwrite]) {
        expect(await errorOf(attempt())).toMatchObject({
          code: 'store_unreadable',
          message: expect.stringContaining(message),
        });
      }
      expect(await redis.get(record)).toBe(value);
      expect(await lockNames()).toEqual([]);
    });

    it('in the place of a record is refused and stays: a value of another type', async () => {
      await redis.del(record);
      await redis.hset(record, 'field', 'value');
      expect(await errorOf(overwrite())).toMatchObject({
        code: 'store_unreadable',
        message: expect.stringContaining('something else stands there'),
      });
      expect(await redis.hgetall(record)).toEqual({ field: 'value' });
    });

    it('is a record that was changed by a byte', async () => {
      const value = (await redis.getBuffer(record)) as Buffer;
      value[value.length - 20] = (value.at(-20) as number) ^ 1;
      await redis.set(record, value);
      expect(await errorOf(overwrite())).toMatchObject({ message: expect.stringContaining('is damaged') });
      expect(await redis.getBuffer(record)).toEqual(value);
    });

    it('is a record that was copied to another name', async () => {
      await put(store, 'b', kept('of b'));
      const other = (await recordNames()).find((name) => name !== record) as string;
      await redis.copy(record, other, 'REPLACE');
      expect(await errorOf(store.read('b'))).toMatchObject({ message: expect.stringContaining('of another name') });
    });
  });
});
