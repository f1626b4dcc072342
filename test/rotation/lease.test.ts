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

  /** A chain, one machine whose request is under way at the provider, and another that wants the same token. */
  async function scene(wish: ChainWish) {
    const database = ++databases;
    const client = redis.connect();
    await client.select(database);
    const there = { ...env, OAUTH_PROFILE_STORE: `${redis.url}/${database}` };
    const chain = await provider.chain({ ...wish, gated: true });
    const [first, second] = await Promise.all([Worker.start(there), Worker.start(there)]);
    const firstGot = first.get(chain).catch(() => undefined);
    await chain.arrived(1);
    const [lock = ''] = await client.keys('oauth-profile:lock:*');
    const holder = () => client.get(lock);
    /** Whoever comes next goes on from where the two left it. */
    const end = async (expected: object) => {
      const third = await Worker.start(there);
      await third.get(chain);
      expect(await third.refresh(chain)).toMatchObject({ served: 1, errors: [] });
      expect(await chain.state()).toMatchObject({ overlaps: 0, revoked: false, ...expected });
      expect(await client.keys('oauth-profile:lock:*')).toEqual([]);
      await Promise.all([first, second, third].map((worker) => worker.kill()));
      client.disconnect();
    };
    return { chain, first, second, firstGot, holder, end };
  }

  it('wait for what one brings that stopped past its lease, where a replay is refused', async () => {
    const { chain, first, second, firstGot, end } = await scene({ replay: 'refused' });
    first.signal('SIGSTOP');
    await chain.release();
    const secondGot = second.get(chain);
    await chain.arrived(2);
    first.signal('SIGCONT');
    const [one, other] = await Promise.all([firstGot, secondGot]);
    expect(one).toMatchObject({ served: 1, errors: [] });
    expect(other).toEqual(one);
    await end({ requests: 3, refused: 1 });
  });

  it('send nothing before the request of one that stopped must be over, where a replay revokes everything', async () => {
    const { chain, first, second, firstGot, holder, end } = await scene({ replay: 'revokes' });
    const before = await holder();
    first.signal('SIGSTOP');
    await chain.release();
    const secondGot = second.get(chain);
    await expect.poll(holder, { timeout: 9000 }).not.toBeOneOf([before, null]);
    first.signal('SIGCONT');
    const [one, other] = await Promise.all([firstGot, secondGot]);
    expect(one).toMatchObject({ served: 1, errors: [] });
    expect(other).toEqual(one);
    await end({ requests: 2, refused: 0 });
  });

  it('do not rob one whose request takes longer than a lease', async () => {
    const { chain, second, firstGot, end } = await scene({ replay: 'grace' });
    const secondGot = second.get(chain);
    setTimeout(() => chain.release(), 7000);
    const [one, other] = await Promise.all([firstGot, secondGot]);
    expect(one).toMatchObject({ served: 1, errors: [] });
    expect(other).toEqual(one);
    await end({ requests: 2, refused: 0 });
  });

  it('refresh nothing once Redis has gone away', async () => {
    const own = await RedisServer.start();
    const chain = await provider.chain();
    const worker = await Worker.start({ ...env, OAUTH_PROFILE_STORE: own.url });
    await worker.get(chain);
    await own.kill();
    expect(await worker.refresh(chain, 5)).toMatchObject({
      served: 0,
      errors: [expect.stringMatching(/^store_unreadable .*nobody listens there/)],
    });
    expect((await chain.state()).requests).toBe(1);
    await worker.kill();
    await own.remove();
  });

  it('go on after the lease of one that was killed, where the provider forgives', async () => {
    const { chain, first, second, end } = await scene({ replay: 'grace' });
    await first.kill();
    await chain.release();
    expect(await second.get(chain)).toMatchObject({ served: 1, errors: [] });
    await end({ requests: 3, refused: 0 });
  });

  it.each(['safe', 'grace'] as const)(
    'go on beside one that stopped past its lease and came back, where a replay is %s',
    async (replay) => {
      const { chain, first, second, firstGot, end } = await scene({ replay });
      first.signal('SIGSTOP');
      await chain.release();
      expect(await second.get(chain)).toMatchObject({ served: 1, errors: [] });
      first.signal('SIGCONT');
      expect(await firstGot).toMatchObject({ served: 1, errors: [] });
      await end({ requests: 3, refused: 0 });
    },
  );

  it('keep what a request brings during which Redis was restarted', async () => {
    const own = await RedisServer.start();
    const there = { ...env, OAUTH_PROFILE_STORE: own.url };
    const chain = await provider.chain({ gated: true });
    const worker = await Worker.start(there);
    const got = worker.get(chain);
    await chain.arrived(1);
    await own.kill();
    await chain.release();
    await own.start();
    expect(await got).toMatchObject({ served: 1, errors: [] });
    const next = await Worker.start(there);
    expect(await next.get(chain)).toEqual(await got);
    expect(await next.refresh(chain)).toMatchObject({ served: 1, errors: [] });
    expect(await chain.state()).toMatchObject({ requests: 2, refused: 0, revoked: false });
    await Promise.all([worker.kill(), next.kill()]);
    await own.remove();
  });
});
