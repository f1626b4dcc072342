import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { anyKey, StoreHome, withLock } from '../../support/store.ts';
import { buildStoreChild, StoreProcess } from '../store-process.ts';

/** Number of kills; set the variable for a longer run. */
const KILLS = Number(process.env['OAUTH_PROFILE_TEST_KILLS'] ?? 60);
const WORKERS = 4;

it(`the vault survives ${KILLS} kills with one lock owner at a time, no lost write and no file left behind`, {
  timeout: 60_000 + KILLS * 2000,
}, async () => {
  const script = await buildStoreChild();
  const home = new StoreHome();
  const key = anyKey();
  const logFile = join(home.directory, 'log');
  writeFileSync(logFile, '');
  const started: StoreProcess[] = [];
  const start = () => {
    const one = new StoreProcess(script, home.env({ OAUTH_PROFILE_KEY: key }), ['counter', logFile]);
    one.send('forever');
    started.push(one);
    return one;
  };
  const readLog = () => readFileSync(logFile, 'utf8');
  /** Chooses the last owner, or any worker. */
  const chooseWorker = (atRandom: boolean) => {
    const last = readLog().trimEnd().split('\n').at(-1)?.split(' ')[1];
    const owner = workers.findIndex(({ pid }) => String(pid) === last);
    return atRandom || owner === -1 ? Math.floor(Math.random() * WORKERS) : owner;
  };

  const workers = Array.from({ length: WORKERS }, start);
  await Promise.all(workers.map((worker) => worker.received('ready')));
  for (let kills = 0; kills < KILLS; kills++) {
    const before = readLog().length;
    await expect.poll(() => readLog().length, { timeout: 30_000, interval: 1 }).toBeGreaterThan(before);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
    const index = chooseWorker(kills % 3 === 0);
    await workers[index]?.kill();
    workers[index] = start();
  }
  await Promise.all(workers.map((worker) => worker.kill()));
  expect(started.flatMap(({ failures }) => failures)).toEqual([]);

  const lines = readLog()
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' '));
  let owner: string | undefined;
  const killed = new Set<string>();
  let number = 0;
  for (const [event = '', pid = '', written] of lines) {
    expect(event).not.toBe('conflict');
    expect(killed.has(pid), `process ${pid} lost its lock while it was running`).toBe(false);
    if (event === 'acquired') {
      // An owner that did not release the lock was killed, and must not appear again.
      if (owner !== undefined) killed.add(owner);
      expect(killed.has(pid)).toBe(false);
      owner = pid;
    } else {
      expect(owner).toBe(pid);
      if (event === 'released') owner = undefined;
      if (written === undefined) continue;
      expect(Number(written)).toBeGreaterThan(number);
      number = Number(written);
    }
  }

  const last = await withLock(
    home.open(key),
    'counter',
    ({ record }) => JSON.parse(record?.content.reveal() ?? '').number,
  );
  // The last owner may have been killed between its write and its log line.
  expect([number, number + 1]).toContain(last);
  expect(home.leftovers()).toEqual([]);
  home.remove();
});
