import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readTextFile } from '../../src/files/read-file.ts';
import { failureOf } from '../support/errors.ts';

const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-text-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Writes a file and reads it. */
function read(content: string | Buffer): string | undefined {
  const path = join(directory, 'file');
  writeFileSync(path, content);
  return readTextFile(path, 'the label');
}

describe('a text file', () => {
  it('is read without its byte order mark', () => {
    expect(read('\ufeffvalue')).toBe('value');
    expect(read('a\n\ufeff')).toBe('a\n\ufeff');
    expect(read('')).toBe('');
  });

  it('may have 1 MiB, but not more', () => {
    expect(read('x'.repeat(1_048_576))).toHaveLength(1_048_576);
    const error = failureOf(() => read('x'.repeat(1_048_577)));
    expect(error).toMatchObject({ code: 'data_invalid', message: expect.stringMatching(/^the label .*1048576/) });
  });

  it('must be UTF-8', () => {
    const error = failureOf(() => read(Buffer.from([0x89, 0x50, 0xff, 0xfe])));
    expect(error).toMatchObject({ code: 'data_invalid', message: expect.stringMatching(/^the label .*UTF-8/) });
  });

  it('may be missing', () => {
    writeFileSync(join(directory, 'file'), '');
    expect(readTextFile(join(directory, 'missing'), 'x')).toBeUndefined();
    expect(readTextFile(join(directory, 'file/deeper'), 'x')).toBeUndefined();
  });

  it.each<[string, (path: string) => void, string]>([
    ['a directory', (path) => mkdirSync(path), 'directory'],
    ['a link to itself', (path) => symlinkSync(path, path), 'ELOOP'],
    ['a pipe, which is not waited for', (path) => execFileSync('mkfifo', [path]), 'not a regular file'],
  ])('that exists but is %s is an error, not missing', (_, create, reason) => {
    const path = mkdtempSync(join(directory, 'special-'));
    create(join(path, 'entry'));
    const error = failureOf(() => readTextFile(join(path, 'entry'), 'the label'));
    expect(error.code).toBe('data_invalid');
    expect(error.message).toContain('the label');
    expect(error.cause).toBeInstanceOf(Error);
    if (reason !== 'directory') expect(error.message).toContain(reason);
  });

  it.runIf(process.platform === 'linux')('that is an endless device is an error', () => {
    expect(failureOf(() => readTextFile('/dev/zero', 'the label'))).toMatchObject({ code: 'data_invalid' });
  });
});
