import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Secret } from '../../../src/redaction/secret.ts';
import type { Keychain } from '../../../src/store/vault/key-provider.ts';
import { systemKeychain } from '../../../src/store/vault/keychain.ts';
import { Vault } from '../../../src/store/vault/vault.ts';
import { anyKey, noKeychain, put, StoreHome, storedRecord, withLock } from '../../support/store.ts';

let home: StoreHome;

beforeEach(() => {
  home = new StoreHome();
});

afterEach(() => home.remove());

const readVersion = async (vault: Vault) => (await vault.read('a'))?.version;
const unreadable = { code: 'store_unreadable', hint: expect.any(String) };

/** A keychain in memory. */
function fakeKeychain(entries = new Map<string, string>()) {
  return {
    entries,
    get: vi.fn(async (account: string) => entries.get(account)),
    set: vi.fn(async (account: string, value: Secret) => void entries.set(account, value.reveal())),
  };
}

describe('a vault that does not exist', () => {
  it('is empty, and is not created by reading it', async () => {
    for (const key of [anyKey(), undefined]) {
      const keychain = fakeKeychain();
      const vault = home.open(key, { keychain });
      expect(await vault.read('a')).toBeUndefined();
      expect(await vault.list()).toEqual([]);
      expect(vault.fingerprint('value')).toBeTruthy();
      expect(vault.location).toBe(home.vaultDirectory);
      await vault.close();
      expect(existsSync(join(home.directory, 'data'))).toBe(false);
      expect(existsSync(join(home.directory, 'config'))).toBe(false);
      expect(keychain.get).not.toHaveBeenCalled();
      expect(keychain.set).not.toHaveBeenCalled();
    }
  });

  it('gets one key if eight callers create it at the same time', async () => {
    const vaults = Array.from({ length: 8 }, () => home.open(undefined));
    await Promise.all(vaults.map((vault, index) => put(vault, `key ${index}`, storedRecord(String(index)))));
    expect(await home.open(undefined).list()).toHaveLength(8);
    for (const vault of vaults) expect(await vault.list()).toHaveLength(8);
  });
});

describe('OAUTH_PROFILE_KEY', () => {
  it('takes precedence', async () => {
    const keychain = fakeKeychain();
    const vault = home.open(anyKey(), { keychain });
    await put(vault, 'a', storedRecord('one'));
    expect(vault.keySource()).toBe('environment');
    expect(keychain.set).not.toHaveBeenCalled();
    expect(existsSync(home.keyFile)).toBe(false);
  });

  it.each([undefined, '', ' '])('is required for a vault that was encrypted with it, and is not %j', async (unset) => {
    await put(home.open(anyKey()), 'a', storedRecord('one'));
    const keychain = fakeKeychain();
    const vault = home.open(unset, { keychain });
    const error = { code: 'store_unreadable', message: expect.stringContaining('OAUTH_PROFILE_KEY') };
    await expect(vault.read('a')).rejects.toMatchObject(error);
    await expect(put(vault, 'b', storedRecord('two'))).rejects.toMatchObject(error);
    expect(existsSync(home.keyFile)).toBe(false);
    expect(keychain.set).not.toHaveBeenCalled();
  });

  it('is rejected if it is not a key', async () => {
    const vault = home.open('nonsense');
    home.createVaultDirectory();
    await expect(vault.read('a')).rejects.toMatchObject(unreadable);
    await expect(put(vault, 'a', storedRecord('one'))).rejects.toMatchObject(unreadable);
  });

  it('replaces a key file whose key is appended after a comma', async () => {
    await put(home.open(undefined), 'a', storedRecord('one'));
    const given = anyKey();
    await expect(home.open(given).read('a')).rejects.toMatchObject(unreadable);
    await expect(put(home.open(given), 'b', storedRecord('one'))).rejects.toMatchObject(unreadable);
    await put(home.open(`${given},${readFileSync(home.keyFile, 'utf8')}`), 'b', storedRecord('two'));
    expect(await readVersion(home.open(given))).toBe('one');
  });
});

describe('the keychain', () => {
  it('stores the key if there is one', async () => {
    const keychain = fakeKeychain();
    const vault = home.open(undefined, { keychain });
    await put(vault, 'a', storedRecord('one'));
    expect(vault.keySource()).toBe('keychain');
    expect(existsSync(home.keyFile)).toBe(false);
    expect(await readVersion(home.open(undefined, { keychain }))).toBe('one');
  });

  it('has one entry for each vault', async () => {
    const keychain = fakeKeychain();
    const second = { ...home.env(), OAUTH_PROFILE_HOME: join(home.directory, 'second') };
    await put(home.open(undefined, { keychain }), 'a', storedRecord('one'));
    await put(new Vault({ env: second, keychain }), 'a', storedRecord('two'));
    expect(keychain.entries.size).toBe(2);
    expect(await readVersion(home.open(undefined, { keychain }))).toBe('one');
    expect(await readVersion(new Vault({ env: second, keychain }))).toBe('two');
  });

  it.each<[string, Keychain]>([
    ['does not exist', noKeychain],
    ['accepts the key but does not store it', { get: async () => undefined, set: async () => {} }],
    ['returns another value', { get: async () => anyKey(), set: async () => {} }],
  ])('is not used if it %s: the key file is', async (_, keychain) => {
    const vault = home.open(undefined, { keychain });
    await put(vault, 'a', storedRecord('one'));
    expect(vault.keySource()).toBe('file');
    expect(await readVersion(home.open(undefined, { keychain }))).toBe('one');
  });

  it('is not accessed if the key has another source', async () => {
    const key = anyKey();
    await put(home.open(undefined), 'a', storedRecord('one'));
    const keychain = fakeKeychain();
    const vault = home.open(undefined, { keychain });
    await vault.read('a');
    await vault.list();
    await put(vault, 'a', storedRecord('two'));
    expect(keychain.get).not.toHaveBeenCalled();
    const other = { ...home.env({ OAUTH_PROFILE_KEY: key }), OAUTH_PROFILE_HOME: join(home.directory, 'second') };
    await put(new Vault({ env: other, keychain }), 'a', storedRecord('one'));
    await new Vault({ env: other, keychain }).read('a');
    expect(keychain.get).not.toHaveBeenCalled();
    expect(keychain.set).not.toHaveBeenCalled();
  });

  it('that fails or lost the key is an error, and no new key is created', async () => {
    const keychain = fakeKeychain();
    await put(home.open(undefined, { keychain }), 'a', storedRecord('one'));
    for (const broken of [noKeychain, fakeKeychain()]) {
      const vault = home.open(undefined, { keychain: broken });
      await expect(vault.read('a')).rejects.toMatchObject({
        code: 'store_unreadable',
        message: expect.stringContaining('keychain'),
      });
      await expect(put(vault, 'a', storedRecord('two'))).rejects.toMatchObject(unreadable);
    }
    expect(existsSync(home.keyFile)).toBe(false);
    expect(await readVersion(home.open(undefined, { keychain }))).toBe('one');
  });

  it.skipIf(process.platform !== 'linux')('of this system fails without a D-Bus session', async () => {
    vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', `unix:path=${join(home.directory, 'no-bus')}`);
    try {
      await expect(systemKeychain.get('0000000000000000')).rejects.toThrow();
      const vault = new Vault({ env: home.env() });
      await put(vault, 'a', storedRecord('one'));
      expect(vault.keySource()).toBe('file');
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('the key file', () => {
  it('is used without another source, is outside the vault, and has mode 0600', async () => {
    const vault = home.open(undefined);
    await put(vault, 'a', storedRecord('one'));
    expect(vault.keySource()).toBe('file');
    expect(statSync(home.keyFile).mode & 0o777).toBe(0o600);
    expect(home.keyFile.startsWith(home.vaultDirectory)).toBe(false);
    expect(readFileSync(home.keyFile, 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
  });

  it('is shared by vaults in other directories, and never replaced', async () => {
    await put(home.open(undefined), 'a', storedRecord('one'));
    const before = readFileSync(home.keyFile, 'utf8');
    const second = { ...home.env(), OAUTH_PROFILE_HOME: join(home.directory, 'second') };
    await put(new Vault({ env: second, keychain: noKeychain }), 'a', storedRecord('two'));
    expect(readFileSync(home.keyFile, 'utf8')).toBe(before);
    expect(await readVersion(home.open(undefined))).toBe('one');
  });

  it.each([
    ['is missing', () => rmSync(home.keyFile)],
    ['contains another key', () => writeFileSync(home.keyFile, `${anyKey()}\n`)],
    ['is truncated', () => writeFileSync(home.keyFile, 'AAAA')],
    ['is accessible to other users', () => chmodSync(home.keyFile, 0o640)],
    [
      'is a symbolic link',
      () => {
        const target = join(home.directory, 'target');
        writeFileSync(target, readFileSync(home.keyFile), { mode: 0o600 });
        rmSync(home.keyFile);
        symlinkSync(target, home.keyFile);
      },
    ],
  ])('that %s is an error, and no key is created where records exist', async (_, damage) => {
    await put(home.open(undefined), 'a', storedRecord('one'));
    damage();
    const files = home.files();
    const keyFile = existsSync(home.keyFile) ? readFileSync(home.keyFile, 'utf8') : undefined;
    const vault = home.open(undefined);
    const error = { ...unreadable, message: expect.stringContaining(home.keyFile) };
    await expect(vault.read('a')).rejects.toMatchObject(error);
    await expect(put(vault, 'b', storedRecord('two'))).rejects.toMatchObject(error);
    expect(existsSync(home.keyFile) ? readFileSync(home.keyFile, 'utf8') : undefined).toBe(keyFile);
    expect(home.files()).toEqual(files);
  });

  it('is created again if it is missing and there are no records', async () => {
    const vault = home.open(undefined);
    await put(vault, 'a', storedRecord('one'));
    await withLock(vault, 'a', (lock) => lock.remove());
    rmSync(home.keyFile);
    await put(home.open(undefined), 'a', storedRecord('two'));
    expect(await readVersion(home.open(undefined))).toBe('two');
  });

  it('that cannot be written is store_unwritable, and no record is written', async () => {
    mkdirSync(join(home.directory, 'config'));
    writeFileSync(dirname(home.keyFile), 'a file instead of the directory');
    await expect(put(home.open(undefined), 'a', storedRecord('one'))).rejects.toMatchObject({
      code: 'store_unwritable',
    });
    expect(home.files()).toEqual([]);
  });
});
