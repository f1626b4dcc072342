import { createHash } from 'node:crypto';

/** How a platform tells processes apart. */
export interface Processes {
  /** Where a process number means the same process: a boot and a namespace; `undefined` where that cannot be told. */
  readonly where: string | undefined;
  /** When the process started, in any unit that stays the same; `undefined` where it is gone or a zombie. Throws where it cannot be told. */
  startOf(pid: number): string | undefined;
  /** How often asking is cheap enough. */
  readonly askEveryMs: number;
}

/** A short name for a boot and a namespace. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** The result, or nothing where that fails. */
export function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
