import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OAuthProfileError } from '../../src/errors.ts';
import { checkStore } from '../../src/flows/check-store.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { probeFolder } from '../../src/transport/probe-folder.ts';
import { fakePorts } from '../support/fake-ports.ts';
import { anyKey, kept, put, StoreHome } from '../support/store-home.ts';

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
    ['the environment', anyKey(), /OAUTH_PROFILE_KEY/],
    ['a file', undefined, /key file/],
  ])('that can be used says so, and that its key is from %s', async (_, key, source) => {
    const vault = home.open(key);
    await put(vault, 'a', kept('one'));
    await vault.close();
    const before = home.files();
    expect(await look(key)).toMatchObject({
      level: 'ok',
      where: home.vaultFolder,
      message: expect.stringMatching(source),
    });
    expect(home.files()).toEqual(before);
  });

  it('that is not there yet is not made', async () => {
    expect(await look(undefined)).toMatchObject({ level: 'note', message: expect.stringContaining('no vault yet') });
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
      const finding = { about: 'store', message: expect.stringMatching(why), advice: expect.any(String) };
      expect(await look(key, true)).toMatchObject({ ...finding, level: 'fault' });
      expect(await look(key, false)).toMatchObject({ ...finding, level: 'warning' });
    },
  );
});

it('a store in the network is read and locked once, and its key is the environment’s', async () => {
  const store = createMemoryStore(fakePorts().clock);
  const asked: string[] = [];
  const update: typeof store.update = (name, change, wait) => {
    asked.push(name);
    return store.update(name, change, wait);
  };
  const open = async () => ({ ...store, place: 'redis.test:6379', fingerprint: store.fingerprint, update });
  const tryFolder = () => Promise.reject(new Error('there is no folder'));
  expect(await checkStore({ open, tryFolder }, true, bounds)).toMatchObject({ level: 'ok', where: 'redis.test:6379' });
  expect(asked).toHaveLength(1);
});

it('a store that does not open is a finding; a wrong command line and an interruption are not', async () => {
  const look = (code: 'store_unreadable' | 'usage' | 'aborted') =>
    checkStore(
      {
        open: () => Promise.reject(new OAuthProfileError(code, 'it failed', { advice: 'do this' })),
        tryFolder: probeFolder,
      },
      true,
      bounds,
    );
  expect(await look('store_unreadable')).toMatchObject({ level: 'fault', message: 'it failed', advice: 'do this' });
  await expect(look('usage')).rejects.toMatchObject({ code: 'usage' });
  await expect(look('aborted')).rejects.toMatchObject({ code: 'aborted' });
});
