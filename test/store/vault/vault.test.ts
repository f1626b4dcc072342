import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OAuthProfileError } from '../../../src/errors.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { encryptRecord, parseKeys } from '../../../src/store/encryption.ts';
import { Records } from '../../../src/store/vault/records.ts';
import { anyKey, longWait, put, StoreHome, storedRecord, withLock } from '../../support/store.ts';
import { describeStore } from '../contract.ts';

describeStore(
  'the vault',
  () => {
    const home = new StoreHome();
    const key = anyKey();
    return {
      open: () => home.open(key),
      async writeWithoutLock(recordKey, record) {
        const keys = parseKeys(new Secret(key), 'the key');
        const records = new Records(home.vaultDirectory, keys);
        const revision = (records.find(recordKey)?.revision ?? 0) + 1;
        const bytes = encryptRecord({ key: recordKey, revision, aliases: [], ...record }, keys[0]);
        writeFileSync(records.file(recordKey), bytes, { mode: 0o600 });
      },
      remove: () => home.remove(),
    };
  },
  { locksCanBeLost: true },
);

describe('the vault', () => {
  let home: StoreHome;

  beforeEach(() => {
    home = new StoreHome();
  });

  afterEach(() => home.remove());

  it('creates no lock or temporary files for a waiter that accepts the record', async () => {
    const key = anyKey();
    const [holder, waiter] = [home.open(key), home.open(key)];
    const lock = await holder.lock('a', longWait);
    await lock.write(storedRecord('new'));
    const before = home.files();
    let filesMeanwhile: string[] = [];
    const { accepted } = await waiter.lock('a', {
      ...longWait,
      acceptIf(record) {
        filesMeanwhile = home.files();
        return record?.version;
      },
    });
    expect(accepted).toBe('new');
    expect(filesMeanwhile).toEqual(before);
    await lock.release();
    expect(home.leftovers()).toEqual([]);
  });

  it('does not call acceptIf again while the record is unchanged', async () => {
    const key = anyKey();
    const lock = await home.open(key).lock('a', longWait);
    await lock.write(storedRecord('one'));
    const seen: (string | undefined)[] = [];
    const waiting = home.open(key).lock('a', {
      ...longWait,
      acceptIf(record) {
        seen.push(record?.version);
        return record?.version === 'three' ? true : undefined;
      },
    });
    await expect.poll(() => seen).toEqual(['one']);
    await lock.write(storedRecord('two'));
    await expect.poll(() => seen).toEqual(['one', 'two']);
    await lock.write(storedRecord('three'));
    await waiting;
    expect(seen).toEqual(['one', 'two', 'three']);
    await lock.release();
  });

  it('serves a thousand callers of one process, one at a time', async () => {
    const vault = home.open(anyKey());
    let owners = 0;
    const calls = Array.from({ length: 1000 }, () =>
      withLock(vault, 'a', async () => {
        expect(++owners).toBe(1);
        await null;
        owners--;
      }),
    );
    expect(await Promise.all(calls)).toHaveLength(1000);
    expect(home.leftovers()).toEqual([]);
  });

  it('is created again if its directory is deleted while it is open', async () => {
    const vault = home.open(undefined);
    await put(vault, 'a', storedRecord('one'));
    home.removeVault();
    expect(await vault.read('a')).toBeUndefined();
    await put(vault, 'a', storedRecord('two'));
    expect((await home.open(undefined).read('a'))?.version).toBe('two');
  });

  describe('a new refresh token', () => {
    /** Writes the version `one`, prepares the write of `two`, and changes the vault before it is written. */
    async function writeAfter(change: () => void, key = anyKey()): Promise<boolean> {
      await put(home.open(key), 'a', storedRecord('one'));
      return withLock(home.open(key), 'a', async (lock) => {
        await lock.write(storedRecord('one', '{"journal":1}'), { reserve: true });
        change();
        return lock.write(storedRecord('two'));
      });
    }

    it('is written although the record was deleted', async () => {
      const key = anyKey();
      expect(await writeAfter(() => rmSync(home.records()[0] as string), key)).toBe(true);
      expect((await home.open(key).read('a'))?.version).toBe('two');
      expect(home.leftovers()).toEqual([]);
    });

    it('is written once the directory of the vault is back', async () => {
      const key = anyKey();
      const elsewhere = `${home.vaultDirectory}-elsewhere`;
      const written = await writeAfter(() => {
        renameSync(home.vaultDirectory, elsewhere);
        setTimeout(() => renameSync(elsewhere, home.vaultDirectory), 300);
      }, key);
      expect(written).toBe(true);
      expect((await home.open(key).read('a'))?.version).toBe('two');
    });

    it('is stored next to the vault if the record becomes accessible to other users, and can be restored', async () => {
      const key = anyKey();
      const error: OAuthProfileError = await writeAfter(() => chmodSync(home.records()[0] as string, 0o644), key).then(
        () => expect.unreachable(),
        (reason) => reason,
      );
      expect(error.code).toBe('store_unreadable');
      const [, command = ''] = /then run: (mv .*)$/.exec(error.hint ?? '') ?? [];
      const rescued = command.split(' ')[1] as string;
      expect(error.message).toContain(rescued);
      expect(statSync(rescued).mode & 0o777).toBe(0o600);
      expect(readFileSync(rescued, 'latin1')).not.toContain('two');
      execFileSync('sh', ['-c', command]);
      expect((await home.open(key).read('a'))?.version).toBe('two');
    });

    it('is an error at once if the lock is required and the record is unreadable', async () => {
      const key = anyKey();
      await put(home.open(key), 'a', storedRecord('one'));
      await withLock(home.open(key), 'a', async (lock) => {
        chmodSync(home.records()[0] as string, 0o644);
        await expect(lock.write(storedRecord('one', '{"journal":1}'), { reserve: true })).rejects.toMatchObject({
          code: 'store_unreadable',
        });
      });
      expect(readdirSync(dirname(home.vaultDirectory))).toEqual(['vault']);
    });
  });
});
