import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { getOwnerStatus, LockOwner, readLock, takeoverPath } from './lock-owner.ts';
import { getProcessStatus, type ProcessStatus, parseOwnerId } from './process-status.ts';

/** Age at which a file is stale whose owner's process status is unknown. */
const STALE_AFTER_MS = 3_600_000;

/** Removes the files of ended processes from a directory. Errors are ignored: the next process tries again. */
export function removeStaleFiles(directory: string): void {
  try {
    const files = readdirSync(directory);
    removeStaleLocks(directory, files);
    removeStaleTakeovers(directory, files);
    removeStaleOwnerFiles(directory, files);
  } catch {
    // See above.
  }
}

function removeStaleLocks(directory: string, files: readonly string[]): void {
  const stale = files
    .filter((file) => file.endsWith('.lock'))
    .map((file) => join(directory, file))
    .filter((lock) => {
      const state = readLock(lock);
      return state !== undefined && getOwnerStatus(directory, state.owner) === 'ended';
    });
  if (stale.length === 0) return;
  // Acquired and released like any lock, so that no other process acquires it in between.
  const owner = new LockOwner(directory);
  try {
    for (const lock of stale) if (owner.tryAcquire(lock)) owner.release(lock);
  } finally {
    owner.close();
  }
}

function removeStaleTakeovers(directory: string, files: readonly string[]): void {
  // A takeover of a takeover file has a longer name: the shorter ones come first.
  for (const file of files.toSorted((one, other) => one.length - other.length)) {
    const [, lockName] = /^(.+)\.takeover\.[^.]+$/.exec(file) ?? [];
    if (lockName === undefined) continue;
    const takeover = join(directory, file);
    const lock = join(directory, lockName);
    const replaced = readLock(lock);
    // In effect while the lock of the owner to replace exists, unusable afterwards.
    if (replaced !== undefined && takeoverPath(lock, replaced.owner) === takeover) continue;
    const state = readLock(takeover);
    if (state !== undefined && isStale(takeover, getOwnerStatus(directory, state.owner))) {
      rmSync(takeover, { force: true });
    }
  }
}

function removeStaleOwnerFiles(directory: string, files: readonly string[]): void {
  for (const name of files) {
    const [, owner = ''] = /^(.+)\.(?:owner|temp|reserve)$/.exec(name) ?? [];
    if (parseOwnerId(owner) === undefined) continue;
    const file = join(directory, name);
    if (isStale(file, getProcessStatus(owner))) rmSync(file, { force: true });
  }
}

function isStale(file: string, status: ProcessStatus): boolean {
  if (status !== 'unknown') return status === 'ended';
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > STALE_AFTER_MS;
}
