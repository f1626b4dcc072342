import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDirectory, findUserDirectory } from '../../src/files/directories.ts';

describe('findUserDirectory', () => {
  it.each([
    ['config', { HOME: '/h' }, '/h/.config/oauth-profile'],
    ['data', { HOME: '/h' }, '/h/.local/share/oauth-profile'],
    ['config', { HOME: '/h', XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' }, '/c/oauth-profile'],
    ['data', { HOME: '/h', XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' }, '/d/oauth-profile'],
    ['data', { HOME: '/h', XDG_DATA_HOME: 'relative' }, '/h/.local/share/oauth-profile'],
    ['data', { USERPROFILE: '/u' }, '/u/.local/share/oauth-profile'],
    ['data', { HOME: 'relative', USERPROFILE: '/u' }, '/u/.local/share/oauth-profile'],
    ['data', {}, undefined],
  ] as const)('returns for %s with %o: %s', (kind, env, expected) => {
    expect(findUserDirectory(kind, env)).toBe(expected);
  });
});

describe('createDirectory', () => {
  let parent: string;
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'oauth-profile-directories-'));
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  it('creates missing parents and returns the topmost created directory', () => {
    expect(createDirectory(join(parent, 'a', 'b', 'c'), 0o700)).toBe(join(parent, 'a'));
    expect(statSync(join(parent, 'a', 'b', 'c')).mode & 0o777).toBe(0o700);
    expect(createDirectory(join(parent, 'a', 'd'))).toBe(join(parent, 'a', 'd'));
  });

  it('returns undefined for an existing directory', () => {
    expect(createDirectory(parent)).toBeUndefined();
  });

  it('throws if a file is in the way', () => {
    writeFileSync(join(parent, 'file'), '');
    expect(() => createDirectory(join(parent, 'file'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
    expect(() => createDirectory(join(parent, 'file', 'a'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
  });

  it.skipIf(!existsSync('/proc/self'))('throws where the system allows no new directory', () => {
    expect(() => createDirectory('/proc/self/a/b')).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  });
});
