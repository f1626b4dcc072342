import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { readRegularFile } from '../../files/read-file.ts';
import { hasErrorCode } from '../store-errors.ts';
import { createOwnerId, getProcessStatus, type ProcessStatus, parseOwnerId } from './process-status.ts';

/** A lock whose owner's process status is unknown is abandoned after this time without a heartbeat. */
const LEASE_MS = 5000;
const HEARTBEAT_MS = 1500;
/** More than the length of an owner id. */
const MAX_BYTES = 200;

/** Content of a lock file. */
export interface LockState {
  readonly owner: string;
  /** Changes with each heartbeat. */
  readonly heartbeat: string;
}

/**
 * One owner of locks in a directory. Its owner file contains its id, and a lock is a hard link to that file: it appears together with its
 * content, and a change of the owner file's mtime is a heartbeat for all of its locks. A lock whose owner file is gone is released, even if
 * the link still exists.
 */
export class LockOwner {
  readonly id = createOwnerId();
  readonly #file: string;
  readonly #locks = new Set<string>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor(readonly directory: string) {
    this.#file = join(directory, `${this.id}.owner`);
    this.#createFile();
    this.#heartbeat = setInterval(() => {
      const now = new Date();
      ignoreErrors(() => fs.utimesSync(this.#file, now, now));
    }, HEARTBEAT_MS).unref();
  }

  /** Path of a file that belongs to this owner: removed by `close`, or as a stale file after the end of the process. */
  ownFile(kind: 'temp' | 'reserve'): string {
    return join(this.directory, `${this.id}.${kind}`);
  }

  /** Acquires the lock if it is free or abandoned. */
  tryAcquire(lock: string): boolean {
    while (!this.#link(lock)) {
      const state = readLock(lock);
      if (state === undefined) continue;
      if (state.owner === this.id) break;
      if (!isAbandoned(lock, state) || !this.#takeOver(lock, state)) return false;
      break;
    }
    this.#locks.add(lock);
    lastChange.delete(lock);
    return true;
  }

  /** Whether the lock is still this owner's: an owner without heartbeats may have lost it. */
  holds(lock: string): boolean {
    return readLock(lock)?.owner === this.id;
  }

  /** Releases the lock, unless another owner has taken it over. */
  release(lock: string): void {
    this.#locks.delete(lock);
    const takeover = takeoverPath(lock, this.id);
    try {
      // Excludes a takeover between the check and the removal.
      fs.linkSync(this.#file, takeover);
    } catch {
      // A takeover is in progress, or the disk is full. Once the owner file is removed, the lock is released anyway.
      return;
    }
    if (this.holds(lock)) fs.unlinkSync(lock);
    fs.unlinkSync(takeover);
  }

  /** Releases all locks and removes all files of this owner. */
  close(): void {
    clearInterval(this.#heartbeat);
    for (const lock of this.#locks) ignoreErrors(() => this.release(lock));
    const files = [this.ownFile('temp'), this.ownFile('reserve'), this.#file];
    for (const file of files) ignoreErrors(() => fs.unlinkSync(file));
  }

  #createFile(): void {
    try {
      fs.writeFileSync(this.#file, this.id, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      fs.rmSync(this.#file, { force: true });
      throw error;
    }
  }

  #link(path: string): boolean {
    try {
      fs.linkSync(this.#file, path);
      return true;
    } catch (error) {
      if (hasErrorCode(error, 'EEXIST')) return false;
      if (!hasErrorCode(error, 'ENOENT')) throw error;
      // Removed as a stale file by a process that cannot determine our status.
      this.#createFile();
      fs.linkSync(this.#file, path);
      return true;
    }
  }

  /**
   * Replaces an abandoned lock. For each abandoned owner, one process at a time can create the takeover file. It then checks the lock again: a
   * later process finds another owner and removes its takeover file.
   */
  #takeOver(lock: string, abandoned: LockState): boolean {
    const takeover = takeoverPath(lock, abandoned.owner);
    if (!this.#link(takeover)) {
      const rival = readLock(takeover);
      if (rival === undefined || !isAbandoned(takeover, rival)) return false;
      // The other process ended during a takeover or a release: take over its takeover file in the same way.
      if (!this.#takeOver(takeover, rival)) return false;
    }
    const current = readLock(lock);
    const isUnchanged = current?.owner === abandoned.owner && current.heartbeat === abandoned.heartbeat;
    ignoreErrors(() => (isUnchanged ? fs.renameSync(takeover, lock) : fs.unlinkSync(takeover)));
    return this.holds(lock);
  }
}

/** When this process first saw each heartbeat, shared by all of its waiters. */
const lastChange = new Map<string, { heartbeat: string; seenAt: number }>();

/** Whether the owner has ended, or its status is unknown and no heartbeat was seen for the duration of a lease. */
export function isAbandoned(lock: string, { owner, heartbeat }: LockState): boolean {
  const status = getOwnerStatus(dirname(lock), owner);
  if (status !== 'unknown') return status === 'ended';
  const now = performance.now();
  const seen = lastChange.get(lock);
  if (seen?.heartbeat === heartbeat) return now - seen.seenAt >= LEASE_MS;
  lastChange.set(lock, { heartbeat, seenAt: now });
  return false;
}

/** Status of an owner: one without an owner file has released all of its locks. */
export function getOwnerStatus(directory: string, owner: string): ProcessStatus {
  const stats = fs.statSync(join(directory, `${owner}.owner`), { throwIfNoEntry: false });
  return stats === undefined && parseOwnerId(owner) !== undefined ? 'ended' : getProcessStatus(owner);
}

/** Reads a lock file; `undefined` if it does not exist. */
export function readLock(lock: string): LockState | undefined {
  let stats = { ino: 0, mtimeMs: 0 };
  const check = (found: fs.Stats) => {
    stats = found;
  };
  const content = readRegularFile(lock, MAX_BYTES, { flags: fs.constants.O_NOFOLLOW, check })?.toString('latin1');
  if (content === undefined) return undefined;
  // A power failure may have lost the content.
  const owner = parseOwnerId(content) === undefined ? `unknown-${stats.ino}` : content;
  return { owner, heartbeat: `${stats.ino} ${stats.mtimeMs}` };
}

/** File that a process must create to replace `owner`'s lock; named by the nonce, since it can itself be taken over. */
export function takeoverPath(lock: string, owner: string): string {
  return `${lock}.takeover.${owner.slice(owner.lastIndexOf('-') + 1)}`;
}

function ignoreErrors(change: () => void): void {
  try {
    change();
  } catch {
    // Another process removed the file first, or the directory is gone.
  }
}
