import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { errorOf } from '../../support/errors.ts';
import { activeResources, hasRedis, settledResources } from '../../support/redis.ts';
import { anyKey, longWait, put, storedRecord, withLock } from '../../support/store.ts';
import { SentinelGroup, waitForReplication } from './groups.ts';

const WRITERS = 4;

describe.skipIf(!hasRedis)('a store behind Redis Sentinel (needs redis-server)', { timeout: 60_000 }, () => {
  const env = { OAUTH_PROFILE_KEY: anyKey() };
  const open = (url: string) => openRedisStore(url, { env, warn: () => {} });
  let group: SentinelGroup;

  beforeAll(async () => {
    group = await SentinelGroup.start();
  }, 60_000);

  afterAll(() => group?.remove());

  it('fails if the Sentinels do not know the primary', async () => {
    expect(await errorOf(open(`redis+sentinel://${group.hosts}/unknown`))).toMatchObject({
      code: 'store_unreadable',
      message: expect.stringContaining('do not know the primary'),
    });
  });

  it('does not keep the process alive while it is idle, and closes its sockets', async () => {
    const before = await settledResources();
    const store = await open(`redis+sentinel://${group.hosts}/main`);
    await put(store, 'a', storedRecord('one'));
    await expect.poll(activeResources).toBeLessThanOrEqual(before);
    await store.close();
    await expect.poll(activeResources).toBeLessThanOrEqual(before);
  });

  it('survives the loss of the primary under load: only writes that were not replicated can be lost', async () => {
    const stores = await Promise.all(
      Array.from({ length: WRITERS }, () => open(`redis+sentinel://${group.hosts}/main`)),
    );
    const successors = await open(`redis+sentinel://${group.hosts}/main/0`);
    const held = await successors.lock('sent', longWait);
    expect(await held.write(storedRecord('journal'), { reserve: true })).toBe(true);
    // This record is on the replica; what becomes of later writes depends on the moment of the kill.
    await waitForReplication(group.primary);

    let acknowledged = 0;
    let isFailedOver = false;
    const lost: number[] = [];
    const increment = async (store: (typeof stores)[number]) => {
      for (let after = 0; after < 5; ) {
        await withLock(store, 'counter', async (lock) => {
          const number = Number(lock.record?.version ?? 0);
          if (number < acknowledged) {
            lost.push(acknowledged - number);
            acknowledged = number;
          }
          expect(number).toBe(acknowledged);
          if (await lock.write(storedRecord(String(number + 1)))) acknowledged = number + 1;
          else acknowledged = Number((await lock.reload())?.version ?? 0);
          if (isFailedOver) after++;
        });
      }
    };
    const load = Promise.all(stores.map(increment));
    await expect.poll(() => acknowledged, { timeout: 20_000 }).toBeGreaterThan(20);
    await group.primary.kill();
    // The response of the provider arrives while there is no primary.
    expect(await held.write(storedRecord('successor'))).toBe(true);
    isFailedOver = true;
    await load;
    await held.release();

    expect((await successors.read('sent'))?.version).toBe('successor');
    expect(Number((await successors.read('counter'))?.version)).toBe(acknowledged);
    expect(lost.length).toBeLessThanOrEqual(1);
    const replica = group.replica.connect();
    expect(((await replica.call('ROLE')) as string[])[0]).toBe('master');
    replica.disconnect();
    await put(successors, 'sent', storedRecord('next'));
    await Promise.all([...stores, successors].map((store) => store.close()));
  });
});
