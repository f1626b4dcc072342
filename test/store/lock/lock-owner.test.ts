import fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LockOwner, readLock } from '../../../src/store/lock/lock-owner.ts';
import { removeStaleFiles } from '../../../src/store/lock/stale-files.ts';
import { interrupt, memoryDirectory, reset, runAsProcess, simulation, startSimulation } from '../crash-simulation.ts';

vi.mock('../../../src/store/lock/process-status.ts', async (original) => ({
  ...(await original<object>()),
  ...(await import('../crash-simulation.ts')).simulatedProcessStatus,
}));

let endSimulation: () => void;

beforeAll(() => {
  endSimulation = startSimulation();
});

afterAll(() => {
  endSimulation();
  fs.rmSync(directory, { recursive: true });
});

const directory = fs.mkdtempSync(join(memoryDirectory, 'oauth-profile-lock-owner-'));
const lock = join(directory, 'a.lock');

function startOver(): void {
  reset();
  for (const file of fs.readdirSync(directory)) fs.rmSync(join(directory, file));
}

/** The files of the directory, with PIDs instead of nonces. */
function snapshot(): string {
  const withPids = (text: string) =>
    text.replace(/(?:aaaaaaaaaaaa-(\d)-1-)?([0-9a-f]{16})/g, (_, __, nonce) => `<${simulation.nonces.get(nonce)}>`);
  return withPids(
    fs
      .readdirSync(directory)
      .sort()
      .map((file) => `${file}=${fs.readFileSync(join(directory, file), 'latin1')}`)
      .join(),
  );
}

const acquireAndRelease = () => {
  const owner = new LockOwner(directory);
  if (owner.tryAcquire(lock)) owner.release(lock);
  owner.close();
};

const NEVER = Number.POSITIVE_INFINITY;

describe('a file lock', () => {
  it('is free, and its directory empty, wherever three processes in a row are killed', async () => {
    const snapshots = new Set<string>();
    let [first, second, third] = [true, true, true];
    for (let one = 0; first; one++) {
      second = true;
      for (let two = 0; second; two++) {
        third = true;
        for (let three = 0; third; three++) {
          const where = `killed before calls ${one}, ${two}, ${three}`;
          startOver();
          first = await runAsProcess(1, one, acquireAndRelease);
          second = await runAsProcess(2, two, acquireAndRelease);
          // The third process was tested with the same files before.
          if (three === 0 && snapshots.has(snapshot())) break;
          snapshots.add(snapshot());
          third = await runAsProcess(3, three, acquireAndRelease);
          await runAsProcess(4, NEVER, () => {
            const owner = new LockOwner(directory);
            expect(owner.tryAcquire(lock), where).toBe(true);
            owner.close();
            removeStaleFiles(directory);
          });
          expect(fs.readdirSync(directory), where).toEqual([]);
        }
      }
    }
    expect(snapshots.size).toBeGreaterThan(10);
  });

  it('is removed as a stale file, wherever its owner and then the cleaning process are killed', async () => {
    let [killed, second] = [true, true];
    for (let one = 0; killed; one++) {
      second = true;
      for (let two = 0; second; two++) {
        startOver();
        killed = await runAsProcess(1, one, acquireAndRelease);
        second = await runAsProcess(2, two, () => removeStaleFiles(directory));
        await runAsProcess(3, NEVER, () => removeStaleFiles(directory));
        expect(fs.readdirSync(directory), `killed before calls ${one}, ${two}`).toEqual([]);
      }
    }
  });

  it('never has two owners, whatever two other processes do during a takeover', async () => {
    let scenarios = 0;
    let [killed, first, second] = [true, true, true];
    for (let call = 0; killed; call++) {
      first = true;
      for (let one = 0; first; one++) {
        second = true;
        for (let two = 0; second; two++) {
          const where = `killed before call ${call}, interrupted before calls ${one} and ${two}`;
          startOver();
          killed = await runAsProcess(1, call, acquireAndRelease);
          const holders: number[] = [];
          const owners: LockOwner[] = [];
          const acquireAs = (pid: number) => () => {
            const outer = simulation.pid;
            simulation.pid = pid;
            const owner = new LockOwner(directory);
            owners.push(owner);
            if (owner.tryAcquire(lock)) holders.push(pid);
            simulation.pid = outer;
          };
          second = false;
          first = interrupt(
            one,
            () => {
              second = interrupt(two, acquireAs(4), acquireAs(3));
            },
            acquireAs(2),
          );
          expect(holders.length, where).toBeLessThanOrEqual(1);
          if (holders.length === 0) acquireAs(5)();
          expect(holders, where).toHaveLength(1);
          for (const owner of owners) owner.close();
          await runAsProcess(6, NEVER, () => removeStaleFiles(directory));
          expect(fs.readdirSync(directory)).toEqual([]);
          scenarios++;
        }
      }
    }
    expect(scenarios).toBeGreaterThan(300);
  });

  it('is not acquired by another process before its owner releases it, and can be acquired afterwards', () => {
    let more = true;
    for (let call = 0; more; call++) {
      startOver();
      simulation.pid = 1;
      const owner = new LockOwner(directory);
      expect(owner.tryAcquire(lock)).toBe(true);
      simulation.pid = 2;
      const other = new LockOwner(directory);
      expect(other.tryAcquire(lock)).toBe(false);
      more = interrupt(
        call,
        () => {
          const isReleased = !fs.existsSync(lock);
          const isAcquired = other.tryAcquire(lock);
          if (isAcquired) {
            expect(isReleased || !fs.existsSync(join(directory, `${owner.id}.owner`))).toBe(true);
            other.release(lock);
          }
        },
        () => {
          owner.release(lock);
          owner.close();
        },
      );
      expect(other.tryAcquire(lock)).toBe(true);
      other.close();
      expect(fs.readdirSync(directory)).toEqual([]);
    }
  });

  it('has one owner when two processes remove stale files and one of them acquires it', async () => {
    let [killed, more] = [true, true];
    for (let call = 0; killed; call++) {
      more = true;
      for (let one = 0; more; one++) {
        const where = `killed before call ${call}, interrupted before call ${one}`;
        startOver();
        killed = await runAsProcess(1, call, acquireAndRelease);
        simulation.pid = 2;
        let owner: LockOwner | undefined;
        let acquired = false;
        more = interrupt(
          one,
          () => {
            simulation.pid = 3;
            owner = new LockOwner(directory);
            acquired = owner.tryAcquire(lock);
            removeStaleFiles(directory);
            simulation.pid = 2;
          },
          () => removeStaleFiles(directory),
        );
        if (owner === undefined) continue;
        if (acquired) expect(readLock(lock)?.owner, where).toBe(owner.id);
        expect(owner.tryAcquire(lock), where).toBe(true);
        owner.close();
        expect(fs.readdirSync(directory)).toEqual([]);
      }
    }
  });
});
