import { join } from 'node:path';
import type { Clock, Environment, StoredRecord } from '../../ports.ts';
import type { KeyRing, RecordPlaintext } from '../encryption.ts';
import { acquireFileLocks, describeLockOwner, type FileLockOptions } from '../lock/file-lock.ts';
import type { LockOwner } from '../lock/lock-owner.ts';
import { removeStaleFiles } from '../lock/stale-files.ts';
import { type Acquisition, LockingStore, type Waiter } from '../locking-store.ts';
import { mapWriteErrors } from '../store-errors.ts';
import { createPrivateDirectory } from './durable-fs.ts';
import { assertLocalFileSystem } from './inspect-directory.ts';
import { type Keychain, KeyProvider, type KeySource } from './key-provider.ts';
import { checkPrivateDirectory, findVaultDirectory } from './private-files.ts';
import { LockedRecord, Records } from './records.ts';

/** Environment of a vault. */
export interface VaultOptions {
  readonly env: Environment;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Default: the system keychain. */
  readonly keychain?: Keychain | undefined;
}

/** Opens the vault in the user's data directory. Nothing is created before the first call of `lock`. */
export function openVault(options: VaultOptions): Vault {
  return new Vault(options);
}

/** Encrypted records in files of the user. */
export class Vault extends LockingStore {
  readonly location: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #records: Records;
  readonly #keyProvider: KeyProvider;
  /** Set once the directory and the key exist. */
  #keys: KeyRing | undefined;

  constructor({ env, clock = { now: Date.now }, keychain }: VaultOptions) {
    super();
    this.location = findVaultDirectory(env);
    this.#clock = clock;
    this.#records = new Records(this.location);
    const openKeychain = async () => keychain ?? (await import('./keychain.ts')).systemKeychain;
    this.#keyProvider = new KeyProvider(env, this.#records, openKeychain);
  }

  /** Source of the key; `undefined` if the vault has none yet. */
  keySource(): KeySource | undefined {
    return this.#keyProvider.source();
  }

  now(): number {
    return this.#clock.now();
  }

  async read(key: string): Promise<StoredRecord | undefined> {
    const keys = await this.#findKeys();
    return keys && this.#records.find(key, keys)?.record;
  }

  async list(): Promise<RecordPlaintext[]> {
    const keys = await this.#findKeys();
    return keys === undefined ? [] : this.#records.list(keys);
  }

  protected acquire<T>(key: string, waiter: Waiter<T>): Promise<Acquisition<T>> {
    return mapWriteErrors(this.location, () => this.#acquire(key, waiter));
  }

  protected override describeOwner(key: string): string {
    return describeLockOwner(this.#keys === undefined ? [] : this.#records.locks(key, this.#keys));
  }

  async #acquire<T>(key: string, waiter: Waiter<T>): Promise<Acquisition<T>> {
    const keys = await this.#prepare(waiter);
    let found: RecordPlaintext | undefined;
    let accepted: T | undefined;
    let fileState: string | undefined;
    const isSatisfied = (): boolean => {
      const state = this.#records.fileState(key, keys);
      if (state === fileState) return false;
      fileState = state;
      found = this.#records.find(key, keys);
      accepted = waiter.accept(found?.record);
      return accepted !== undefined;
    };
    const locks = this.#records.locks(key, keys);
    const owner = await acquireFileLocks(this.location, locks, { ...waiter, isSatisfied });
    if (owner === undefined) return { found, accepted: accepted as T };
    try {
      return { found: this.#records.find(key, keys), operations: new LockedRecord(key, keys, this.#records, owner) };
    } catch (error) {
      owner.close();
      throw error;
    }
  }

  async #findKeys(): Promise<KeyRing | undefined> {
    return checkPrivateDirectory(this.location) ? (await this.#keyProvider.find())?.keys : undefined;
  }

  /** Creates the directory and the key where they are missing. */
  async #prepare({ timeoutMs, deadline, signal }: FileLockOptions): Promise<KeyRing> {
    if (this.#keys !== undefined && checkPrivateDirectory(this.location)) return this.#keys;
    await createPrivateDirectory(this.location);
    checkPrivateDirectory(this.location);
    assertLocalFileSystem(this.location);
    removeStaleFiles(this.location);
    const vaultLock = [join(this.location, 'vault.lock')];
    const limits = { timeoutMs, deadline, signal };
    const keys = await this.#keyProvider.ensure((work) => this.#withFileLocks(vaultLock, limits, work));
    await this.#reencrypt(keys);
    this.#keys = keys;
    return keys;
  }

  /** After a change of keys, encrypts the records that are not locked with the first key. Later calls encrypt the rest. */
  async #reencrypt(keys: KeyRing): Promise<void> {
    if ([...this.#records.keyIds()].every((id) => id === keys[0].id)) return;
    for (const { key } of this.#records.list(keys)) {
      const limits = { timeoutMs: 0, deadline: 0, signal: undefined };
      const done = this.#withFileLocks(this.#records.locks(key, keys), limits, async (owner) => {
        const current = this.#records.find(key, keys);
        if (current === undefined) return;
        const next = { ...current, revision: current.revision + 1 };
        const options = { requiresLock: true, reserve: false };
        await new LockedRecord(key, keys, this.#records, owner).replace(next, current, options);
      });
      // Locked, or the disk is full: the old key is still needed.
      await done.catch(() => {});
    }
  }

  async #withFileLocks(
    locks: readonly string[],
    limits: FileLockOptions,
    work: (owner: LockOwner) => Promise<void>,
  ): Promise<void> {
    const owner = (await acquireFileLocks(this.location, locks, limits)) as LockOwner;
    try {
      await work(owner);
    } finally {
      owner.close();
    }
  }
}
