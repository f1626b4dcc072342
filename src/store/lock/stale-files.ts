import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { getOwnerStatus, LockOwner, readLock, takeoverPath } from './lock-owner.ts';
import { getProcessStatus, type ProcessStatus, parseOwnerId } from './process-status.ts';

/** Age at which a file is stale whose owner's process status is unknown. */
const STALE_AFTER_MS = 3_600_000;

/** Removes the files of ended processes from a directory. Errors are ignored: the next process tries again. */
export function removeStaleFiles(directory: string): void {
  try {
    // A takeover of a takeover file has a longer name: the shorter ones come first.
    const files = readdirSync(directory).sort((one, other) => one.length - other.length);
    removeStaleLocks(directory, files);
    for (const file of files) if (isStale(directory, file)) rmSync(join(directory, file), { force: true });
  } catch {
    // See above.
  }
}

function removeStaleLocks(directory: string, files: readonly string[]): void {
  const locks = files.filter((file) => file.endsWith('.lock')).map((file) => join(directory, file));
  const stale = locks.filter((lock) => {
    const state = readLock(lock);
    return state !== undefined && getOwnerStatus(directory, state.owner) === 'ended';
  });
  if (stale.length === 0) return;
  // Acquired and released like any lock, so that no other process acquires it in between.
  const owner = new LockOwner(directory);
  try {
    for (const lock of stale) owner.tryAcquire(lock);
  } finally {
    owner.close();
  }
}

function isStale(directory: string, file: string): boolean {
  const [, id = ''] = /^(.+)\.(?:owner|temp|reserve)$/.exec(file) ?? [];
  if (parseOwnerId(id) !== undefined) return isEnded(join(directory, file), getProcessStatus(id));
  const [, lockName] = /^(.+)\.takeover\.[^.]+$/.exec(file) ?? [];
  if (lockName === undefined) return false;
  const [lock, takeover] = [join(directory, lockName), join(directory, file)];
  const replaced = readLock(lock);
  // In effect while the lock of the owner to replace exists, unusable afterwards.
  if (replaced !== undefined && takeoverPath(lock, replaced.owner) === takeover) return false;
  const state = readLock(takeover);
  return state !== undefined && isEnded(takeover, getOwnerStatus(directory, state.owner));
}

function isEnded(file: string, status: ProcessStatus): boolean {
  if (status !== 'unknown') return status === 'ended';
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > STALE_AFTER_MS;
}
