import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { failedWith } from './failure.ts';

/** Whether a process lives; `unknown` where it cannot be seen from here. */
export type Life = 'alive' | 'dead' | 'unknown';

/** How a platform tells processes apart. */
export interface Processes {
  /** Where a process number means the same process: a boot and a namespace; `undefined` where that cannot be told. */
  readonly where: string | undefined;
  /** When the process started, in any unit that stays the same; `undefined` where it is gone or a zombie. Throws where it cannot be told. */
  startOf(pid: number): string | undefined;
  /** How often asking is cheap enough. */
  readonly askEveryMs: number;
}

/**
 * Names for what one holder leaves behind: `<where>-<pid>-<start>-<nonce>`. The name alone tells who it was, so that not even a file that
 * was cut short is a riddle.
 */
export function inventOwner(processes: Processes = ours()): string {
  const where = processes.where ?? NOWHERE;
  const start = (processes.where && processes.startOf(process.pid)) ?? '0';
  return `${where}-${process.pid}-${start}-${randomBytes(8).toString('hex')}`;
}

const OWNER = /^([0-9a-f]{12})-(\d+)-(\d+)-[0-9a-f]{16}$/;

/** Whether a text is an owner's name. */
export function isOwner(text: string): boolean {
  return OWNER.test(text);
}

/** Whether the process of that name still lives. */
export function lifeOf(owner: string, processes: Processes = ours()): Life {
  const [, where, pid, start] = OWNER.exec(owner) ?? [];
  // From another namespace or machine every number looks gone.
  if (where === undefined || where === NOWHERE || where !== processes.where) return 'unknown';
  try {
    return processes.startOf(Number(pid)) === start ? 'alive' : 'dead';
  } catch {
    return 'unknown';
  }
}

/** The number of the process of that name. */
export function pidOf(owner: string): string | undefined {
  return OWNER.exec(owner)?.[2];
}

const NOWHERE = '0'.repeat(12);

let known: Processes | undefined;

/** The processes of this platform. */
export function ours(): Processes {
  known ??= process.platform === 'linux' ? linuxProcesses() : psProcesses();
  return known;
}

function linuxProcesses(): Processes {
  const where = attempt(() =>
    digest(`${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')}${readlinkSync('/proc/self/ns/pid')}`),
  );
  // In a new namespace /proc may still be that of the old one, where our number is somebody else's.
  const seesItself = attempt(() => readlinkSync('/proc/self')) === String(process.pid);
  return { where: seesItself ? where : undefined, startOf: readStart, askEveryMs: 20 };
}

function readStart(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    // Some systems hide processes that exist.
    if (failedWith(error, 'ENOENT', 'ESRCH') && !exists(pid)) return undefined;
    throw error;
  }
  // The command's name, in brackets, may itself hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !failedWith(error, 'ESRCH');
  }
}

/** For systems without /proc, such as macOS. */
export function psProcesses(): Processes {
  const startOf = (pid: number): string | undefined => {
    let line: string;
    try {
      const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
      const stdio = ['ignore', 'pipe', 'ignore'] as ['ignore', 'pipe', 'ignore'];
      line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8', env, stdio });
    } catch (error) {
      // Its way to say that there is none.
      if ((error as { status?: number }).status === 1) return undefined;
      throw error;
    }
    const [, state, start] = /^\s*(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    const time = Date.parse(`${start} UTC`);
    return state === undefined || state.startsWith('Z') || Number.isNaN(time) ? undefined : String(time / 1000);
  };
  // The first process started with the system, so its time tells boots apart.
  const boot = attempt(() => startOf(1));
  return { where: boot === undefined ? undefined : digest(boot), startOf, askEveryMs: 250 };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
