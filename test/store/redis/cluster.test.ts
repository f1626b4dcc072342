import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RecordLock, TokenStore } from '../../../src/ports.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { errorOf } from '../../support/errors.ts';
import { activeResources, hasRedis, settledResources } from '../../support/redis.ts';
import { anyKey, longWait, put, storedRecord, withLock } from '../../support/store.ts';
import { describeStore } from '../contract.ts';
import { RedisCluster } from './groups.ts';

describe.skipIf(!hasRedis)('a store in a Redis Cluster (needs redis-server)', { timeout: 60_000 }, () => {
  let cluster: RedisCluster;
  const open = (key: string, url = `redis+cluster://${cluster.hosts}`, warnings: string[] = []) =>
    openRedisStore(url, { env: { OAUTH_PROFILE_KEY: key }, warn: (message) => warnings.push(message) });

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  }, 60_000);

  afterAll(() => cluster?.remove());

  beforeEach(() => cluster.clear());

  describeStore('fulfils the contract of every store', () => {
    const key = anyKey();
    return { open: () => open(key), remove: () => {} };
  });

  it('does not keep the process alive while it is idle, and closes its sockets', async () => {
    const before = await settledResources();
    const store = await open(anyKey());
    await put(store, 'a', storedRecord('one'));
    await expect.poll(activeResources).toBeLessThanOrEqual(before);
    await store.close();
    await expect.poll(activeResources).toBeLessThanOrEqual(before);
  });

  it('finds the cluster through any node, and a URL without cluster fails with a hint', async () => {
    const warnings: string[] = [];
    const key = anyKey();
    for (const { host } of cluster.servers) {
      await (await open(key, `redis+cluster://${host}`, warnings)).close();
    }
    expect(warnings).toEqual([]);
    const errors = await Promise.all(cluster.servers.map(({ url }) => errorOf(open(key, url)).catch(() => undefined)));
    expect(errors.filter((error) => error !== undefined)).toHaveLength(2);
    for (const error of errors) {
      if (error !== undefined) expect(error).toMatchObject({ hint: expect.stringContaining('redis+cluster://') });
    }
  });

  it('loses no write and grants one lock at a time while its slot is moved between nodes', async () => {
    // A change of keys is under way: each record has two names.
    const [old, fresh] = [anyKey(), anyKey()];
    const keys = [`${old},${fresh}`, `${fresh},${old}`];
    // The documented permissions are sufficient.
    const documented = readFileSync(new URL('../../../docs/how-to/redis.md', import.meta.url), 'utf8');
    const [, permissions = ''] = /^user runner on >password (.+)$/m.exec(documented) ?? [];
    await cluster.createUser('runner', '>runner-password', ...permissions.split(' '), '+cluster|slots', '+asking');
    const url = `redis+cluster://runner:runner-password@${cluster.hosts}`;
    const stores = await Promise.all(keys.map((key) => open(key, url)));
    let moves = 0;
    let owners = 0;
    const increment = async (lock: RecordLock) => {
      expect(++owners).toBe(1);
      const next = Number(lock.record?.version ?? 0) + 1;
      expect(await lock.write(storedRecord(String(next)))).toBe(true);
      expect(--owners).toBe(0);
      return next;
    };
    const load = async (store: TokenStore) => {
      let writes = 0;
      while (moves < 3) {
        await withLock(store, 'counter', increment);
        writes++;
        expect(await store.list()).toHaveLength(1);
      }
      return writes;
    };
    const loads = Promise.all(stores.map(load));
    for (; moves < 3; moves++) {
      const nodes = await cluster.sizes();
      await cluster.moveSlot('{store}', { inUse: true });
      await expect.poll(() => cluster.sizes()).not.toEqual(nodes);
    }
    const writes = (await loads).reduce((sum, count) => sum + count, 0);
    expect(Number((await stores[0]?.read('counter'))?.version)).toBe(writes);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('keeps a lock whose slot is moved', async () => {
    const key = anyKey();
    const [owner, waiter] = [await open(key), await open(key)];
    await put(owner, 'a', storedRecord('one'));
    const lock = await owner.lock('a', longWait);
    await cluster.moveSlot('{store}');
    expect(await errorOf(waiter.lock('a', { timeoutMs: 50, signal: undefined }))).toMatchObject({
      code: 'store_locked',
    });
    expect(await lock.write(storedRecord('two'))).toBe(true);
    await lock.release();
    expect(await withLock(waiter, 'a', ({ record }) => record?.version)).toBe('two');
    await Promise.all([owner.close(), waiter.close()]);
  });
});
