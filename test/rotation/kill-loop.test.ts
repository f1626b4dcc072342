import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leaksIn } from '../support/leaks.ts';
import { hasRedis, RedisServer } from '../support/redis.ts';
import { anyKey } from '../support/store.ts';
import { Home, StrictServer, type TokenFamily, Worker } from './fixture.ts';

/** More for a long run: `KILLS=1000 npx vitest run test/rotation/kill-loop.test.ts`. */
const KILLS = Number(process.env['KILLS'] ?? 20);
const TIMEOUT = { timeout: 60_000 + KILLS * 2_000 };
/** With Redis, the others wait for the lease of a killed process: fewer kills, and several families in parallel. */
const FAMILIES = 5;
const REDIS_ROUNDS = KILLS / 4 / FAMILIES;

let provider: StrictServer;

beforeAll(async () => {
  provider = await StrictServer.start();
});

afterAll(() => provider.stop());

/** Processes that refresh one family in a loop. Some are killed or stopped at a random time. */
class WorkerGroup {
  readonly errors: string[] = [];
  refreshes = 0;
  readonly #family: TokenFamily;
  readonly #env: Record<string, string>;
  readonly #workers: Worker[] = [];
  readonly #pauseMs: number;

  constructor(family: TokenFamily, env: Record<string, string>, pauseMs: number) {
    this.#family = family;
    this.#env = env;
    this.#pauseMs = pauseMs;
  }

  /** Starts a process and waits for its first refresh. */
  async add(): Promise<void> {
    const worker = await Worker.start(this.#env);
    await new Promise<void>((resolve) => {
      worker.loop(this.#family, this.#pauseMs, (errors) => {
        this.refreshes++;
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

/** Expects that a new process can refresh the family, and that no two requests ever overlapped. */
async function expectAlive(family: TokenFamily, env: Record<string, string>): Promise<void> {
  const last = await Worker.start(env);
  expect(await last.get(family)).toMatchObject({ served: 1, errors: [] });
  expect(await last.refresh(family)).toMatchObject({ served: 1, errors: [] });
  expect(await last.end()).toBe(0);
  expect(await family.state()).toMatchObject({ rejected: 0, overlaps: 0, revoked: false });
}

describe('processes that are killed at random times', TIMEOUT, () => {
  it.each(['grace', 'allowed'] as const)(
    'never lose the token family in a vault, if refresh token reuse is set to %s',
    async (reuse) => {
      const home = new Home();
      const env = { HOME: home.directory, OAUTH_PROFILE_KEY: anyKey() };
      const family = await provider.family({ refresh_token_reuse: reuse, latencyMs: 3 });
      const group = new WorkerGroup(family, env, 3);
      await Promise.all([group.add(), group.add(), group.add()]);
      for (let kills = 0; kills < KILLS / 2; kills++) {
        await sleep(Math.random() * 60);
        if (kills % 4 === 3) await group.stopOneFor(Math.random() * 60);
        await Promise.all([group.killOne(), group.add()]);
      }
      await group.end();
      expect(group.errors).toEqual([]);
      expect(group.refreshes).toBeGreaterThan(KILLS / 2);
      await expectAlive(family, env);
      // The files of the killed processes are removed.
      expect(
        home
          .files()
          .filter((file) => !file.endsWith('.alias'))
          .map((file) => file.replace(/^.*\./, '')),
      ).toEqual(['record']);
      expect(leaksIn(home.content(), [...(await family.state()).issued.slice(-40), env.OAUTH_PROFILE_KEY])).toEqual([]);
      home.remove();
    },
  );

  it.skipIf(!hasRedis)('never lose a token family in a Redis that is restarted (needs redis-server)', async () => {
    const redis = await RedisServer.start();
    const env = { HOME: '/nonexistent', OAUTH_PROFILE_STORE: redis.url, OAUTH_PROFILE_KEY: anyKey() };
    const families = await Promise.all(
      Array.from({ length: FAMILIES }, () => provider.family({ refresh_token_reuse: 'grace', latencyMs: 3 })),
    );
    const groups = families.map((family) => new WorkerGroup(family, env, 20));
    await Promise.all(groups.map((group) => group.add()));
    for (let round = 0; round < REDIS_ROUNDS; round++) {
      // The second process is started before the first is killed, so that one always waits for the lease.
      await Promise.all(
        groups.map(async (group) => {
          await group.add();
          await sleep(Math.random() * 60);
          await group.killOne();
        }),
      );
      const refreshes = groups.map((group) => group.refreshes);
      await redis.kill();
      await redis.start();
      await expect
        .poll(() => groups.every((group, index) => group.refreshes > (refreshes[index] ?? 0)), { timeout: 20_000 })
        .toBe(true);
    }
    await Promise.all(groups.map((group) => group.end()));
    expect(groups.flatMap(({ errors }) => errors)).toEqual([]);
    await Promise.all(families.map((family) => expectAlive(family, env)));
    const client = redis.connect();
    const names = (await client.keys('*')).sort();
    const [aliases, , records = ''] = names;
    expect(names).toEqual([aliases, 'oauth-profile:{store}:keys', records]);
    expect([aliases, records]).toEqual([expect.stringContaining(':aliases:'), expect.stringContaining(':records:')]);
    expect(await client.hlen(records)).toBe(FAMILIES);
    client.disconnect();
    await redis.remove();
  });
});
