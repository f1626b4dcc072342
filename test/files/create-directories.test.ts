import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createDirectories } from '../../src/files/create-directories.ts';

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-directories-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

it('createDirectories creates all missing parents and returns the topmost', () => {
  const root = temporaryDirectory();
  expect(createDirectories(join(root, 'a', 'b', 'c'), 0o700)).toBe(join(root, 'a'));
  expect(statSync(join(root, 'a', 'b', 'c')).isDirectory()).toBe(true);
  if (process.platform !== 'win32') expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700);
});

it('createDirectories returns undefined if the directory exists', () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'a'));
  expect(createDirectories(join(root, 'a'))).toBeUndefined();
});

it.skipIf(process.platform !== 'linux')('createDirectories fails where no directory can be created', () => {
  expect(() => createDirectories('/proc/missing/deep')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
});
