import { join } from 'node:path';
import type { Clock, Environment, FoundRecord } from '../../ports.ts';
import type { RecordPlaintext } from '../encryption.ts';
import { acquireFileLocks, describeLockOwner, type FileLockOptions } from '../lock/file-lock.ts';
import type { LockOwner } from '../lock/lock-owner.ts';
import { removeStaleFiles } from '../lock/stale-files.ts';
import { type Acquisition, LockingStore, type Waiter } from '../locking-store.ts';
import { mapWriteErrors } from '../store-errors.ts';
import { createPrivateDirectory } from './durable-fs.ts';
import { assertLocalFileSystem } from './inspect-directory.ts';
import { type Keychain, KeyProvider, type KeySource, type VaultKeys } from './key-provider.ts';
import { LockedRecord } from './locked-record.ts';
import { checkPrivateDirectory, findVaultDirectory } from './private-files.ts';
import { Records } from './records.ts';

/** Environment of a vault. */
export interface VaultOptions {
  readonly env: Environment;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Default: the system keychain. */
  readonly keychain?: Keychain | undefined;
}

/** Encrypted records in the user's data directory. Nothing is created before the first call of `lock`. */
export class Vault extends LockingStore {
  readonly location: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #keyProvider: KeyProvider;
  #keys: VaultKeys | undefined;
  /** Set once the directories and the key exist. */
  #records: Records | undefined;

  constructor({ env, clock = { now: Date.now }, keychain }: VaultOptions) {
    super();
    this.location = findVaultDirectory(env);
    this.#clock = clock;
    const openKeychain = async () => keychain ?? (await import('./keychain.ts')).systemKeychain;
    this.#keyProvider = new KeyProvider(env, this.location, openKeychain);
  }

  /** Source of the key; `undefined` before the vault was read. */
  keySource(): KeySource | undefined {
    return this.#keys?.source;
  }

  now(): number {
    return this.#clock.now();
  }

  async read(name: string): Promise<FoundRecord | undefined> {
    const records = await this.#open();
    return records?.find(name) ?? records?.findByAlias(name);
  }

  async list(): Promise<FoundRecord[]> {
    return (await this.#open())?.list() ?? [];
  }

  protected acquire<T>(key: string, waiter: Waiter<T>): Promise<Acquisition<T>> {
    return mapWriteErrors(this.location, () => this.#acquire(key, waiter));
  }

  protected override describeOwner(key: string): string {
    return describeLockOwner(this.#records?.locks(key) ?? []);
  }

  async #acquire<T>(key: string, waiter: Waiter<T>): Promise<Acquisition<T>> {
    const records = await this.#prepare(waiter);
    let found: RecordPlaintext | undefined;
    let accepted: T | undefined;
    let fileState: string | undefined;
    const isSatisfied = (): boolean => {
      const state = records.fileState(key);
      if (state === fileState) return false;
      fileState = state;
      found = records.find(key);
      accepted = waiter.accept(found);
      return accepted !== undefined;
    };
    const owner = await acquireFileLocks(this.location, records.locks(key), { ...waiter, isSatisfied });
    if (owner === undefined) return { found, accepted };
    try {
      return { found: records.find(key), operations: new LockedRecord(key, records, owner) };
    } catch (error) {
      owner.close();
      throw error;
    }
  }

  async #open(): Promise<Records | undefined> {
    if (!checkPrivateDirectory(this.location)) return undefined;
    this.#keys ??= await this.#keyProvider.find();
    return this.#keys && new Records(this.location, this.#keys.keys);
  }

  /** Creates the directories and the key where they are missing. */
  async #prepare({ timeoutMs, deadline, signal }: FileLockOptions): Promise<Records> {
    const isPrepared = (records: Records) => checkPrivateDirectory(join(this.location, records.keys[0].id));
    if (this.#records && checkPrivateDirectory(this.location) && isPrepared(this.#records)) return this.#records;
    await createPrivateDirectory(this.location);
    checkPrivateDirectory(this.location);
    assertLocalFileSystem(this.location);
    removeStaleFiles(this.location);
    let records = await this.#open();
    if (records === undefined || !isPrepared(records)) {
      const vaultLock = [join(this.location, 'vault.lock')];
      await this.#withFileLocks(vaultLock, { timeoutMs, deadline, signal }, async (owner) => {
        this.#keys = (await this.#keyProvider.find()) ?? (await this.#keyProvider.create(owner.id));
        records = new Records(this.location, this.#keys.keys);
        records.assertKnownKeys();
        await createPrivateDirectory(join(this.location, records.keys[0].id));
      });
    }
    this.#records = records as Records;
    await this.#reencrypt(this.#records);
    return this.#records;
  }

  /** After a change of keys, encrypts the records that are not locked with the first key. Later calls encrypt the rest. */
  async #reencrypt(records: Records): Promise<void> {
    for (const { key } of records.list(records.keys.slice(1))) {
      const limits = { timeoutMs: 0, deadline: 0, signal: undefined };
      const done = this.#withFileLocks(records.locks(key), limits, async (owner) => {
        const current = records.find(key);
        if (current === undefined) return;
        const next = { ...current, revision: current.revision + 1 };
        await new LockedRecord(key, records, owner).replace(next, current, { requiresLock: true, reserve: false });
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
