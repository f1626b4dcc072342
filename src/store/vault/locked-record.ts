import { randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { OAuthProfileError } from '../../errors.ts';
import type { StoredRecord } from '../../ports.ts';
import { encryptRecord, type KeyRing, type RecordPlaintext } from '../encryption.ts';
import type { LockOwner } from '../lock/lock-owner.ts';
import type { LockedOperations } from '../record-lock.ts';
import { mapWriteErrors } from '../store-errors.ts';
import { syncDirectory, writeDurably } from './durable-fs.ts';
import type { Records } from './records.ts';

/** Space for a provider's response, in addition to the size of the record. */
const RESERVED_BYTES = 65_536;

/** A record of the vault whose file locks `owner` holds. */
export class LockedRecord implements LockedOperations {
  readonly #key: string;
  readonly #owner: LockOwner;
  readonly #records: Records;
  readonly #keys: KeyRing;
  readonly #onRelease: () => void;
  #lastRead: RecordPlaintext | undefined;
  #isSpaceReserved = false;

  constructor(key: string, owner: LockOwner, records: Records, keys: KeyRing, onRelease = () => {}) {
    this.#key = key;
    this.#owner = owner;
    this.#records = records;
    this.#keys = keys;
    this.#onRelease = onRelease;
    this.#lastRead = this.#read();
  }

  get record(): StoredRecord | undefined {
    return this.#lastRead?.record;
  }

  async reload(): Promise<StoredRecord | undefined> {
    this.#lastRead = this.#read();
    return this.record;
  }

  async write(record: StoredRecord, { reserve = false }: { readonly reserve?: boolean } = {}): Promise<boolean> {
    const next = { key: this.#key, revision: (this.#lastRead?.revision ?? 0) + 1, record };
    const bytes = encryptRecord(next, this.#keys[0]);
    // Without the lock, only a new version may be written: it may be the only copy of a valid refresh token. Any other write could hide what the
    // new owner wrote.
    const mustHoldLock = reserve || this.record?.version === record.version;
    return mapWriteErrors(this.#records.directory, async () => {
      if (reserve) await this.#reserveSpace(bytes.length);
      const useReserve = !reserve && this.#isSpaceReserved;
      const temp = this.#owner.ownFile(useReserve ? 'reserve' : 'temp');
      try {
        await writeDurably(temp, bytes, useReserve);
        if (mustHoldLock && !this.#isLockHeld()) return false;
        if (!this.#replaceIfUnchanged(temp)) return false;
      } finally {
        if (!useReserve) rmSync(temp, { force: true });
      }
      if (useReserve) this.#isSpaceReserved = false;
      await syncDirectory(this.#records.directory);
      this.#lastRead = next;
      return true;
    });
  }

  async remove(): Promise<void> {
    await mapWriteErrors(this.#records.directory, async () => {
      if (!this.#isLockHeld()) {
        throw new OAuthProfileError('store_locked', 'another process has taken over the lock for this token', {
          hint: 'try again',
        });
      }
      for (const key of this.#keys) rmSync(this.#records.file(this.#key, key), { force: true });
      await syncDirectory(this.#records.directory);
      this.#lastRead = undefined;
    });
  }

  async release(): Promise<void> {
    this.#owner.close();
    this.#onRelease();
  }

  #read(): RecordPlaintext | undefined {
    return this.#records.find(this.#key, this.#keys);
  }

  #isLockHeld(): boolean {
    return this.#records.locks(this.#key, this.#keys).every((lock) => this.#owner.holds(lock));
  }

  /**
   * Compare-and-set, for an owner that lost its lock and returns. The comparison and the rename are not one step. If the new owner writes between
   * them, the result is the same as if this owner had written first and the new owner's write had failed. A later version of the new owner can
   * only be overwritten by a process that is suspended exactly here for a whole exchange. A second lock would not prevent that: an owner that is
   * suspended longer than its lease would lose it, too.
   */
  #replaceIfUnchanged(temp: string): boolean {
    if (this.#read()?.record.version !== this.record?.version) return false;
    const [first, ...others] = this.#keys;
    renameSync(temp, this.#records.file(this.#key, first));
    for (const key of others) rmSync(this.#records.file(this.#key, key), { force: true });
    return true;
  }

  async #reserveSpace(size: number): Promise<void> {
    if (this.#isSpaceReserved) return;
    const file = this.#owner.ownFile('reserve');
    try {
      // Random bytes: a file system could compress others.
      await writeDurably(file, randomBytes(size + RESERVED_BYTES));
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    }
    this.#isSpaceReserved = true;
  }
}
