import { getEventListeners } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { composeOutside, composePorts, findDataFiles, readGivenFile } from '../src/compose.ts';
import type { Source } from '../src/config/variables.ts';
import { OAuthProfileError } from '../src/errors.ts';
import { errorOf } from './support/wire-request.ts';

/** A temporary folder with these files; `work/…` is the working folder, `home/…` the user's. */
function folderWith(files: Record<string, string | Buffer> = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'oauth-profile-compose-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ['work', 'home']) mkdirSync(join(root, folder));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

const surroundingsOf = (root: string, env: Record<string, string> = {}) => ({
  env: { HOME: join(root, 'home'), ...env },
  cwd: join(root, 'work'),
});
const sourceOf = (root: string, trust: Source['trust']): Source => ({
  label: 'x',
  directory: join(root, 'work'),
  trust,
});

function errorIn(action: () => unknown): OAuthProfileError {
  try {
    action();
  } catch (error) {
    if (error instanceof OAuthProfileError) return error;
    throw error;
  }
  return expect.fail('it succeeded');
}

describe('${file:}', () => {
  const read = (root: string, path: string, trust: Source['trust'], env: Record<string, string> = {}) =>
    composeOutside(surroundingsOf(root, env)).readFileInside(path, sourceOf(root, trust));

  it.each(['user', 'directory', 'given'] as const)('reads beside the file it stands in: %s', (trust) => {
    const root = folderWith({ 'work/secret.txt': 'a\n', 'work/sub/secret.txt': 'b' });
    expect(read(root, 'secret.txt', trust)).toBe('a\n');
    expect(read(root, './sub/../sub/secret.txt', trust)).toBe('b');
    expect(read(root, join(root, 'work/secret.txt'), trust)).toBe('a\n');
    expect(read(root, 'missing.txt', trust)).toBeUndefined();
    expect(read(root, 'secret.txt/deeper', trust)).toBeUndefined();
  });

  const ways: [string, (root: string) => string][] = [
    ['..', () => '../outside.txt'],
    ['.. from within', () => 'sub/../../outside.txt'],
    ['an absolute path', (root) => join(root, 'outside.txt')],
    ['a link to a file', () => 'link.txt'],
    ['a link to a folder', () => 'folder/outside.txt'],
    ['a chain of links', () => 'chain.txt'],
    ['the home folder', () => '~/own.txt'],
    ['a folder whose name begins like its own', () => '../work-too/own.txt'],
  ];
  const prepare = () => {
    const root = folderWith({
      'outside.txt': 'c4n4ry',
      'home/own.txt': 'c4n4ry',
      'work-too/own.txt': 'c4n4ry',
      'work/sub/x': '',
    });
    symlinkSync(join(root, 'outside.txt'), join(root, 'work/link.txt'));
    symlinkSync('..', join(root, 'work/folder'));
    symlinkSync('link.txt', join(root, 'work/chain.txt'));
    return root;
  };

  it.each(ways)('in a file that came with the folder does not leave it by %s', (_way, pathIn) => {
    const root = prepare();
    const error = errorIn(() => read(root, pathIn(root), 'directory'));
    expect(error.code).toBe('data_invalid');
    expect(error.message).toBe(`\${file:${pathIn(root)}} leaves the folder of its file`);
    expect(error.hint).toContain('--data');
  });

  it.each(ways)("in the user's own file reads by %s", (_way, pathIn) => {
    const root = prepare();
    expect(read(root, pathIn(root), 'user')).toBe('c4n4ry');
    expect(read(root, pathIn(root), 'given')).toBe('c4n4ry');
  });

  it('says nothing of whether a file beyond the folder exists', () => {
    const root = prepare();
    const [there, missing] = ['../outside.txt', '../missing.txt'].map((path) =>
      errorIn(() => read(root, path, 'directory')),
    );
    expect(there?.message.replace('outside', 'missing')).toBe(missing?.message);
  });

  it('follows links that stay inside, also when the folder itself is reached by one', () => {
    const root = folderWith({ 'work/real.txt': 'inside' });
    symlinkSync('real.txt', join(root, 'work/link.txt'));
    symlinkSync('work', join(root, 'alias'));
    const outside = composeOutside({ env: {}, cwd: join(root, 'alias') });
    const source: Source = { label: 'x', directory: join(root, 'alias'), trust: 'directory' };
    expect(outside.readFileInside('link.txt', source)).toBe('inside');
  });

  it('finds the home folder as the shell does', () => {
    const root = folderWith({ 'home/own.txt': 'own', 'work/~/own.txt': 'not this' });
    expect(read(root, '~/own.txt', 'given')).toBe('own');
    expect(read(root, '~/own.txt', 'given', { HOME: '', USERPROFILE: join(root, 'home') })).toBe('own');
  });

  it('takes a file of 1 MiB and no byte more, and says so', () => {
    const root = folderWith({ 'work/fits.txt': 'x'.repeat(1_048_576), 'work/large.txt': 'x'.repeat(1_048_577) });
    expect(read(root, 'fits.txt', 'directory')).toHaveLength(1_048_576);
    expect(errorIn(() => read(root, 'large.txt', 'directory'))).toMatchObject({
      code: 'data_invalid',
      message: 'file large.txt: is larger than 1048576 bytes',
    });
  });

  it('tells a file that is not text from one that is not there', () => {
    const root = folderWith({ 'work/image.png': Buffer.from([0x89, 0x50, 0xff, 0xfe]) });
    expect(errorIn(() => read(root, 'image.png', 'directory')).message).toBe('file image.png: is not UTF-8 text');
  });

  it('tells a folder from a file that is not there', () => {
    const root = folderWith({ 'work/sub/x': '' });
    expect(errorIn(() => read(root, 'sub', 'directory')).message).toBe('file sub: cannot be read (EISDIR)');
  });

  it('tells a file that cannot be opened from one that is not there', () => {
    const root = folderWith();
    symlinkSync('loop.txt', join(root, 'work/loop.txt'));
    expect(errorIn(() => read(root, 'loop.txt', 'directory')).message).toBe('file loop.txt: cannot be read (ELOOP)');
  });

  it('cuts no byte order mark into the value', () => {
    const root = folderWith({ 'work/bom.txt': '\ufeffvalue' });
    expect(read(root, 'bom.txt', 'directory')).toBe('value');
  });

  it('follows the working folder of the program', () => {
    const root = folderWith({ 'work/a.txt': 'first', 'home/a.txt': 'second' });
    let cwd = join(root, 'work');
    const outside = composeOutside({
      env: {},
      get cwd() {
        return cwd;
      },
    });
    const source: Source = { label: 'data', directory: '', trust: 'given' };
    expect(outside.readFileInside('a.txt', source)).toBe('first');
    cwd = join(root, 'home');
    expect(outside.readFileInside('a.txt', source)).toBe('second');
    expect(outside.readOptionFile('a.txt', source)).toBe('second');
  });
});

describe('files that options name', () => {
  it('may be anywhere, and are not there when they cannot be read', () => {
    const root = folderWith({
      'ca.pem': 'a certificate',
      'work/image.png': Buffer.from([0xff]),
      'work/large.pem': 'x'.repeat(1_048_577),
    });
    const { readOptionFile: readFile } = composeOutside(surroundingsOf(root));
    const source = sourceOf(root, 'directory');
    expect(readFile('../ca.pem', source)).toBe('a certificate');
    expect(['image.png', 'large.pem', 'missing.pem', '.'].map((path) => readFile(path, source))).toEqual(
      Array(4).fill(undefined),
    );
  });
});

describe('the files of variables', () => {
  const name = 'oauth-profiles.yaml';

  it("are the user's own and the working folder's", () => {
    const root = folderWith({ [`home/.config/oauth-profile/${name}`]: 'a: 1', [`work/${name}`]: 'b: 1' });
    expect(findDataFiles(surroundingsOf(root))).toEqual({
      user: {
        text: 'a: 1',
        source: {
          label: join(root, 'home/.config/oauth-profile', name),
          folder: join(root, 'home/.config/oauth-profile'),
          trust: 'user',
        },
      },
      directory: { text: 'b: 1', source: { label: name, directory: join(root, 'work'), trust: 'directory' } },
    });
  });

  it('may both be missing', () => {
    expect(findDataFiles(surroundingsOf(folderWith()))).toEqual({ user: undefined, directory: undefined });
    expect(findDataFiles({ env: {}, cwd: join(folderWith(), 'nowhere') })).toMatchObject({ directory: undefined });
  });

  it('are looked for where XDG_CONFIG_HOME says', () => {
    const root = folderWith({ [`xdg/oauth-profile/${name}`]: 'a: 1', [`home/.config/oauth-profile/${name}`]: 'b: 1' });
    expect(findDataFiles(surroundingsOf(root, { XDG_CONFIG_HOME: join(root, 'xdg') })).user?.text).toBe('a: 1');
    expect(findDataFiles(surroundingsOf(root, { XDG_CONFIG_HOME: '' })).user?.text).toBe('b: 1');
  });

  it.each(['XDG_CONFIG_HOME', 'HOME'])("of a working folder are not the user's by a relative %s", (variable) => {
    const root = folderWith({
      [`work/oauth-profile/${name}`]: 'a: 1',
      [`work/.config/oauth-profile/${name}`]: 'a: 1',
    });
    const before = process.cwd();
    process.chdir(join(root, 'work'));
    onTestFinished(() => process.chdir(before));
    expect(findDataFiles(surroundingsOf(root, { [variable]: '.' })).user).toBeUndefined();
  });

  it.each<[string, (root: string) => { cwd: string }]>([
    ['by its place', (root) => ({ cwd: join(root, 'home/.config/oauth-profile') })],
    [
      'by a link',
      (root) => {
        symlinkSync(join(root, 'home/.config/oauth-profile', name), join(root, 'work', name));
        return { cwd: join(root, 'work') };
      },
    ],
    [
      'by a link to its folder',
      (root) => {
        symlinkSync(join(root, 'home/.config/oauth-profile'), join(root, 'alias'));
        return { cwd: join(root, 'alias') };
      },
    ],
  ])("are one, the user's, when both are the same file %s", (_how, place) => {
    const root = folderWith({ [`home/.config/oauth-profile/${name}`]: 'a: 1' });
    const { user, directory } = findDataFiles({ ...surroundingsOf(root), ...place(root) });
    expect(user).toMatchObject({ text: 'a: 1', source: { trust: 'user' } });
    expect(directory).toBeUndefined();
  });

  it.each<[string, string | Buffer, string]>([
    ['is not UTF-8', Buffer.from([0x61, 0xff]), `${name}: is not UTF-8 text`],
    ['is too large', 'x'.repeat(1_048_577), `${name}: is larger than 1048576 bytes`],
  ])('are an error when one %s', (_what, content, message) => {
    const root = folderWith({ [`work/${name}`]: content });
    expect(errorIn(() => findDataFiles(surroundingsOf(root)))).toMatchObject({ code: 'data_invalid', message });
  });

  it('are an error when one is a folder', () => {
    const root = folderWith({ [`work/${name}/x`]: '' });
    const error = errorIn(() => findDataFiles(surroundingsOf(root)));
    expect(error.message).toBe(`${name}: cannot be read (EISDIR)`);
    expect(error.hint).toContain('check that it is a file');
  });

  it('are an error when one cannot be opened', () => {
    const root = folderWith();
    symlinkSync(name, join(root, 'work', name));
    expect(errorIn(() => findDataFiles(surroundingsOf(root))).message).toBe(`${name}: cannot be read (ELOOP)`);
  });
});

describe('a file given with --data', () => {
  it('is found from the working folder and named as it was given', () => {
    const root = folderWith({ 'work/sub/vars.json': '{}', 'vars.env': 'A=1' });
    const surroundings = surroundingsOf(root);
    expect(readGivenFile('sub/vars.json', surroundings)).toEqual({
      text: '{}',
      source: { label: 'sub/vars.json', directory: join(root, 'work/sub'), trust: 'given' },
    });
    expect(readGivenFile('../vars.env', surroundings).text).toBe('A=1');
    expect(readGivenFile(join(root, 'vars.env'), surroundings).text).toBe('A=1');
  });

  it('must be there', () => {
    expect(errorIn(() => readGivenFile('missing.yaml', surroundingsOf(folderWith())))).toMatchObject({
      code: 'data_invalid',
      message: 'missing.yaml: there is no such file',
    });
  });
});

describe('the clock', () => {
  const { clock } = composePorts({ env: {}, cwd: '/' });

  it('wakes up after the time', async () => {
    const { signal } = new AbortController();
    await expect(clock.sleep(1, signal)).resolves.toBeUndefined();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('is woken by an abort, with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const sleeping = clock.sleep(3_600_000, controller.signal);
    controller.abort(reason);
    expect(await errorOf(sleeping)).toMatchObject({ code: 'aborted', cause: reason });
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('does not fall asleep after an abort', async () => {
    const sleeping = clock.sleep(3_600_000, AbortSignal.abort('enough'));
    expect(await errorOf(sleeping)).toMatchObject({ code: 'aborted', cause: 'enough' });
  });
});
