import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeProject } from '../../src/files/project.ts';
import { createTestDirectory } from '../support/directory.ts';

function git(directory: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  return execFileSync('git', ['-C', directory, ...identity, ...args], { encoding: 'utf8' }).trim();
}

describe('The project of a run', () => {
  it('has the name of the directory, and no commit, outside of a repository', async () => {
    const directory = createTestDirectory();
    expect(await describeProject(directory)).toEqual({ project: basename(directory) });
  });

  it('has the name of the repository and the commit that is checked out', async () => {
    const directory = createTestDirectory();
    git(directory, 'init', '--quiet');
    const inside = join(directory, 'smoke', 'orders');
    mkdirSync(inside, { recursive: true });
    expect(await describeProject(inside)).toEqual({ project: basename(directory) });
    git(directory, 'commit', '--quiet', '--allow-empty', '--message', 'first');
    const commit = git(directory, 'rev-parse', 'HEAD');
    expect(await describeProject(inside)).toEqual({ project: basename(directory), commit });
  });

  it('has the name in the nearest package.json of the repository; an invalid one is ignored', async () => {
    const directory = createTestDirectory();
    mkdirSync(join(directory, 'repository', '.git'), { recursive: true });
    mkdirSync(join(directory, 'repository', 'shop', 'smoke'), { recursive: true });
    const nameOf = async () => (await describeProject(join(directory, 'repository', 'shop', 'smoke'))).project;
    writeFileSync(join(directory, 'package.json'), '{"name": "outside"}');
    expect(await nameOf()).toBe('repository');
    writeFileSync(join(directory, 'repository', 'package.json'), '{"name": "the-shop"}');
    expect(await nameOf()).toBe('the-shop');
    writeFileSync(join(directory, 'repository', 'shop', 'package.json'), '{"name": ');
    expect(await nameOf()).toBe('the-shop');
  });
});
