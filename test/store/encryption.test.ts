import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/redaction/secret.ts';
import { generateKey, keyFileContent, parseKeys, recordId, seal, unseal } from '../../src/store/encryption.ts';
import { anyKey, longWait, put, StoreHome, plaintext } from '../support/store-home.ts';

const ringOf = (...keys: string[]) => parseKeys(new Secret(keys.join(',')), 'the key');

describe('a seal', () => {
  const ring = ringOf(anyKey());
  const [key] = ring;
  const record = { name: 'family', turn: 7, kept: storedRecord('head', '{"refresh_token":"secret-token"}') };
  const sealed = encryptRecord(record, key);
  const id = recordId(key, 'family');
  const open = (bytes: Buffer) => decryptRecord(bytes, id, ring, 'it');

  it('opens to what was sealed, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.nat(),
        fc.string(),
        fc.string({ unit: 'grapheme' }),
        (name, turn, head, content) => {
          const opened = decryptRecord(encryptRecord({ name, turn, kept: storedRecord(head, content) }, key), recordId(key, name), ring, 'it');
          expect({ ...opened, kept: plaintext(opened.kept) }).toEqual({ name, turn, kept: { head, content } });
        },
      ),
    );
  });

  it('shows nothing of what is in it', () => {
    const text = sealed.toString('latin1');
    for (const part of ['family', 'head', 'refresh_token', 'secret-token']) expect(text).not.toContain(part);
  });

  it('looks different each time', () => {
    expect(encryptRecord(record, key).equals(sealed)).toBe(false);
  });

  it('never opens to anything else when any byte is changed', () => {
    for (let at = 0; at < sealed.length; at++) {
      for (const bits of [0x01, 0x80, 0xff]) {
        const damaged = Buffer.from(sealed);
        damaged[at] = (damaged[at] as number) ^ bits;
        expect(() => open(damaged), `byte ${at}`).toThrow(expect.objectContaining({ code: 'store_unreadable' }));
      }
    }
  });

  it('never opens when it is cut short or longer', () => {
    for (let length = 0; length < sealed.length; length++) {
      expect(() => open(sealed.subarray(0, length)), `${length} bytes`).toThrow(/is damaged/);
    }
    expect(() => open(Buffer.concat([sealed, Buffer.alloc(1)]))).toThrow(/is damaged/);
  });

  it('never opens to anything from bytes that nobody sealed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (tail) => {
        expect(() => open(Buffer.concat([sealed.subarray(0, 29), tail]))).toThrow(/is damaged/);
        expect(() => open(Buffer.from(tail))).toThrow();
      }),
    );
  });

  it('says what is wrong, and what to do', () => {
    const newer = Buffer.from(sealed);
    newer[4] = 2;
    expect(() => open(newer)).toThrow(
      expect.objectContaining({
        message: 'it was written by a newer version of oauth-profile',
        hint: 'update oauth-profile',
      }),
    );
    expect(() => decryptRecord(sealed, id, ringOf(anyKey()), 'it')).toThrow(
      expect.objectContaining({
        message: `it is sealed with another key (${key.id})`,
        hint: expect.stringContaining('OAUTH_PROFILE_KEY'),
      }),
    );
    expect(() => decryptRecord(sealed, recordId(key, 'other'), ring, 'it')).toThrow(/holds the record of another name/);
  });

  it('opens with any key of the ring', () => {
    const [old, next] = [anyKey(), anyKey()];
    const [oldKey] = ringOf(old);
    const one = encryptRecord(record, oldKey);
    const opened = decryptRecord(one, recordId(oldKey, 'family'), ringOf(next, old), 'it');
    expect(plaintext(opened.kept)).toEqual(plaintext(record.kept));
  });
});

describe('a key', () => {
  it('is told by an id that says nothing about it', () => {
    const bytes = randomBytes(32);
    const [key] = ringOf(bytes.toString('base64'));
    expect(key.id).toMatch(/^[0-9a-f]{16}$/);
    expect(bytes.toString('hex')).not.toContain(key.id);
    for (const part of [key.sealing, key.naming]) expect(part.equals(bytes)).toBe(false);
  });

  it('is read with blanks, as base64url, and without padding', () => {
    const bytes = Buffer.from('fb'.repeat(32), 'hex');
    const ids = [
      bytes.toString('base64'),
      ` ${bytes.toString('base64')}\n`,
      bytes.toString('base64url'),
      bytes.toString('base64').replace('=', ''),
    ].map((text) => ringOf(text)[0].id);
    expect(new Set(ids).size).toBe(1);
  });

  it('is read once where it stands twice', () => {
    const [one, two] = [anyKey(), anyKey()];
    expect(ringOf(one, two, one)).toHaveLength(2);
  });

  it('that was invented is read again from its line', () => {
    const { key, text } = generateKey();
    expect(parseKeys(new Secret(keyFileContent(text).toString()), 'it')[0]).toEqual(key);
  });

  it.each([
    ['too short', randomBytes(31).toString('base64')],
    ['too long', randomBytes(33).toString('base64')],
    ['hex', randomBytes(32).toString('hex')],
    ['a password', 'correct horse battery staple'],
    ['an empty one after a comma', `${anyKey()},`],
  ])('is refused when it is %s, without showing it', (_, text) => {
    try {
      parseKeys(new Secret(text), 'OAUTH_PROFILE_KEY');
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({
        code: 'store_unreadable',
        message: 'OAUTH_PROFILE_KEY is not base64 of 32 bytes',
        hint: expect.stringContaining('openssl rand -base64 32'),
      });
      expect(JSON.stringify(error)).not.toContain(text.slice(0, 12));
    }
  });
});

describe('a vault', () => {
  let home: StoreHome;

  beforeEach(() => {
    home = new StoreHome();
  });

  afterEach(() => home.remove());

  const overwrite = (vault: ReturnType<StoreHome['open']>) =>
    vault.update('a', (held) => held.write(storedRecord('new')), longWait);

  it.each([
    ['damaged', (bytes: Buffer) => bytes.fill(0, 60, 64), /is damaged/],
    ['empty', () => Buffer.alloc(0), /is damaged/],
    ['of a newer version', (bytes: Buffer) => bytes.fill(9, 4, 5), /newer version/],
  ])('refuses a record that is %s, and never overwrites it', async (_, change, message) => {
    const key = anyKey();
    await put(home.open(key), 'a', storedRecord('one'));
    await put(home.open(key), 'b', storedRecord('two'));
    const file = home.records().find((path) => path.includes(recordId(ringOf(key)[0], 'a'))) as string;
    writeFileSync(file, change(readFileSync(file)));
    const before = readFileSync(file);
    const vault = home.open(key);
    const refusal = { code: 'store_unreadable', message: expect.stringMatching(message), hint: expect.any(String) };
    await expect(vault.read('a')).rejects.toMatchObject(refusal);
    await expect(vault.list()).rejects.toMatchObject(refusal);
    await expect(overwrite(vault)).rejects.toMatchObject(refusal);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect((await vault.read('b'))?.version).toBe('two');
  });

  it('refuses a record that was put in the place of another', async () => {
    const key = anyKey();
    const vault = home.open(key);
    await put(vault, 'a', storedRecord('one'));
    await put(vault, 'b', storedRecord('two'));
    const [one, two] = home.records() as [string, string];
    renameSync(one, two);
    const refusals = await Promise.allSettled([vault.read('a'), vault.read('b')]);
    const reasons = refusals.map((result) => (result.status === 'rejected' ? result.reason.message : 'nothing'));
    expect(reasons.join()).toMatch(/holds the record of another name: it was copied or renamed/);
  });

  it('refuses another key even where it would find nothing, and leaves everything as it is', async () => {
    await put(home.open(anyKey()), 'a', storedRecord('one'));
    const before = home.files();
    const vault = home.open(anyKey());
    const refusal = { code: 'store_unreadable', message: expect.stringContaining('sealed with another key') };
    await expect(vault.read('a')).rejects.toMatchObject(refusal);
    await expect(vault.read('never kept')).rejects.toMatchObject(refusal);
    await expect(vault.list()).rejects.toMatchObject(refusal);
    await expect(overwrite(vault)).rejects.toMatchObject(refusal);
    expect(home.files()).toEqual(before);
  });

  it('shows nothing of names and contents in its folder', async () => {
    await put(home.open(anyKey()), 'a-telling-name', storedRecord('a-telling-head', '{"refresh_token":"rt-0123456789"}'));
    const all = home
      .files()
      .map((file) => file + readFileSync(join(home.vaultDirectory, file), 'latin1'))
      .join();
    for (const text of ['telling', 'rt-0123456789', 'refresh_token']) expect(all).not.toContain(text);
  });
});

describe('a change of keys', () => {
  let home: StoreHome;
  const [old, next] = [anyKey(), anyKey()];

  beforeEach(async () => {
    home = new StoreHome();
    const vault = home.open(old);
    for (const name of ['a', 'b', 'c']) await put(vault, name, storedRecord(`${name}1`));
  });

  afterEach(() => home.remove());

  const keyIds = () => new Set(home.records().map((file) => /-([0-9a-f]{16})\.record$/.exec(file)?.[1]));
  const idOf = (key: string) => ringOf(key)[0].id;

  it('loses nothing: the old key still opens', async () => {
    const vault = home.open(`${next},${old}`);
    expect((await vault.read('a'))?.version).toBe('a1');
    expect((await vault.list()).map(({ name }) => name).sort()).toEqual(['a', 'b', 'c']);
    expect(keyIds()).toEqual(new Set([idOf(old)]));
  });

  it('keeps fingerprints, so that known members of a family stay known', () => {
    expect(home.open(`${next},${old}`).fingerprint('token')).toBe(home.open(old).fingerprint('token'));
  });

  it('brings every record under the first key with the first write, and the old key can be given up', async () => {
    await put(home.open(`${next},${old}`), 'a', storedRecord('a2'));
    expect(keyIds()).toEqual(new Set([idOf(next)]));
    expect(home.records()).toHaveLength(3);
    const vault = home.open(next);
    expect((await vault.read('a'))?.version).toBe('a2');
    expect((await vault.read('b'))?.version).toBe('b1');
  });

  it('leaves a record that somebody is busy with, and takes it along the next time', async () => {
    const both = `${next},${old}`;
    await home.open(old).update('b', () => put(home.open(both), 'a', storedRecord('a2')), longWait);
    expect(keyIds()).toEqual(new Set([idOf(old), idOf(next)]));
    await put(home.open(both), 'a', storedRecord('a3'));
    expect(keyIds()).toEqual(new Set([idOf(next)]));
    expect((await home.open(next).read('b'))?.version).toBe('b1');
  });

  it('is noticed by those who have only the old key', async () => {
    const behind = home.open(old);
    expect((await behind.read('a'))?.version).toBe('a1');
    await put(home.open(`${next},${old}`), 'a', storedRecord('a2'));
    const refusal = { code: 'store_unreadable', message: expect.stringContaining(idOf(next)) };
    await expect(behind.read('a')).rejects.toMatchObject(refusal);
    await expect(put(behind, 'a', storedRecord('forked'))).rejects.toMatchObject(refusal);
  });

  it('lets in one at a time, whichever key comes first', async () => {
    let inside = 0;
    const change = async (held: Parameters<Parameters<ReturnType<StoreHome['open']>['update']>[1]>[0]) => {
      expect(++inside).toBe(1);
      await held.write(storedRecord(String(Number(held.kept?.version.replace(/^a/, '')) + 1)));
      inside--;
    };
    const vaults = [home.open(`${next},${old}`), home.open(`${old},${next}`), home.open(`${next},${old},${anyKey()}`)];
    await Promise.all(
      Array.from({ length: 30 }, (_, at) => (vaults[at % 3] as (typeof vaults)[0]).update('a', change, longWait)),
    );
    for (const vault of vaults) expect((await vault.read('a'))?.version).toBe('31');
  });

  it('that was cut short leaves two copies, of which the newer counts', async () => {
    const [before] = home.records().map((file) => [file, readFileSync(file)] as const);
    const copies = home.records().map((file) => [file, readFileSync(file)] as const);
    await put(home.open(`${next},${old}`), 'a', storedRecord('a2'));
    // As if it had been killed before it could take the old ones away.
    for (const [file, bytes] of copies) writeFileSync(file, bytes, { mode: 0o600 });
    expect(before).toBeDefined();
    for (const ring of [`${next},${old}`, `${old},${next}`]) {
      const vault = home.open(ring);
      expect((await vault.read('a'))?.version).toBe('a2');
      expect((await vault.list()).map(({ kept: { head } }) => head).sort()).toEqual(['a2', 'b1', 'c1']);
    }
    await home.open(`${next},${old}`).update('a', (held) => held.remove(), longWait);
    expect(await home.open(`${old},${next}`).read('a')).toBeUndefined();
  });
});
