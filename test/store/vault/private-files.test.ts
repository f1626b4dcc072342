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
import { openVault } from '../../../src/store/vault/vault.ts';
import { anyKey, noKeychain, longWait, put, StoreHome } from '../../support/store-home.ts';

let home: StoreHome;
const key = anyKey();

beforeEach(() => {
  home = new StoreHome();
});

afterEach(() => home.remove());

describe('where the vault is', () => {
  const place = (env: Record<string, string>) => openVault({ env, keychain: noKeychain }).place;

  it.each([
    ['the data folder of the user', { HOME: '/h' }, '/h/.local/share/oauth-profile/vault'],
    ['XDG_DATA_HOME', { HOME: '/h', XDG_DATA_HOME: '/d' }, '/d/oauth-profile/vault'],
    ['not a relative XDG_DATA_HOME', { HOME: '/h', XDG_DATA_HOME: 'd' }, '/h/.local/share/oauth-profile/vault'],
    ['OAUTH_PROFILE_HOME before others', { HOME: '/h', XDG_DATA_HOME: '/d', OAUTH_PROFILE_HOME: '/o' }, '/o/vault'],
    ['not an empty OAUTH_PROFILE_HOME', { HOME: '/h', OAUTH_PROFILE_HOME: '' }, '/h/.local/share/oauth-profile/vault'],
    ['USERPROFILE where there is no HOME', { USERPROFILE: '/u' }, '/u/.local/share/oauth-profile/vault'],
  ])('is %s', (_, env, expected) => {
    expect(place(env as Record<string, string>)).toBe(expected);
  });

  it('is not a relative OAUTH_PROFILE_HOME, which would be another vault elsewhere', () => {
    expect(() => place({ HOME: '/h', OAUTH_PROFILE_HOME: 'vaults' })).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('vaults') }),
    );
  });

  it('is nowhere without a home', () => {
    expect(() => place({})).toThrow(expect.objectContaining({ hint: expect.stringContaining('OAUTH_PROFILE_HOME') }));
  });
});

describe('what others can see of the vault', () => {
  it('is nothing: folders and files are their owner’s alone', async () => {
    await put(home.open(undefined), 'a', storedRecord('one'));
    const mode = (path: string) => statSync(path).mode & 0o777;
    expect(mode(home.vaultDirectory)).toBe(0o700);
    expect(mode(dirname(home.vaultDirectory))).toBe(0o700);
    expect(mode(home.keyFile)).toBe(0o600);
    for (const file of home.files()) expect(mode(join(home.vaultDirectory, file))).toBe(0o600);
    await home.open(undefined).update(
      'a',
      async (held) => {
        await held.write(storedRecord('two'), { reserve: true });
        for (const file of home.files()) expect(mode(join(home.vaultDirectory, file))).toBe(0o600);
      },
      longWait,
    );
  });

  it.each([0o770, 0o705, 0o701, 0o777])('is refused when the folder has mode %o', async (mode) => {
    await put(home.open(key), 'a', storedRecord('one'));
    chmodSync(home.vaultDirectory, mode);
    const refusal = {
      code: 'store_unreadable',
      message: `${home.vaultDirectory} is open to other users (mode ${mode.toString(8)})`,
      hint: expect.stringContaining(`chmod 700 ${home.vaultDirectory}`),
    };
    await expect(home.open(key).read('a')).rejects.toMatchObject(refusal);
    await expect(home.open(key).list()).rejects.toMatchObject(refusal);
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(refusal);
    chmodSync(home.vaultDirectory, 0o700);
    expect((await home.open(key).read('a'))?.version).toBe('one');
  });

  it.each([0o640, 0o604, 0o620, 0o666])('is refused when a record has mode %o', async (mode) => {
    await put(home.open(key), 'a', storedRecord('one'));
    const [file] = home.records() as [string];
    chmodSync(file, mode);
    const refusal = { code: 'store_unreadable', hint: expect.stringContaining(`chmod 600 ${file}`) };
    await expect(home.open(key).read('a')).rejects.toMatchObject(refusal);
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(refusal);
  });
});

describe('a vault that is not what it should be', () => {
  const unreadable = (message: RegExp) => ({ code: 'store_unreadable', message: expect.stringMatching(message) });

  it('is refused when its folder is a link', async () => {
    await put(home.open(key), 'a', storedRecord('one'));
    const elsewhere = join(home.directory, 'elsewhere');
    renameSync(home.vaultDirectory, elsewhere);
    symlinkSync(elsewhere, home.vaultDirectory);
    await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable(/is not a folder, or a link to one/));
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unreadable(/a link to one/));
  });

  it('is refused when its folder is a file', async () => {
    mkdirSync(dirname(home.vaultDirectory), { recursive: true });
    writeFileSync(home.vaultDirectory, 'text');
    await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable(/is not a folder/));
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject({
      code: /store_unreadable|store_unwritable/,
    });
    expect(readFileSync(home.vaultDirectory, 'utf8')).toBe('text');
  });

  it('may be reached over a link of its owner', async () => {
    const elsewhere = join(home.directory, 'disk');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(home.directory, 'data'));
    await put(home.open(key), 'a', storedRecord('one'));
    expect((await home.open(key).read('a'))?.version).toBe('one');
  });

  it.each([
    ['a link', (file: string, other: string) => symlinkSync(other, file), /is a link/],
    ['a folder', (file: string) => mkdirSync(file, { mode: 0o700 }), /is not a file/],
  ])('is refused when a record is %s', async (_, replace, message) => {
    await put(home.open(key), 'a', storedRecord('one'));
    const [file] = home.records() as [string];
    const other = join(home.directory, 'other');
    renameSync(file, other);
    replace(file, other);
    await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable(message));
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unreadable(message));
  });

  it('is refused when a record is far too large', async () => {
    await put(home.open(key), 'a', storedRecord('one'));
    const [file] = home.records() as [string];
    writeFileSync(file, Buffer.alloc(17 * 1_048_576));
    await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable(/is larger than/));
  });

  it('does not mind strange files in its folder', async () => {
    await put(home.open(key), 'a', storedRecord('one'));
    for (const name of ['README', '.DS_Store', 'x.record', 'x.lock', 'x.owner', 'x.temp', 'a.lock.after.b']) {
      writeFileSync(join(home.vaultDirectory, name), 'text', { mode: 0o644 });
    }
    const vault = home.open(key);
    expect(await vault.list()).toHaveLength(1);
    await put(vault, 'b', storedRecord('two'));
    expect(home.files()).toContain('README');
  });

  describe.skipIf(process.getuid?.() !== 0)('belonging to another user (only root can try)', () => {
    it.each([
      ['its folder', () => chownSync(home.vaultDirectory, 65534, 65534)],
      ['a record', () => chownSync(home.records()[0] as string, 65534, 65534)],
    ])('is refused when it is %s', async (_, giveAway) => {
      await put(home.open(key), 'a', storedRecord('one'));
      giveAway();
      await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable(/belongs to another user \(65534\)/));
      await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unreadable(/belongs to another user/));
    });

    it('is refused when it is a link on the way', async () => {
      await put(home.open(key), 'a', storedRecord('one'));
      const data = join(home.directory, 'data');
      renameSync(data, join(home.directory, 'disk'));
      symlinkSync(join(home.directory, 'disk'), data);
      lchownSync(data, 65534, 65534);
      await expect(home.open(key).read('a')).rejects.toMatchObject(unreadable(/is a link of another user/));
      rmSync(data);
    });
  });
});
