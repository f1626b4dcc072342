import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leaksIn } from '../support/leaks.ts';
import { hasRedis, RedisServer } from '../support/redis-server.ts';
import { type Chain, Home, StrictServer, Worker } from '../support/rotation.ts';
import { anyKey } from '../support/store-home.ts';

/** More for a long run: `KILLS=1000 npx vitest run test/rotation/kill-loop.test.ts`. */
const KILLS = Number(process.env['KILLS'] ?? 40);
const TIMEOUT = { timeout: 60_000 + KILLS * 2_000 };
/** On Redis each kill may cost a lease: fewer of them, and several families at work at once. */
const CHAINS = 5;
const REDIS_ROUNDS = KILLS / 4 / CHAINS;

let provider: StrictServer;

beforeAll(async () => {
  provider = await StrictServer.start();
});

afterAll(() => provider.stop());

/** Processes that refresh one family without end, some of them killed or stopped at any moment. */
class Crowd {
  readonly errors: string[] = [];
  turns = 0;
  readonly #family: Chain;
  readonly #env: Record<string, string>;
  readonly #workers: Worker[] = [];

  readonly #pauseMs: number;

  constructor(family: Chain, env: Record<string, string>, pauseMs: number) {
    this.#family = family;
    this.#env = env;
    this.#pauseMs = pauseMs;
  }

  /** Adds one, and waits until it has had a token. */
  async add(): Promise<void> {
    const worker = await Worker.start(this.#env);
    await new Promise<void>((resolve) => {
      worker.loop(this.#family, this.#pauseMs, (errors) => {
        this.turns++;
        this.errors.push(...errors);
        resolve();
      });
      this.#workers.push(worker);
    });
  }

  async killOne(): Promise<void> {
    await this.#workers.shift()?.kill();
  }

  async stopOneFor(ms: number): Promise<void> {
    const worker = this.#workers.at(-1);
    worker?.signal('SIGSTOP');
    await sleep(ms);
    worker?.signal('SIGCONT');
  }

  async end(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.kill()));
  }
}

/** Whoever comes last finds the family alive, and nobody ever sent beside another. */
async function expectAlive(family: Chain, env: Record<string, string>): Promise<void> {
  const last = await Worker.start(env);
  expect(await last.get(family)).toMatchObject({ served: 1, errors: [] });
  expect(await last.refresh(family)).toMatchObject({ served: 1, errors: [] });
  expect(await last.end()).toBe(0);
  expect(await family.state()).toMatchObject({ refused: 0, overlaps: 0, revoked: false });
}

describe('processes that are killed at any moment', TIMEOUT, () => {
  it.each(['grace', 'allowed'] as const)(
    'lose neither the family nor anything else, with a vault, where a replay is %s',
    async (replay) => {
      const home = new Home();
      const env = { HOME: home.folder, OAUTH_PROFILE_KEY: anyKey() };
      const family = await provider.family({ refresh_token_reuse: replay, latencyMs: 3 });
      const crowd = new Crowd(family, env, 3);
      await Promise.all([crowd.add(), crowd.add(), crowd.add()]);
      for (let kills = 0; kills < KILLS / 2; kills++) {
        await sleep(Math.random() * 60);
        if (kills % 4 === 3) await crowd.stopOneFor(Math.random() * 60);
        await Promise.all([crowd.killOne(), crowd.add()]);
      }
      await crowd.end();
      expect(crowd.errors).toEqual([]);
      expect(crowd.turns).toBeGreaterThan(KILLS / 2);
      await expectAlive(family, env);
      // What the dead left is gone as well.
      expect(home.files().map((file) => file.replace(/^.*\./, ''))).toEqual(['record', 'json']);
      expect(leaksIn(home.content(), [...(await family.state()).issued.slice(-40), env.OAUTH_PROFILE_KEY])).toEqual([]);
      home.remove();
    },
  );

  it.skipIf(!hasRedis)('lose no family with a Redis that is restarted meanwhile (needs redis-server)', async () => {
    const redis = await RedisServer.start();
    const env = { HOME: '/nonexistent', OAUTH_PROFILE_STORE: redis.url, OAUTH_PROFILE_KEY: anyKey() };
    const families = await Promise.all(
      Array.from({ length: CHAINS }, () => provider.family({ refresh_token_reuse: 'grace', latencyMs: 3 })),
    );
    const crowds = families.map((family) => new Crowd(family, env, 20));
    await Promise.all(crowds.map((crowd) => crowd.add()));
    for (let round = 0; round < REDIS_ROUNDS; round++) {
      // Each gets a second one before the first is killed, so that there is always one that waits for the lease.
      await Promise.all(
        crowds.map(async (crowd) => {
          await crowd.add();
          await sleep(Math.random() * 60);
          await crowd.killOne();
        }),
      );
      const turns = crowds.map((crowd) => crowd.turns);
      await redis.kill();
      await redis.start();
      await expect
        .poll(() => crowds.every((crowd, at) => crowd.turns > (turns[at] ?? 0)), { timeout: 20_000 })
        .toBe(true);
    }
    await Promise.all(crowds.map((crowd) => crowd.end()));
    expect(crowds.flatMap(({ errors }) => errors)).toEqual([]);
    await Promise.all(families.map((family) => expectAlive(family, env)));
    const client = redis.connect();
    const names = await client.keys('*');
    client.disconnect();
    expect(names.filter((name) => !name.startsWith('oauth-profile:{store}:records:'))).toEqual([
      'oauth-profile:{store}:keys',
    ]);
    expect(names).toHaveLength(CHAINS + 1);
    await redis.remove();
  });
});
