import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { TokenStore } from '../../src/ports.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { hasRedis, RedisServer } from '../support/redis.ts';
import { anyKey, put, StoreHome, storedRecord, withLock } from '../support/store.ts';
import { memoryDirectory } from './crash-simulation.ts';

/** The lookups of `get-token`: a known refresh token, a later one of its family, an unknown one, and the lock of a new family. */
const lookups: readonly ((store: TokenStore) => Promise<unknown>)[] = [
  async (store) => expect(await store.read('family 1')).toMatchObject({ key: 'family 1' }),
  async (store) => expect(await store.read('successor of 1')).toMatchObject({ key: 'family 1' }),
  async (store) => expect(await store.read('unknown')).toBeUndefined(),
  (store) => withLock(store, 'unknown', () => {}),
];

async function addFamilies(store: TokenStore, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    await put(store, `family ${i}`, storedRecord(`version ${i}`, '{}', `family ${i}`, `successor of ${i}`));
  }
}

describe('finding the family of a refresh token', () => {
  const { readdirSync, openSync, readlinkSync, statSync, lstatSync, opendirSync } = fs;
  const counted = { readdirSync, openSync, readlinkSync, statSync, lstatSync, opendirSync };

  afterEach(() => {
    Object.assign(fs, counted);
    syncBuiltinESMExports();
  });

  it('takes as many file system calls with 300 families as with 3', async () => {
    const home = new StoreHome(memoryDirectory);
    onTestFinished(() => home.remove());
    const key = anyKey();
    let count = 0;
    const costs = async (): Promise<number[]> => {
      const found: number[] = [];
      for (const lookup of lookups) {
        const store = home.open(key);
        count = 0;
        await lookup(store);
        found.push(count);
      }
      return found;
    };
    await addFamilies(home.open(key), 0, 3);
    for (const [name, call] of Object.entries(counted)) {
      Object.assign(fs, {
        [name]: (...args: unknown[]) => {
          const result = (call as (...args: unknown[]) => unknown)(...args);
          // The entries of a directory count too.
          count += Array.isArray(result) ? 1 + result.length : 1;
          return result;
        },
      });
    }
    syncBuiltinESMExports();
    const before = await costs();
    expect(before.every((cost) => cost > 0)).toBe(true);
    await addFamilies(home.open(key), 3, 300);
    expect(await costs()).toEqual(before);
  });

  it.skipIf(!hasRedis)('takes the same Redis commands with 300 families as with 3', async () => {
    const server = await RedisServer.start();
    onTestFinished(() => server.remove());
    const client = server.connect();
    const env = { OAUTH_PROFILE_KEY: anyKey() };
    const store = await openRedisStore(server.url, { env, warn: () => {} });
    const costs = async (): Promise<string[][]> => {
      const found: string[][] = [];
      for (const lookup of lookups) {
        await client.config('RESETSTAT');
        await lookup(store);
        const stats = [...(await client.info('commandstats')).matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)];
        found.push(
          stats
            .map(([, command, calls]) => `${command} ${calls}`)
            .filter((line) => !/^config/.test(line))
            .sort(),
        );
      }
      return found;
    };
    await addFamilies(store, 0, 3);
    const before = await costs();
    expect(before.flat().join()).not.toMatch(/hgetall|hvals|scan|keys/);
    await addFamilies(store, 3, 300);
    expect(await costs()).toEqual(before);
    await store.close();
    client.disconnect();
  });
});
