import { execFileSync } from 'node:child_process';
import fs, { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openVault } from '../../../src/store/vault/vault.ts';
import { anyKey, noKeychain, longWait, put, StoreHome, plaintext } from '../../support/store-home.ts';

const key = anyKey();

/** Makes a call of the file system fail until the test is over. */
function failing(
  call: 'fsync' | 'linkSync' | 'mkdirSync' | 'openSync' | 'renameSync' | 'statfsSync',
  fake: unknown,
): void {
  const real = fs[call];
  const restore = () => {
    Object.assign(fs, { [call]: real });
    syncBuiltinESMExports();
  };
  Object.assign(fs, { [call]: fake });
  syncBuiltinESMExports();
  onTestFinished(restore);
}

const refusal = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });

describe('a disk that refuses', () => {
  let home: StoreHome;

  beforeEach(async () => {
    home = new StoreHome();
    await put(home.open(key), 'a', storedRecord('one'));
  });

  afterEach(() => home.remove());

  const unwritable = (reason: string) => ({
    code: 'store_unwritable',
    message: `cannot write to ${home.vaultDirectory}: ${reason}`,
    hint: expect.any(String),
  });

  it.each([
    ['ENOSPC', 'the disk is full'],
    ['EDQUOT', 'the disk quota is used up'],
    ['EROFS', 'the file system is read-only'],
    ['EACCES', 'permission denied'],
    ['EIO', 'rename failed with EIO'],
  ])('a renaming with %s is store_unwritable, and the record stays', async (code, reason) => {
    const { renameSync } = fs;
    failing('renameSync', (from: string, to: string) => {
      if (to.endsWith('.record')) throw refusal(code, 'rename');
      renameSync(from, to);
    });
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unwritable(reason));
    expect(plaintext(await home.open(key).read('a'))).toEqual(plaintext(storedRecord('one')));
    expect(home.files().filter((file) => !file.endsWith('.record'))).toEqual(['vault.json']);
  });

  it('a flush that fails is store_unwritable, and the record stays', async () => {
    failing('fsync', (_fd: number, done: (error: Error) => void) => done(refusal('EIO', 'fsync')));
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unwritable('fsync failed with EIO'));
    expect((await home.open(key).read('a'))?.version).toBe('one');
    expect(home.files().filter((file) => !file.endsWith('.record'))).toEqual(['vault.json']);
  });

  it('has everything when the write resolves: the content before the name, the name before the end', async () => {
    const { openSync, fsync, renameSync } = fs;
    const paths = new Map<number, string>();
    const steps: string[] = [];
    const kind = (path: string) => (path === home.vaultDirectory ? 'directory' : path.slice(path.lastIndexOf('.') + 1));
    failing('openSync', (path: string, ...rest: [string, number]) => {
      const fd = openSync(path, ...rest);
      paths.set(fd, path);
      return fd;
    });
    failing('fsync', (fd: number, done: (error: null) => void) => {
      const step = `flushed ${kind(paths.get(fd) ?? '')}`;
      fsync(fd, () => {
        steps.push(step);
        done(null);
      });
    });
    failing('renameSync', (from: string, to: string) => {
      steps.push(`renamed ${kind(from)} to ${kind(to)}`);
      renameSync(from, to);
    });
    await home.open(key).update(
      'a',
      async (held) => {
        await held.write(storedRecord('one', '{"journal":1}'), { reserve: true });
        steps.push('sent');
        await held.write(storedRecord('two'));
        steps.push('written');
      },
      longWait,
    );
    expect(steps).toEqual([
      'flushed reserve',
      'flushed temp',
      'renamed temp to sealed',
      'flushed folder',
      'sent',
      'flushed reserve',
      'renamed reserve to sealed',
      'flushed folder',
      'written',
    ]);
  });

  it('without hard links nobody gets in, since nobody could be kept out', async () => {
    failing('linkSync', () => {
      throw refusal('EPERM', 'link');
    });
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unwritable('permission denied'));
    expect((await home.open(key).read('a'))?.version).toBe('one');
    expect(home.files().filter((file) => !file.endsWith('.record'))).toEqual(['vault.json']);
  });

  it('is store_unwritable before the change begins, so that nothing is sent in vain', async () => {
    const { openSync } = fs;
    failing('openSync', (path: string, flags: unknown, mode: unknown) => {
      if (path.endsWith('.owner')) throw refusal('EACCES', 'open');
      return openSync(path, flags as string, mode as number);
    });
    let began = false;
    const update = home.open(key).update(
      'a',
      async () => {
        began = true;
      },
      longWait,
    );
    await expect(update).rejects.toMatchObject({ code: 'store_unwritable' });
    expect(began).toBe(false);
  });

  it('passes on other errors as they are', async () => {
    await expect(home.open(key).update('a', () => Promise.reject(new RangeError('mine')), longWait)).rejects.toThrow(
      RangeError,
    );
  });

  it.skipIf(process.platform !== 'linux').each([
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [-11317950, 'CIFS'],
    [0x65735546, 'FUSE'],
    [0x01021997, '9P'],
  ])('over a network, type %i, is refused for changes: a lock holds nobody off there', async (type, name) => {
    failing('statfsSync', () => ({ type }));
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject({
      code: 'store_unwritable',
      message: `${home.vaultDirectory} is on a network file system (${name})`,
      hint: expect.stringContaining('redis://'),
    });
    expect((await home.open(key).read('a'))?.version).toBe('one');
  });
});

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'ignore' });

/** A file system of its own, or nothing where that is not allowed. */
function mountTmpfs(size: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'oauth-profile-tmpfs-'));
  try {
    run('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder);
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

const mounted = process.platform === 'linux' ? mountTmpfs('1m') : undefined;

describe.skipIf(mounted === undefined)('a small disk (needs the right to mount)', () => {
  const folder = mounted as string;
  const open = () =>
    openVault({ env: { OAUTH_PROFILE_HOME: join(folder, 'home'), OAUTH_PROFILE_KEY: key }, keychain: noKeychain });
  const filler = join(folder, 'filler');

  /** Leaves no room at all. */
  const fill = () => {
    for (let size = 1_048_576; size >= 1; size = Math.floor(size / 2)) {
      try {
        while (true) fs.appendFileSync(filler, Buffer.alloc(size));
      } catch {
        // Less, then.
      }
    }
  };

  beforeEach(() => {
    rmSync(join(folder, 'home'), { recursive: true, force: true });
    rmSync(filler, { force: true });
    mkdirSync(join(folder, 'home'));
  });

  afterAll(() => {
    run('umount', folder);
    rmSync(folder, { recursive: true });
  });

  it('that is full is noticed before anything is sent, and nothing is lost', async () => {
    await put(open(), 'a', storedRecord('one'));
    fill();
    await expect(put(open(), 'a', storedRecord('two'))).rejects.toMatchObject({
      code: 'store_unwritable',
      message: expect.stringContaining('the disk is full'),
    });
    rmSync(filler);
    expect((await open().read('a'))?.version).toBe('one');
    await put(open(), 'a', storedRecord('two'));
  });

  it('that has no room for the answer is noticed with the journal', async () => {
    await put(open(), 'a', storedRecord('one'));
    await open().update(
      'a',
      async (held) => {
        fill();
        // Enough for the journal, not for what may come.
        fs.truncateSync(filler, fs.statSync(filler).size - 40_960);
        await expect(held.write(storedRecord('one', '{"journal":1}'), { reserve: true })).rejects.toMatchObject({
          code: 'store_unwritable',
        });
        expect(plaintext(await held.readAgain())).toEqual(plaintext(storedRecord('one')));
      },
      longWait,
    );
    rmSync(filler);
    expect(plaintext(await open().read('a'))).toEqual(plaintext(storedRecord('one')));
  });

  it('that becomes full while the provider answers has room for the answer', async () => {
    const long = JSON.stringify({ token: 'x'.repeat(50_000) });
    const written = await open().update(
      'a',
      async (held) => {
        await held.write(storedRecord('one', '{"journal":1}'), { reserve: true });
        fill();
        expect(() => writeFileSync(join(folder, 'more'), 'x'.repeat(5000))).toThrow('ENOSPC');
        return held.write(storedRecord('two', long));
      },
      longWait,
    );
    expect(written).toBe(true);
    rmSync(join(folder, 'more'), { force: true });
    expect(plaintext(await open().read('a'))).toEqual(plaintext(storedRecord('two', long)));
    expect(readFileSync(filler).length).toBeGreaterThan(0);
  });

  it('that is read-only can be read, and says so when it is to be written', async () => {
    await put(open(), 'a', storedRecord('one'));
    run('mount', '-o', 'remount,ro', folder);
    const vault = open();
    expect((await vault.read('a'))?.version).toBe('one');
    await expect(put(vault, 'a', storedRecord('two'))).rejects.toMatchObject({
      code: 'store_unwritable',
      message: expect.stringContaining('the file system is read-only'),
    });
  });
});
