import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { probeFolder } from '../../../src/store/vault/inspect-directory.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oauth-profile-probe-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('knows a folder that is there', async () => {
  expect(await probeFolder(folder)).toBe('there');
});

it('a folder that is not there could be made, and nothing is left of the attempt', async () => {
  mkdirSync(join(folder, 'a'));
  expect(await probeFolder(join(folder, 'a', 'b', 'c'))).toBe('possible');
  expect(readdirSync(folder)).toEqual(['a']);
  expect(readdirSync(join(folder, 'a'))).toEqual([]);
});

it.each([
  ['a file', () => writeFileSync(join(folder, 'a'), ''), /ENOTDIR/],
  ['a link that leads nowhere', () => symlinkSync('nowhere', join(folder, 'a')), /ENOENT/],
])('says what is in the way: %s', async (_, prepare, code) => {
  prepare();
  expect(await probeFolder(join(folder, 'a', 'b'))).toEqual({ problem: expect.stringMatching(code) });
});

it('says that a folder takes no new one', async () => {
  expect(await probeFolder('/proc/self/oauth-profile/vault')).toEqual({
    problem: expect.stringContaining('/proc/self'),
  });
});
