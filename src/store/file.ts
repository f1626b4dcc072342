import type { Clock, Environment, TokenStore } from '../ports.ts';
import { fingerprint } from './fingerprint.ts';
import { checkFolder, findVaultFolder } from './folder.ts';
import { type Keychain, type KeySource, Keys } from './key.ts';
import { Records } from './records.ts';
import type { VaultWriter } from './vault-writer.ts';

/** What a vault needs of the world. */
export interface VaultOptions {
  readonly env: Environment;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** A number from 0 up to 1. */
  readonly random?: (() => number) | undefined;
  /** In place of the system's keychain. */
  readonly keychain?: Keychain | undefined;
}

/** The user's own store, in files. */
export interface Vault extends TokenStore {
  /** Where its key comes from; `undefined` as long as it has none. */
  keySource(): KeySource | undefined;
}

/** The vault in the user's data folder. Opening it does nothing; it is created by the first `update`. */
export function openVault(options: VaultOptions): Vault {
  const { env, keychain } = options;
  const records = new Records(findVaultFolder(env));
  const keys = new Keys(env, records, async () => keychain ?? (await import('./keychain.ts')).systemKeychain);
  const clock = options.clock ?? { now: Date.now };
  let loading: Promise<VaultWriter> | undefined;
  let closed = false;
  return {
    place: records.folder,
    fingerprint: (text) => fingerprint(text),
    now: () => clock.now(),
    keySource: () => keys.source(),
    async read(name) {
      if (!checkFolder(records.folder)) return undefined;
      const found = await keys.find();
      return found && records.find(name, found.ring)?.kept;
    },
    async list() {
      const found = checkFolder(records.folder) ? await keys.find() : undefined;
      return found === undefined ? [] : records.all(found.ring).map(({ name, kept }) => ({ name, kept }));
    },
    async update(name, change, wait) {
      const queuedAt = clock.now();
      if (closed) throw new TypeError('the store is closed');
      // Most calls find a fresh token, and need nothing of this.
      loading ??= import('./vault-writer.ts').then(
        ({ VaultWriter }) => new VaultWriter(records, keys, options.random ?? Math.random),
      );
      return (await loading).update(name, change, wait, queuedAt);
    },
    async close() {
      closed = true;
      await (await loading)?.close();
    },
  };
}
