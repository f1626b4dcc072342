import { randomBytes } from 'node:crypto';
import { existsSync, opendirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OAuthProfileError } from '../../errors.ts';
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

/** Space for a provider's response, in addition to the size of the record. */
const RESERVED_BYTES = 65_536;
const RETRY_SUCCESSOR_MS = 3_000;
const RETRY_INTERVAL_MS = 50;

/** Ids of the keys of a vault: each has a directory for its records. */
export function findKeyIds(directory: string): string[] {
  return readNames(directory).filter((name) => /^[0-9a-f]{16}$/.test(name));
}

/** Whether a vault contains records that are encrypted with a key. */
export function hasRecords(directory: string, keyId: string): boolean {
  const names = opendirSync(join(directory, keyId));
  try {
    return names.readSync() !== null;
  } finally {
    names.closeSync();
  }
}

/** The encrypted files of a vault, `<key id>/<record id>.record`. The caller has checked the directory. */
export class Records {
  constructor(
    readonly directory: string,
    readonly keys: KeyRing,
  ) {}

  /** File of a record that is encrypted with `key`. */
  file(recordKey: string, key: Key = this.keys[0]): string {
    return join(this.directory, key.id, `${recordId(key, recordKey)}.record`);
  }

  /** Lock files of a record: one for each key, since the record id depends on the key and other processes may know only one of them. */
  locks(recordKey: string): string[] {
    return this.keys.map((key) => join(this.directory, `${recordId(key, recordKey)}.lock`));
  }

  /** Reads a record. If there is none, all records must be readable: an unknown key could hide it. */
  find(recordKey: string): RecordPlaintext | undefined {
    const newest = selectNewest(this.keys.map((key) => this.#read(this.file(recordKey, key))));
    if (newest === undefined) this.assertKnownKeys();
    return newest;
  }

  /** A string that changes with every write of the record. */
  fileState(recordKey: string): string {
    const stats = this.keys.map((key) => statSync(this.file(recordKey, key), { throwIfNoEntry: false }));
    return stats.map((one) => (one === undefined ? '' : `${one.ino} ${one.ctimeMs}`)).join();
  }

  /** Reads the records that are encrypted with any of `keys`. */
  list(keys: readonly Key[] = this.keys): RecordPlaintext[] {
    this.assertKnownKeys();
    const directories = keys.map(({ id }) => join(this.directory, id));
    const files = directories.flatMap((directory) => readNames(directory).map((name) => join(directory, name)));
    return selectNewestOfEach(files.flatMap((file) => this.#read(file) ?? []));
  }

  /** Throws if a record is encrypted with another key. */
  assertKnownKeys(): void {
    const isUnknown = (id: string) => this.keys.every((key) => key.id !== id) && hasRecords(this.directory, id);
    const unknown = findKeyIds(this.directory).find(isUnknown);
    if (unknown === undefined) return;
    throw storeUnreadableError(
      `the vault ${this.directory} is encrypted with another key (${unknown})`,
      'set OAUTH_PROFILE_KEY to that key, or unset it if the vault has its own key; to change keys, append the old key after a comma',
    );
  }

  #read(file: string): RecordPlaintext | undefined {
    const bytes = readPrivateFile(file);
    return bytes && decryptRecord(bytes, basename(file, '.record'), this.keys, file);
  }
}

/** Names in a directory; none if it does not exist. */
function readNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return [];
    const { code } = error as NodeJS.ErrnoException;
    throw storeUnreadableError(`cannot read ${directory} (${code})`, 'check its owner and permissions', error);
  }
}

/** A record of the vault whose file locks `owner` holds. */
export class LockedRecord implements LockedOperations {
  #isSpaceReserved = false;

  constructor(
    readonly key: string,
    readonly records: Records,
    readonly owner: LockOwner,
  ) {}

  async read(): Promise<RecordPlaintext | undefined> {
    return this.records.find(this.key);
  }

  /** A new refresh token may be the only valid one: errors are retried, and then it is stored next to the vault. */
  async replace(
    next: RecordPlaintext,
    current: RecordPlaintext | undefined,
    options: ReplaceOptions,
  ): Promise<boolean> {
    const bytes = encryptRecord(next, this.records.keys[0]);
    const isSuccessor = !options.requiresLock && next.version !== '';
    for (const deadline = performance.now() + RETRY_SUCCESSOR_MS; ; await sleep(RETRY_INTERVAL_MS)) {
      try {
        return await this.#replace(bytes, current, options);
      } catch (error) {
        if (!isSuccessor || !(error instanceof OAuthProfileError)) throw error;
        if (performance.now() > deadline) throw await this.#rescue(bytes, error);
      }
    }
  }

  /**
   * Compare-and-set, for an owner that lost its lock and returns. The comparison and the rename are not one step. If the new owner writes between
   * them, the result is the same as if this owner had written first and the new owner's write had failed. A later version of the new owner can
   * only be overwritten by a process that is suspended exactly here for a whole exchange. A second lock would not prevent that: an owner that is
   * suspended longer than its lease would lose it, too.
   */
  async #replace(
    bytes: Buffer,
    current: RecordPlaintext | undefined,
    { requiresLock, reserve }: ReplaceOptions,
  ): Promise<boolean> {
    return mapWriteErrors(this.records.directory, async () => {
      if (reserve) await this.#reserveSpace(bytes.length);
      const useReserve = !reserve && this.#isSpaceReserved;
      const temp = this.owner.ownFile(useReserve ? 'reserve' : 'temp');
      try {
        await writeDurably(temp, bytes);
        if (requiresLock && !this.#isLockHeld()) return false;
        const stored = this.records.find(this.key);
        // A record that vanished is not a newer version: the directory was deleted, or a backup restored.
        if (stored !== undefined && stored.version !== current?.version) return false;
        renameSync(temp, this.records.file(this.key));
      } finally {
        if (!useReserve) rmSync(temp, { force: true });
      }
      if (useReserve) this.#isSpaceReserved = false;
      await syncDirectory(dirname(this.records.file(this.key)));
      await this.#removeFiles(this.records.keys.slice(1));
      return true;
    });
  }

  remove(): Promise<boolean> {
    return mapWriteErrors(this.records.directory, async () => {
      if (!this.#isLockHeld()) return false;
      await this.#removeFiles(this.records.keys);
      return true;
    });
  }

  async release(): Promise<void> {
    this.owner.close();
  }

  async #removeFiles(keys: readonly Key[]): Promise<void> {
    for (const file of keys.map((key) => this.records.file(this.key, key))) {
      if (!existsSync(file)) continue;
      rmSync(file, { force: true });
      await syncDirectory(dirname(file));
    }
  }

  /** Writes an encrypted record next to the vault. Returns the error with the command that restores it. */
  async #rescue(bytes: Buffer, error: OAuthProfileError): Promise<OAuthProfileError> {
    const target = this.records.file(this.key);
    const rescued = join(dirname(this.records.directory), `rescued-${basename(target)}`);
    try {
      await writeDurably(rescued, bytes);
      await syncDirectory(dirname(rescued));
    } catch {
      return error;
    }
    return new OAuthProfileError(error.code, `${error.message}; the new refresh token is in ${rescued}, encrypted`, {
      hint: `${error.hint}; then run: mv ${rescued} ${target}`,
      cause: error,
    });
  }

  #isLockHeld(): boolean {
    return this.records.locks(this.key).every((lock) => this.owner.holds(lock));
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
