import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Key, type KeyRing, recordId, type SealedRecord, unseal } from '../encryption.ts';
import { failedWith, unreadable } from '../store-errors.ts';
import { readPrivate } from './private-files.ts';

const RECORD_FILE = /^([0-9a-f]{32})-([0-9a-f]{16})\.sealed$/;

/** The sealed files of a vault, `<record id>-<key id>.sealed`; whose folder it is must have been checked. */
export class Records {
  constructor(readonly folder: string) {}

  /** Where a record is sealed with that key. */
  file(name: string, key: Key, id = recordId(key, name)): string {
    return join(this.folder, `${id}-${key.id}.sealed`);
  }

  /** The files that lock a name, under each key that it could be sealed with. */
  locks(name: string, ring: KeyRing, kind: 'lock' | 'commit'): string[] {
    return ring.map((key) => join(this.folder, `${recordId(key, name)}.${kind}`));
  }

  /** What is kept under the name. Where nothing is, nothing may be sealed with an unknown key: the record could be under it. */
  find(name: string, ring: KeyRing): SealedRecord | undefined {
    let newest: SealedRecord | undefined;
    for (const key of ring) {
      const id = recordId(key, name);
      const record = this.#open(this.file(name, key, id), id, ring);
      if (record !== undefined && record.turn > (newest?.turn ?? -1)) newest = record;
    }
    if (newest === undefined) this.refuseUnknownKeys(ring);
    return newest;
  }

  /** Something that changes with every write of the record. */
  mark(name: string, ring: KeyRing): string {
    const stats = ring.map((key) => statSync(this.file(name, key), { throwIfNoEntry: false }));
    return stats.map((one) => (one === undefined ? '' : `${one.ino} ${one.ctimeMs}`)).join();
  }

  /** Everything that is kept. */
  all(ring: KeyRing): readonly SealedRecord[] {
    this.refuseUnknownKeys(ring);
    const newest = new Map<string, SealedRecord>();
    for (const file of this.#files()) {
      const record = this.#open(join(this.folder, file), file.slice(0, file.indexOf('-')), ring);
      if (record !== undefined && record.turn > (newest.get(record.name)?.turn ?? -1)) newest.set(record.name, record);
    }
    return [...newest.values()];
  }

  /** The ids of all keys that something is sealed with. */
  keyIds(): ReadonlySet<string> {
    return new Set(this.#files().map((file) => RECORD_FILE.exec(file)?.[2] as string));
  }

  /** Refuses a vault of which a part is sealed with a key that is not at hand. */
  refuseUnknownKeys(ring: KeyRing): void {
    for (const id of this.keyIds()) {
      if (ring.some((key) => key.id === id)) continue;
      throw unreadable(
        `the vault ${this.folder} is sealed with another key (${id})`,
        'set OAUTH_PROFILE_KEY to that key, or unset it if the vault has a key of its own; while keys change, put the old one after a comma',
      );
    }
  }

  #files(): string[] {
    try {
      return readdirSync(this.folder).filter((file) => RECORD_FILE.test(file));
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return [];
      throw unreadable(`${this.folder} cannot be read (${(error as NodeJS.ErrnoException).code})`, 'check it', error);
    }
  }

  #open(file: string, id: string, ring: KeyRing): SealedRecord | undefined {
    const bytes = readPrivate(file);
    return bytes === undefined ? undefined : unseal(bytes, id, ring, file);
  }
}
