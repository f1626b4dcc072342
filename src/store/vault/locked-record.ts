import { randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { encryptRecord, type KeyRing, type RecordPlaintext } from '../encryption.ts';
import type { LockOwner } from '../lock/lock-owner.ts';
import type { LockedOperations, ReplaceOptions } from '../locking-store.ts';
import { mapWriteErrors } from '../store-errors.ts';
import { syncDirectory, writeDurably } from './durable-fs.ts';
import type { Records } from './records.ts';

/** Space for a provider's response, in addition to the size of the record. */
const RESERVED_BYTES = 65_536;

/** A record of the vault whose file locks `owner` holds. */
export class LockedRecord implements LockedOperations {
  #isSpaceReserved = false;

  constructor(
    readonly key: string,
    readonly keys: KeyRing,
    readonly records: Records,
    readonly owner: LockOwner,
  ) {}

  async read(): Promise<RecordPlaintext | undefined> {
    return this.records.find(this.key, this.keys);
  }

  /**
   * Compare-and-set, for an owner that lost its lock and returns. The comparison and the rename are not one step. If the new owner writes between
   * them, the result is the same as if this owner had written first and the new owner's write had failed. A later version of the new owner can
   * only be overwritten by a process that is suspended exactly here for a whole exchange. A second lock would not prevent that: an owner that is
   * suspended longer than its lease would lose it, too.
   */
  async replace(
    next: RecordPlaintext,
    current: RecordPlaintext | undefined,
    { requiresLock, reserve }: ReplaceOptions,
  ): Promise<boolean> {
    const [firstKey, ...otherKeys] = this.keys;
    const bytes = encryptRecord(next, firstKey);
    return mapWriteErrors(this.records.directory, async () => {
      if (reserve) await this.#reserveSpace(bytes.length);
      const useReserve = !reserve && this.#isSpaceReserved;
      const temp = this.owner.ownFile(useReserve ? 'reserve' : 'temp');
      try {
        await writeDurably(temp, bytes);
        if (requiresLock && !this.#isLockHeld()) return false;
        const stored = this.records.find(this.key, this.keys);
        if (stored?.record.version !== current?.record.version) return false;
        renameSync(temp, this.records.file(this.key, firstKey));
      } finally {
        if (!useReserve) rmSync(temp, { force: true });
      }
      if (useReserve) this.#isSpaceReserved = false;
      for (const key of otherKeys) rmSync(this.records.file(this.key, key), { force: true });
      await syncDirectory(this.records.directory);
      return true;
    });
  }

  async remove(): Promise<boolean> {
    return mapWriteErrors(this.records.directory, async () => {
      if (!this.#isLockHeld()) return false;
      for (const key of this.keys) rmSync(this.records.file(this.key, key), { force: true });
      await syncDirectory(this.records.directory);
      return true;
    });
  }

  async release(): Promise<void> {
    this.owner.close();
  }

  #isLockHeld(): boolean {
    return this.records.locks(this.key, this.keys).every((lock) => this.owner.holds(lock));
  }

  async #reserveSpace(size: number): Promise<void> {
    if (this.#isSpaceReserved) return;
    const file = this.owner.ownFile('reserve');
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
