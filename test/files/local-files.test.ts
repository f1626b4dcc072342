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
import { errorOf } from '../support/errors.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'oauth-profile-files-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const put = (name: string, content: string | Uint8Array): void => writeFileSync(join(directory, name), content);
const get = (name: string): string => readFileSync(join(directory, name), 'latin1');
const bytes = (content: string): Uint8Array => Buffer.from(content, 'latin1');

async function contentOf(path: string): Promise<string> {
  let content = '';
  for await (const chunk of (await localFiles.open(path, directory)).read()) {
    content += Buffer.from(chunk).toString('latin1');
  }
  return content;
}

describe('reading a file', () => {
  it('returns its bytes, for a relative path, an absolute one, and one out of the directory', async () => {
    put('a.bin', bytes('\0\xff\n'));
    mkdirSync(join(directory, 'sub'));
    for (const [path, from] of [
      ['a.bin', directory],
      [join(directory, 'a.bin'), '/nowhere'],
      ['../a.bin', join(directory, 'sub')],
    ] as const) {
      expect(Buffer.from(await localFiles.read(path, from)).toString('latin1')).toBe('\0\xff\n');
    }
    await expect(contentOf('a.bin')).resolves.toBe('\0\xff\n');
  });

  it('returns nothing if it is empty', async () => {
    put('empty', '');
    await expect(contentOf('empty')).resolves.toBe('');
    await expect(localFiles.read('empty', directory)).resolves.toHaveLength(0);
  });

  it('starts at the beginning each time, and ends at the size it had when it was opened', async () => {
    put('log', 'abc');
    const { size, read } = await localFiles.open('log', directory);
    appendFileSync(join(directory, 'log'), 'def');
    for (let i = 0; i < 2; i++) {
      let content = '';
      for await (const chunk of read()) content += Buffer.from(chunk).toString();
      expect([size, content]).toEqual([3, 'abc']);
    }
  });

  it.each([
    ['missing', 'ENOENT'],
    ['.', 'EISDIR'],
    ['/dev/zero', 'not a regular file'],
    ['socket', 'not a regular file'],
  ])('fails for %s (%s)', async (path, code) => {
    const server = createServer().listen(join(directory, 'socket'));
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    for (const operation of [localFiles.open, localFiles.read]) {
      const error = await errorOf(operation(path, directory));
      expect(error).toMatchObject({ code: 'step_failed', cause: { code } });
      expect(error.message).toContain(path);
    }
  });

  it('is limited to 32 MiB unless it is streamed', async () => {
    put('huge', '');
    truncateSync(join(directory, 'huge'), 32 * 1_048_576 + 1);
    expect(await errorOf(localFiles.read('huge', directory))).toMatchObject({ code: 'step_failed' });
    expect((await localFiles.open('huge', directory)).size).toBe(32 * 1_048_576 + 1);
  });

  it('fails if the file was removed after it was opened', async () => {
    put('a', 'abc');
    const { read } = await localFiles.open('a', directory);
    rmSync(join(directory, 'a'));
    const readAll = async (): Promise<void> => {
      for await (const _ of read());
    };
    expect(await errorOf(readAll())).toMatchObject({ code: 'step_failed', cause: { code: 'ENOENT' } });
  });
});

describe('writing a file', () => {
  it('replaces the content or appends to it, and creates missing directories', async () => {
    await localFiles.write('x/y/a', directory, bytes('one'), false);
    await localFiles.write('x/y/a', directory, bytes('two'), false);
    expect(get('x/y/a')).toBe('two');
    await localFiles.write('x/y/a', directory, bytes('\xff!'), true);
    await localFiles.write('z/b', directory, bytes('new'), true);
    expect([get('x/y/a'), get('z/b')]).toEqual(['two\xff!', 'new']);
    expect(readdirSync(join(directory, 'x/y'))).toEqual(['a']);
  });

  it.skipIf(process.platform !== 'linux').each([true, false])(
    'fails where no directory can be created (append: %s)',
    async (append) => {
      const writing = localFiles.write('/proc/nowhere/deep/file', directory, Buffer.from('x'), append);
      expect(await errorOf(writing)).toMatchObject({ code: 'step_failed', cause: { code: 'ENOENT' } });
    },
  );

  it('preserves its mode and a symbolic link to it', async () => {
    put('real', 'old');
    chmodSync(join(directory, 'real'), 0o600);
    symlinkSync('real', join(directory, 'link'));
    await localFiles.write('link', directory, bytes('new'), false);
    expect(get('real')).toBe('new');
    expect(statSync(join(directory, 'real')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(directory, 'link'), 'utf8')).toBe('new');
  });

  it.each([
    ['a directory', '.', 'EISDIR'],
    ['a device', '/dev/null', 'not a regular file'],
    ['a file that is used as a directory', 'file/x', 'ENOTDIR'],
  ])('never replaces %s', async (_what, path, code) => {
    put('file', 'x');
    for (const append of [true, false]) {
      const error = await errorOf(localFiles.write(path, directory, bytes('new'), append));
      expect(error).toMatchObject({
        code: 'step_failed',
        cause: { code: expect.stringMatching(`^(${code}|EEXIST)$`) },
      });
    }
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    expect(readdirSync(directory)).toEqual(['file']);
  });
});

describe('writing a file in chunks', () => {
  it('changes the file on commit, and not before', async () => {
    put('a', 'old');
    const file = await localFiles.create('a', directory);
    await file.write(bytes('one '));
    await file.write(bytes('two'));
    expect(get('a')).toBe('old');
    await file.commit();
    expect(get('a')).toBe('one two');
    expect(readdirSync(directory)).toEqual(['a']);
  });

  it('leaves nothing after discard, not even the directories that were created', async () => {
    put('a', 'old');
    mkdirSync(join(directory, 'existing'));
    for (const path of ['a', 'existing/new/er/b', 'top/c']) {
      const file = await localFiles.create(path, directory);
      await file.write(bytes('half'));
      await file.discard();
    }
    expect(readdirSync(directory).sort()).toEqual(['a', 'existing']);
    expect(readdirSync(join(directory, 'existing'))).toEqual([]);
    expect(get('a')).toBe('old');
  });

  it('leaves a created directory in which another file exists', async () => {
    const file = await localFiles.create('new/a', directory);
    put('new/other', 'x');
    await file.discard();
    expect(readdirSync(join(directory, 'new'))).toEqual(['other']);
  });

  it('can be discarded after a failed commit', async () => {
    const file = await localFiles.create('a', directory);
    mkdirSync(join(directory, 'a'));
    expect(await errorOf(file.commit())).toMatchObject({ code: 'step_failed' });
    await file.discard();
    expect(readdirSync(directory)).toEqual(['a']);
    expect(existsSync(join(directory, 'a'))).toBe(true);
  });
});
