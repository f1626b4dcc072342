import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasRedis, RedisServer } from '../support/redis-server.ts';
import { type ChainWish, StrictServer, Worker } from '../support/rotation.ts';
import { anyKey } from '../support/store-home.ts';

// A lease lasts 5 s, and where a second use would revoke everything an attempt is waited for until it must be over, 10 s: the tests of this
// file wait side by side.
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

  /** A family, one machine whose request is under way at the provider, and another that wants the same token. */
  async function scene(wish: ChainWish) {
    const database = ++databases;
    const client = redis.connect();
    await client.select(database);
    const there = { ...env, OAUTH_PROFILE_STORE: `${redis.url}/${database}` };
    const family = await provider.family({ ...wish, gated: true });
    const [first, second] = await Promise.all([Worker.start(there), Worker.start(there)]);
    const firstGot = first.get(family).catch(() => undefined);
    await family.arrived(1);
    const [lock = ''] = await client.keys('oauth-profile:{store}:lock:*');
    const holder = () => client.get(lock);
    /** Whoever comes next goes on from where the two left it. */
    const end = async (expected: object) => {
      const third = await Worker.start(there);
      await third.get(family);
      expect(await third.refresh(family)).toMatchObject({ served: 1, errors: [] });
      expect(await family.state()).toMatchObject({ overlaps: 0, revoked: false, ...expected });
      expect(await client.keys('oauth-profile:{store}:lock:*')).toEqual([]);
      await Promise.all([first, second, third].map((worker) => worker.kill()));
      client.disconnect();
    };
    return { family, first, second, firstGot, holder, end };
  }

  it('wait for what one brings that stopped past its lease, where a replay is refused', async () => {
    const { family, first, second, firstGot, end } = await scene({ refresh_token_reuse: 'rejected' });
    first.signal('SIGSTOP');
    await family.release();
    const secondGot = second.get(family);
    await family.arrived(2);
    first.signal('SIGCONT');
    const [one, other] = await Promise.all([firstGot, secondGot]);
    expect(one).toMatchObject({ served: 1, errors: [] });
    expect(other).toEqual(one);
    await end({ requests: 3, refused: 1 });
  });

  it('send nothing before the request of one that stopped must be over, where a replay revokes everything', async () => {
    const { family, first, second, firstGot, holder, end } = await scene({ refresh_token_reuse: 'revokes_family' });
    const before = await holder();
    first.signal('SIGSTOP');
    await family.release();
    const secondGot = second.get(family);
    await expect.poll(holder, { timeout: 9000 }).not.toBeOneOf([before, null]);
    first.signal('SIGCONT');
    const [one, other] = await Promise.all([firstGot, secondGot]);
    expect(one).toMatchObject({ served: 1, errors: [] });
    expect(other).toEqual(one);
    await end({ requests: 2, refused: 0 });
  });

  it('do not rob one whose request takes longer than a lease', async () => {
    const { family, second, firstGot, end } = await scene({ refresh_token_reuse: 'grace' });
    const secondGot = second.get(family);
    setTimeout(() => family.release(), 7000);
    const [one, other] = await Promise.all([firstGot, secondGot]);
    expect(one).toMatchObject({ served: 1, errors: [] });
    expect(other).toEqual(one);
    await end({ requests: 2, refused: 0 });
  });

  it('refresh nothing once Redis has gone away', async () => {
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

  it('go on after the lease of one that was killed, where the provider forgives', async () => {
    const { family, first, second, end } = await scene({ refresh_token_reuse: 'grace' });
    await first.kill();
    await family.release();
    expect(await second.get(family)).toMatchObject({ served: 1, errors: [] });
    await end({ requests: 3, refused: 0 });
  });

  it.each(['allowed', 'grace'] as const)(
    'go on beside one that stopped past its lease and came back, where a replay is %s',
    async (replay) => {
      const { family, first, second, firstGot, end } = await scene({ refresh_token_reuse: replay });
      first.signal('SIGSTOP');
      await family.release();
      expect(await second.get(family)).toMatchObject({ served: 1, errors: [] });
      first.signal('SIGCONT');
      expect(await firstGot).toMatchObject({ served: 1, errors: [] });
      await end({ requests: 3, refused: 0 });
    },
  );

  it('keep what a request brings during which Redis was restarted', async () => {
    const own = await RedisServer.start();
    const there = { ...env, OAUTH_PROFILE_STORE: own.url };
    const family = await provider.family({ gated: true });
    const worker = await Worker.start(there);
    const got = worker.get(family);
    await family.arrived(1);
    await own.kill();
    await family.release();
    await own.start();
    expect(await got).toMatchObject({ served: 1, errors: [] });
    const next = await Worker.start(there);
    expect(await next.get(family)).toEqual(await got);
    expect(await next.refresh(family)).toMatchObject({ served: 1, errors: [] });
    expect(await family.state()).toMatchObject({ requests: 2, refused: 0, revoked: false });
    await Promise.all([worker.kill(), next.kill()]);
    await own.remove();
  });
});
