import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OAuthProfileError } from '../../../src/errors.ts';
import { checkStore } from '../../../src/flows/diagnose/check-store.ts';
import { createMemoryStore } from '../../../src/store/memory.ts';
import { probeFolder } from '../../../src/store/vault/inspect-directory.ts';
import { fakePorts } from '../../support/fake-ports.ts';
import { anyKey, kept, put, StoreHome } from '../../support/store-home.ts';

const bounds = { timeoutMs: 5_000, signal: undefined };

describe('a vault', () => {
  let home: StoreHome;
  beforeEach(() => {
    home = new StoreHome();
  });
  afterEach(() => home.remove());

  const look = (key: string | undefined, refreshes = true) =>
    checkStore({ open: async () => home.open(key), tryFolder: probeFolder }, refreshes, bounds);

  it.each([
    ['the environment', anyKey(), 'the key of OAUTH_PROFILE_KEY'],
    ['a file', undefined, 'a key file of this user'],
  ])('that can be used says so, and that its key is from %s', async (_, key, source) => {
    const vault = home.open(key);
    await put(vault, 'a', kept('one'));
    await vault.close();
    const before = home.files();
    expect(await look(key)).toMatchObject({
      level: 'ok',
      where: home.vaultFolder,
      message: `can be read and written, sealed with ${source}`,
    });
    expect(home.files()).toEqual(before);
  });

  it('that is not there yet is not made', async () => {
    expect(await look(undefined)).toEqual({
      level: 'note',
      about: 'store',
      where: home.vaultFolder,
      message: 'there is no vault yet; the first token to keep makes it',
      hint: undefined,
    });
    expect([existsSync(home.vaultFolder), existsSync(home.keyFile)]).toEqual([false, false]);
  });

  it.each<[string, (key: string) => Promise<string>, RegExp]>([
    [
      'cannot be made',
      async (key) => {
        writeFileSync(`${home.folder}/data`, '');
        return key;
      },
      /cannot be made/,
    ],
    [
      'is open to others',
      async (key) => {
        await put(home.open(key), 'a', kept('one'));
        chmodSync(home.vaultFolder, 0o755);
        return key;
      },
      /open to other users/,
    ],
    [
      'is sealed with another key',
      async (key) => {
        await put(home.open(key), 'a', kept('one'));
        return anyKey();
      },
      /key/,
    ],
    [
      'is damaged',
      async (key) => {
        await put(home.open(key), 'a', kept('one'));
        for (const file of home.sealed()) writeFileSync(file, 'rubbish');
        return key;
      },
      /damaged|sealed|record/,
    ],
  ])(
    'that %s is a fault where refresh tokens are kept, else a warning, and stays as it is',
    async (_, prepare, why) => {
      const key = await prepare(anyKey());
      const finding = { about: 'store', message: expect.stringMatching(why), hint: expect.any(String) };
      expect(await look(key, true)).toMatchObject({ ...finding, level: 'fault' });
      expect(await look(key, false)).toMatchObject({ ...finding, level: 'warning' });
    },
  );
});

it('a store in the network is locked once, but not read as a whole, and its key is the environment’s', async () => {
  const store = createMemoryStore(fakePorts().clock);
  const asked: string[] = [];
  const update: typeof store.update = (name, change, wait) => {
    asked.push(name);
    return store.update(name, change, wait);
  };
  const list = () => Promise.reject(new Error('it may be large'));
  const open = async () => ({ ...store, place: 'redis.test:6379', fingerprint: store.fingerprint, update, list });
  const tryFolder = () => Promise.reject(new Error('there is no folder'));
  for (const refreshes of [true, false]) {
    expect(await checkStore({ open, tryFolder }, refreshes, bounds)).toMatchObject({
      level: 'ok',
      where: 'redis.test:6379',
      message: 'can be read and written, sealed with the key of OAUTH_PROFILE_KEY',
    });
  }
  expect(asked).toHaveLength(2);
});

it('a vault whose key is in the keychain says so, and one whose folder cannot be used what to do', async () => {
  const store = createMemoryStore(fakePorts().clock);
  const vault = { ...store, place: '/vault', keySource: () => 'keychain' as const };
  const look = (problem?: string) =>
    checkStore(
      { open: async () => vault, tryFolder: async () => (problem === undefined ? 'there' : { problem }) },
      true,
      bounds,
    );
  expect(await look()).toMatchObject({
    message: "can be read and written, sealed with a key in the system's keychain",
  });
  expect(await look('it is a file')).toEqual({
    level: 'fault',
    about: 'store',
    where: '/vault',
    message: 'it is a file',
    hint: 'set OAUTH_PROFILE_HOME to a folder that you may write to',
  });
});

it('a bug of a store is no finding', async () => {
  const open = () => Promise.reject(new TypeError('bug'));
  await expect(checkStore({ open, tryFolder: probeFolder }, true, bounds)).rejects.toThrow('bug');
});

it('a store that does not open is a finding; a wrong command line and an interruption are not', async () => {
  const look = (code: 'store_unreadable' | 'usage' | 'aborted') =>
    checkStore(
      {
        open: () => Promise.reject(new OAuthProfileError(code, 'it failed', { hint: 'do this' })),
        tryFolder: probeFolder,
      },
      true,
      bounds,
    );
  expect(await look('store_unreadable')).toEqual({
    level: 'fault',
    about: 'store',
    where: 'store',
    message: 'it failed',
    hint: 'do this',
  });
  await expect(look('usage')).rejects.toMatchObject({ code: 'usage' });
  await expect(look('aborted')).rejects.toMatchObject({ code: 'aborted' });
});
