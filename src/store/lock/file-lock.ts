import { statSync } from 'node:fs';
import { abortError } from '../../errors.ts';
import { monotonicMs } from '../../monotonic.ts';
import type { Limits } from '../../ports.ts';
import { locked } from '../store-errors.ts';
import type { Stake } from './lock-owner.ts';
import { ours } from './owner.ts';
import { partsOf } from './owner-name.ts';
import { pause } from './pause.ts';

/** How long to wait before looking again, at first and after a while. */
const LOOK_MS = 4;
const LOOK_LATER_MS = 10;
const LATER_MS = 1000;

/** How to wait for locks. */
export interface Waiting extends Limits {
  /** When the caller began to wait, for whatever came before the locks; now unless given. */
  readonly startedAt?: number | undefined;
  /** A number from 0 up to 1, so that a crowd does not look in step. */
  readonly random: () => number;
  /** Told whom we wait for. */
  readonly onHolder?: ((holder: string) => void) | undefined;
  /** Asked while we wait; `true` ends it. */
  readonly isContent?: (() => boolean) | undefined;
}

/**
 * Takes all of the locks, or none: then it fails, or gives `false` where none is needed any more. Always in the same order, so that no two
 * processes wait for each other.
 */
export async function takeLocks(stake: Stake, locks: readonly string[], waiting: Waiting): Promise<boolean> {
  const began = monotonicMs();
  const taken: string[] = [];
  try {
    for (const lock of [...locks].sort()) {
      if (await takeLock(stake, lock, waiting, began)) taken.push(lock);
      else break;
    }
    return taken.length === locks.length;
  } finally {
    if (taken.length < locks.length) for (const lock of taken) stake.release(lock);
  }
}

async function takeLock(stake: Stake, lock: string, waiting: Waiting, began: number): Promise<boolean> {
  const { timeoutMs, signal, random, onHolder, isContent } = waiting;
  let tried = { at: Number.NEGATIVE_INFINITY, ino: -1 };
  for (;;) {
    if (signal?.aborted) throw abortError(signal);
    const ino = statSync(lock, { throwIfNoEntry: false })?.ino ?? -1;
    const now = monotonicMs();
    // As long as the same holder is there, whether it lives need not be asked each time.
    if (ino === -1 || ino !== tried.ino || now - tried.at >= ours().askEveryMs) {
      const holder = stake.take(lock);
      if (holder === undefined) return true;
      const name = `process ${partsOf(holder)?.pid ?? '(unknown)'}`;
      onHolder?.(name);
      if (now - began >= timeoutMs) throw locked(name, now - (waiting.startedAt ?? began));
      tried = { at: now, ino };
    }
    if (isContent?.()) return false;
    const ms = (now - began < LATER_MS ? LOOK_MS : LOOK_LATER_MS) * (0.5 + random());
    await pause(Math.min(ms, Math.max(0, timeoutMs - (now - began))), signal);
  }
}
