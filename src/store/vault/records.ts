import * as fs from 'node:fs';
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

/** Ids of the keys of a vault: each has a directory for its records. */
export function findKeyIds(directory: string): string[] {
  return readNames(directory).filter((name) => /^[0-9a-f]{16}$/.test(name));
}

/** Whether a vault contains records that are encrypted with a key. */
export function hasRecords(directory: string, keyId: string): boolean {
  const entries = fs.opendirSync(join(directory, keyId));
  try {
    for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
      if (entry.name.endsWith('.record')) return true;
    }
    return false;
  } finally {
    entries.closeSync();
  }
}

/**
 * The encrypted files of a vault, `<key id>/<record id>.record`. An alias is a symbolic link `<record id of the alias>.alias` to a record. The
 * caller has checked the directory.
 */
export class Records {
  constructor(
    readonly directory: string,
    readonly keys: KeyRing,
  ) {}

  /** File of a record that is encrypted with `key`. */
  file(recordKey: string, key: Key = this.keys[0], type = 'record'): string {
    return join(this.directory, key.id, `${recordId(key, recordKey)}.${type}`);
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

  /** Reads the record with this alias. */
  findByAlias(alias: string): RecordPlaintext | undefined {
    const copies = this.keys.map((key) => {
      const name = readAlias(this.file(alias, key, 'alias'));
      return name === undefined ? undefined : this.#read(join(this.directory, key.id, name));
    });
    const newest = selectNewest(copies);
    return newest?.aliases.includes(alias) ? newest : undefined;
  }

  /** A string that changes with every write of the record. */
  fileState(recordKey: string): string {
    const stats = this.keys.map((key) => fs.statSync(this.file(recordKey, key), { throwIfNoEntry: false }));
    return stats.map((one) => (one === undefined ? '' : `${one.ino} ${one.ctimeMs}`)).join();
  }

  /** Reads the records that are encrypted with any of `keys`. */
  list(keys: readonly Key[] = this.keys): RecordPlaintext[] {
    this.assertKnownKeys();
    const directories = keys.map(({ id }) => join(this.directory, id));
    const files = directories.flatMap((directory) => readNames(directory).map((name) => join(directory, name)));
    return selectNewestOfEach(files.flatMap((file) => (file.endsWith('.record') ? (this.#read(file) ?? []) : [])));
  }

  /** Throws if a record is encrypted with another key. */
  assertKnownKeys(): void {
    const isUnknown = (id: string) => this.keys.every((key) => key.id !== id) && hasRecords(this.directory, id);
    const unknown = findKeyIds(this.directory).find(isUnknown);
    if (unknown === undefined) return;
    throw storeUnreadableError(
      `the vault ${this.directory} is encrypted with another key (key ID ${unknown})`,
      'set OAUTH_PROFILE_KEY to the key with that ID, or unset it if the key is in the keychain or the key file; to change keys, set OAUTH_PROFILE_KEY to NEW_KEY,OLD_KEY',
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
    return fs.readdirSync(directory);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return [];
    const { code } = error as NodeJS.ErrnoException;
    throw storeUnreadableError(`cannot read ${directory} (${code})`, 'check its owner and permissions', error);
  }
}

/** Returns the file name of the record that an alias points to; `undefined` if it does not exist. */
export function readAlias(file: string): string | undefined {
  try {
    const target = process.platform === 'win32' ? fs.readFileSync(file, 'latin1') : fs.readlinkSync(file);
    return /^[0-9a-f]{32}\.record$/.test(target) ? target : undefined;
  } catch {
    return undefined;
  }
}
