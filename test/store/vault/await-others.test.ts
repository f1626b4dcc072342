import { utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Secret } from '../../../src/redaction/secret.ts';
import { readKeys } from '../../../src/store/encryption.ts';
import { awaitOthers } from '../../../src/store/vault/await-others.ts';
import { Records } from '../../../src/store/vault/records.ts';
import { RecordWatch } from '../../../src/store/vault/watch-record.ts';
import { anyKey, patient, StoreHome } from '../../support/store-home.ts';

let home: StoreHome;

beforeEach(() => {
  home = new StoreHome();
  home.makeFolder();
});
afterEach(() => home.remove());

/** Whether one waits as a reader for who has this lock. */
async function waits(given: { pid?: number; text?: string; silentMs?: number }): Promise<boolean> {
  const { pid = process.ppid, silentMs = 0 } = given;
  const text = given.text ?? `${'0'.repeat(12)}-${pid}-1-${'0'.repeat(16)}`;
  const ring = readKeys(new Secret(anyKey()), 'the key');
  const records = new Records(home.vaultFolder);
  const [lock = ''] = records.locks('a', ring, 'lock');
  writeFileSync(lock, text, { mode: 0o600 });
  const seen = new Date(Date.now() - silentMs);
  utimesSync(lock, seen, seen);
  const watch = new RecordWatch('a', records, ring, () => undefined, 0);
  const waiting = awaitOthers(watch, patient, () => {
    throw new Error('it waits');
  });
  return waiting.then(
    () => false,
    (error: Error) => error.message === 'it waits',
  );
}

it('waits for another process that lives', async () => {
  expect(await waits({})).toBe(true);
});

it.each([
  ['for a process that does not', { pid: 2 ** 22 + 1 }],
  ['for this process, whose callers take turns', { pid: process.pid }],
  ['for one who gave no sign of life for a while: its number may be that of another by now', { silentMs: 4000 }],
  ['where a power failure left a lock without an owner', { text: '' }],
])('does not wait %s', async (_, lock) => {
  expect(await waits(lock)).toBe(false);
});
