import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leaksIn } from '../support/leaks.ts';
import { locksTaken, RedisMonitor } from '../support/redis-monitor.ts';
import { hasRedis, RedisServer } from '../support/redis-server.ts';
import { type Chain, Home, type Served, StrictServer, Worker } from '../support/rotation.ts';
import { anyKey } from '../support/store-home.ts';

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

/** Everybody was served, with one and the same token, and the provider saw one request. */
async function expectOneFor(all: readonly Served[], family: Chain, requests = 1): Promise<void> {
  expect(all.flatMap(({ errors }) => errors)).toEqual([]);
  expect(all.reduce((sum, { served }) => sum + served, 0)).toBe(PROCESSES * CALLERS);
  expect(new Set(all.flatMap(({ tokens }) => tokens)).size).toBe(1);
  expect(await family.state()).toMatchObject({ requests, refused: 0, overlaps: 0, revoked: false });
}

/** What 8 processes with 20 callers each do to a provider that revokes everything when a token is used twice. */
function describeHerd(workers: () => readonly Worker[]): void {
  describe.each([0, 100])('with a provider that takes %i ms', (latencyMs) => {
    it.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
      'asks it once for a family that is new (%i)',
      async () => {
        const family = await server.family({ latencyMs });
        await expectOneFor(await Promise.all(workers().map((worker) => worker.get(family, CALLERS))), family);
      },
    );

    it('asks it once for a family whose token has run out', async () => {
      const family = await server.family({ latencyMs, lifetimes: [10, 3600] });
      const first = await workers()[0]?.get(family);
      const all = await Promise.all(workers().map((worker) => worker.get(family, CALLERS)));
      await expectOneFor(all, family, 2);
      expect(all[0]?.tokens).not.toEqual(first?.tokens);
    });

    it('asks it once when an API has refused the token of all', async () => {
      const family = await server.family({ latencyMs });
      const before = await Promise.all(workers().map((worker) => worker.get(family, CALLERS)));
      const all = await Promise.all(workers().map((worker) => worker.refresh(family, CALLERS)));
      await expectOneFor(all, family, 2);
      expect(all[0]?.tokens).not.toEqual(before[0]?.tokens);
    });
  });
}

describe('8 processes with 20 callers each, and a vault', () => {
  const home = new Home();
  let workers: Worker[];

  beforeAll(async () => {
    // Without a key: the first of them makes one.
    workers = await startAll({ HOME: home.folder });
  });

  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    home.remove();
  });

  describeHerd(() => workers);

  it('end by themselves, and leave nothing but sealed records', async () => {
    const family = await server.family();
    await workers[0]?.get(family);
    const { issued } = await family.state();
    expect(await Promise.all(workers.map((worker) => worker.end()))).toEqual(workers.map(() => 0));
    expect(home.files().filter((file) => !file.endsWith('.record'))).toEqual(['vault.json']);
    expect(leaksIn(home.content(), [...issued, 'the-secret-of-the-fleet'])).toEqual([]);
  });
});

describe.skipIf(!hasRedis)('8 processes with 20 callers each, and a Redis (needs redis-server)', () => {
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

  describeHerd(() => workers);

  it('tell Redis no secret, and the lock is taken once for all of them', async () => {
    const family = await server.family({ lifetimes: [10, 3600] });
    await workers[0]?.get(family);
    await family.hold();
    const monitor = await RedisMonitor.start(redis);
    const waiting = Promise.all(workers.map((worker) => worker.get(family, CALLERS)));
    await expect.poll(() => monitor.lockClients, { timeout: 9000 }).toBe(PROCESSES);
    await family.release();
    await expectOneFor(await waiting, family, 2);
    const lines = await monitor.stop();
    expect(locksTaken(lines)).toBe(1);
    const { issued } = await family.state();
    expect(leaksIn(lines.join('\n'), [...issued, 'the-secret-of-the-fleet', key])).toEqual([]);
  });

  it('end by themselves, and leave nothing but records', async () => {
    expect(await Promise.all(workers.map((worker) => worker.end()))).toEqual(workers.map(() => 0));
    const client = redis.connect();
    const names = await client.keys('*');
    client.disconnect();
    expect(names.filter((name) => !name.startsWith('oauth-profile:{store}:records:'))).toEqual([
      'oauth-profile:{store}:keys',
    ]);
  });
});

describe('a thousand callers in one process', () => {
  it('cause one request', async () => {
    const home = new Home();
    const worker = await Worker.start({ HOME: home.folder, OAUTH_PROFILE_KEY: anyKey() });
    const family = await server.family({ latencyMs: 20 });
    const { served, tokens, errors } = await worker.get(family, 1000);
    expect({ served, tokens: tokens.length, errors }).toEqual({ served: 1000, tokens: 1, errors: [] });
    expect(await family.state()).toMatchObject({ requests: 1, refused: 0, revoked: false });
    expect(await worker.end()).toBe(0);
    home.remove();
  });
});
