import { randomBytes } from 'node:crypto';
import { linuxProcesses } from './linux-processes.ts';
import { partsOf } from './owner-name.ts';
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

/** Whether the process of that name still lives. */
export function lifeOf(owner: string, processes: Processes = ours()): Life {
  const parts = partsOf(owner);
  // From another namespace or machine every number looks gone.
  if (parts === undefined || parts.where === NOWHERE || parts.where !== processes.where) return 'unknown';
  try {
    return processes.startOf(parts.pid) === parts.start ? 'alive' : 'dead';
  } catch {
    return 'unknown';
  }
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
