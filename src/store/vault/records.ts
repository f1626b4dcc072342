import { randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  decryptRecord,
  encryptRecord,
  type Key,
  type KeyRing,
  type RecordPlaintext,
  recordId,
  selectNewest,
  selectNewestOfEach,
} from '../encryption.ts';
import type { LockOwner } from '../lock/lock-owner.ts';
import type { LockedOperations, ReplaceOptions } from '../locking-store.ts';
import { hasErrorCode, mapWriteErrors, storeUnreadableError } from '../store-errors.ts';
import { syncDirectory, writeDurably } from './durable-fs.ts';
import { readPrivateFile } from './private-files.ts';

const RECORD_FILE = /^([0-9a-f]{32})-([0-9a-f]{16})\.record$/;

/** Space for a provider's response, in addition to the size of the record. */
const RESERVED_BYTES = 65_536;

/** The encrypted files of a vault, `<record id>-<key id>.record`. The caller has checked the directory. */
export class Records {
  constructor(readonly directory: string) {}

  /** File of a record that is encrypted with `key`. */
  file(recordKey: string, key: Key): string {
    return join(this.directory, `${recordId(key, recordKey)}-${key.id}.record`);
  }

  /** Lock files of a record: one for each key, since the record id depends on the key and other processes may know only one of them. */
  locks(recordKey: string, keys: KeyRing): string[] {
    return keys.map((key) => join(this.directory, `${recordId(key, recordKey)}.lock`));
  }

  /** Reads a record. If there is none, all records must be readable: an unknown key could hide it. */
  find(recordKey: string, keys: KeyRing): RecordPlaintext | undefined {
    const newest = selectNewest(keys.map((key) => this.#read(this.file(recordKey, key), keys)));
    if (newest === undefined) this.assertKnownKeys(keys);
    return newest;
  }

  /** A string that changes with every write of the record. */
  fileState(recordKey: string, keys: KeyRing): string {
    const stats = keys.map((key) => statSync(this.file(recordKey, key), { throwIfNoEntry: false }));
    return stats.map((one) => (one === undefined ? '' : `${one.ino} ${one.ctimeMs}`)).join();
  }

  list(keys: KeyRing): RecordPlaintext[] {
    this.assertKnownKeys(keys);
    return selectNewestOfEach(this.#files().flatMap((file) => this.#read(join(this.directory, file), keys) ?? []));
  }

  /** Ids of all keys with which records are encrypted. */
  keyIds(): ReadonlySet<string> {
    return new Set(this.#files().map((file) => RECORD_FILE.exec(file)?.[2] as string));
  }

  /** Throws if a record is encrypted with a key that is not in `keys`. */
  assertKnownKeys(keys: KeyRing): void {
    for (const id of this.keyIds()) {
      if (keys.some((key) => key.id === id)) continue;
      throw storeUnreadableError(
        `the vault ${this.directory} is encrypted with another key (${id})`,
        'set OAUTH_PROFILE_KEY to that key, or unset it if the vault has its own key; to change keys, append the old key after a comma',
      );
    }
  }

  #files(): string[] {
    try {
      return readdirSync(this.directory).filter((file) => RECORD_FILE.test(file));
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT')) return [];
      const { code } = error as NodeJS.ErrnoException;
      throw storeUnreadableError(`cannot read ${this.directory} (${code})`, 'check its owner and permissions', error);
    }
  }

  #read(file: string, keys: KeyRing): RecordPlaintext | undefined {
    const bytes = readPrivateFile(file);
    const [, id = ''] = RECORD_FILE.exec(basename(file)) ?? [];
    return bytes && decryptRecord(bytes, id, keys, file);
  }
}

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
