import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { anyKey, patient, StoreHome } from '../../support/store-home.ts';
import { buildStoreChild, StoreProcess } from '../../support/store-process.ts';

/** How often to kill; more for a longer run. */
const KILLS = Number(process.env['OAUTH_PROFILE_TEST_KILLS'] ?? 60);
const WORKERS = 4;

it(`survives ${KILLS} kills: one holder at a time, nothing lost, nothing left behind`, {
  timeout: 60_000 + KILLS * 2000,
}, async () => {
  const script = await buildStoreChild();
  const home = new StoreHome();
  const key = anyKey();
  const witness = join(home.folder, 'witness');
  writeFileSync(witness, '');
  const started: StoreProcess[] = [];
  const start = () => {
    const one = new StoreProcess(script, home.env({ OAUTH_PROFILE_KEY: key }), ['counter', witness]);
    one.tell('forever');
    started.push(one);
    return one;
  };
  const told = () => readFileSync(witness, 'utf8');
  /** The one who came in last, or anybody. */
  const choose = (byChance: boolean) => {
    const last = told().trimEnd().split('\n').at(-1)?.split(' ')[1];
    const holder = workers.findIndex(({ pid }) => String(pid) === last);
    return byChance || holder === -1 ? Math.floor(Math.random() * WORKERS) : holder;
  };

  const workers = Array.from({ length: WORKERS }, start);
  await Promise.all(workers.map((worker) => worker.said('ready')));
  for (let kills = 0; kills < KILLS; kills++) {
    const before = told().length;
    await expect.poll(() => told().length, { timeout: 30_000, interval: 1 }).toBeGreaterThan(before);
    // At any moment of what it does.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
    const at = choose(kills % 3 === 0);
    await workers[at]?.kill();
    workers[at] = start();
  }
  await Promise.all(workers.map((worker) => worker.kill()));
  expect(started.flatMap(({ failures }) => failures)).toEqual([]);

  const lines = readFileSync(witness, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' '));
  let inside: string | undefined;
  const dead = new Set<string>();
  let number = 0;
  for (const [what = '', who = '', wrote] of lines) {
    expect(what).not.toBe('intruder');
    expect(dead.has(who), `${who} was followed while it lived`).toBe(false);
    if (what === 'enter') {
      // Whoever did not leave was killed, and must never be heard of again.
      if (inside !== undefined) dead.add(inside);
      expect(dead.has(who)).toBe(false);
      inside = who;
    } else {
      expect(inside).toBe(who);
      if (what === 'leave') inside = undefined;
      if (wrote === undefined) continue;
      expect(Number(wrote)).toBeGreaterThan(number);
      number = Number(wrote);
    }
  }

  const last = await home
    .open(key)
    .update('counter', async (held) => JSON.parse(held.kept?.content.reveal() ?? '').number, patient);
  // The last one may have been killed between writing and saying so.
  expect([number, number + 1]).toContain(last);
  expect(home.files().filter((file) => !file.endsWith('.sealed'))).toEqual(['vault.json']);
  home.remove();
});
