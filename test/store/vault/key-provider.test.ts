import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Secret } from '../../../src/redaction/secret.ts';
import type { Keychain } from '../../../src/store/vault/key-provider.ts';
import { systemKeychain } from '../../../src/store/vault/keychain.ts';
import { openVault } from '../../../src/store/vault/vault.ts';
import { anyKey, noKeychain, longWait, put, StoreHome } from '../../support/store-home.ts';

let home: StoreHome;

beforeEach(() => {
  home = new StoreHome();
});

afterEach(() => home.remove());

const noteFile = () => join(home.vaultDirectory, 'vault.json');
const note = () => JSON.parse(readFileSync(noteFile(), 'utf8'));

/** A keychain that works, or that turns out not to. */
function fakeKeychain(entries = new Map<string, string>()) {
  return {
    entries,
    get: vi.fn(async (account: string) => entries.get(account)),
    set: vi.fn(async (account: string, value: Secret) => void entries.set(account, value.reveal())),
  };
}

describe('before the first write', () => {
  it('a vault that is not there is empty, and stays so', async () => {
    for (const key of [anyKey(), undefined]) {
      const keychain = fakeKeychain();
      const vault = home.open(key, { keychain });
      expect(await vault.read('a')).toBeUndefined();
      expect(await vault.list()).toEqual([]);
      expect(vault.fingerprint('text')).toBeTruthy();
      expect(vault.place).toBe(home.vaultDirectory);
      await vault.close();
      expect(existsSync(join(home.directory, 'data'))).toBe(false);
      expect(existsSync(join(home.directory, 'config'))).toBe(false);
      expect(keychain.get).not.toHaveBeenCalled();
      expect(keychain.set).not.toHaveBeenCalled();
    }
  });

  it('knows no source of a key, unless one is given', () => {
    expect(home.open(undefined).keySource()).toBeUndefined();
    expect(home.open(anyKey()).keySource()).toBe('environment');
    expect(home.open('').keySource()).toBeUndefined();
  });

  it('eight who begin at once agree on one key', async () => {
    const vaults = Array.from({ length: 8 }, () => home.open(undefined));
    await Promise.all(vaults.map((vault, at) => put(vault, `name ${at}`, storedRecord(String(at)))));
    expect(await home.open(undefined).list()).toHaveLength(8);
    for (const vault of vaults) expect(await vault.list()).toHaveLength(8);
  });
});

describe('OAUTH_PROFILE_KEY', () => {
  it('comes first, and the vault remembers that', async () => {
    const keychain = fakeKeychain();
    await put(home.open(anyKey(), { keychain }), 'a', storedRecord('one'));
    expect(note()).toEqual({ version: 1, source: 'environment', key: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(keychain.set).not.toHaveBeenCalled();
    expect(existsSync(home.keyFile)).toBe(false);
  });

  it.each([undefined, '', ' '])('must be set again for what was sealed with it: %j', async (unset) => {
    await put(home.open(anyKey()), 'a', storedRecord('one'));
    const keychain = fakeKeychain();
    const vault = home.open(unset, { keychain });
    const refusal = {
      code: 'store_unreadable',
      message: expect.stringContaining('OAUTH_PROFILE_KEY, which is not set'),
    };
    await expect(vault.read('a')).rejects.toMatchObject(refusal);
    await expect(put(vault, 'b', storedRecord('two'))).rejects.toMatchObject(refusal);
    expect(existsSync(home.keyFile)).toBe(false);
    expect(keychain.get).not.toHaveBeenCalled();
    expect(note().source).toBe('environment');
  });

  it('that is no key is refused when it is needed', async () => {
    const vault = home.open('nonsense');
    home.createVaultDirectory();
    await expect(vault.read('a')).rejects.toMatchObject({ code: 'store_unreadable' });
    await expect(put(vault, 'a', storedRecord('one'))).rejects.toMatchObject({ code: 'store_unreadable' });
  });

  it('takes over a vault with a key file when that key comes after a comma', async () => {
    await put(home.open(undefined), 'a', storedRecord('one'));
    const given = anyKey();
    await expect(home.open(given).read('a')).rejects.toMatchObject({ code: 'store_unreadable' });
    await expect(put(home.open(given), 'b', storedRecord('one'))).rejects.toMatchObject({ code: 'store_unreadable' });
    expect(note().source).toBe('file');
    await put(home.open(`${given},${readFileSync(home.keyFile, 'utf8')}`), 'b', storedRecord('two'));
    expect(note().source).toBe('environment');
    expect((await home.open(given).read('a'))?.version).toBe('one');
  });
});

describe('the keychain', () => {
  it('keeps the key where there is one, and the vault remembers that', async () => {
    const keychain = fakeKeychain();
    const vault = home.open(undefined, { keychain });
    await put(vault, 'a', storedRecord('one'));
    expect(vault.keySource()).toBe('keychain');
    expect(note()).toEqual({ version: 1, source: 'keychain', key: [...keychain.entries.keys()][0] });
    expect(existsSync(home.keyFile)).toBe(false);
    expect((await home.open(undefined, { keychain }).read('a'))?.version).toBe('one');
  });

  it('gets an entry for each vault, so that none takes the key of another', async () => {
    const keychain = fakeKeychain();
    const second = { ...home.env(), OAUTH_PROFILE_HOME: join(home.directory, 'second') };
    await put(home.open(undefined, { keychain }), 'a', storedRecord('one'));
    await put(openVault({ env: second, keychain }), 'a', storedRecord('two'));
    expect(keychain.entries.size).toBe(2);
    expect((await home.open(undefined, { keychain }).read('a'))?.version).toBe('one');
    expect((await openVault({ env: second, keychain }).read('a'))?.version).toBe('two');
  });

  it.each<[string, Keychain]>([
    ['is missing', noKeychain],
    ['takes the key but does not keep it', { get: async () => undefined, set: async () => {} }],
    ['gives back something else', { get: async () => anyKey(), set: async () => {} }],
  ])('that %s is passed over for a key file', async (_, keychain) => {
    const vault = home.open(undefined, { keychain });
    await put(vault, 'a', storedRecord('one'));
    expect(vault.keySource()).toBe('file');
    expect((await home.open(undefined, { keychain }).read('a'))?.version).toBe('one');
  });

  it('is not asked where the vault remembers a key file or a given key', async () => {
    const key = anyKey();
    await put(home.open(undefined), 'a', storedRecord('one'));
    const keychain = fakeKeychain();
    const vault = home.open(undefined, { keychain });
    await vault.read('a');
    await vault.list();
    await put(vault, 'a', storedRecord('two'));
    expect(keychain.get).not.toHaveBeenCalled();
    const other = { ...home.env({ OAUTH_PROFILE_KEY: key }), OAUTH_PROFILE_HOME: join(home.directory, 'second') };
    await put(openVault({ env: other, keychain }), 'a', storedRecord('one'));
    await openVault({ env: other, keychain }).read('a');
    expect(keychain.get).not.toHaveBeenCalled();
    expect(keychain.set).not.toHaveBeenCalled();
  });

  it('that no longer answers is an error, and no new key is made', async () => {
    const keychain = fakeKeychain();
    await put(home.open(undefined, { keychain }), 'a', storedRecord('one'));
    for (const broken of [noKeychain, fakeKeychain()]) {
      const vault = home.open(undefined, { keychain: broken });
      await expect(vault.read('a')).rejects.toMatchObject({
        code: 'store_unreadable',
        message: expect.stringContaining('keychain'),
      });
      await expect(put(vault, 'a', storedRecord('two'))).rejects.toMatchObject({ code: 'store_unreadable' });
    }
    expect(existsSync(home.keyFile)).toBe(false);
    expect((await home.open(undefined, { keychain }).read('a'))?.version).toBe('one');
  });

  it.skipIf(process.platform !== 'linux')('of this system fails quickly where no service runs', async () => {
    vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', `unix:path=${join(home.directory, 'no-bus')}`);
    try {
      await expect(systemKeychain.get('0000000000000000')).rejects.toThrow();
      const vault = openVault({ env: home.env() });
      await put(vault, 'a', storedRecord('one'));
      expect(vault.keySource()).toBe('file');
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('the key file', () => {
  it('is the last resort, outside the vault, for its owner only', async () => {
    const vault = home.open(undefined);
    await put(vault, 'a', storedRecord('one'));
    expect(vault.keySource()).toBe('file');
    expect(statSync(home.keyFile).mode & 0o777).toBe(0o600);
    expect(home.keyFile.startsWith(home.vaultDirectory)).toBe(false);
    expect(readFileSync(home.keyFile, 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
    expect(note()).toEqual({ version: 1, source: 'file', key: expect.stringMatching(/^[0-9a-f]{16}$/) });
  });

  it('is shared by vaults in other folders, never replaced', async () => {
    await put(home.open(undefined), 'a', storedRecord('one'));
    const before = readFileSync(home.keyFile, 'utf8');
    const second = { ...home.env(), OAUTH_PROFILE_HOME: join(home.directory, 'second') };
    await put(openVault({ env: second, keychain: noKeychain }), 'a', storedRecord('two'));
    expect(readFileSync(home.keyFile, 'utf8')).toBe(before);
    expect((await home.open(undefined).read('a'))?.version).toBe('one');
  });

  it.each([
    ['is gone', () => rmSync(home.keyFile), /is not in .*vault\.key/],
    ['holds another key', () => writeFileSync(home.keyFile, `${anyKey()}\n`), /is not in .*vault\.key/],
    ['is cut short', () => writeFileSync(home.keyFile, 'AAAA'), /is not base64 of 32 bytes/],
    ['can be read by others', () => chmodSync(home.keyFile, 0o640), /is open to other users \(mode 640\)/],
    [
      'is a link',
      () => {
        const elsewhere = join(home.directory, 'elsewhere');
        writeFileSync(elsewhere, readFileSync(home.keyFile), { mode: 0o600 });
        rmSync(home.keyFile);
        symlinkSync(elsewhere, home.keyFile);
      },
      /is a link/,
    ],
  ])('that %s is an error, and no key is made where records exist', async (_, spoil, message) => {
    await put(home.open(undefined), 'a', storedRecord('one'));
    spoil();
    const files = home.files();
    const keyFile = existsSync(home.keyFile) ? readFileSync(home.keyFile, 'utf8') : undefined;
    const vault = home.open(undefined);
    const refusal = { code: 'store_unreadable', message: expect.stringMatching(message), hint: expect.any(String) };
    await expect(vault.read('a')).rejects.toMatchObject(refusal);
    await expect(put(vault, 'b', storedRecord('two'))).rejects.toMatchObject(refusal);
    expect(existsSync(home.keyFile) ? readFileSync(home.keyFile, 'utf8') : undefined).toBe(keyFile);
    expect(home.files()).toEqual(files);
  });

  it('is made anew where the last record is gone', async () => {
    const vault = home.open(undefined);
    await put(vault, 'a', storedRecord('one'));
    await vault.update('a', (held) => held.remove(), longWait);
    rmSync(home.keyFile);
    await put(home.open(undefined), 'a', storedRecord('two'));
    expect((await home.open(undefined).read('a'))?.version).toBe('two');
  });

  it('that cannot be written is store_unwritable, and nothing is kept', async () => {
    mkdirSync(join(home.directory, 'config'));
    writeFileSync(dirname(home.keyFile), 'a file in the way');
    await expect(put(home.open(undefined), 'a', storedRecord('one'))).rejects.toMatchObject({ code: 'store_unwritable' });
    expect(home.files()).toEqual([]);
  });
});

describe('what the vault remembers', () => {
  it.each(['file', 'keychain'])('is found again where it was lost: key in the %s', async (source) => {
    const keychain = source === 'keychain' ? fakeKeychain() : noKeychain;
    await put(home.open(undefined, { keychain }), 'a', storedRecord('one'));
    const before = note();
    rmSync(noteFile());
    const vault = home.open(undefined, { keychain });
    expect((await vault.read('a'))?.version).toBe('one');
    await put(vault, 'b', storedRecord('two'));
    expect(note()).toEqual(before);
  });

  it('is not guessed where the key was given', async () => {
    await put(home.open(anyKey()), 'a', storedRecord('one'));
    rmSync(noteFile());
    for (const keychain of [noKeychain, fakeKeychain()]) {
      const vault = home.open(undefined, { keychain });
      await expect(vault.read('a')).rejects.toMatchObject({ code: 'store_unreadable' });
      await expect(put(vault, 'a', storedRecord('two'))).rejects.toMatchObject({ code: 'store_unreadable' });
    }
    expect(existsSync(home.keyFile)).toBe(false);
  });

  it.each([
    ['{', /vault\.json is damaged/],
    ['null', /vault\.json is damaged/],
    ['{"version":1}', /vault\.json is damaged/],
    ['{"version":1,"source":"nowhere","key":"x"}', /vault\.json is damaged/],
    ['{"version":2,"source":"file","key":"x"}', /newer version/],
  ])('is refused when it reads %s', async (text, message) => {
    await put(home.open(undefined), 'a', storedRecord('one'));
    writeFileSync(noteFile(), text);
    const vault = home.open(undefined);
    const refusal = { code: 'store_unreadable', message: expect.stringMatching(message) };
    await expect(vault.read('a')).rejects.toMatchObject(refusal);
    await expect(put(vault, 'a', storedRecord('two'))).rejects.toMatchObject(refusal);
    expect(readFileSync(noteFile(), 'utf8')).toBe(text);
  });
});
