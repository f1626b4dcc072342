import { join } from 'node:path';
import type { Environment } from '../../ports.ts';
import { Secret } from '../../redaction/secret.ts';
import { type KeyRing, readKeys } from '../encryption.ts';
import { unreadable } from '../store-errors.ts';
import { findKeyFile, readPrivate } from './private-files.ts';
import type { Records } from './records.ts';

/** Where the key of a vault comes from. */
export type KeySource = 'environment' | 'keychain' | 'file';

/** Keeps secrets for the user. */
export interface Keychain {
  get(account: string): Promise<string | undefined>;
  set(account: string, value: Secret): Promise<void>;
}

/** What a vault remembers about its key, in `vault.json`. */
export interface KeyNote {
  readonly version: 1;
  readonly source: KeySource;
  readonly key: string;
}

/** Keys, and where they are from. */
export interface FoundKeys {
  readonly ring: KeyRing;
  readonly source: KeySource;
}

/** Finds the keys of a vault; `make-key` makes the first. */
export class Keys {
  readonly noteFile: string;
  #found: FoundKeys | undefined;

  constructor(
    readonly env: Environment,
    readonly records: Records,
    readonly keychain: () => Promise<Keychain>,
  ) {
    this.noteFile = join(records.folder, 'vault.json');
  }

  /** The key file; asked for only where it is needed, since it needs a home. */
  get file(): string {
    return findKeyFile(this.env);
  }

  /** Where the key comes from; `undefined` where there is none yet. */
  source(): KeySource | undefined {
    return this.#given() === undefined ? this.note()?.source : 'environment';
  }

  /** The keys of the vault, or `undefined` where it has none and needs none yet. */
  async find(): Promise<FoundKeys | undefined> {
    if (this.#found !== undefined) return this.#found;
    const given = this.#given();
    if (given === undefined) this.#found = await this.#search();
    else this.#found = { ring: readKeys(new Secret(given), 'OAUTH_PROFILE_KEY'), source: 'environment' };
    return this.#found;
  }

  /** Has these keys found from now on. */
  remember(found: FoundKeys): FoundKeys {
    this.#found = found;
    return found;
  }

  /** What the vault remembers. */
  note(): KeyNote | undefined {
    const text = readPrivate(this.noteFile)?.toString();
    if (text === undefined) return undefined;
    let note: Partial<KeyNote> & { version?: unknown };
    try {
      note = JSON.parse(text);
    } catch (error) {
      throw this.#damagedNote(error);
    }
    if (typeof note?.version === 'number' && note.version > 1) {
      throw unreadable(`${this.noteFile} was written by a newer version of oauth-profile`, 'update oauth-profile');
    }
    const { source, key } = note ?? {};
    if (source !== 'environment' && source !== 'keychain' && source !== 'file') throw this.#damagedNote();
    if (typeof key !== 'string') throw this.#damagedNote();
    return { version: 1, source, key };
  }

  /** The key in the key file, where there is one. */
  inFile(): KeyRing | undefined {
    const text = readPrivate(this.file)?.toString();
    return text === undefined ? undefined : readKeys(Secret.untracked(text.trim()), this.file);
  }

  #given(): string | undefined {
    const text = this.env['OAUTH_PROFILE_KEY'];
    // What a job sets to nothing is what it does not have.
    return text === undefined || text.trim() === '' ? undefined : text;
  }

  async #search(): Promise<FoundKeys | undefined> {
    const note = this.note();
    const used = this.records.keyIds();
    if (note === undefined && used.size === 0) return undefined;
    // Records say what they need; without any, the note says what was meant.
    const wanted = used.size > 0 ? [...used] : [note?.key as string];
    for (const source of note === undefined ? (['file', 'keychain'] as const) : [note.source]) {
      const ring = await this.#lookIn(source, wanted, note !== undefined && used.size > 0);
      if (ring?.some((key) => wanted.includes(key.id))) return { ring, source };
    }
    if (used.size === 0) return undefined;
    throw this.#missing(note?.source, wanted);
  }

  async #lookIn(source: KeySource, wanted: readonly string[], mustAnswer: boolean): Promise<KeyRing | undefined> {
    if (source === 'environment') return undefined;
    if (source === 'file') return this.inFile();
    try {
      const keychain = await this.keychain();
      for (const id of wanted) {
        const text = await keychain.get(id);
        if (text !== undefined) return readKeys(new Secret(text), `the keychain's entry oauth-profile/${id}`);
      }
      return undefined;
    } catch (error) {
      if (!mustAnswer) return undefined;
      throw unreadable(
        "the system's keychain does not give out the key of the vault",
        `unlock it, or set OAUTH_PROFILE_KEY to its entry oauth-profile/${wanted[0]}`,
        error,
      );
    }
  }

  #missing(source: KeySource | undefined, ids: readonly string[]): Error {
    const { folder } = this.records;
    const which = `the vault ${folder} is sealed with a key (${ids.join(', ')})`;
    const start = `or remove ${folder} and sign in again`;
    if (source === 'environment') {
      return unreadable(`${which} that came from OAUTH_PROFILE_KEY, which is not set`, `set it, ${start}`);
    }
    if (source === 'keychain') {
      return unreadable(
        `${which} that is no longer in the system's keychain`,
        `put it into OAUTH_PROFILE_KEY, ${start}`,
      );
    }
    return unreadable(`${which} that is not in ${this.file}`, `bring that file back, ${start}`);
  }

  #damagedNote(cause?: unknown): Error {
    return unreadable(`${this.noteFile} is damaged`, 'remove it: the key is then searched for again', cause);
  }
}
