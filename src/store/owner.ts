import { randomBytes } from 'node:crypto';
import { linuxProcesses } from './linux-processes.ts';
import type { Processes } from './processes.ts';

/** Whether a process lives; `unknown` where it cannot be seen from here. */
export type Life = 'alive' | 'dead' | 'unknown';

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

/** Where there is no /proc another program tells, and what starts it is loaded only then; until it is, nobody's life can be told there. */
export async function learnProcesses(): Promise<void> {
  if (process.platform !== 'linux') known ??= (await import('./ps-processes.ts')).psProcesses();
}

/** The processes of this platform. */
export function ours(): Processes {
  known ??= linuxProcesses();
  return known;
}
