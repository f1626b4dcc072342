import { join } from 'node:path';
import { monotonicMs } from '../../monotonic.ts';
import type { Clock, Environment, LockOptions, RecordLock, StoredRecord, TokenStore } from '../../ports.ts';
import type { Secret } from '../../redaction/secret.ts';
import type { KeyRing } from '../encryption.ts';
import { fingerprint } from '../fingerprint.ts';
import { acquireFileLocks, describeLockOwner, type FileLockOptions } from '../lock/file-lock.ts';
import { KeyedMutex } from '../lock/keyed-mutex.ts';
import type { LockOwner } from '../lock/lock-owner.ts';
import { removeStaleFiles } from '../lock/stale-files.ts';
import { acceptedRecord, heldRecord } from '../record-lock.ts';
import { lockTimeoutError, mapWriteErrors } from '../store-errors.ts';
import { ensureKeys, isRecorded } from './create-key.ts';
import { createPrivateDirectory } from './durable-fs.ts';
import { assertLocalFileSystem } from './inspect-directory.ts';
import { type Keychain, KeyProvider, type KeySource } from './key-provider.ts';
import { LockedRecord } from './locked-record.ts';
import { checkPrivateDirectory, findVaultDirectory } from './private-files.ts';
import { Records } from './records.ts';

/** Environment of a vault. */
export interface VaultOptions {
  readonly env: Environment;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Returns a number in [0, 1). Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Default: the system keychain. */
  readonly keychain?: Keychain | undefined;
}

/** Opens the vault in the user's data directory. Nothing is created before the first call of `lock`. */
export function openVault(options: VaultOptions): Vault {
  return new Vault(options);
}

/** Encrypted records in files of the user. */
export class Vault implements TokenStore {
  readonly location: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #random: () => number;
  readonly #records: Records;
  readonly #keyProvider: KeyProvider;
  readonly #mutex = new KeyedMutex();
  /** Set once the directory and the key exist. */
  #keys: KeyRing | undefined;

  constructor({ env, clock = { now: Date.now }, random = Math.random, keychain }: VaultOptions) {
    this.location = findVaultDirectory(env);
    this.#clock = clock;
    this.#random = random;
    this.#records = new Records(this.location);
    const openKeychain = async () => keychain ?? (await import('./keychain.ts')).systemKeychain;
    this.#keyProvider = new KeyProvider(env, this.#records, openKeychain);
  }

  /** Source of the key; `undefined` if the vault has none yet. */
  keySource(): KeySource | undefined {
    return this.#keyProvider.source();
  }

  fingerprint(value: string | Secret): string {
    return fingerprint(value);
  }

  now(): number {
    return this.#clock.now();
  }

  async read(key: string): Promise<StoredRecord | undefined> {
    const keys = await this.#findKeys();
    return keys && this.#records.find(key, keys)?.record;
  }

  async list(): Promise<readonly { readonly key: string; readonly record: StoredRecord }[]> {
    const keys = await this.#findKeys();
    return keys === undefined ? [] : this.#records.list(keys);
  }

  async lock<T = never>(key: string, options: LockOptions<T>): Promise<RecordLock<T>> {
    const queuedAt = this.now();
    const startedAt = monotonicMs();
    const hasWaited = this.#mutex.isLocked(key);
    const timeoutError = () => lockTimeoutError(this.#describeOwner(key), monotonicMs() - startedAt);
    const unlock = await this.#mutex.acquire(key, options, timeoutError);
    try {
      return await this.#lockFile(key, options, { queuedAt, startedAt, hasWaited }, unlock);
    } catch (error) {
      unlock();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#mutex.close();
  }

  /** Acquires the file lock for the one caller of this process that may wait for it. */
  async #lockFile<T>(
    key: string,
    { timeoutMs, signal, acceptIf }: LockOptions<T>,
    { queuedAt, startedAt, hasWaited }: { queuedAt: number; startedAt: number; hasWaited: boolean },
    unlock: () => void,
  ): Promise<RecordLock<T>> {
    const limits = { timeoutMs, signal, startedAt, random: this.#random };
    const keys = await this.#prepare(limits);
    let record: StoredRecord | undefined;
    let accepted: T | undefined;
    let fileState: string | undefined;
    const isSatisfied = (): boolean => {
      if (acceptIf === undefined) return false;
      const state = this.#records.fileState(key, keys);
      if (state === fileState) return false;
      fileState = state;
      record = this.#records.find(key, keys)?.record;
      accepted = acceptIf(record, queuedAt);
      return accepted !== undefined;
    };
    const locks = this.#records.locks(key, keys);
    const owner = await this.#acquire(locks, { ...limits, isSatisfied, hasWaited });
    if (owner === undefined) {
      unlock();
      return acceptedRecord(accepted as T, record, queuedAt);
    }
    try {
      const locked = new LockedRecord(key, owner, this.#records, keys, unlock);
      return heldRecord(locked.record, queuedAt, locked);
    } catch (error) {
      owner.close();
      throw error;
    }
  }

  #acquire(locks: readonly string[], options: FileLockOptions): Promise<LockOwner | undefined> {
    return mapWriteErrors(this.location, () => acquireFileLocks(this.location, locks, options));
  }

  async #findKeys(): Promise<KeyRing | undefined> {
    return checkPrivateDirectory(this.location) ? (await this.#keyProvider.find())?.keys : undefined;
  }

  /** Creates the directory and the key where they are missing. */
  async #prepare(limits: FileLockOptions): Promise<KeyRing> {
    if (this.#keys !== undefined && checkPrivateDirectory(this.location)) return this.#keys;
    await mapWriteErrors(this.location, () => createPrivateDirectory(this.location));
    checkPrivateDirectory(this.location);
    assertLocalFileSystem(this.location);
    removeStaleFiles(this.location);
    const found = await this.#keyProvider.find();
    if (found !== undefined) this.#records.assertKnownKeys(found.keys);
    const isComplete = found !== undefined && isRecorded(this.#keyProvider, found);
    const { keys } = isComplete ? found : await this.#ensureKeys(limits);
    this.#records.assertKnownKeys(keys);
    await this.#reencrypt(keys);
    this.#keys = keys;
    return keys;
  }

  async #ensureKeys(limits: FileLockOptions) {
    const owner = (await this.#acquire([join(this.location, 'vault.lock')], limits)) as LockOwner;
    try {
      return await mapWriteErrors(this.location, () => ensureKeys(this.#keyProvider, owner));
    } finally {
      owner.close();
    }
  }

  /** After a change of keys, encrypts the records that are not locked with the first key. Later calls encrypt the rest. */
  async #reencrypt(keys: KeyRing): Promise<void> {
    if ([...this.#records.keyIds()].every((id) => id === keys[0].id)) return;
    const options = { startedAt: monotonicMs(), timeoutMs: 0, signal: undefined, random: this.#random };
    for (const { key } of this.#records.list(keys)) {
      try {
        const owner = (await this.#acquire(this.#records.locks(key, keys), options)) as LockOwner;
        try {
          const locked = new LockedRecord(key, owner, this.#records, keys);
          if (locked.record !== undefined) await locked.write(locked.record);
        } finally {
          owner.close();
        }
      } catch {
        // Locked, or the disk is full: the old key is still needed.
      }
    }
  }

  #describeOwner(key: string): string {
    const lock = this.#keys && this.#records.locks(key, this.#keys)[0];
    return lock === undefined ? `process ${process.pid}` : describeLockOwner(lock);
  }
}
