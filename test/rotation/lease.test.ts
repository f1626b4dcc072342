import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasRedis, RedisServer } from '../support/redis.ts';
import { anyKey } from '../support/store.ts';
import { type FamilyOptions, Home, StrictServer, type TokenFamily, Worker } from './fixture.ts';

// A lease lasts 5 s. If a second use would revoke the family, an attempt is awaited for up to 10 s. The tests of this file wait concurrently.
/** The family, used by a profile with another `options.timeout`. */
const withTimeout = (family: TokenFamily, timeout: string): TokenFamily => ({
  ...family,
  data: { p: { ...family.data.p, 'options.timeout': timeout } },
});

const title = 'machines that share a Redis (needs redis-server)';

describe.skipIf(!hasRedis).concurrent(title, { timeout: 60_000 }, () => {
  let provider: StrictServer;
  let redis: RedisServer;
  let databases = 0;
  const env = { HOME: '/nonexistent', OAUTH_PROFILE_KEY: anyKey() };

  beforeAll(async () => {
    [provider, redis] = await Promise.all([StrictServer.start(), RedisServer.start()]);
  });

  afterAll(async () => {
    await Promise.all([provider.stop(), redis.remove()]);
  });

  /** Two machines that need the same token. The request of the first one has arrived at the provider. */
  async function startTwo(options: FamilyOptions) {
    const database = ++databases;
    const client = redis.connect();
    await client.select(database);
    const workerEnv = { ...env, OAUTH_PROFILE_STORE: `${redis.url}/${database}` };
    const family = await provider.family({ ...options, gated: true });
    const [first, second] = await Promise.all([Worker.start(workerEnv), Worker.start(workerEnv)]);
    const firstResult = first.get(family).catch(() => undefined);
    await family.arrived(1);
    const [lock = ''] = await client.keys('oauth-profile:{store}:lock:*');
    const owner = () => client.get(lock);
    /** Expects that a third machine can refresh the family, and ends all three. */
    const end = async (expected: object) => {
      const third = await Worker.start(workerEnv);
      await third.get(family);
      expect(await third.refresh(family)).toMatchObject({ served: 1, errors: [] });
      expect(await family.state()).toMatchObject({ overlaps: 0, revoked: false, ...expected });
      expect(await client.keys('oauth-profile:{store}:lock:*')).toEqual([]);
      await Promise.all([first, second, third].map((worker) => worker.kill()));
      client.disconnect();
    };
    return { family, first, second, firstResult, owner, end };
  }

  it('use the token of a stopped owner whose lease has expired, if reuse is rejected', async () => {
    const { family, first, second, firstResult, end } = await startTwo({ refresh_token_reuse: 'rejected' });
    first.signal('SIGSTOP');
    await family.release();
    const secondResult = second.get(family);
    await family.arrived(2);
    first.signal('SIGCONT');
    const [firstServed, secondServed] = await Promise.all([firstResult, secondResult]);
    expect(firstServed).toMatchObject({ served: 1, errors: [] });
    expect(secondServed).toEqual(firstServed);
    await end({ requests: 3, rejected: 1 });
  });

  it('send nothing until the request of a stopped owner must have ended, if reuse revokes the family', async () => {
    const { family, first, second, firstResult, owner, end } = await startTwo({
      refresh_token_reuse: 'revokes_family',
    });
    const before = await owner();
    first.signal('SIGSTOP');
    await family.release();
    const secondResult = second.get(family);
    await expect.poll(owner, { timeout: 9000 }).not.toBeOneOf([before, null]);
    first.signal('SIGCONT');
    const [firstServed, secondServed] = await Promise.all([firstResult, secondResult]);
    expect(firstServed).toMatchObject({ served: 1, errors: [] });
    expect(secondServed).toEqual(firstServed);
    await end({ requests: 2, rejected: 0 });
  });

  it('do not take the lock of an owner whose request takes longer than a lease', async () => {
    const { family, second, firstResult, end } = await startTwo({ refresh_token_reuse: 'grace' });
    const secondResult = second.get(family);
    setTimeout(() => family.release(), 7000);
    const [firstServed, secondServed] = await Promise.all([firstResult, secondResult]);
    expect(firstServed).toMatchObject({ served: 1, errors: [] });
    expect(secondServed).toEqual(firstServed);
    await end({ requests: 2, rejected: 0 });
  });

  it('refresh nothing after Redis has stopped', async () => {
    const own = await RedisServer.start();
    const family = await provider.family();
    const worker = await Worker.start({ ...env, OAUTH_PROFILE_STORE: own.url });
    await worker.get(family);
    await own.kill();
    expect(await worker.refresh(family, 5)).toMatchObject({
      served: 0,
      errors: [expect.stringMatching(/^store_unreadable .*connection refused/)],
    });
    expect((await family.state()).requests).toBe(1);
    await worker.kill();
    await own.remove();
  });

  it('continue after the lease of a killed owner, if reuse is possible for a grace period', async () => {
    const { family, first, second, end } = await startTwo({ refresh_token_reuse: 'grace' });
    await first.kill();
    await family.release();
    expect(await second.get(family)).toMatchObject({ served: 1, errors: [] });
    await end({ requests: 3, rejected: 0 });
  });

  it.each(['allowed', 'grace'] as const)(
    'continue while an owner is stopped beyond its lease, if reuse is set to %s',
    async (reuse) => {
      const { family, first, second, firstResult, end } = await startTwo({ refresh_token_reuse: reuse });
      first.signal('SIGSTOP');
      await family.release();
      expect(await second.get(family)).toMatchObject({ served: 1, errors: [] });
      first.signal('SIGCONT');
      expect(await firstResult).toMatchObject({ served: 1, errors: [] });
      await end({ requests: 3, rejected: 0 });
    },
  );

  it('store the token of a request during which Redis was restarted', async () => {
    const own = await RedisServer.start();
    const workerEnv = { ...env, OAUTH_PROFILE_STORE: own.url };
    const family = await provider.family({ gated: true });
    const worker = await Worker.start(workerEnv);
    const result = worker.get(family);
    await family.arrived(1);
    await own.kill();
    await family.release();
    await own.start();
    expect(await result).toMatchObject({ served: 1, errors: [] });
    const next = await Worker.start(workerEnv);
    expect(await next.get(family)).toEqual(await result);
    expect(await next.refresh(family)).toMatchObject({ served: 1, errors: [] });
    expect(await family.state()).toMatchObject({ requests: 2, rejected: 0, revoked: false });
    await Promise.all([worker.kill(), next.kill()]);
    await own.remove();
  });

  it('return a token that can only be stored after the timeout of the caller', async () => {
    const own = await RedisServer.start();
    const family = withTimeout(await provider.family({ gated: true }), '1s');
    const worker = await Worker.start({ ...env, OAUTH_PROFILE_STORE: own.url });
    const result = worker.get(family);
    await family.arrived(1);
    await own.kill();
    await family.release();
    // The caller waits for 1 s, and 2 s for the outcome of its request.
    await sleep(4_000);
    await own.start();
    expect(await result).toMatchObject({ served: 1, errors: [] });
    expect(await worker.refresh(family)).toMatchObject({ served: 1, errors: [] });
    expect(await family.state()).toMatchObject({ requests: 2, rejected: 0, revoked: false });
    await worker.kill();
    await own.remove();
  });

  it('store a new refresh token although Redis lost all data during the request', async () => {
    const own = await RedisServer.start();
    const workerEnv = { ...env, OAUTH_PROFILE_STORE: own.url };
    const family = await provider.family();
    const worker = await Worker.start(workerEnv);
    await worker.get(family);
    await family.hold();
    const result = worker.refresh(family);
    await family.arrived(2);
    const client = own.connect();
    await client.flushall();
    client.disconnect();
    await family.release();
    expect(await result).toMatchObject({ served: 1, errors: [] });
    const next = await Worker.start(workerEnv);
    expect(await next.get(family)).toEqual(await result);
    expect(await next.refresh(family)).toMatchObject({ served: 1, errors: [] });
    expect(await family.state()).toMatchObject({ requests: 3, rejected: 0, revoked: false });
    await Promise.all([worker.kill(), next.kill()]);
    await own.remove();
  });
});

describe('a process with a vault', { timeout: 60_000 }, () => {
  let provider: StrictServer;
  let home: Home;

  beforeAll(async () => {
    home = new Home();
    provider = await StrictServer.start();
  });

  afterAll(async () => {
    await provider.stop();
    home.remove();
  });

  it('uses a response that arrived while it was stopped, even after the timeout', async () => {
    const family = withTimeout(await provider.family({ gated: true }), '1s');
    const worker = await Worker.start({ HOME: home.directory, OAUTH_PROFILE_KEY: anyKey() });
    const result = worker.get(family);
    await family.arrived(1);
    worker.signal('SIGSTOP');
    await family.release();
    await sleep(2_500);
    worker.signal('SIGCONT');
    expect(await result).toMatchObject({ served: 1, errors: [] });
    expect(await worker.refresh(family)).toMatchObject({ served: 1, errors: [] });
    expect(await family.state()).toMatchObject({ requests: 2, rejected: 0, revoked: false });
    await worker.kill();
  });
});
