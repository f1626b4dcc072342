import { statSync } from 'node:fs';
import { abortError } from '../../errors.ts';
import { monotonicMs } from '../../monotonic.ts';
import type { Limits } from '../../ports.ts';
import { partsOf } from '../lock/owner-name.ts';
import { pause } from '../lock/pause.ts';
import { readPrivate } from './private-files.ts';
import type { RecordWatch } from './watch-record.ts';

/** After this, or half of the caller's time, who still has nothing gets in line. */
const PATIENCE_MS = 1000;
const LOOK_MS = 8;
/** A holder at work gives a sign of life twice in this time; another process may have got the number of one who is gone. */
const SILENCE_MS = 3000;

/**
 * Waits while a process that lives has the lock of a record, for what it brings. In a crowd most are content with that; they need not get in
 * line, nor load anything of what it takes to write.
 */
export async function awaitOthers<T>(
  watch: RecordWatch<T>,
  { timeoutMs, signal }: Limits,
  random: () => number,
): Promise<T | undefined> {
  const { name, records, ring } = watch;
  const locks = records.locks(name, ring, 'lock');
  const deadline = monotonicMs() + Math.min(PATIENCE_MS, timeoutMs / 2);
  while (locks.some(isHeld) && monotonicMs() < deadline) {
    if (watch.isContent()) return watch.found;
    await pause(LOOK_MS * (0.5 + random()), signal);
    if (signal?.aborted) throw abortError(signal);
  }
  // It may have finished between two looks.
  return watch.isContent() ? watch.found : undefined;
}

/**
 * Whether another process has the lock that seems to live. Any doubt is for the writer, which knows whose lock may be taken over; so are
 * the callers of this process, which take turns.
 */
function isHeld(lock: string): boolean {
  try {
    const seen = statSync(lock, { throwIfNoEntry: false });
    if (seen === undefined || Date.now() - seen.mtimeMs > SILENCE_MS) return false;
    const owner = partsOf(readPrivate(lock)?.toString('latin1') ?? '');
    return owner !== undefined && owner.pid !== process.pid && process.kill(owner.pid, 0);
  } catch {
    return false;
  }
}
