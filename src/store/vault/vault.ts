import { monotonicMs } from '../../monotonic.ts';
import type { Clock, Environment, Held, TokenStore, Wait } from '../../ports.ts';
import { fingerprint } from '../fingerprint.ts';
import { awaitOthers } from './await-others.ts';
import { type Keychain, type KeySource, Keys } from './key-provider.ts';
import { checkFolder, findVaultFolder } from './private-files.ts';
import { Records } from './records.ts';
import type { VaultWriter } from './vault-writer.ts';
import { RecordWatch } from './watch-record.ts';

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
  const underWay = new Set<Promise<unknown>>();
  const random = options.random ?? Math.random;

  async function update<T>(name: string, change: (held: Held) => Promise<T>, wait: Wait<T>): Promise<T> {
    const queuedAt = clock.now();
    const startedAt = monotonicMs();
    const found = checkFolder(records.folder) ? await keys.find() : undefined;
    if (found !== undefined && wait.contentWith !== undefined) {
      const watch = new RecordWatch(name, records, found.ring, wait.contentWith, queuedAt);
      const brought = await awaitOthers(watch, wait, random);
      if (brought !== undefined) return brought;
    }
    // Most calls find a fresh token, and need nothing of this.
    loading ??= import('./vault-writer.ts').then(({ VaultWriter }) => new VaultWriter(records, keys, random));
    return (await loading).update(name, change, wait, { queuedAt, startedAt });
  }

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
      if (closed) throw new TypeError('the store is closed');
      const updating = update(name, change, wait).finally(() => underWay.delete(updating));
      underWay.add(updating);
      return updating;
    },
    async close() {
      closed = true;
      await Promise.allSettled(underWay);
      await (await loading)?.close();
    },
  };
}
