import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { localFiles } from '../../src/files/local-files.ts';
import { errorOf } from '../support/wire-request.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oauth-profile-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (name: string, content: string | Uint8Array): void => writeFileSync(join(folder, name), content);
const get = (name: string): string => readFileSync(join(folder, name), 'latin1');
const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

async function contentOf(path: string): Promise<string> {
  let text = '';
  for await (const piece of (await localFiles.open(path, folder)).read()) text += Buffer.from(piece).toString('latin1');
  return text;
}

describe('files that are read', () => {
  it('come byte for byte, by paths relative to the folder, absolute, or out of it', async () => {
    put('a.bin', bytes('\0\xff\n'));
    mkdirSync(join(folder, 'sub'));
    for (const [path, from] of [
      ['a.bin', folder],
      [join(folder, 'a.bin'), '/nowhere'],
      ['../a.bin', join(folder, 'sub')],
    ] as const) {
      expect(Buffer.from(await localFiles.read(path, from)).toString('latin1')).toBe('\0\xff\n');
    }
    await expect(contentOf('a.bin')).resolves.toBe('\0\xff\n');
  });

  it('may be empty', async () => {
    put('empty', '');
    await expect(contentOf('empty')).resolves.toBe('');
    await expect(localFiles.read('empty', folder)).resolves.toHaveLength(0);
  });

  it('are read again from their beginning, and not beyond the size that they had', async () => {
    put('log', 'abc');
    const { size, read } = await localFiles.open('log', folder);
    appendFileSync(join(folder, 'log'), 'def');
    for (let i = 0; i < 2; i++) {
      let text = '';
      for await (const piece of read()) text += Buffer.from(piece).toString();
      expect([size, text]).toEqual([3, 'abc']);
    }
  });

  it.each([
    ['missing', 'ENOENT'],
    ['.', 'EISDIR'],
    ['/dev/zero', 'no file'],
    ['socket', 'no file'],
  ])('cannot be %s', async (path, code) => {
    const server = createServer().listen(join(folder, 'socket'));
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    for (const attempt of [localFiles.open, localFiles.read]) {
      expect(await errorOf(attempt(path, folder))).toMatchObject({
        code: 'step_failed',
        message: `${path}: cannot be read (${code})`,
      });
    }
  });

  it('have a limit where they are read as a whole', async () => {
    put('huge', '');
    truncateSync(join(folder, 'huge'), 32 * 1_048_576 + 1);
    expect(await errorOf(localFiles.read('huge', folder))).toMatchObject({
      message: expect.stringContaining('larger'),
    });
    expect((await localFiles.open('huge', folder)).size).toBe(32 * 1_048_576 + 1);
  });

  it('that vanish before they are sent are an error of ours', async () => {
    put('a', 'abc');
    const { read } = await localFiles.open('a', folder);
    rmSync(join(folder, 'a'));
    const all = async (): Promise<void> => {
      for await (const _ of read());
    };
    expect(await errorOf(all())).toMatchObject({ message: 'a: cannot be read (ENOENT)' });
  });
});

describe('files that are written', () => {
  it('replace what was there, or add to it, and make the folders that are missing', async () => {
    await localFiles.write('x/y/a', folder, bytes('one'), false);
    await localFiles.write('x/y/a', folder, bytes('two'), false);
    expect(get('x/y/a')).toBe('two');
    await localFiles.write('x/y/a', folder, bytes('\xff!'), true);
    await localFiles.write('z/b', folder, bytes('new'), true);
    expect([get('x/y/a'), get('z/b')]).toEqual(['two\xff!', 'new']);
    expect(readdirSync(join(folder, 'x/y'))).toEqual(['a']);
  });

  it.skipIf(process.platform !== 'linux').each([true, false])(
    'fail where no folder can be made (append: %s)',
    async (append) => {
      const writing = localFiles.write('/proc/nowhere/deep/file', folder, Buffer.from('x'), append);
      expect(await errorOf(writing)).toMatchObject({ message: expect.stringContaining('cannot be written (ENOENT)') });
    },
  );

  it('keep their mode and stay behind their links', async () => {
    put('real', 'old');
    chmodSync(join(folder, 'real'), 0o600);
    symlinkSync('real', join(folder, 'link'));
    await localFiles.write('link', folder, bytes('new'), false);
    expect(get('real')).toBe('new');
    expect(statSync(join(folder, 'real')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'link'), 'utf8')).toBe('new');
  });

  it.each([
    ['a folder', '.', 'EISDIR'],
    ['a device', '/dev/null', 'no file'],
    ['below a file', 'file/x', 'ENOTDIR'],
  ])('never take the place of %s', async (_what, path, code) => {
    put('file', 'x');
    for (const append of [true, false]) {
      const error = await errorOf(localFiles.write(path, folder, bytes('new'), append));
      expect(error).toMatchObject({ code: 'step_failed' });
      expect(error.message).toMatch(new RegExp(`cannot be written \\((?:${code}|EEXIST)\\)`));
    }
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    expect(readdirSync(folder)).toEqual(['file']);
  });
});

describe('files that grow', () => {
  it('are there after commit, whole, and not before', async () => {
    put('a', 'old');
    const file = await localFiles.create('a', folder);
    await file.write(bytes('one '));
    await file.write(bytes('two'));
    expect(get('a')).toBe('old');
    await file.commit();
    expect(get('a')).toBe('one two');
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('leave nothing after discard, not even the folders that were made', async () => {
    put('a', 'old');
    mkdirSync(join(folder, 'kept'));
    for (const path of ['a', 'kept/new/er/b', 'top/c']) {
      const file = await localFiles.create(path, folder);
      await file.write(bytes('half'));
      await file.discard();
    }
    expect(readdirSync(folder).sort()).toEqual(['a', 'kept']);
    expect(readdirSync(join(folder, 'kept'))).toEqual([]);
    expect(get('a')).toBe('old');
  });

  it('leave a folder that somebody else uses by now', async () => {
    const file = await localFiles.create('new/a', folder);
    put('new/other', 'x');
    await file.discard();
    expect(readdirSync(join(folder, 'new'))).toEqual(['other']);
  });

  it('may be discarded when the commit failed', async () => {
    const file = await localFiles.create('a', folder);
    mkdirSync(join(folder, 'a'));
    expect(await errorOf(file.commit())).toMatchObject({ message: expect.stringContaining('cannot be written') });
    await file.discard();
    expect(readdirSync(folder)).toEqual(['a']);
    expect(existsSync(join(folder, 'a'))).toBe(true);
  });
});
