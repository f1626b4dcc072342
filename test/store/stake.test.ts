import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { look, Stake } from '../../src/store/stake.ts';
import { sweep } from '../../src/store/sweep.ts';

// Processes are played in this one: each has a number, can die before any call of the file system, and does nothing more then. The other way
// round, any of them can do all that it wants between two calls of another.

const world = vi.hoisted(() => ({ pid: 1, nonces: new Map<string, number>(), dead: new Set<number>() }));

vi.mock('../../src/store/owner.ts', async (original) => ({
  ...(await original<typeof import('../../src/store/owner.ts')>()),
  inventOwner: () => {
    const nonce = world.nonces.size.toString(16).padStart(16, '0');
    world.nonces.set(nonce, world.pid);
    return `aaaaaaaaaaaa-${world.pid}-1-${nonce}`;
  },
  lifeOf: (owner: string) => (world.dead.has(Number(owner.split('-')[1])) ? 'dead' : 'alive'),
}));

class Killed extends Error {}

const calls = ['linkSync', 'unlinkSync', 'renameSync', 'writeFileSync', 'openSync', 'rmSync', 'readdirSync'] as const;
const real = Object.fromEntries(calls.map((call) => [call, fs[call]]));
let before: (() => void) | undefined;

beforeAll(() => {
  for (const call of calls) {
    Object.assign(fs, {
      [call]: (...args: unknown[]) => {
        before?.();
        return (real[call] as (...args: unknown[]) => unknown)(...args);
      },
    });
  }
  syncBuiltinESMExports();
});

afterAll(() => {
  before = undefined;
  Object.assign(fs, real);
  syncBuiltinESMExports();
  fs.rmSync(folder, { recursive: true });
});

const folder = fs.mkdtempSync(join(tmpdir(), 'oauth-profile-stake-'));
const lock = join(folder, 'a.lock');

beforeEach(() => {
  before = undefined;
});

function startAnew(): void {
  before = undefined;
  for (const file of fs.readdirSync(folder)) fs.rmSync(join(folder, file));
  world.dead.clear();
}

/** Does something as that process, until it is killed before the given call; says whether it was. */
function asProcess(pid: number, killedBefore: number, act: () => void): boolean {
  const outer = { before, pid: world.pid };
  let done = 0;
  world.pid = pid;
  before = () => {
    if (done++ >= killedBefore) throw new Killed();
  };
  try {
    act();
    // Whatever it caught: it was dead.
    return done > killedBefore;
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
    return true;
  } finally {
    if (done > killedBefore) world.dead.add(pid);
    before = outer.before;
    world.pid = outer.pid;
  }
}

/** What is in the folder, with numbers of processes in the place of nonces. */
function picture(): string {
  const known = (text: string) =>
    text.replace(/(?:aaaaaaaaaaaa-(\d)-1-)?([0-9a-f]{16})/g, (_, __, nonce) => `<${world.nonces.get(nonce)}>`);
  return known(
    fs
      .readdirSync(folder)
      .sort()
      .map((file) => `${file}=${fs.readFileSync(join(folder, file), 'latin1')}`)
      .join(),
  );
}

/** Does `meanwhile` before the given call of `act`; says whether it came to that. */
function interrupted(at: number, meanwhile: () => void, act: () => void): boolean {
  const outer = before;
  let done = 0;
  before = () => {
    if (done++ !== at) return;
    const own = before;
    before = outer;
    meanwhile();
    before = own;
  };
  try {
    act();
  } finally {
    before = outer;
  }
  return done > at;
}

const takeAndGiveBack = () => {
  const stake = new Stake(folder);
  if (stake.take(lock) === undefined) stake.release(lock);
  stake.remove();
};

const NEVER = Number.POSITIVE_INFINITY;

describe('a lock', () => {
  it('is free again, and its folder clean, wherever three processes in a row were killed', () => {
    const pictures = new Set<string>();
    let [first, second, third] = [true, true, true];
    for (let one = 0; first; one++) {
      second = true;
      for (let two = 0; second; two++) {
        third = true;
        for (let three = 0; third; three++) {
          const where = `killed at ${one}, ${two}, ${three}`;
          startAnew();
          first = asProcess(1, one, takeAndGiveBack);
          second = asProcess(2, two, takeAndGiveBack);
          // What comes of the same state has been tried.
          if (three === 0 && pictures.has(picture())) break;
          pictures.add(picture());
          third = asProcess(3, three, takeAndGiveBack);
          asProcess(4, NEVER, () => {
            const stake = new Stake(folder);
            expect(stake.take(lock), where).toBeUndefined();
            stake.remove();
            sweep(folder);
          });
          expect(fs.readdirSync(folder), where).toEqual([]);
        }
      }
    }
    expect(pictures.size).toBeGreaterThan(10);
  });

  it('is swept as well, wherever its holder was killed, and then a sweeper', () => {
    let [killed, second] = [true, true];
    for (let one = 0; killed; one++) {
      second = true;
      for (let two = 0; second; two++) {
        startAnew();
        killed = asProcess(1, one, takeAndGiveBack);
        second = asProcess(2, two, () => sweep(folder));
        asProcess(3, NEVER, () => sweep(folder));
        expect(fs.readdirSync(folder), `killed at ${one}, ${two}`).toEqual([]);
      }
    }
  });

  it('never has two holders, whatever two others do while one takes over from the dead', () => {
    let scenarios = 0;
    let [killed, first, second] = [true, true, true];
    for (let at = 0; killed; at++) {
      first = true;
      for (let one = 0; first; one++) {
        second = true;
        for (let two = 0; second; two++) {
          startAnew();
          killed = asProcess(1, at, takeAndGiveBack);
          const holders: number[] = [];
          const stakes: Stake[] = [];
          const take = (pid: number) => () => {
            const outer = world.pid;
            world.pid = pid;
            const stake = new Stake(folder);
            stakes.push(stake);
            if (stake.take(lock) === undefined) holders.push(pid);
            world.pid = outer;
          };
          second = false;
          first = interrupted(
            one,
            () => {
              second = interrupted(two, take(4), take(3));
            },
            take(2),
          );
          expect(holders.length, `killed at ${at}, interrupted at ${one} and ${two}`).toBeLessThanOrEqual(1);
          if (holders.length === 0) take(5)();
          expect(holders, `killed at ${at}, interrupted at ${one} and ${two}`).toHaveLength(1);
          for (const stake of stakes) stake.remove();
          asProcess(6, NEVER, () => sweep(folder));
          expect(fs.readdirSync(folder)).toEqual([]);
          scenarios++;
        }
      }
    }
    expect(scenarios).toBeGreaterThan(300);
  });

  it('is not had by another before its living holder gives it back, and is had afterwards', () => {
    let more = true;
    for (let at = 0; more; at++) {
      startAnew();
      world.pid = 1;
      const holder = new Stake(folder);
      expect(holder.take(lock)).toBeUndefined();
      world.pid = 2;
      const other = new Stake(folder);
      expect(other.take(lock)).toBe(holder.owner);
      let taken: string | undefined = 'not asked';
      more = interrupted(
        at,
        () => {
          taken = other.take(lock);
          if (taken === undefined) other.release(lock);
        },
        () => {
          holder.release(lock);
          holder.remove();
        },
      );
      expect([undefined, holder.owner, 'not asked']).toContain(taken);
      expect(other.take(lock)).toBeUndefined();
      other.remove();
      expect(fs.readdirSync(folder)).toEqual([]);
    }
  });

  it('is not shared by two sweepers and one who takes it', () => {
    let [killed, more] = [true, true];
    for (let at = 0; killed; at++) {
      more = true;
      for (let one = 0; more; one++) {
        startAnew();
        killed = asProcess(1, at, takeAndGiveBack);
        world.pid = 2;
        let holder: Stake | undefined;
        let taken = false;
        more = interrupted(
          one,
          () => {
            world.pid = 3;
            holder = new Stake(folder);
            taken = holder.take(lock) === undefined;
            sweep(folder);
            world.pid = 2;
          },
          () => sweep(folder),
        );
        if (holder === undefined) continue;
        if (taken) expect(look(lock)?.owner, `killed at ${at}, interrupted at ${one}`).toBe(holder.owner);
        expect(holder.take(lock), `killed at ${at}, interrupted at ${one}`).toBeUndefined();
        holder.remove();
        expect(fs.readdirSync(folder)).toEqual([]);
      }
    }
  });
});
