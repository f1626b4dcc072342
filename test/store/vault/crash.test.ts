import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { asProcess, playCrashes, quickFolder, reviveAll } from '../../support/store-crash.ts';
import { anyKey, kept, patient, put, StoreHome, shown } from '../../support/store-home.ts';

vi.mock('../../../src/store/lock/owner.ts', async (original) => ({
  ...(await original<object>()),
  ...(await import('../../support/store-crash.ts')).playedOwners,
}));

let endPlay: () => void;
let home: StoreHome;

beforeAll(() => {
  endPlay = playCrashes();
});

afterAll(() => endPlay());

beforeEach(() => {
  home = new StoreHome(quickFolder);
});

afterEach(() => home.remove());

const NEVER = Number.POSITIVE_INFINITY;
const litter = () => home.files().filter((file) => !file.endsWith('.sealed') && file !== 'vault.json');

/** Kills a process before each of its calls in turn, each time in a new home; gives back how often. */
async function killEverywhere(
  prepare: () => Promise<void>,
  act: () => Promise<unknown>,
  check: (where: string) => Promise<void>,
) {
  let killed = true;
  let at = 0;
  for (; killed; at++) {
    reviveAll();
    home.remove();
    home = new StoreHome(quickFolder);
    await asProcess(1, NEVER, prepare);
    killed = await asProcess(2, at, act);
    await asProcess(3, NEVER, () => check(`killed before call ${at}`));
  }
  return at;
}

describe('wherever a process is killed', () => {
  it('a refresh leaves the record before, the journal, or the record after, and nothing else', async () => {
    const key = anyKey();
    const states = [kept('one'), kept('one', '{"journal":1}'), kept('two')].map(shown);
    let reached = 0;
    const kills = await killEverywhere(
      () => put(home.open(key), 'a', kept('one')),
      () =>
        home.open(key).update(
          'a',
          async (held) => {
            await held.write(kept('one', '{"journal":1}'), { reserve: true });
            await held.write(kept('two'));
          },
          patient,
        ),
      async (where) => {
        const found = await home.open(key).read('a');
        const state = states.findIndex((one) => one?.content === found?.content.reveal());
        expect(state, where).toBeGreaterThanOrEqual(reached);
        reached = state;
        expect(await home.open(key).update('a', async (held) => shown(held.kept), patient), where).toEqual(
          shown(found),
        );
        expect(litter(), where).toEqual([]);
        await put(home.open(key), 'a', kept('three'));
      },
    );
    expect(reached).toBe(2);
    expect(kills).toBeGreaterThan(20);
  });

  it('the first use of a vault leaves one that the next can use', async () => {
    const kills = await killEverywhere(
      async () => {},
      () => put(home.open(undefined), 'a', kept('one')),
      async (where) => {
        const vault = home.open(undefined);
        expect([undefined, 'one'], where).toContain((await vault.read('a'))?.head);
        await put(vault, 'b', kept('two'));
        expect((await home.open(undefined).read('b'))?.head, where).toBe('two');
        expect(litter(), where).toEqual([]);
      },
    );
    expect(kills).toBeGreaterThan(20);
  });

  it('a change of keys loses nothing, and is completed by the next', async () => {
    const [old, next] = [anyKey(), anyKey()];
    const kills = await killEverywhere(
      async () => {
        for (const name of ['a', 'b']) await put(home.open(old), name, kept(`${name}1`));
      },
      () => put(home.open(`${next},${old}`), 'a', kept('a2')),
      async (where) => {
        for (const ring of [`${next},${old}`, `${old},${next}`]) {
          expect(['a1', 'a2'], where).toContain((await home.open(ring).read('a'))?.head);
          expect((await home.open(ring).read('b'))?.head, where).toBe('b1');
        }
        await put(home.open(`${next},${old}`), 'a', kept('a3'));
        expect((await home.open(next).list()).map(({ kept: { head } }) => head).sort(), where).toEqual(['a3', 'b1']);
        expect(litter(), where).toEqual([]);
        expect(home.sealed(), where).toHaveLength(2);
      },
    );
    expect(kills).toBeGreaterThan(40);
  });

  it('a removal leaves all or nothing', async () => {
    const key = anyKey();
    await killEverywhere(
      () => put(home.open(key), 'a', kept('one')),
      () => home.open(key).update('a', (held) => held.remove(), patient),
      async (where) => {
        expect([undefined, 'one'], where).toContain((await home.open(key).read('a'))?.head);
        await put(home.open(key), 'b', kept('two'));
        expect(litter(), where).toEqual([]);
      },
    );
  });
});
