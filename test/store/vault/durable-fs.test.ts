import { execFileSync } from 'node:child_process';
import fs, { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Vault } from '../../../src/store/vault/vault.ts';
import {
  anyKey,
  longWait,
  noKeychain,
  plaintext,
  put,
  StoreHome,
  storedRecord,
  withLock,
} from '../../support/store.ts';

const key = anyKey();

/** Replaces a function of `node:fs` until the end of the test. */
function replaceCall(
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

const systemError = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });

describe('the vault', () => {
  let home: StoreHome;

  beforeEach(async () => {
    home = new StoreHome();
    await put(home.open(key), 'a', storedRecord('one'));
  });

  afterEach(() => home.remove());

  const unwritable = (code: string) => ({
    code: 'store_unwritable',
    message: expect.stringContaining(`cannot write to ${home.vaultDirectory}`),
    hint: expect.any(String),
    cause: expect.objectContaining({ code }),
  });

  it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EIO'])(
    'reports store_unwritable if a rename fails with %s, and preserves the record',
    async (code) => {
      const { renameSync } = fs;
      replaceCall('renameSync', (from: string, to: string) => {
        if (to.endsWith('.record')) throw systemError(code, 'rename');
        renameSync(from, to);
      });
      await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unwritable(code));
      expect(plaintext(await home.open(key).read('a'))).toEqual(plaintext(storedRecord('one')));
      expect(home.leftovers()).toEqual([]);
    },
  );

  it('reports store_unwritable if fsync fails, and preserves the record', async () => {
    replaceCall('fsync', (_fd: number, done: (error: Error) => void) => done(systemError('EIO', 'fsync')));
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unwritable('EIO'));
    expect((await home.open(key).read('a'))?.version).toBe('one');
    expect(home.leftovers()).toEqual([]);
  });

  it('syncs the content before the rename, and the directory before a write resolves', async () => {
    const { openSync, fsync, renameSync } = fs;
    const paths = new Map<number, string>();
    const steps: string[] = [];
    const kind = (path: string) =>
      fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() ? 'directory' : extname(path).slice(1);
    replaceCall('openSync', (path: string, ...rest: [string, number]) => {
      const fd = openSync(path, ...rest);
      paths.set(fd, path);
      return fd;
    });
    replaceCall('fsync', (fd: number, done: (error: null) => void) => {
      const step = `sync ${kind(paths.get(fd) ?? '')}`;
      fsync(fd, () => {
        steps.push(step);
        done(null);
      });
    });
    replaceCall('renameSync', (from: string, to: string) => {
      steps.push(`rename ${kind(from)} to ${kind(to)}`);
      renameSync(from, to);
    });
    await withLock(home.open(key), 'a', async (lock) => {
      await lock.write(storedRecord('one', '{"journal":1}'), { reserve: true });
      steps.push('send');
      await lock.write(storedRecord('two'));
      steps.push('written');
    });
    expect(steps).toEqual([
      'sync reserve',
      'sync temp',
      'rename temp to record',
      'sync directory',
      'send',
      'sync reserve',
      'rename reserve to record',
      'sync directory',
      'written',
    ]);
  });

  it('grants no lock on a file system without hard links', async () => {
    replaceCall('linkSync', () => {
      throw systemError('EPERM', 'link');
    });
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject(unwritable('EPERM'));
    expect((await home.open(key).read('a'))?.version).toBe('one');
    expect(home.leftovers()).toEqual([]);
  });

  it('reports store_unwritable before it grants a lock, so that no request is sent', async () => {
    const { openSync } = fs;
    replaceCall('openSync', (path: string, flags: unknown, mode: unknown) => {
      if (path.endsWith('.owner')) throw systemError('EACCES', 'open');
      return openSync(path, flags as string, mode as number);
    });
    await expect(home.open(key).lock('a', longWait)).rejects.toMatchObject(unwritable('EACCES'));
  });

  it.skipIf(process.platform !== 'linux').each([
    ['NFS', 0x6969],
    ['CIFS', 0xff534d42],
    ['CIFS as a negative number', -11317950],
    ['FUSE', 0x65735546],
    ['9P', 0x01021997],
  ])('rejects writes on a network file system (%s), and can be read', async (_, type) => {
    replaceCall('statfsSync', () => ({ type }));
    await expect(put(home.open(key), 'a', storedRecord('two'))).rejects.toMatchObject({
      code: 'store_unwritable',
      message: expect.stringContaining(home.vaultDirectory),
      hint: expect.stringContaining('redis://'),
    });
    expect((await home.open(key).read('a'))?.version).toBe('one');
  });
});

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'ignore' });

/** Mounts a small file system; `undefined` without the permission to mount. */
function mountTmpfs(size: string): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-tmpfs-'));
  try {
    run('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory);
    return directory;
  } catch {
    rmSync(directory, { recursive: true });
    return undefined;
  }
}

const mounted = process.platform === 'linux' ? mountTmpfs('1m') : undefined;

describe.skipIf(mounted === undefined)('a small disk (needs permission to mount)', () => {
  const directory = mounted as string;
  const open = () =>
    new Vault({ env: { OAUTH_PROFILE_HOME: join(directory, 'home'), OAUTH_PROFILE_KEY: key }, keychain: noKeychain });
  const filler = join(directory, 'filler');

  /** Uses all free space. */
  const fill = () => {
    for (let size = 1_048_576; size >= 1; size = Math.floor(size / 2)) {
      try {
        while (true) fs.appendFileSync(filler, Buffer.alloc(size));
      } catch {
        // Continue with smaller blocks.
      }
    }
  };

  beforeEach(() => {
    rmSync(join(directory, 'home'), { recursive: true, force: true });
    rmSync(filler, { force: true });
    mkdirSync(join(directory, 'home'));
  });

  afterAll(() => {
    run('umount', directory);
    rmSync(directory, { recursive: true });
  });

  it('that is full is detected before a request is sent, and no record is lost', async () => {
    await put(open(), 'a', storedRecord('one'));
    fill();
    await expect(put(open(), 'a', storedRecord('two'))).rejects.toMatchObject({
      code: 'store_unwritable',
      cause: expect.objectContaining({ code: 'ENOSPC' }),
    });
    rmSync(filler);
    expect((await open().read('a'))?.version).toBe('one');
    await put(open(), 'a', storedRecord('two'));
  });

  it('without space for the response is detected when the journal is written', async () => {
    await put(open(), 'a', storedRecord('one'));
    await withLock(open(), 'a', async (lock) => {
      fill();
      // Enough for the journal, but not for the response.
      fs.truncateSync(filler, fs.statSync(filler).size - 40_960);
      await expect(lock.write(storedRecord('one', '{"journal":1}'), { reserve: true })).rejects.toMatchObject({
        code: 'store_unwritable',
      });
      expect(plaintext(await lock.reload())).toEqual(plaintext(storedRecord('one')));
    });
    rmSync(filler);
    expect(plaintext(await open().read('a'))).toEqual(plaintext(storedRecord('one')));
  });

  it('that becomes full during the request has reserved space for the response', async () => {
    const long = JSON.stringify({ token: 'x'.repeat(50_000) });
    const written = await withLock(open(), 'a', async (lock) => {
      await lock.write(storedRecord('one', '{"journal":1}'), { reserve: true });
      fill();
      expect(() => writeFileSync(join(directory, 'more'), 'x'.repeat(5000))).toThrow('ENOSPC');
      return lock.write(storedRecord('two', long));
    });
    expect(written).toBe(true);
    rmSync(join(directory, 'more'), { force: true });
    expect(plaintext(await open().read('a'))).toEqual(plaintext(storedRecord('two', long)));
    expect(readFileSync(filler).length).toBeGreaterThan(0);
  });

  it('that is read-only can be read, and a write is rejected', async () => {
    await put(open(), 'a', storedRecord('one'));
    run('mount', '-o', 'remount,ro', directory);
    const vault = open();
    expect((await vault.read('a'))?.version).toBe('one');
    await expect(put(vault, 'a', storedRecord('two'))).rejects.toMatchObject({
      code: 'store_unwritable',
      cause: expect.objectContaining({ code: 'EROFS' }),
    });
  });
});
