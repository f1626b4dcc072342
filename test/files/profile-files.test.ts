import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Source } from '../../src/config/variables.ts';
import { createProfileSources, findProfileFiles, readNamedFile } from '../../src/files/profile-files.ts';
import { createTestDirectory } from '../support/directory.ts';
import { failureOf } from '../support/errors.ts';

/** A temporary directory with these files. `work` is the working directory, `home` the user's home. */
function directoryWith(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const root = createTestDirectory(files);
  for (const directory of ['work', 'home']) mkdirSync(join(root, directory), { recursive: true });
  return root;
}

const environmentIn = (root: string, env: Readonly<Record<string, string>> = {}) => ({
  env: { HOME: join(root, 'home'), ...env },
  cwd: join(root, 'work'),
});

describe('${file:…}', () => {
  const read = (root: string, path: string, trust: Source['trust'], env: Readonly<Record<string, string>> = {}) =>
    createProfileSources(environmentIn(root, env)).readFileInside(path, {
      label: 'x',
      directory: join(root, 'work'),
      trust,
    });

  it.each(['user', 'directory', 'given'] as const)('is relative to the file that contains it: %s', (trust) => {
    const root = directoryWith({ 'work/secret.txt': 'a\n', 'work/sub/secret.txt': 'b' });
    expect(read(root, 'secret.txt', trust)).toBe('a\n');
    expect(read(root, './sub/../sub/secret.txt', trust)).toBe('b');
    expect(read(root, join(root, 'work/secret.txt'), trust)).toBe('a\n');
    expect(read(root, 'missing.txt', trust)).toBeUndefined();
    expect(read(root, 'secret.txt/deeper', trust)).toBeUndefined();
  });

  const externalFiles: [string, (root: string) => string][] = [
    ['with ..', () => '../outside.txt'],
    ['with .. inside the path', () => 'sub/../../outside.txt'],
    ['with an absolute path', (root) => join(root, 'outside.txt')],
    ['through a link to a file', () => 'link.txt'],
    ['through a link to a directory', () => 'linked/outside.txt'],
    ['through two links', () => 'second-link.txt'],
    ['in the home directory', () => '~/own.txt'],
    ['in a directory whose name begins with that of its own', () => '../work-2/own.txt'],
  ];
  const createExternalFiles = () => {
    const root = directoryWith({
      'outside.txt': 'c4n4ry',
      'home/own.txt': 'c4n4ry',
      'work-2/own.txt': 'c4n4ry',
      'work/sub/x': '',
    });
    symlinkSync(join(root, 'outside.txt'), join(root, 'work/link.txt'));
    symlinkSync('..', join(root, 'work/linked'));
    symlinkSync('link.txt', join(root, 'work/second-link.txt'));
    return root;
  };

  it.each(externalFiles)('in the profile file of a directory does not read a file outside it %s', (_, pathIn) => {
    const root = createExternalFiles();
    const error = failureOf(() => read(root, pathIn(root), 'directory'));
    expect(error.code).toBe('data_invalid');
    expect(error.message).toContain(pathIn(root));
    expect(error.hint).toContain('--data');
  });

  it.each(externalFiles)('in a file of the user or given with --data reads a file %s', (_, pathIn) => {
    const root = createExternalFiles();
    expect(read(root, pathIn(root), 'user')).toBe('c4n4ry');
    expect(read(root, pathIn(root), 'given')).toBe('c4n4ry');
  });

  it('does not reveal whether a file outside the directory exists', () => {
    const root = createExternalFiles();
    const [existing, missing] = ['../outside.txt', '../missing.txt'].map((path) =>
      failureOf(() => read(root, path, 'directory')),
    );
    expect(existing?.message.replace('outside.txt', 'missing.txt')).toBe(missing?.message);
  });

  it('follows links inside the directory, even if the directory is reached through a link', () => {
    const root = directoryWith({ 'work/real.txt': 'inside' });
    symlinkSync('real.txt', join(root, 'work/link.txt'));
    symlinkSync('work', join(root, 'alias'));
    const sources = createProfileSources({ env: {}, cwd: join(root, 'alias') });
    const source: Source = { label: 'x', directory: join(root, 'alias'), trust: 'directory' };
    expect(sources.readFileInside('link.txt', source)).toBe('inside');
  });

  it('replaces ~ with the home directory', () => {
    const root = directoryWith({ 'home/own.txt': 'own', 'work/~/own.txt': 'another' });
    expect(read(root, '~/own.txt', 'given')).toBe('own');
    expect(read(root, '~/own.txt', 'given', { HOME: '', USERPROFILE: join(root, 'home') })).toBe('own');
  });

  it('follows a change of the working directory', () => {
    const root = directoryWith({ 'work/a.txt': 'first', 'home/a.txt': 'second' });
    let cwd = join(root, 'work');
    const sources = createProfileSources({
      env: {},
      get cwd() {
        return cwd;
      },
    });
    const source: Source = { label: 'data', directory: '', trust: 'given' };
    expect(sources.readFileInside('a.txt', source)).toBe('first');
    cwd = join(root, 'home');
    expect(sources.readFileInside('a.txt', source)).toBe('second');
  });
});

it('environment variables are those of the environment itself, not of its prototype', () => {
  const { env } = createProfileSources({ env: { TOKEN: 'x' }, cwd: '/' });
  expect([env('TOKEN'), env('toString'), env('__proto__')]).toEqual(['x', undefined, undefined]);
});

describe('profile files', () => {
  const name = 'oauth-profiles.yaml';
  const userPath = `home/.config/oauth-profile/${name}`;

  it('are that of the user and that of the working directory', () => {
    const root = directoryWith({ [userPath]: 'a: 1', [`work/${name}`]: 'b: 1' });
    expect(findProfileFiles(environmentIn(root))).toEqual({
      user: {
        text: 'a: 1',
        source: { label: join(root, userPath), directory: dirname(join(root, userPath)), trust: 'user' },
      },
      directory: { text: 'b: 1', source: { label: name, directory: join(root, 'work'), trust: 'directory' } },
    });
  });

  it('may both be missing', () => {
    const root = directoryWith();
    expect(findProfileFiles(environmentIn(root))).toEqual({
      user: undefined,
      directory: undefined,
      misnamed: undefined,
    });
    expect(findProfileFiles({ env: {}, cwd: join(root, 'missing') })).toMatchObject({ directory: undefined });
  });

  it('of the user are in XDG_CONFIG_HOME if it is set', () => {
    const root = directoryWith({ [`xdg/oauth-profile/${name}`]: 'a: 1', [userPath]: 'b: 1' });
    const userFile = (path: string) => findProfileFiles(environmentIn(root, { XDG_CONFIG_HOME: path })).user?.text;
    expect(userFile(join(root, 'xdg'))).toBe('a: 1');
    expect(userFile('')).toBe('b: 1');
  });

  it.each(['XDG_CONFIG_HOME', 'HOME'])('of the user are not looked for in a relative %s', (variable) => {
    const root = directoryWith({
      [`work/oauth-profile/${name}`]: 'a: 1',
      [`work/.config/oauth-profile/${name}`]: 'a: 1',
    });
    const before = process.cwd();
    process.chdir(join(root, 'work'));
    onTestFinished(() => process.chdir(before));
    expect(findProfileFiles(environmentIn(root, { [variable]: '.' })).user).toBeUndefined();
  });

  it.each<[string, (root: string) => string]>([
    ['in the configuration directory', (root) => join(root, dirname(userPath))],
    [
      'in a directory with a link to the file',
      (root) => {
        symlinkSync(join(root, userPath), join(root, 'work', name));
        return join(root, 'work');
      },
    ],
    [
      'in a link to the configuration directory',
      (root) => {
        symlinkSync(join(root, dirname(userPath)), join(root, 'alias'));
        return join(root, 'alias');
      },
    ],
  ])('are one file of the user %s', (_, workingDirectory) => {
    const root = directoryWith({ [userPath]: 'a: 1' });
    const { user, directory } = findProfileFiles({ ...environmentIn(root), cwd: workingDirectory(root) });
    expect(user).toMatchObject({ text: 'a: 1', source: { trust: 'user' } });
    expect(directory).toBeUndefined();
  });

  it('that cannot be read are an error that names the file', () => {
    const root = directoryWith({ [`work/${name}`]: Buffer.from([0x61, 0xff]) });
    const error = failureOf(() => findProfileFiles(environmentIn(root)));
    expect(error).toMatchObject({ code: 'data_invalid', message: expect.stringContaining(name) });
  });
});

describe('a file given with --data', () => {
  it('is relative to the working directory and labelled with the given path', () => {
    const root = directoryWith({ 'work/sub/vars.json': '{}', 'vars.env': 'A=1' });
    const environment = environmentIn(root);
    expect(readNamedFile('sub/vars.json', environment)).toEqual({
      text: '{}',
      source: { label: 'sub/vars.json', directory: join(root, 'work/sub'), trust: 'given' },
    });
    expect(readNamedFile('../vars.env', environment).text).toBe('A=1');
    expect(readNamedFile(join(root, 'vars.env'), environment).text).toBe('A=1');
  });

  it.each(['data_invalid', 'script_invalid'] as const)('must exist: %s', (code) => {
    const error = failureOf(() => readNamedFile('missing.yaml', environmentIn(directoryWith()), code));
    expect(error).toMatchObject({ code, message: expect.stringContaining('missing.yaml') });
  });
});
