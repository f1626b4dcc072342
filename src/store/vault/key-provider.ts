import { linkSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { OAuthProfileError } from '../../errors.ts';
import type { Environment } from '../../ports.ts';
import { Secret } from '../../redaction/secret.ts';
import { generateKey, type KeyRing, keyFileContent, parseKeys } from '../encryption.ts';
import { hasErrorCode, mapWriteErrors, storeUnreadableError } from '../store-errors.ts';
import { createPrivateDirectory, syncDirectory, writeDurably } from './durable-fs.ts';
import { findKeyFile, readPrivateFile } from './private-files.ts';
import { findKeyIds, hasRecords } from './records.ts';

/** Where the key of a vault comes from. */
export type KeySource = 'environment' | 'keychain' | 'file';

/** Stores secrets in the user's keychain. */
export interface Keychain {
  get(account: string): Promise<string | undefined>;
  set(account: string, value: Secret): Promise<void>;
}

/** The keys of a vault and their source. */
export interface VaultKeys {
  readonly keys: KeyRing;
  readonly source: KeySource;
}

/** Finds or creates the keys of the vault in `directory`. */
export class KeyProvider {
  constructor(
    readonly env: Environment,
    readonly directory: string,
    readonly openKeychain: () => Promise<Keychain>,
  ) {}

  /** Returns the keys; `undefined` if the vault has no key, or has lost it and has no records. */
  async find(): Promise<VaultKeys | undefined> {
    const given = this.env['OAUTH_PROFILE_KEY'];
    // CI systems set a missing secret to an empty string.
    if (given?.trim()) return { keys: parseKeys(new Secret(given), 'OAUTH_PROFILE_KEY'), source: 'environment' };
    const ids = findKeyIds(this.directory);
    if (ids.length === 0) return undefined;
    let failure: unknown;
    for (const source of ['file', 'keychain'] as const) {
      try {
        const keys = source === 'file' ? this.#readKeyFile() : await this.#readKeychain(ids);
        if (keys?.some(({ id }) => ids.includes(id))) return { keys, source };
      } catch (error) {
        failure ??= error;
      }
    }
    const used = ids.filter((id) => hasRecords(this.directory, id));
    if (used.length === 0) return undefined;
    if (failure instanceof OAuthProfileError) throw failure;
    throw storeUnreadableError(
      `the vault ${this.directory} is encrypted with a key (${used.join(', ')}) that is not in ${findKeyFile(this.env)} ` +
        'or in the system keychain, and OAUTH_PROFILE_KEY is not set',
      `set OAUTH_PROFILE_KEY, restore that file or unlock the keychain, or delete ${this.directory} and log in again`,
      failure,
    );
  }

  /** Creates a key in the keychain if that stores it, else in the key file. */
  async create(ownerId: string): Promise<VaultKeys> {
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
