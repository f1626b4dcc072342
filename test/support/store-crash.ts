import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';

// Processes are played in one: each has a number, can die before any call of the file system, and does nothing more then.

/** A folder where nothing takes long, if there is one. */
export const quickFolder = fs.existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Who is at work, and who is dead. */
export const world = { pid: 1, dead: new Set<number>(), nonces: new Map<string, number>() };

/** In the place of `owner.ts`: processes are those of the play. */
export const playedOwners = {
  inventOwner: () => {
    const nonce = world.nonces.size.toString(16).padStart(16, '0');
    world.nonces.set(nonce, world.pid);
    return `aaaaaaaaaaaa-${world.pid}-1-${nonce}`;
  },
  lifeOf: (owner: string) => (world.dead.has(Number(owner.split('-')[1])) ? 'dead' : 'alive'),
};

class Killed extends Error {}

const calls = [
  'linkSync',
  'unlinkSync',
  'renameSync',
  'writeFileSync',
  'writeSync',
  'openSync',
  'rmSync',
  'readdirSync',
  'mkdirSync',
] as const;
const real: Record<string, unknown> = { ...Object.fromEntries(calls.map((call) => [call, fs[call]])), fsync: fs.fsync };
let before: (() => void) | undefined;

/** Begins the play; the returned function ends it. */
export function playCrashes(): () => void {
  for (const call of calls) {
    Object.assign(fs, {
      [call]: (...args: unknown[]) => {
        before?.();
        return (real[call] as (...args: unknown[]) => unknown)(...args);
      },
    });
  }
  // The disk is not played: whatever was written is there.
  Object.assign(fs, { fsync: (_fd: number, done: (error: null) => void) => done(null) });
  syncBuiltinESMExports();
  return () => {
    before = undefined;
    Object.assign(fs, real);
    syncBuiltinESMExports();
  };
}

/** Nobody is dead, and nobody will be. */
export function reviveAll(): void {
  before = undefined;
  world.dead.clear();
}

/** Does something as that process, until it is killed before the given call; says whether it was. */
export async function asProcess(pid: number, killedBefore: number, act: () => unknown): Promise<boolean> {
  let done = 0;
  world.pid = pid;
  before = () => {
    if (done++ >= killedBefore) throw new Killed();
  };
  try {
    await act();
  } catch (error) {
    // Whatever came of it: it was dead.
    if (done <= killedBefore) throw error;
  } finally {
    before = undefined;
  }
  if (done > killedBefore) world.dead.add(pid);
  return done > killedBefore;
}

/** Does `meanwhile` before the given call of `act`; says whether it came to that. */
export function interrupted(at: number, meanwhile: () => void, act: () => void): boolean {
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
