import { setTimeout as sleep } from 'node:timers/promises';
import { abortError } from '../../errors.ts';
import { monotonicMs } from '../../monotonic.ts';
import type { Limits } from '../../ports.ts';
import { lockTimeoutError } from '../store-errors.ts';
import { isAbandoned, LockOwner, readLock } from './lock-owner.ts';
import { parseOwnerId } from './process-status.ts';

/** Average time between two attempts. */
const POLL_MS = 7;

/** How to wait for file locks. */
export interface FileLockOptions extends Limits {
  /** Monotonic time at which the caller began to wait; `timeoutMs` counts from then. */
  readonly startedAt: number;
  /** Returns a number in [0, 1), so that waiting processes do not poll at the same moment. */
  readonly random: () => number;
  /** Called before each attempt of a caller that had to wait; `true` ends the wait without the locks. */
  readonly isSatisfied?: (() => boolean) | undefined;
  /** Whether the caller had to wait before this call. */
  readonly hasWaited?: boolean | undefined;
}

/** Acquires all of the locks; `undefined` if `isSatisfied` ended the wait. Waiting creates no files. */
export async function acquireFileLocks(
  directory: string,
  locks: readonly string[],
  options: FileLockOptions,
): Promise<LockOwner | undefined> {
  const { startedAt, timeoutMs, signal, random, isSatisfied } = options;
  let hasWaited = options.hasWaited ?? false;
  let owner: LockOwner | undefined;
  // In the same order in every process, to exclude deadlocks.
  const pending = locks.toSorted();
  try {
    for (let lock = pending[0]; lock !== undefined; lock = pending[0]) {
      if (signal?.aborted) throw abortError(signal);
      if (hasWaited && isSatisfied?.()) return undefined;
      if (isFree(lock)) {
        owner ??= new LockOwner(directory);
        if (owner.tryAcquire(lock)) {
          pending.shift();
          continue;
        }
      }
      const elapsedMs = monotonicMs() - startedAt;
      if (elapsedMs >= timeoutMs) throw lockTimeoutError(describeLockOwner(lock), elapsedMs);
      // The first attempt is followed by `isSatisfied` at once. An abort is reported by the next round.
      if (hasWaited) {
        const pollMs = Math.min(POLL_MS * (0.5 + random()), timeoutMs - elapsedMs);
        await sleep(pollMs, undefined, { signal }).catch(() => {});
      }
      hasWaited = true;
    }
    return owner;
  } finally {
    if (pending.length > 0) owner?.close();
  }
}

/** Describes the owner of a lock for messages. */
export function describeLockOwner(lock: string): string {
  const owner = parseOwnerId(readLock(lock)?.owner ?? '');
  return owner === undefined ? 'another process' : `process ${owner.pid}`;
}

function isFree(lock: string): boolean {
  const state = readLock(lock);
  return state === undefined || isAbandoned(lock, state);
}
