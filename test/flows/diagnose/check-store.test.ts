import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OAuthProfileError } from '../../../src/errors.ts';
import { checkStore, type StorePorts } from '../../../src/flows/diagnose/check-store.ts';
import { inspectDirectory } from '../../../src/store/vault/inspect-directory.ts';
import { anyKey, createPlainMemoryStore, put, StoreHome, storedRecord } from '../../support/store.ts';

const limits = { timeoutMs: 5_000, signal: undefined };
const unused = (): never => expect.fail('not needed');

describe('a vault', () => {
  let home: StoreHome;
  beforeEach(() => {
    home = new StoreHome();
  });
  afterEach(() => home.remove());

  const check = (key: string | undefined, isRequired = true) =>
    checkStore({ open: async () => home.open(key), inspectDirectory }, isRequired, limits);

  it.each([
    ['environment', anyKey(), /OAUTH_PROFILE_KEY/],
    ['key file', undefined, /key file/],
  ])('that is usable is reported with the source of its key, and is not changed: %s', async (_, key, source) => {
    const vault = home.open(key);
    await put(vault, 'a', storedRecord('one'));
    await vault.close();
    const before = home.files();
    const result = await check(key);
    expect(result).toMatchObject({ level: 'ok', where: home.vaultDirectory, message: expect.stringMatching(source) });
    expect(home.files()).toEqual(before);
  });

  it('that does not exist is not created', async () => {
    expect(await check(undefined)).toMatchObject({ level: 'note', about: 'store', where: home.vaultDirectory });
    expect([existsSync(home.vaultDirectory), existsSync(home.keyFile)]).toEqual([false, false]);
  });

  it.each<[string, (key: string) => Promise<string>]>([
    [
      'cannot be created',
      async (key) => {
        writeFileSync(`${home.directory}/data`, '');
        return key;
      },
    ],
    [
      'is readable by others',
      async (key) => {
        await put(home.open(key), 'a', storedRecord('one'));
        chmodSync(home.vaultDirectory, 0o755);
        return key;
      },
    ],
    [
      'is encrypted with another key',
      async (key) => {
        await put(home.open(key), 'a', storedRecord('one'));
        return anyKey();
      },
    ],
    [
      'is damaged',
      async (key) => {
        await put(home.open(key), 'a', storedRecord('one'));
        for (const file of home.records()) writeFileSync(file, 'not a record');
        return key;
      },
    ],
  ])('that %s is an error if a refresh token must be stored, else a warning', async (_, prepare) => {
    const key = await prepare(anyKey());
    const expected = { about: 'store', message: expect.any(String), hint: expect.any(String) };
    expect(await check(key, true)).toMatchObject({ ...expected, level: 'error' });
    expect(await check(key, false)).toMatchObject({ ...expected, level: 'warning' });
  });

  it('whose key is in the keychain is reported with it', async () => {
    const vault = { ...createPlainMemoryStore(), location: '/vault', keySource: () => 'keychain' as const };
    const ports: StorePorts = { open: async () => vault, inspectDirectory: async () => 'exists' };
    expect(await checkStore(ports, true, limits)).toMatchObject({
      level: 'ok',
      message: expect.stringContaining('keychain'),
    });
  });

  it('whose directory cannot be used is reported with the problem and a hint', async () => {
    const vault = { ...createPlainMemoryStore(), location: '/vault', keySource: () => undefined };
    const ports: StorePorts = { open: async () => vault, inspectDirectory: async () => ({ problem: 'it is a file' }) };
    expect(await checkStore(ports, true, limits)).toEqual({
      level: 'error',
      about: 'store',
      where: '/vault',
      message: 'it is a file',
      hint: expect.stringContaining('OAUTH_PROFILE_HOME'),
    });
  });
});

describe('a store', () => {
  it.each([true, false])('in Redis is locked and released once, but its records are not listed', async (isRequired) => {
    const store = createPlainMemoryStore();
    let [locked, released] = [0, 0];
    const open = async () => ({
      ...store,
      location: 'redis.test:6379',
      list: unused,
      lock: (async (key, options) => {
        locked++;
        const lock = await store.lock(key, options);
        const release = async (): Promise<void> => {
          released++;
          await lock.release();
        };
        return { ...lock, release };
      }) as typeof store.lock,
    });
    expect(await checkStore({ open, inspectDirectory: unused }, isRequired, limits)).toMatchObject({
      level: 'ok',
      where: 'redis.test:6379',
      message: expect.stringContaining('OAUTH_PROFILE_KEY'),
    });
    expect([locked, released]).toEqual([1, 1]);
  });

  it('that cannot be opened is reported', async () => {
    const open = () => Promise.reject(new OAuthProfileError('store_unreadable', 'it failed', { hint: 'the hint' }));
    expect(await checkStore({ open, inspectDirectory: unused }, true, limits)).toEqual({
      level: 'error',
      about: 'store',
      where: 'store',
      message: 'it failed',
      hint: 'the hint',
    });
  });

  it.each([
    new OAuthProfileError('usage', 'a wrong flag'),
    new OAuthProfileError('aborted', 'stop'),
    new TypeError('a bug'),
  ])('is not reported if the check ends with %o', async (error) => {
    const ports = { open: () => Promise.reject(error), inspectDirectory: unused };
    await expect(checkStore(ports, true, limits)).rejects.toBe(error);
  });
});
