import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findProfileFile, profileFileIn } from '../../src/config/find-profile-file.ts';
import { failureOf } from '../support/errors.ts';

const hasFile = (paths: readonly string[]) => (directory: string, name: string) =>
  paths.includes(`${directory}/${name}`);
const directories = ['/repo/app/src', '/repo/app', '/repo', ''];
const find = (...paths: string[]) => findProfileFile(directories, hasFile(paths));

describe('The profile file of a directory', () => {
  it.each(['oauth-profiles.yaml', 'oauth-profiles.yml', 'oauth-profiles.json'])('may be %s', (name) => {
    expect(profileFileIn('/d', hasFile([`/d/${name}`, '/d/oauth-profiles.txt']))).toBe(name);
  });

  it('may be absent', () => {
    expect(profileFileIn('/d', hasFile(['/e/oauth-profiles.yaml']))).toBeUndefined();
  });

  it.each([
    ['yaml', 'yml'],
    ['yaml', 'json'],
    ['yml', 'json'],
  ])('cannot be both .%s and .%s', (first, second) => {
    const files = hasFile([`/d/oauth-profiles.${first}`, `/d/oauth-profiles.${second}`]);
    const { code, message } = failureOf(() => profileFileIn('/d', files));
    expect(code).toBe('data_invalid');
    expect(message).toContain(`oauth-profiles.${first} and oauth-profiles.${second}`);
    expect(message).toContain('/d');
  });
});

describe('The nearest profile file', () => {
  it.each([
    ['in the working directory', '/repo/app/src'],
    ['in a parent', '/repo/app'],
    ['in the repository root', '/repo'],
  ])('is found %s', (_, directory) => {
    expect(find('/repo/.git', `${directory}/oauth-profiles.yml`)).toEqual({ directory, name: 'oauth-profiles.yml' });
  });

  it('is preferred to those of the parents, whatever their extensions', () => {
    const files = ['/repo/oauth-profiles.yaml', '/repo/oauth-profiles.yml', '/repo/app/oauth-profiles.json'];
    expect(find('/repo/.git', ...files)?.directory).toBe('/repo/app');
  });

  it('is not searched above the repository root', () => {
    expect(find('/repo/.git', '/oauth-profiles.yaml')).toBeUndefined();
    expect(find('/repo/app/.git', '/repo/.git', '/repo/oauth-profiles.yaml')).toBeUndefined();
  });

  it('is searched only in the working directory outside a repository', () => {
    expect(find('/repo/app/oauth-profiles.yaml')).toBeUndefined();
    expect(find('/repo/app/src/oauth-profiles.yaml')?.directory).toBe('/repo/app/src');
  });

  it('is never outside the repository of the working directory', () => {
    const file = fc.constantFrom('.git', 'oauth-profiles.yaml', 'oauth-profiles.json');
    const path = fc.tuple(fc.nat(3), file).map(([index, name]) => `${directories[index]}/${name}`);
    fc.assert(
      fc.property(fc.uniqueArray(path), (paths) => {
        const has = hasFile(paths);
        const root = Math.max(
          directories.findIndex((directory) => has(directory, '.git')),
          0,
        );
        const inside = directories.slice(0, root + 1);
        const nearest = inside.find((directory) =>
          paths.some(
            (one) => one.startsWith(`${directory}/oauth-profiles`) && !one.slice(directory.length + 1).includes('/'),
          ),
        );
        try {
          expect(findProfileFile(directories, has)?.directory).toBe(nearest);
        } catch (error) {
          if ((error as { code?: string }).code !== 'data_invalid') throw error;
          expect(nearest).toBeDefined();
        }
      }),
    );
  });
});
