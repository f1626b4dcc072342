import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecordLock } from '../../src/ports.ts';
import { Secret } from '../../src/redaction/secret.ts';
import {
  decryptRecord,
  encryptRecord,
  generateKey,
  keyFileContent,
  parseKeys,
  recordId,
} from '../../src/store/encryption.ts';
import { anyKey, longWait, plaintext, put, StoreHome, storedRecord, withLock } from '../support/store.ts';

const keysOf = (...keys: string[]) => parseKeys(new Secret(keys.join(',')), 'the key');
const unreadable = expect.objectContaining({ code: 'store_unreadable' });

describe('an encrypted record', () => {
  const keys = keysOf(anyKey());
  const [key] = keys;
  const original = {
    key: 'family',
    revision: 7,
    ...storedRecord('a-version', '{"refresh_token":"secret-token"}'),
  };
  const encrypted = encryptRecord(original, key);
  const decrypt = (bytes: Buffer) => decryptRecord(bytes, recordId(key, 'family'), keys, 'the file');

  it('is decrypted to any original content', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.nat(),
        fc.string(),
        fc.string({ unit: 'grapheme' }),
        (recordKey, revision, version, content) => {
          const bytes = encryptRecord({ key: recordKey, revision, ...storedRecord(version, content) }, key);
          const decrypted = decryptRecord(bytes, recordId(key, recordKey), keys, 'the file');
          const expected = { key: recordKey, revision, version, content, aliases: [] };
          expect({ ...decrypted, ...plaintext(decrypted) }).toEqual(expected);
        },
      ),
    );
  });

  it('contains none of its plaintext', () => {
    const bytes = encrypted.toString('latin1');
    for (const part of ['family', 'a-version', 'refresh_token', 'secret-token']) expect(bytes).not.toContain(part);
  });

  it('differs each time', () => {
    expect(encryptRecord(original, key).equals(encrypted)).toBe(false);
  });

  it('is rejected if any byte is changed', () => {
    for (let offset = 0; offset < encrypted.length; offset++) {
      for (const bits of [0x01, 0x80, 0xff]) {
        const damaged = Buffer.from(encrypted);
        damaged[offset] = (damaged[offset] as number) ^ bits;
        expect(() => decrypt(damaged), `byte ${offset}`).toThrow(unreadable);
      }
    }
  });

  it('is rejected if it is shorter or longer', () => {
    for (let length = 0; length < encrypted.length; length++) {
      expect(() => decrypt(encrypted.subarray(0, length)), `${length} bytes`).toThrow(unreadable);
    }
    expect(() => decrypt(Buffer.concat([encrypted, Buffer.alloc(1)]))).toThrow(unreadable);
  });

  it('is rejected if it consists of arbitrary bytes, with or without a valid header', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(() => decrypt(Buffer.concat([encrypted.subarray(0, 29), bytes]))).toThrow(unreadable);
        expect(() => decrypt(Buffer.from(bytes))).toThrow(unreadable);
      }),
    );
  });

  it('is rejected with a message for each reason', () => {
    const newer = Buffer.from(encrypted);
    newer[4] = 2;
    expect(() => decrypt(newer)).toThrow(/newer version/);
    const otherKey = () => decryptRecord(encrypted, recordId(key, 'family'), keysOf(anyKey()), 'the file');
    expect(otherKey).toThrow(key.id);
    expect(otherKey).toThrow(expect.objectContaining({ hint: expect.stringContaining('OAUTH_PROFILE_KEY') }));
    expect(() => decryptRecord(encrypted, recordId(key, 'other'), keys, 'the file')).toThrow(/copied or renamed/);
  });

  it('is decrypted with any of several keys', () => {
    const [oldKey, newKey] = [anyKey(), anyKey()];
    const [first] = keysOf(oldKey);
    const bytes = encryptRecord(original, first);
    const record = decryptRecord(bytes, recordId(first, 'family'), keysOf(newKey, oldKey), 'the file');
    expect(plaintext(record)).toEqual(plaintext(original));
  });
});

describe('an encryption key', () => {
  it('has an id and derived keys that do not contain it', () => {
    const bytes = randomBytes(32);
    const [key] = keysOf(bytes.toString('base64'));
    expect(key.id).toMatch(/^[0-9a-f]{16}$/);
    expect(bytes.toString('hex')).not.toContain(key.id);
    for (const derived of [key.encryption, key.naming]) expect(derived.equals(bytes)).toBe(false);
  });

  it('may be surrounded by whitespace, base64url-encoded or unpadded', () => {
    const bytes = Buffer.from('fb'.repeat(32), 'hex');
    const ids = [
      bytes.toString('base64'),
      ` ${bytes.toString('base64')}\n`,
      bytes.toString('base64url'),
      bytes.toString('base64').replace('=', ''),
    ].map((value) => keysOf(value)[0].id);
    expect(new Set(ids).size).toBe(1);
  });

  it('counts once if it is given twice', () => {
    const [one, two] = [anyKey(), anyKey()];
    expect(keysOf(one, two, one)).toHaveLength(2);
  });

  it('that was generated is parsed from its key file', () => {
    const { key, base64 } = generateKey();
    expect(parseKeys(new Secret(keyFileContent(base64).toString()), 'the file')[0]).toEqual(key);
  });

  it.each([
    ['too short', randomBytes(31).toString('base64')],
    ['too long', randomBytes(33).toString('base64')],
    ['hexadecimal', randomBytes(32).toString('hex')],
    ['a password', 'correct horse battery staple'],
    ['empty after a comma', `${anyKey()},`],
  ])('is rejected if it is %s, without revealing it', (_, value) => {
    try {
      parseKeys(new Secret(value), 'OAUTH_PROFILE_KEY');
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({
        code: 'store_unreadable',
        message: expect.stringContaining('OAUTH_PROFILE_KEY'),
        hint: expect.stringContaining('openssl rand -base64 32'),
      });
      expect(JSON.stringify(error)).not.toContain(value.slice(0, 12));
    }
  });
});

describe('the vault', () => {
  let home: StoreHome;

  beforeEach(() => {
    home = new StoreHome();
  });

  afterEach(() => home.remove());

  it.each([
    ['damaged', (bytes: Buffer) => bytes.fill(0, 60, 64)],
    ['empty', () => Buffer.alloc(0)],
    ['written by a newer version', (bytes: Buffer) => bytes.fill(9, 4, 5)],
  ])('rejects a record that is %s, and never overwrites it', async (_, change) => {
    const key = anyKey();
    await put(home.open(key), 'a', storedRecord('one'));
    await put(home.open(key), 'b', storedRecord('two'));
    const file = home.records().find((path) => path.includes(recordId(keysOf(key)[0], 'a'))) as string;
    writeFileSync(file, change(readFileSync(file)));
    const before = readFileSync(file);
    const vault = home.open(key);
    const error = { code: 'store_unreadable', message: expect.stringContaining(file), hint: expect.any(String) };
    await expect(vault.read('a')).rejects.toMatchObject(error);
    await expect(vault.list()).rejects.toMatchObject(error);
    await expect(put(vault, 'a', storedRecord('new'))).rejects.toMatchObject(error);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(home.leftovers()).toEqual([]);
    expect((await vault.read('b'))?.version).toBe('two');
  });

  it('rejects a record that was renamed to replace another', async () => {
    const vault = home.open(anyKey());
    await put(vault, 'a', storedRecord('one'));
    await put(vault, 'b', storedRecord('two'));
    const [one, two] = home.records() as [string, string];
    renameSync(one, two);
    const results = await Promise.allSettled([vault.read('a'), vault.read('b')]);
    const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : result.value));
    expect(codes).toContain('store_unreadable');
  });

  it('rejects another key even for a key without a record, and changes nothing', async () => {
    const key = anyKey();
    await put(home.open(key), 'a', storedRecord('one'));
    const before = home.files();
    const vault = home.open(anyKey());
    const error = { code: 'store_unreadable', message: expect.stringContaining(keysOf(key)[0].id) };
    await expect(vault.read('a')).rejects.toMatchObject(error);
    await expect(vault.read('unknown')).rejects.toMatchObject(error);
    await expect(vault.list()).rejects.toMatchObject(error);
    await expect(put(vault, 'a', storedRecord('new'))).rejects.toMatchObject(error);
    expect(home.files()).toEqual(before);
  });

  it('reveals neither keys nor contents of records in its directory', async () => {
    await put(home.open(anyKey()), 'profile-name', storedRecord('version-1', '{"refresh_token":"rt-0123456789"}'));
    const all = home
      .files()
      .map((file) => file + readFileSync(join(home.vaultDirectory, file), 'latin1'))
      .join();
    for (const value of ['profile-name', 'version-1', 'rt-0123456789', 'refresh_token']) {
      expect(all).not.toContain(value);
    }
  });
});

describe('a change of keys', () => {
  let home: StoreHome;
  const [oldKey, newKey] = [anyKey(), anyKey()];

  beforeEach(async () => {
    home = new StoreHome();
    const vault = home.open(oldKey);
    for (const key of ['a', 'b', 'c']) await put(vault, key, storedRecord(`${key}1`));
  });

  afterEach(() => home.remove());

  const usedKeyIds = () => new Set(home.records().map((file) => basename(dirname(file))));
  const idOf = (key: string) => keysOf(key)[0].id;

  it('loses no record: the old key still decrypts', async () => {
    const vault = home.open(`${newKey},${oldKey}`);
    expect((await vault.read('a'))?.version).toBe('a1');
    expect((await vault.list()).map(({ key }) => key).sort()).toEqual(['a', 'b', 'c']);
    expect(usedKeyIds()).toEqual(new Set([idOf(oldKey)]));
  });

  it('does not change fingerprints, so that refresh tokens of a family stay known', () => {
    expect(home.open(`${newKey},${oldKey}`).fingerprint('token')).toBe(home.open(oldKey).fingerprint('token'));
  });

  it('re-encrypts all records with the first write, and the old key is no longer needed', async () => {
    await put(home.open(`${newKey},${oldKey}`), 'a', storedRecord('a2'));
    expect(usedKeyIds()).toEqual(new Set([idOf(newKey)]));
    expect(home.records()).toHaveLength(3);
    const vault = home.open(newKey);
    expect((await vault.read('a'))?.version).toBe('a2');
    expect((await vault.read('b'))?.version).toBe('b1');
  });

  it('skips a locked record, which the next process re-encrypts', async () => {
    const both = `${newKey},${oldKey}`;
    const lock = await home.open(oldKey).lock('b', longWait);
    await put(home.open(both), 'a', storedRecord('a2'));
    await lock.release();
    expect(usedKeyIds()).toEqual(new Set([idOf(oldKey), idOf(newKey)]));
    await put(home.open(both), 'a', storedRecord('a3'));
    expect(usedKeyIds()).toEqual(new Set([idOf(newKey)]));
    expect((await home.open(newKey).read('b'))?.version).toBe('b1');
  });

  it('is detected by a process that has only the old key', async () => {
    const outdated = home.open(oldKey);
    expect((await outdated.read('a'))?.version).toBe('a1');
    await put(home.open(`${newKey},${oldKey}`), 'a', storedRecord('a2'));
    const error = { code: 'store_unreadable', message: expect.stringContaining(idOf(newKey)) };
    await expect(outdated.read('a')).rejects.toMatchObject(error);
    await expect(put(outdated, 'a', storedRecord('forked'))).rejects.toMatchObject(error);
  });

  it('does not break the exclusion of processes that have the keys in another order', async () => {
    let owners = 0;
    const increment = async (lock: RecordLock) => {
      expect(++owners).toBe(1);
      await lock.write(storedRecord(String(Number(lock.record?.version.replace(/^a/, '')) + 1)));
      owners--;
    };
    const vaults = [`${newKey},${oldKey}`, `${oldKey},${newKey}`, `${newKey},${oldKey},${anyKey()}`].map((keys) =>
      home.open(keys),
    );
    await Promise.all(
      Array.from({ length: 30 }, (_, index) => withLock(vaults[index % 3] as (typeof vaults)[0], 'a', increment)),
    );
    for (const vault of vaults) expect((await vault.read('a'))?.version).toBe('31');
  });

  it('that was interrupted leaves two copies of a record, and the newer one is valid', async () => {
    const copies = home.records().map((file) => [file, readFileSync(file)] as const);
    await put(home.open(`${newKey},${oldKey}`), 'a', storedRecord('a2'));
    // As if the process had been killed before it removed the old copies.
    for (const [file, bytes] of copies) writeFileSync(file, bytes, { mode: 0o600 });
    for (const keys of [`${newKey},${oldKey}`, `${oldKey},${newKey}`]) {
      const vault = home.open(keys);
      expect((await vault.read('a'))?.version).toBe('a2');
      const versions = (await vault.list()).map(({ version }) => version);
      expect(versions.sort()).toEqual(['a2', 'b1', 'c1']);
    }
    await withLock(home.open(`${newKey},${oldKey}`), 'a', (lock) => lock.remove());
    expect(await home.open(`${oldKey},${newKey}`).read('a')).toBeUndefined();
  });
});
