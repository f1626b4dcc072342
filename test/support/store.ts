import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Clock, LockOptions, RecordLock, StoredRecord, TokenStore } from '../../src/ports.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { MemoryStore } from '../../src/store/memory.ts';
import type { Keychain } from '../../src/store/vault/key-provider.ts';
import { Vault, type VaultOptions } from '../../src/store/vault/vault.ts';

/** A random value for OAUTH_PROFILE_KEY. */
export const anyKey = (): string => randomBytes(32).toString('base64');

/** A record of this version, a `StoredRecord`; its content is derived from the version unless given. */
export const storedRecord = (version: string, content = `{"token":"${version}"}`, ...aliases: string[]) => ({
  version,
  content: new Secret(content),
  aliases,
});

/** A record in plaintext, for comparison. */
export const plaintext = (record: StoredRecord | undefined) =>
  record && { version: record.version, content: record.content.reveal() };

/** Lock options with a longer timeout than any test needs. */
export const longWait = { timeoutMs: 20_000, signal: undefined };

/** Runs `work` with the lock of `key`, then releases it. */
export async function withLock<R>(
  store: TokenStore,
  key: string,
  work: (lock: RecordLock) => Promise<R> | R,
  options: LockOptions<never> = longWait,
): Promise<R> {
  const lock = await store.lock(key, options);
  try {
    return await work(lock);
  } finally {
    await lock.release();
  }
}

/** Writes one record. */
export async function put(store: TokenStore, key: string, next: StoredRecord): Promise<void> {
  if (!(await withLock(store, key, (lock) => lock.write(next)))) throw new Error('the record was not written');
}

/** A system without a keychain. */
export const noKeychain: Keychain = {
  get: () => Promise.reject(new Error('no keychain')),
  set: () => Promise.reject(new Error('no keychain')),
};

/** A temporary home directory for vaults. */
export class StoreHome {
  readonly directory: string;
  readonly vaultDirectory: string;
  readonly keyFile: string;

  constructor(parent = tmpdir()) {
    this.directory = mkdtempSync(join(parent, 'oauth-profile-store-'));
    this.vaultDirectory = join(this.directory, 'data', 'oauth-profile', 'vault');
    this.keyFile = join(this.directory, 'config', 'oauth-profile', 'vault.key');
  }

  env(changes: Record<string, string> = {}): Record<string, string> {
    return {
      HOME: this.directory,
      XDG_DATA_HOME: join(this.directory, 'data'),
      XDG_CONFIG_HOME: join(this.directory, 'config'),
      ...changes,
    };
  }

  /** Opens the vault with `key`; without one, the vault finds or creates its key. */
  open(key: string | undefined, options: Partial<VaultOptions> = {}): Vault {
    const env = this.env(key === undefined ? {} : { OAUTH_PROFILE_KEY: key });
    return new Vault({ env, keychain: noKeychain, ...options });
  }

  /** Paths of all files in the vault's directory, relative to it. */
  files(): string[] {
    const entries = readdirSync(this.vaultDirectory, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(this.vaultDirectory, join(entry.parentPath, entry.name)))
      .sort();
  }

  /** Paths of the encrypted records. */
  records(): string[] {
    return this.files()
      .filter((file) => file.endsWith('.record'))
      .map((file) => join(this.vaultDirectory, file));
  }

  /** Files in the vault's directory other than records and their aliases: locks and temporary files. */
  leftovers(): string[] {
    const isAlias = (file: string) => file.endsWith('.alias') && existsSync(join(this.vaultDirectory, file));
    return this.files().filter((file) => !file.endsWith('.record') && !isAlias(file));
  }

  createVaultDirectory(): void {
    mkdirSync(this.vaultDirectory, { recursive: true, mode: 0o700 });
  }

  removeVault(): void {
    rmSync(this.vaultDirectory, { recursive: true });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A memory store as a plain object, so that a test can replace single functions with the spread syntax. */
export function createPlainMemoryStore(clock?: Pick<Clock, 'now'>): TokenStore {
  const store = new MemoryStore(clock);
  return {
    location: store.location,
    fingerprint: (value) => store.fingerprint(value),
    now: () => store.now(),
    read: (key) => store.read(key),
    list: () => store.list(),
    lock: (key, options) => store.lock(key, options),
    close: () => store.close(),
  };
}

/** A store whose locks have some functions replaced. */
export function withLockFunctions(
  store: TokenStore,
  replace: (lock: RecordLock<unknown>) => Partial<RecordLock<unknown>>,
): TokenStore {
  return {
    ...store,
    async lock(key, options) {
      const lock = await store.lock(key, options);
      return { ...lock, ...replace(lock) } as typeof lock;
    },
  };
}
