import { createHmac } from 'node:crypto';
import type { FoundRecord, Limits, LockOptions, RecordLock, StoredRecord, TokenStore } from '../ports.ts';
import type { Secret } from '../redaction/secret.ts';
import type { RecordPlaintext } from './encryption.ts';
import { KeyedMutex } from './lock/keyed-mutex.ts';
import { lockTimeoutError } from './store-errors.ts';

/** A caller that waits for the lock of a record. */
export interface Waiter<T> extends Limits {
  /** End of the timeout, by `performance.now()`. */
  readonly deadline: number;
  /** Whether another caller of this process held the lock. */
  readonly hasWaited: boolean;
  /** A result other than `undefined` ends the wait without the lock. */
  accept(record: StoredRecord | undefined): T | undefined;
}

/** The end of a wait: the lock with its operations, or an accepted result. */
export interface Acquisition<T> {
  readonly found: RecordPlaintext | undefined;
  readonly operations?: LockedOperations;
  readonly accepted?: T | undefined;
}

/** Operations of a store on a record whose lock it holds. */
export interface LockedOperations {
  read(): Promise<RecordPlaintext | undefined>;
  /** Writes nothing and returns `false` if another version than that of `current` is stored, or if the required lock was lost. */
  replace(next: RecordPlaintext, current: RecordPlaintext | undefined, options: ReplaceOptions): Promise<boolean>;
  /** Removes nothing and returns `false` if the lock was lost. */
  remove(current: RecordPlaintext | undefined): Promise<boolean>;
  release(): Promise<void>;
}

/** How to replace a record; `reserve` as in {@link RecordLock.write}. */
export interface ReplaceOptions {
  readonly requiresLock: boolean;
  readonly reserve: boolean;
}

/** The part that all stores share: queues the callers of this process, and hands out locks. */
export abstract class LockingStore implements TokenStore {
  readonly #mutex = new KeyedMutex();

  abstract readonly location: string;
  abstract now(): number;
  abstract read(name: string): Promise<FoundRecord | undefined>;
  abstract list(): Promise<readonly FoundRecord[]>;
  /** Acquires the lock of a record. Called for one caller of this process at a time. */
  protected abstract acquire<T>(key: string, waiter: Waiter<T>): Promise<Acquisition<T>>;

  /** Describes the owner of a lock for messages. */
  protected describeOwner(_key: string): string {
    return 'another process';
  }

  /**
   * The HMAC key is public, so that fingerprints survive a change of encryption keys. Stores never write a fingerprint in plaintext: contents are
   * encrypted, and names are HMACs with a secret key.
   */
  fingerprint(value: string | Secret): string {
    const plaintext = typeof value === 'string' ? value : value.reveal();
    return createHmac('sha256', 'oauth-profile fingerprint 1').update(plaintext).digest('base64url');
  }

  async lock<T = never>(key: string, { timeoutMs, signal, acceptIf }: LockOptions<T>): Promise<RecordLock<T>> {
    const queuedAt = this.now();
    const deadline = performance.now() + timeoutMs;
    const hasWaited = this.#mutex.isLocked(key);
    const accept = (record: StoredRecord | undefined) => acceptIf?.(record, queuedAt);
    const timeoutError = () => lockTimeoutError(this.describeOwner(key), timeoutMs);
    const unlock = await this.#mutex.acquire(key, { timeoutMs, signal }, timeoutError);
    try {
      const acquisition = await this.acquire<T>(key, { timeoutMs, deadline, signal, hasWaited, accept });
      if (acquisition.operations === undefined) unlock();
      return createRecordLock(key, queuedAt, acquisition, unlock);
    } catch (error) {
      unlock();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#mutex.close();
  }
}

function createRecordLock<T>(
  key: string,
  queuedAt: number,
  { found, operations, accepted }: Acquisition<T>,
  unlock: () => void,
): RecordLock<T> {
  let held = operations;
  let current = found;
  const requireLock = (): LockedOperations => {
    if (held === undefined) throw new TypeError('the lock is not held');
    return held;
  };
  return {
    accepted,
    record: found,
    queuedAt,
    async reload() {
      current = await requireLock().read();
      return current;
    },
    async write({ version, content, aliases = [] }, { reserve = false } = {}) {
      const revision = (current?.revision ?? 0) + 1;
      const next = { key, revision, version, content, aliases: aliases.filter((alias) => alias !== key) };
      // Without the lock, only a new version may be written: it may be the only copy of a valid refresh token. Any other write could hide what
      // the next owner wrote.
      const requiresLock = reserve || current?.version === version;
      const isWritten = await requireLock().replace(next, current, { requiresLock, reserve });
      if (isWritten) current = next;
      return isWritten;
    },
    async remove() {
      if (!(await requireLock().remove(current))) throw lockTimeoutError('another process', 0);
      current = undefined;
    },
    async release() {
      const released = held;
      held = undefined;
      if (released !== undefined) await released.release().finally(unlock);
    },
  };
}
