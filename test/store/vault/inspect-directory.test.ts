import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inspectDirectory } from '../../../src/store/vault/inspect-directory.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'oauth-profile-inspect-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('inspectDirectory', () => {
  it('finds an existing directory', async () => {
    expect(await inspectDirectory(directory)).toBe('exists');
  });

  it('reports that a directory can be created, and creates nothing', async () => {
    mkdirSync(join(directory, 'a'));
    expect(await inspectDirectory(join(directory, 'a', 'b', 'c'))).toBe('possible');
    expect(readdirSync(directory)).toEqual(['a']);
    expect(readdirSync(join(directory, 'a'))).toEqual([]);
  });

  it.each([
    ['a parent is a file', () => writeFileSync(join(directory, 'a'), ''), /ENOTDIR/],
    ['a parent is a dangling link', () => symlinkSync('nonexistent', join(directory, 'a')), /ENOENT/],
  ])('reports the system error if %s', async (_, prepare, code) => {
    prepare();
    expect(await inspectDirectory(join(directory, 'a', 'b'))).toEqual({ problem: expect.stringMatching(code) });
  });

  it('names the parent that allows no new directory', async () => {
    expect(await inspectDirectory('/proc/self/oauth-profile/vault')).toEqual({
      problem: expect.stringContaining('/proc/self'),
    });
  });
});
