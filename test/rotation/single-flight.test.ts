import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leaksIn } from '../support/leaks.ts';
import { hasRedis, locksTaken, RedisMonitor, RedisServer } from '../support/redis.ts';
import { anyKey } from '../support/store.ts';
import { Home, type Served, StrictServer, type TokenFamily, Worker } from './fixture.ts';

const PROCESSES = 8;
const CALLERS = 20;
const ROUNDS = 3;

let server: StrictServer;

beforeAll(async () => {
  server = await StrictServer.start();
});

afterAll(() => server.stop());

const startAll = (env: Record<string, string>): Promise<Worker[]> =>
  Promise.all(Array.from({ length: PROCESSES }, () => Worker.start(env)));

/** Expects that every caller got the same token, and that the provider got this many requests. */
async function expectSameToken(all: readonly Served[], family: TokenFamily, requests = 1): Promise<void> {
  expect(all.flatMap(({ errors }) => errors)).toEqual([]);
  expect(all.reduce((sum, { served }) => sum + served, 0)).toBe(PROCESSES * CALLERS);
  expect(new Set(all.flatMap(({ tokens }) => tokens)).size).toBe(1);
  expect(await family.state()).toMatchObject({ requests, rejected: 0, overlaps: 0, revoked: false });
}

/** A token that has expired when this resolves: first one that lives for a second, then one that lives for an hour. */
async function startExpired(
  worker: Worker | undefined,
  latencyMs: number,
): Promise<{ family: TokenFamily; expired: Served }> {
  const family = await server.family({ latencyMs, lifetimes: [1, 3600] });
  const expired = await worker?.get(family);
  if (expired === undefined) expect.fail('no worker is running');
  await sleep(1_000);
  return { family, expired };
}

/** Tests with a provider that revokes the family if a refresh token is used twice. */
function describeStorm(workers: () => readonly Worker[]): void {
  describe.each([0, 100])('and a provider that takes %i ms', (latencyMs) => {
    it.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
      'send one request for a new family (round %i)',
      async () => {
        const family = await server.family({ latencyMs });
        await expectSameToken(await Promise.all(workers().map((worker) => worker.get(family, CALLERS))), family);
      },
    );

    it('send one request for an expired token', async () => {
      const { family, expired } = await startExpired(workers()[0], latencyMs);
      const all = await Promise.all(workers().map((worker) => worker.get(family, CALLERS)));
      await expectSameToken(all, family, 2);
      expect(all[0]?.tokens).not.toEqual(expired.tokens);
    });

    it('send one request after an API rejected the token of all callers', async () => {
      const family = await server.family({ latencyMs });
      const before = await Promise.all(workers().map((worker) => worker.get(family, CALLERS)));
      const all = await Promise.all(workers().map((worker) => worker.refresh(family, CALLERS)));
      await expectSameToken(all, family, 2);
      expect(all[0]?.tokens).not.toEqual(before[0]?.tokens);
    });
  });
}

describe('8 processes with 20 callers each, with a vault', () => {
  const home = new Home();
  let workers: Worker[];

  beforeAll(async () => {
    // Without OAUTH_PROFILE_KEY, the first process creates a key.
    workers = await startAll({ HOME: home.directory });
  });

  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    home.remove();
  });

  describeStorm(() => workers);

  it('end without being killed, and leave only encrypted records', async () => {
    const family = await server.family();
    await workers[0]?.get(family);
    const { issued } = await family.state();
    expect(await Promise.all(workers.map((worker) => worker.end()))).toEqual(workers.map(() => 0));
    expect(home.files().filter((file) => !/\.(record|alias)$/.test(file))).toEqual([]);
    expect(leaksIn(home.content(), [...issued, 'the-secret-of-the-fleet'])).toEqual([]);
  });
});

describe.skipIf(!hasRedis)('8 processes with 20 callers each, with a Redis (needs redis-server)', () => {
  let redis: RedisServer;
  let workers: Worker[];
  const key = anyKey();

  beforeAll(async () => {
    redis = await RedisServer.start();
    workers = await startAll({ HOME: '/nonexistent', OAUTH_PROFILE_STORE: redis.url, OAUTH_PROFILE_KEY: key });
  });

  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    await redis.remove();
  });

  describeStorm(() => workers);

  it('send no secret to Redis, and acquire the lock once for all callers', async () => {
    const { family } = await startExpired(workers[0], 0);
    await family.hold();
    const monitor = await RedisMonitor.start(redis);
    const waiting = Promise.all(workers.map((worker) => worker.get(family, CALLERS)));
    await expect.poll(() => monitor.lockClients, { timeout: 9000 }).toBe(PROCESSES);
    await family.release();
    await expectSameToken(await waiting, family, 2);
    const lines = await monitor.stop();
    expect(locksTaken(lines)).toBe(1);
    const { issued } = await family.state();
    expect(leaksIn(lines.join('\n'), [...issued, 'the-secret-of-the-fleet', key])).toEqual([]);
  });

  it('end without being killed, and leave only records', async () => {
    expect(await Promise.all(workers.map((worker) => worker.end()))).toEqual(workers.map(() => 0));
    const client = redis.connect();
    const names = await client.keys('*');
    client.disconnect();
    expect(names.filter((name) => !/^oauth-profile:\{store\}:(records|aliases):/.test(name))).toEqual([
      'oauth-profile:{store}:keys',
    ]);
  });
});

describe('1,000 callers in one process', () => {
  it('send one request', async () => {
    const home = new Home();
    const worker = await Worker.start({ HOME: home.directory, OAUTH_PROFILE_KEY: anyKey() });
    const family = await server.family({ latencyMs: 20 });
    const { served, tokens, errors } = await worker.get(family, 1000);
    expect({ served, tokens: tokens.length, errors }).toEqual({ served: 1000, tokens: 1, errors: [] });
    expect(await family.state()).toMatchObject({ requests: 1, rejected: 0, revoked: false });
    expect(await worker.end()).toBe(0);
    home.remove();
  });
});
