import { join } from 'node:path';
import type { Environment } from '../../ports.ts';
import { Secret } from '../../redaction/secret.ts';
import { type KeyRing, parseKeys } from '../encryption.ts';
import { storeUnreadableError } from '../store-errors.ts';
import { findKeyFile, readPrivateFile } from './private-files.ts';
import type { Records } from './records.ts';

/** Where the key of a vault comes from. */
export type KeySource = 'environment' | 'keychain' | 'file';

/** Stores secrets in the user's keychain. */
export interface Keychain {
  get(account: string): Promise<string | undefined>;
  set(account: string, value: Secret): Promise<void>;
}

/** Content of `vault.json`. */
export interface VaultMetadata {
  readonly version: 1;
  readonly source: KeySource;
  /** Key id. */
  readonly key: string;
}

/** The keys of a vault and their source. */
export interface VaultKeys {
  readonly keys: KeyRing;
  readonly source: KeySource;
}

/** Finds the keys of a vault. */
export class KeyProvider {
  readonly metadataFile: string;
  #cached: VaultKeys | undefined;

  constructor(
    readonly env: Environment,
    readonly records: Records,
    readonly openKeychain: () => Promise<Keychain>,
  ) {
    this.metadataFile = join(records.directory, 'vault.json');
  }

  /** Path of the key file. Throws without a home directory, which a key from another source does not need. */
  get keyFile(): string {
    return findKeyFile(this.env);
  }

  /** Source of the key; `undefined` if the vault has none yet. */
  source(): KeySource | undefined {
    return this.#environmentKeys() === undefined ? this.readMetadata()?.source : 'environment';
  }

  /** Returns the keys; `undefined` if the vault has no key and no records. */
  async find(): Promise<VaultKeys | undefined> {
    this.#cached ??= await this.#find();
    return this.#cached;
  }

  /** Sets the result of later calls of `find`. */
  cache(found: VaultKeys): VaultKeys {
    this.#cached = found;
    return found;
  }

  readMetadata(): VaultMetadata | undefined {
    const json = readPrivateFile(this.metadataFile)?.toString();
    if (json === undefined) return undefined;
    let metadata: Partial<VaultMetadata> & { version?: unknown };
    try {
      metadata = JSON.parse(json);
    } catch (error) {
      throw this.#damagedMetadata(error);
    }
    if (typeof metadata?.version === 'number' && metadata.version > 1) {
      throw storeUnreadableError(
        `${this.metadataFile} was written by a newer version of oauth-profile`,
        'update oauth-profile',
      );
    }
    const { source, key } = metadata ?? {};
    if (source !== 'environment' && source !== 'keychain' && source !== 'file') throw this.#damagedMetadata();
    if (typeof key !== 'string') throw this.#damagedMetadata();
    return { version: 1, source, key };
  }

  readKeyFile(): KeyRing | undefined {
    const content = readPrivateFile(this.keyFile)?.toString();
    return content === undefined ? undefined : parseKeys(Secret.untracked(content.trim()), this.keyFile);
  }

  #environmentKeys(): string | undefined {
    const value = this.env['OAUTH_PROFILE_KEY'];
    // CI systems set a missing secret to an empty string.
    return value === undefined || value.trim() === '' ? undefined : value;
  }

  async #find(): Promise<VaultKeys | undefined> {
    const given = this.#environmentKeys();
    if (given !== undefined) return { keys: parseKeys(new Secret(given), 'OAUTH_PROFILE_KEY'), source: 'environment' };
    const metadata = this.readMetadata();
    const usedIds = this.records.keyIds();
    if (metadata === undefined && usedIds.size === 0) return undefined;
    const wantedIds = usedIds.size > 0 ? [...usedIds] : [metadata?.key as string];
    for (const source of metadata === undefined ? (['file', 'keychain'] as const) : [metadata.source]) {
      const keys = await this.#findIn(source, wantedIds, metadata !== undefined && usedIds.size > 0);
      if (keys?.some((key) => wantedIds.includes(key.id))) return { keys, source };
    }
    if (usedIds.size === 0) return undefined;
    throw this.#missingKey(metadata?.source, wantedIds);
  }

  async #findIn(source: KeySource, ids: readonly string[], isRequired: boolean): Promise<KeyRing | undefined> {
    if (source === 'environment') return undefined;
    if (source === 'file') return this.readKeyFile();
    try {
      const keychain = await this.openKeychain();
      for (const id of ids) {
        const value = await keychain.get(id);
        if (value !== undefined) return parseKeys(new Secret(value), `the keychain entry oauth-profile/${id}`);
      }
      return undefined;
    } catch (error) {
      if (!isRequired) return undefined;
      throw storeUnreadableError(
        "cannot read the vault's key from the system keychain",
        `unlock the keychain, or set OAUTH_PROFILE_KEY to its entry oauth-profile/${ids[0]}`,
        error,
      );
    }
  }

  #missingKey(source: KeySource | undefined, ids: readonly string[]): Error {
    const { directory } = this.records;
    const subject = `the vault ${directory} is encrypted with a key (${ids.join(', ')})`;
    const startOver = `or delete ${directory} and log in again`;
    if (source === 'environment') {
      return storeUnreadableError(
        `${subject} from OAUTH_PROFILE_KEY, which is not set`,
        `set OAUTH_PROFILE_KEY, ${startOver}`,
      );
    }
    if (source === 'keychain') {
      return storeUnreadableError(
        `${subject} that is no longer in the system keychain`,
        `set OAUTH_PROFILE_KEY to that key, ${startOver}`,
      );
    }
    return storeUnreadableError(`${subject} that is not in ${this.keyFile}`, `restore that file, ${startOver}`);
  }

  #damagedMetadata(cause?: unknown): Error {
    return storeUnreadableError(
      `${this.metadataFile} is damaged`,
      'delete it: the key is then looked up in the key file and the keychain',
      cause,
    );
  }
}
