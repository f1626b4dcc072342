import { linkSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from '../../ports.ts';
import { Secret } from '../../redaction/secret.ts';
import { generateKey, type KeyRing, keyFileContent, parseKeys } from '../encryption.ts';
import type { LockOwner } from '../lock/lock-owner.ts';
import { hasErrorCode, mapWriteErrors, storeUnreadableError } from '../store-errors.ts';
import { createPrivateDirectory, replaceFile, syncDirectory, writeDurably } from './durable-fs.ts';
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
interface VaultKeys {
  readonly keys: KeyRing;
  readonly source: KeySource;
}

/** Finds or creates the keys of a vault. */
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

  /** Source of the key; `undefined` if the vault has none yet. */
  source(): KeySource | undefined {
    return this.#environmentKeys() === undefined ? this.readMetadata()?.source : 'environment';
  }

  /** Returns the keys; `undefined` if the vault has no key and no records. */
  async find(): Promise<VaultKeys | undefined> {
    this.#cached ??= await this.#find();
    return this.#cached;
  }

  /** Returns the keys. Creates the first one if needed, and records its source, with the vault's lock. */
  async ensure(withLock: (work: (owner: LockOwner) => Promise<void>) => Promise<void>): Promise<KeyRing> {
    let found = await this.find();
    if (found === undefined || !this.#isRecorded(found)) {
      await withLock(async (owner) => {
        found = (await this.#find()) ?? (await this.#createKey(owner.id));
        this.records.assertKnownKeys(found.keys);
        if (this.#isRecorded(found)) return;
        const metadata: VaultMetadata = { version: 1, source: found.source, key: found.keys[0].id };
        await replaceFile(this.metadataFile, Buffer.from(`${JSON.stringify(metadata)}\n`), owner.ownFile('temp'));
      });
    }
    this.#cached = found;
    return (found as VaultKeys).keys;
  }

  #isRecorded({ keys, source }: VaultKeys): boolean {
    const metadata = this.readMetadata();
    return metadata?.source === source && metadata.key === keys[0].id;
  }

  /** Reads `vault.json`; `undefined` if it does not exist. */
  readMetadata(): VaultMetadata | undefined {
    const json = readPrivateFile(this.metadataFile)?.toString();
    if (json === undefined) return undefined;
    const { version, source, key } = parseJsonObject(json);
    if (typeof version === 'number' && version > 1) {
      throw storeUnreadableError(
        `${this.metadataFile} was written by a newer version of oauth-profile`,
        'update oauth-profile',
      );
    }
    const isSource = source === 'environment' || source === 'keychain' || source === 'file';
    if (isSource && typeof key === 'string') return { version: 1, source, key };
    throw storeUnreadableError(
      `${this.metadataFile} is damaged`,
      'delete it: the key is then looked up in the key file and the keychain',
    );
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
    const usedIds = [...this.records.keyIds()];
    const ids = usedIds.length === 0 && metadata !== undefined ? [metadata.key] : usedIds;
    if (ids.length === 0) return undefined;
    let cause: unknown;
    const sources = (['file', 'keychain'] as const).filter((one) => metadata === undefined || metadata.source === one);
    for (const source of sources) {
      try {
        const keys = source === 'file' ? this.#readKeyFile() : await this.#readKeychain(ids);
        if (keys?.some(({ id }) => ids.includes(id))) return { keys, source };
      } catch (error) {
        if (source === 'file') throw error;
        cause = error;
      }
    }
    if (usedIds.length === 0) return undefined;
    const [place, hint] =
      metadata?.source === 'environment'
        ? ['in OAUTH_PROFILE_KEY, which is not set', 'set OAUTH_PROFILE_KEY']
        : metadata?.source === 'keychain'
          ? ['readable in the system keychain', 'unlock the keychain, set OAUTH_PROFILE_KEY to that key']
          : [`in ${findKeyFile(this.env)}`, 'restore that file'];
    throw storeUnreadableError(
      `the vault ${this.records.directory} is encrypted with a key (${ids.join(', ')}) that is not ${place}`,
      `${hint}, or delete ${this.records.directory} and log in again`,
      cause,
    );
  }

  #readKeyFile(): KeyRing | undefined {
    const file = findKeyFile(this.env);
    const content = readPrivateFile(file)?.toString();
    return content === undefined ? undefined : parseKeys(Secret.untracked(content.trim()), file);
  }

  async #readKeychain(ids: readonly string[]): Promise<KeyRing | undefined> {
    const keychain = await this.openKeychain();
    for (const id of ids) {
      const value = await keychain.get(id);
      if (value !== undefined) return parseKeys(new Secret(value), `the keychain entry oauth-profile/${id}`);
    }
    return undefined;
  }

  /** Creates a key in the keychain if that stores it, else in the key file. */
  async #createKey(ownerId: string): Promise<VaultKeys> {
    const { key, base64 } = generateKey();
    try {
      const keychain = await this.openKeychain();
      // The account is the key id, so that one vault never overwrites the key of another.
      await keychain.set(key.id, base64);
      const stored = await keychain.get(key.id);
      if (stored !== undefined && base64.test((value) => value === stored)) return { keys: [key], source: 'keychain' };
    } catch {
      // There is no keychain, or it is locked.
    }
    return { keys: this.#readKeyFile() ?? (await this.#createKeyFile(ownerId)), source: 'file' };
  }

  /** Creates the key file with its content in one step. Never replaces one: vaults in other directories use it too. */
  async #createKeyFile(ownerId: string): Promise<KeyRing> {
    const file = findKeyFile(this.env);
    const temp = `${file}.${ownerId}`;
    await mapWriteErrors(dirname(file), async () => {
      await createPrivateDirectory(dirname(file));
      try {
        await writeDurably(temp, keyFileContent(generateKey().base64));
        linkSync(temp, file);
      } catch (error) {
        if (!hasErrorCode(error, 'EEXIST')) throw error;
      } finally {
        rmSync(temp, { force: true });
      }
      await syncDirectory(dirname(file));
    });
    const keys = this.#readKeyFile();
    if (keys === undefined) throw storeUnreadableError(`${file} was deleted while it was created`, 'try again');
    return keys;
  }
}

/** Returns the members of a JSON object; none if the string is not one. */
function parseJsonObject(json: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(json));
  } catch {
    return {};
  }
}
