import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Vault } from '../../../src/store/vault/vault.ts';
import { anyKey, noKeychain, put, StoreHome, storedRecord, withLock } from '../../support/store.ts';

let home: StoreHome;
const key = anyKey();

beforeEach(() => {
  home = new StoreHome();
});

afterEach(() => home.remove());

describe('the location of the vault', () => {
  const location = (env: Record<string, string>) => new Vault({ env, keychain: noKeychain }).location;

  it.each([
    ['the data directory of the user', { HOME: '/h' }, '/h/.local/share/oauth-profile/vault'],
    ['XDG_DATA_HOME', { HOME: '/h', XDG_DATA_HOME: '/d' }, '/d/oauth-profile/vault'],
    ['OAUTH_PROFILE_HOME if it is set', { HOME: '/h', XDG_DATA_HOME: '/d', OAUTH_PROFILE_HOME: '/o' }, '/o/vault'],
    ['not an empty OAUTH_PROFILE_HOME', { HOME: '/h', OAUTH_PROFILE_HOME: '' }, '/h/.local/share/oauth-profile/vault'],
  ])('is %s', (_, env, expected) => {
    expect(location(env as Record<string, string>)).toBe(expected);
  });

  it('cannot be a relative OAUTH_PROFILE_HOME, which would depend on the working directory', () => {
    expect(() => location({ HOME: '/h', OAUTH_PROFILE_HOME: 'vaults' })).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('vaults') }),
    );
  });

  it('is an error without a home directory', () => {
    expect(() => location({})).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('OAUTH_PROFILE_HOME') }),
    );
  });
});

describe('the vault', () => {
  const unreadable = (path: string) => ({ code: 'store_unreadable', message: expect.stringContaining(path) });

  it('creates directories and files that only their owner can access', async () => {
    await put(home.open(undefined), 'a', storedRecord('one'));
    const mode = (path: string) => statSync(path).mode & 0o777;
    expect(mode(home.vaultDirectory)).toBe(0o700);
    expect(mode(dirname(home.vaultDirectory))).toBe(0o700);
    expect(mode(home.keyFile)).toBe(0o600);
    for (const file of home.files()) expect(mode(join(home.vaultDirectory, file))).toBe(0o600);
    await withLock(home.open(undefined), 'a', async (lock) => {
      await lock.write(storedRecord('two'), { reserve: true });
      for (const file of home.files()) expect(mode(join(home.vaultDirectory, file))).toBe(0o600);
    });
  });

  it.each([0o770, 0o705, 0o701, 0o777])('is rejected if its directory has mode %o', async (mode) => {
    const vault = home.open(key);
    await put(vault, 'a', storedRecord('one'));
    chmodSync(home.vaultDirectory, mode);
    const error = {
      ...unreadable(`mode ${mode.toString(8)}`),
      hint: expect.stringContaining(`chmod 700 ${home.vaultDirectory}`),
    };
    for (const one of [vault, home.open(key)]) {
      await expect(one.read('a')).rejects.toMatchObject(error);
      await expect(one.list()).rejects.toMatchObject(error);
      await expect(put(one, 'a', storedRecord('two'))).rejects.toMatchObject(error);
    }
    chmodSync(home.vaultDirectory, 0o700);
    expect((await vault.read('a'))?.version).toBe('one');
  });

  it.each([0o640, 0o604, 0o620, 0o666])('is rejected if a record has mode %o', async (mode) => {
    await put(home.open(key), 'a', storedRecord('one'));
    const [file] = home.records() as [string];
    chmodSync(file, mode);
    const error = { code: 'store_unreadable', hint: expect.stringContaining(`chmod 600 ${file}`) };
    await expect(home.open(key).read('a')).rejects.toMatchObject(error);
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(error);
  });

  it('is rejected if its directory is a symbolic link', async () => {
    await put(home.open(key), 'a', storedRecord('one'));
    const target = join(home.directory, 'target');
    renameSync(home.vaultDirectory, target);
    symlinkSync(target, home.vaultDirectory);
    await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable(home.vaultDirectory));
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unreadable(home.vaultDirectory));
  });

  it('is rejected if its directory is a file', async () => {
    mkdirSync(dirname(home.vaultDirectory), { recursive: true });
    writeFileSync(home.vaultDirectory, 'content');
    await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable(home.vaultDirectory));
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject({ code: 'store_unwritable' });
    expect(readFileSync(home.vaultDirectory, 'utf8')).toBe('content');
  });

  it('may be in a directory that a symbolic link of its owner leads to', async () => {
    const target = join(home.directory, 'disk');
    mkdirSync(target);
    symlinkSync(target, join(home.directory, 'data'));
    await put(home.open(key), 'a', storedRecord('one'));
    expect((await home.open(key).read('a'))?.version).toBe('one');
  });

  it.each([
    ['a symbolic link', (file: string, other: string) => symlinkSync(other, file)],
    ['a directory', (file: string) => mkdirSync(file, { mode: 0o700 })],
  ])('is rejected if a record is %s', async (_, replace) => {
    await put(home.open(key), 'a', storedRecord('one'));
    const [file] = home.records() as [string];
    const other = join(home.directory, 'other');
    renameSync(file, other);
    replace(file, other);
    await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable(file));
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unreadable(file));
  });

  it('is rejected if a record is larger than 16 MiB', async () => {
    await put(home.open(key), 'a', storedRecord('one'));
    const [file] = home.records() as [string];
    writeFileSync(file, Buffer.alloc(17 * 1_048_576));
    await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable(file));
  });

  it('ignores other files in its directory', async () => {
    await put(home.open(key), 'a', storedRecord('one'));
    for (const name of ['README', '.DS_Store', 'x.record', 'x.lock', 'x.owner', 'x.temp', 'a.lock.takeover.b']) {
      writeFileSync(join(home.vaultDirectory, name), 'content', { mode: 0o644 });
    }
    const vault = home.open(key);
    expect(await vault.list()).toHaveLength(1);
    await put(vault, 'b', storedRecord('two'));
    expect(home.files()).toContain('README');
  });

  describe.skipIf(process.getuid?.() !== 0)('with files of another user (needs root)', () => {
    it.each([
      ['its directory', () => chownSync(home.vaultDirectory, 65534, 65534)],
      ['a record', () => chownSync(home.records()[0] as string, 65534, 65534)],
    ])('is rejected if %s belongs to that user', async (_, changeOwner) => {
      await put(home.open(key), 'a', storedRecord('one'));
      changeOwner();
      await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable('65534'));
      await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unreadable('65534'));
    });

    it('is rejected if a symbolic link of that user leads to it', async () => {
      await put(home.open(key), 'a', storedRecord('one'));
      const data = join(home.directory, 'data');
      renameSync(data, join(home.directory, 'disk'));
      symlinkSync(join(home.directory, 'disk'), data);
      lchownSync(data, 65534, 65534);
      await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable('65534'));
      rmSync(data);
    });
  });
});
