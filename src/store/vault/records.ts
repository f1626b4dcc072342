import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  decryptRecord,
  type Key,
  type KeyRing,
  type RecordPlaintext,
  recordId,
  selectNewest,
  selectNewestOfEach,
} from '../encryption.ts';
import { hasErrorCode, storeUnreadableError } from '../store-errors.ts';
import { readPrivateFile } from './private-files.ts';

const RECORD_FILE = /^([0-9a-f]{32})-([0-9a-f]{16})\.record$/;

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
