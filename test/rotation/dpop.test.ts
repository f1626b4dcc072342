import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leaksIn } from '../support/leaks.ts';
import { anyKey } from '../support/store.ts';
import { Home, type Served, StrictServer, Worker } from './fixture.ts';

const PROCESSES = 8;
const CALLERS = 20;

let server: StrictServer;
let home: Home;
let env: Record<string, string>;
beforeAll(async () => {
  server = await StrictServer.start();
  home = new Home();
  env = { HOME: home.directory, OAUTH_PROFILE_KEY: anyKey() };
});
afterAll(async () => {
  await server.stop();
  home.remove();
});

describe('a server that accepts each nonce once, and revokes a family whose refresh token is used twice', () => {
  it('gets one refresh from 8 processes with 20 callers each, for a new family and after an API rejected the token', async () => {
    const family = await server.family({ dpop: true });
    const workers = await Promise.all(Array.from({ length: PROCESSES }, () => Worker.start(env)));
    const expectSameToken = async (all: readonly Served[], requests: number): Promise<void> => {
      expect(all.flatMap(({ errors }) => errors)).toEqual([]);
      expect(all.reduce((sum, { served }) => sum + served, 0)).toBe(PROCESSES * CALLERS);
      expect(new Set(all.flatMap(({ tokens }) => tokens)).size).toBe(1);
      expect(await family.state()).toMatchObject({ requests, rejected: 0, overlaps: 0, revoked: false });
    };
    await expectSameToken(await Promise.all(workers.map((worker) => worker.get(family, CALLERS))), 1);
    await expectSameToken(await Promise.all(workers.map((worker) => worker.refresh(family, CALLERS))), 2);
    // Each process sends at most one request without a nonce.
    const { challenged } = await family.state();
    expect(challenged).toBeGreaterThan(0);
    expect(challenged).toBeLessThanOrEqual(2);
    await Promise.all(workers.map((worker) => worker.end()));
  });

  it('loses no refresh token to a process that is killed while it requires a nonce', async () => {
    const { data, ...family } = await server.family({ dpop: true, gated: true });
    // The next process waits until the response of the killed one can no longer arrive.
    const strict = { ...family, data: { p: { ...data.p, 'options.timeout': '3s' } } };
    const killed = await Worker.start(env);
    const waiting = killed.get(strict).catch(() => {});
    await strict.arrived(1);
    await killed.kill();
    await waiting;
    await strict.release();
    const last = await Worker.start(env);
    expect(await last.get(strict)).toMatchObject({ served: 1, errors: [] });
    expect(await last.refresh(strict)).toMatchObject({ served: 1, errors: [] });
    expect(await strict.state()).toMatchObject({ requests: 2, challenged: 2, rejected: 0, revoked: false });
    await last.end();
    expect(leaksIn(home.content(), (await strict.state()).issued)).toEqual([]);
  });
});
