import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';

// Simulates several processes in one. Each has a PID and can be killed before any file system call; it then does nothing more.

/** A directory in memory, if there is one. */
export const memoryDirectory = fs.existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** State of the simulation: the current process, the killed ones, and the PID for each nonce. */
export const simulation = { pid: 1, killed: new Set<number>(), nonces: new Map<string, number>() };

/** Replaces functions of `process-status.ts`. */
export const simulatedProcessStatus = {
  createOwnerId: () => {
    const nonce = simulation.nonces.size.toString(16).padStart(16, '0');
    simulation.nonces.set(nonce, simulation.pid);
    return `aaaaaaaaaaaa-${simulation.pid}-1-${nonce}`;
  },
  getProcessStatus: (owner: string) => (simulation.killed.has(Number(owner.split('-')[1])) ? 'ended' : 'running'),
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
  'symlinkSync',
  'readlinkSync',
] as const;
const real: Record<string, unknown> = { ...Object.fromEntries(calls.map((call) => [call, fs[call]])), fsync: fs.fsync };
let beforeCall: (() => void) | undefined;

/** Starts the simulation; the returned function ends it. */
export function startSimulation(): () => void {
  for (const call of calls) {
    Object.assign(fs, {
      [call]: (...args: unknown[]) => {
        beforeCall?.();
        return (real[call] as (...args: unknown[]) => unknown)(...args);
      },
    });
  }
  // Power failures are not simulated.
  Object.assign(fs, { fsync: (_fd: number, done: (error: null) => void) => done(null) });
  syncBuiltinESMExports();
  return () => {
    beforeCall = undefined;
    Object.assign(fs, real);
    syncBuiltinESMExports();
  };
}

/** Resets the simulation: no process is killed. */
export function reset(): void {
  beforeCall = undefined;
  simulation.killed.clear();
}

/** Runs `work` as the process `pid` and kills it before the given call. Returns whether `work` came that far. */
export async function runAsProcess(pid: number, killBeforeCall: number, work: () => unknown): Promise<boolean> {
  let count = 0;
  simulation.pid = pid;
  beforeCall = () => {
    if (count++ >= killBeforeCall) throw new Killed();
  };
  try {
    await work();
  } catch (error) {
    // Errors of a killed process have no meaning.
    if (count <= killBeforeCall) throw error;
  } finally {
    beforeCall = undefined;
  }
  if (count > killBeforeCall) simulation.killed.add(pid);
  return count > killBeforeCall;
}

/** Runs `interruption` before the given call of `work`. Returns whether `work` came that far. */
export function interrupt(atCall: number, interruption: () => void, work: () => void): boolean {
  const outer = beforeCall;
  let count = 0;
  beforeCall = () => {
    if (count++ !== atCall) return;
    const own = beforeCall;
    beforeCall = outer;
    interruption();
    beforeCall = own;
  };
  try {
    work();
  } finally {
    beforeCall = outer;
  }
  return count > atCall;
}
