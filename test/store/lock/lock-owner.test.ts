import fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { look, Stake } from '../../../src/store/lock/lock-owner.ts';
import { sweep } from '../../../src/store/lock/stale-files.ts';
import { asProcess, interrupted, playCrashes, quickFolder, reviveAll, world } from '../../support/store-crash.ts';

vi.mock('../../../src/store/lock/owner.ts', async (original) => ({
  ...(await original<object>()),
  ...(await import('../../support/store-crash.ts')).playedOwners,
}));

let endPlay: () => void;

beforeAll(() => {
  endPlay = playCrashes();
});

afterAll(() => {
  endPlay();
  fs.rmSync(folder, { recursive: true });
});

const folder = fs.mkdtempSync(join(quickFolder, 'oauth-profile-stake-'));
const lock = join(folder, 'a.lock');

function startAnew(): void {
  reviveAll();
  for (const file of fs.readdirSync(folder)) fs.rmSync(join(folder, file));
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

const takeAndGiveBack = () => {
  const stake = new Stake(folder);
  if (stake.take(lock) === undefined) stake.release(lock);
  stake.remove();
};

const NEVER = Number.POSITIVE_INFINITY;

describe('a lock', () => {
  it('is free again, and its folder clean, wherever three processes in a row were killed', async () => {
    const pictures = new Set<string>();
    let [first, second, third] = [true, true, true];
    for (let one = 0; first; one++) {
      second = true;
      for (let two = 0; second; two++) {
        third = true;
        for (let three = 0; third; three++) {
          const where = `killed at ${one}, ${two}, ${three}`;
          startAnew();
          first = await asProcess(1, one, takeAndGiveBack);
          second = await asProcess(2, two, takeAndGiveBack);
          // What comes of the same state has been tried.
          if (three === 0 && pictures.has(picture())) break;
          pictures.add(picture());
          third = await asProcess(3, three, takeAndGiveBack);
          await asProcess(4, NEVER, () => {
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

  it('is swept as well, wherever its holder was killed, and then a sweeper', async () => {
    let [killed, second] = [true, true];
    for (let one = 0; killed; one++) {
      second = true;
      for (let two = 0; second; two++) {
        startAnew();
        killed = await asProcess(1, one, takeAndGiveBack);
        second = await asProcess(2, two, () => sweep(folder));
        await asProcess(3, NEVER, () => sweep(folder));
        expect(fs.readdirSync(folder), `killed at ${one}, ${two}`).toEqual([]);
      }
    }
  });

  it('never has two holders, whatever two others do while one takes over from the dead', async () => {
    let scenarios = 0;
    let [killed, first, second] = [true, true, true];
    for (let at = 0; killed; at++) {
      first = true;
      for (let one = 0; first; one++) {
        second = true;
        for (let two = 0; second; two++) {
          startAnew();
          killed = await asProcess(1, at, takeAndGiveBack);
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
          await asProcess(6, NEVER, () => sweep(folder));
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

  it('is not shared by two sweepers and one who takes it', async () => {
    let [killed, more] = [true, true];
    for (let at = 0; killed; at++) {
      more = true;
      for (let one = 0; more; one++) {
        startAnew();
        killed = await asProcess(1, at, takeAndGiveBack);
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
