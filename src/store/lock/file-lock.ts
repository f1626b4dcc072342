import { setTimeout as sleep } from 'node:timers/promises';
import { abortError } from '../../errors.ts';
import type { Limits } from '../../ports.ts';
import { lockTimeoutError } from '../store-errors.ts';
import { isAbandoned, LockOwner, readLock } from './lock-owner.ts';
import { parseOwnerId } from './process-status.ts';

/** Average time between two attempts. */
const POLL_MS = 7;

/** How to wait for file locks. */
export interface FileLockOptions extends Limits {
  /** End of the timeout, by `performance.now()`. */
  readonly deadline: number;
  /** Called before each attempt of a caller that had to wait; `true` ends the wait without the locks. */
  readonly isSatisfied?: () => boolean;
  /** Whether the caller had to wait before this call. */
  readonly hasWaited?: boolean;
}

/** Acquires all of the locks; `undefined` if `isSatisfied` ended the wait. Waiting creates no files. */
export async function acquireFileLocks(
  directory: string,
  locks: readonly string[],
  { timeoutMs, deadline, signal, isSatisfied, hasWaited = false }: FileLockOptions,
): Promise<LockOwner | undefined> {
  for (let mustWait = hasWaited; ; mustWait = true) {
    if (signal?.aborted) throw abortError(signal);
    if (mustWait && isSatisfied?.()) return undefined;
    const owner = tryAcquireAll(directory, locks);
    if (owner !== undefined) return owner;
    const timeLeft = deadline - performance.now();
    if (timeLeft <= 0) throw lockTimeoutError(describeLockOwner(locks), timeoutMs);
    // The first attempt is followed by `isSatisfied` at once. Jitter, so that waiting processes do not poll at the same moment. An abort is
    // reported by the next round.
    const pollMs = Math.min(POLL_MS * (0.5 + Math.random()), timeLeft);
    if (mustWait) await sleep(pollMs, undefined, { signal }).catch(() => {});
  }
}

/** Describes the owner of a record's locks for messages. */
export function describeLockOwner(locks: readonly string[]): string {
  for (const lock of locks) {
    const owner = parseOwnerId(readLock(lock)?.owner ?? '');
    if (owner !== undefined) return `process ${owner.pid}`;
  }
  return 'another process';
}

/** Never waits while it holds some of the locks, which excludes deadlocks. */
function tryAcquireAll(directory: string, locks: readonly string[]): LockOwner | undefined {
  const isFree = (lock: string): boolean => {
    const state = readLock(lock);
    return state === undefined || isAbandoned(lock, state);
  };
  if (!locks.every(isFree)) return undefined;
  const owner = new LockOwner(directory);
  let isAcquired = false;
  try {
    isAcquired = locks.toSorted().every((lock) => owner.tryAcquire(lock));
  } finally {
    if (!isAcquired) owner.close();
  }
  return isAcquired ? owner : undefined;
}
