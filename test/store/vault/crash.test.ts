import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { anyKey, plaintext, put, StoreHome, storedRecord, withLock } from '../../support/store.ts';
import { memoryDirectory, reset, runAsProcess, startSimulation } from '../crash-simulation.ts';

vi.mock('../../../src/store/lock/process-status.ts', async (original) => ({
  ...(await original<object>()),
  ...(await import('../crash-simulation.ts')).simulatedProcessStatus,
}));

let endSimulation: () => void;
let home: StoreHome;

beforeAll(() => {
  endSimulation = startSimulation();
});

afterAll(() => endSimulation());

beforeEach(() => {
  home = new StoreHome(memoryDirectory);
});

afterEach(() => home.remove());

const NEVER = Number.POSITIVE_INFINITY;

/** Kills a process before each of its file system calls in turn, each time with a new home. Returns the number of calls. */
async function killAtEveryCall(
  prepare: () => Promise<void>,
  work: () => Promise<unknown>,
  check: (where: string) => Promise<void>,
) {
  let killed = true;
  let call = 0;
  for (; killed; call++) {
    reset();
    home.remove();
    home = new StoreHome(memoryDirectory);
    await runAsProcess(1, NEVER, prepare);
    killed = await runAsProcess(2, call, work);
    await runAsProcess(3, NEVER, () => check(`killed before call ${call}`));
  }
  return call;
}

describe('wherever a process is killed', () => {
  it('a refresh leaves the old record, the journal or the new record, and no other files', async () => {
    const key = anyKey();
    const records = [
      storedRecord('one', '{}', 'w', 'x', 'y'),
      storedRecord('one', '{"journal":1}', 'w', 'x', 'y'),
      storedRecord('two', '{"new":1}', 'x', 'y', 'z'),
    ] as const;
    const states = records.map(plaintext);
    let reached = 0;
    const calls = await killAtEveryCall(
      () => put(home.open(key), 'a', records[0]),
      () =>
        withLock(home.open(key), 'a', async (lock) => {
          await lock.write(records[1], { reserve: true });
          await lock.write(records[2]);
        }),
      async (where) => {
        const found = plaintext(await home.open(key).read('a'));
        const state = states.findIndex((one) => one?.content === found?.content);
        expect(state, where).toBeGreaterThanOrEqual(reached);
        reached = state;
        expect(await withLock(home.open(key), 'a', ({ record }) => plaintext(record)), where).toEqual(found);
        expect(home.leftovers(), where).toEqual([]);
        const { aliases } = records[state] as (typeof records)[number];
        await put(home.open(key), 'a', storedRecord('three', '{}', ...aliases));
        for (const alias of ['x', 'y', ...aliases.slice(-1)]) {
          expect((await home.open(key).read(alias))?.version, `${alias}, ${where}`).toBe('three');
        }
      },
    );
    expect(reached).toBe(2);
    expect(calls).toBeGreaterThan(20);
  });

  it('the first use of a vault leaves a usable vault', async () => {
    const calls = await killAtEveryCall(
      async () => {},
      () => put(home.open(undefined), 'a', storedRecord('one')),
      async (where) => {
        const vault = home.open(undefined);
        expect([undefined, 'one'], where).toContain((await vault.read('a'))?.version);
        await put(vault, 'b', storedRecord('two'));
        expect((await home.open(undefined).read('b'))?.version, where).toBe('two');
        expect(home.leftovers(), where).toEqual([]);
      },
    );
    expect(calls).toBeGreaterThan(20);
  });

  it('a change of keys loses no record, and the next process completes it', async () => {
    const [oldKey, newKey] = [anyKey(), anyKey()];
    const calls = await killAtEveryCall(
      async () => {
        for (const key of ['a', 'b'])
          await put(home.open(oldKey), key, storedRecord(`${key}1`, '{}', `alias of ${key}`));
      },
      () => put(home.open(`${newKey},${oldKey}`), 'a', storedRecord('a2')),
      async (where) => {
        for (const keys of [`${newKey},${oldKey}`, `${oldKey},${newKey}`]) {
          expect(['a1', 'a2'], where).toContain((await home.open(keys).read('a'))?.version);
          expect((await home.open(keys).read('b'))?.version, where).toBe('b1');
        }
        await put(home.open(`${newKey},${oldKey}`), 'a', storedRecord('a3'));
        const records = await home.open(newKey).list();
        expect((await home.open(newKey).read('alias of b'))?.version, where).toBe('b1');
        expect(
          home.files().filter((file) => file.endsWith('.alias')),
          where,
        ).toHaveLength(1);
        expect(records.map(({ version }) => version).sort(), where).toEqual(['a3', 'b1']);
        expect(home.leftovers(), where).toEqual([]);
        expect(home.records(), where).toHaveLength(2);
      },
    );
    expect(calls).toBeGreaterThan(40);
  });

  it('a removal leaves the whole record or nothing', async () => {
    const key = anyKey();
    await killAtEveryCall(
      () => put(home.open(key), 'a', storedRecord('one', '{}', 'x', 'y')),
      () => withLock(home.open(key), 'a', (lock) => lock.remove()),
      async (where) => {
        expect([undefined, 'one'], where).toContain((await home.open(key).read('a'))?.version);
        await put(home.open(key), 'b', storedRecord('two'));
        expect(home.leftovers(), where).toEqual([]);
      },
    );
  });
});
