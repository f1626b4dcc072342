import { linkSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { inventKey, keyLine } from '../encryption.ts';
import type { Stake } from '../lock/lock-owner.ts';
import { failedWith, unreadable, writing } from '../store-errors.ts';
import { makeFolder, replaceFile, syncFolder, writeThrough } from './durable-fs.ts';
import type { FoundKeys, KeyNote, Keys } from './key-provider.ts';

/** The keys of a vault, made if it has none, and remembered; nobody else may be doing the same. */
export async function settleKeys(keys: Keys, stake: Stake): Promise<FoundKeys> {
  const found = (await keys.find()) ?? (await makeKey(keys, stake.owner));
  const note: KeyNote = { version: 1, source: found.source, key: found.ring[0].id };
  const line = Buffer.from(`${JSON.stringify(note)}\n`);
  if (!isNoted(keys, found)) await replaceFile(keys.noteFile, line, stake.path('temp'));
  return keys.remember(found);
}

/** Whether the vault remembers these keys. */
export function isNoted(keys: Keys, { ring, source }: FoundKeys): boolean {
  const note = keys.note();
  return note?.source === source && note.key === ring[0].id;
}

/** In the keychain if there is one that keeps what it is given, else in a file. */
async function makeKey(keys: Keys, owner: string): Promise<FoundKeys> {
  const { key, text } = inventKey();
  try {
    const keychain = await keys.keychain();
    // Under its own id, so that a key never takes the place of another.
    await keychain.set(key.id, text);
    const kept = await keychain.get(key.id);
    if (kept !== undefined && text.test((value) => value === kept)) return { ring: [key], source: 'keychain' };
  } catch {
    // There is none, or nobody is there to open it.
  }
  return { ring: keys.inFile() ?? (await makeKeyFile(keys, owner)), source: 'file' };
}

/** The file appears with its content, and never in the place of another: vaults in other folders share it. */
async function makeKeyFile(keys: Keys, owner: string) {
  const { text } = inventKey();
  const { file } = keys;
  const temp = `${file}.${owner}`;
  return writing(dirname(file), async () => {
    await makeFolder(dirname(file));
    try {
      await writeThrough(temp, keyLine(text));
      linkSync(temp, file);
    } catch (error) {
      if (!failedWith(error, 'EEXIST')) throw error;
    } finally {
      rmSync(temp, { force: true });
    }
    await syncFolder(dirname(file));
    const ring = keys.inFile();
    if (ring === undefined) throw unreadable(`${file} went away while it was made`, 'try again');
    return ring;
  });
}
