import { linkSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { generateKey, type KeyRing, keyFileContent } from '../encryption.ts';
import type { LockOwner } from '../lock/lock-owner.ts';
import { hasErrorCode, mapWriteErrors, storeUnreadableError } from '../store-errors.ts';
import { createPrivateDirectory, replaceFile, syncDirectory, writeDurably } from './durable-fs.ts';
import type { KeyProvider, VaultKeys, VaultMetadata } from './key-provider.ts';

/** Returns the keys of a vault, creates the first one if needed, and records its source. `owner` holds the vault's lock. */
export async function ensureKeys(provider: KeyProvider, owner: LockOwner): Promise<VaultKeys> {
  const found = (await provider.find()) ?? (await createKey(provider, owner.id));
  if (!isRecorded(provider, found)) {
    const metadata: VaultMetadata = { version: 1, source: found.source, key: found.keys[0].id };
    await replaceFile(provider.metadataFile, Buffer.from(`${JSON.stringify(metadata)}\n`), owner.ownFile('temp'));
  }
  return provider.cache(found);
}

/** Whether the vault's metadata names these keys. */
export function isRecorded(provider: KeyProvider, { keys, source }: VaultKeys): boolean {
  const metadata = provider.readMetadata();
  return metadata?.source === source && metadata.key === keys[0].id;
}

/** Creates a key in the keychain if that stores it, else in the key file. */
async function createKey(provider: KeyProvider, ownerId: string): Promise<VaultKeys> {
  const { key, base64 } = generateKey();
  try {
    const keychain = await provider.openKeychain();
    // The account is the key id, so that one vault never overwrites the key of another.
    await keychain.set(key.id, base64);
    const stored = await keychain.get(key.id);
    if (stored !== undefined && base64.test((value) => value === stored)) return { keys: [key], source: 'keychain' };
  } catch {
    // There is no keychain, or it is locked.
  }
  return { keys: provider.readKeyFile() ?? (await createKeyFile(provider, ownerId)), source: 'file' };
}

/** Creates the key file with its content in one step. Never replaces one: vaults in other directories use it too. */
async function createKeyFile(provider: KeyProvider, ownerId: string): Promise<KeyRing> {
  const { base64 } = generateKey();
  const { keyFile } = provider;
  const temp = `${keyFile}.${ownerId}`;
  return mapWriteErrors(dirname(keyFile), async () => {
    await createPrivateDirectory(dirname(keyFile));
    try {
      await writeDurably(temp, keyFileContent(base64));
      linkSync(temp, keyFile);
    } catch (error) {
      if (!hasErrorCode(error, 'EEXIST')) throw error;
    } finally {
      rmSync(temp, { force: true });
    }
    await syncDirectory(dirname(keyFile));
    const keys = provider.readKeyFile();
    if (keys === undefined) throw storeUnreadableError(`${keyFile} was deleted while it was created`, 'try again');
    return keys;
  });
}
