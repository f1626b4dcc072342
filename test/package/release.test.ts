import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const scratch = mkdtempSync(join(tmpdir(), 'oauth-profile-release-'));
const template = join(scratch, 'template');
let repository: string;
let count = 0;

const changelog = `# Changelog

All notable changes.

## Unreleased

A person's words.

## 0.1.0 (2026-01-02)

- The first.
`;

/** No configuration of whoever runs the tests; a made-up npm that writes down what it was asked, and fails where it is told to. */
const env = {
  PATH: `${join(scratch, 'bin')}${delimiter}${process.env['PATH']}`,
  HOME: scratch,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

function run(command: string, args: string[], more: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: repository,
    env: { ...env, ...more },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = run('git', args);
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

const commit = (...messages: string[]) => {
  git('commit', '--quiet', '--allow-empty', ...messages.flatMap((message) => ['--message', message]));
  return git('rev-parse', 'HEAD');
};
const write = (name: string, text: string) => writeFileSync(join(repository, name), text);
const read = (name: string) => readFileSync(join(repository, name), 'utf8');
const release = (args: string[], more?: Record<string, string>) =>
  run(process.execPath, ['tools/release.js', ...args], more);
const list = () => run(process.execPath, ['tools/make-changelog.js']);
/** What a release may change. */
const state = () => [git('log', '--format=%H'), git('tag'), git('status', '--porcelain'), read('package.json')];

beforeAll(() => {
  mkdirSync(join(scratch, 'bin'));
  const npm = `#!/bin/sh\necho "$*" >> '${scratch}/asked'\ncase "$FAILING" in "$1") exit 1;; esac\n`;
  writeFileSync(join(scratch, 'bin', 'npm'), npm, { mode: 0o755 });
  repository = template;
  for (const folder of ['tools', 'src', 'dist', 'test/cli/cases'])
    mkdirSync(join(template, folder), { recursive: true });
  for (const tool of ['release.js', 'make-changelog.js'])
    cpSync(join(root, 'tools', tool), join(template, 'tools', tool));
  write('package.json', `${JSON.stringify({ name: 'p', version: '0.1.0', type: 'module' }, undefined, 2)}\n`);
  const lock = {
    name: 'p',
    version: '0.1.0',
    packages: { '': { version: '0.1.0' }, 'node_modules/q': { version: '0.1.0' } },
  };
  write('package-lock.json', `${JSON.stringify(lock, undefined, 2)}\n`);
  write('src/version.ts', "export const version = '0.1.0';\n");
  write('README.md', 'oauth-profile/0.1.0 needs q 0.1.0\n');
  write('test/cli/cases/version.md', '$ oauth-profile --version\n0.1.0\n');
  write('dist/index.js', '');
  write('.gitignore', 'dist/\n');
  write('CHANGELOG.md', changelog);
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  commit('feat: begin');
  git('tag', 'v0.1.0');
  commit('feat(cli): say <profile> and `<code>`');
});
afterAll(() => rmSync(scratch, { recursive: true }));
beforeEach(() => {
  repository = join(scratch, String(count++));
  cpSync(template, repository, { recursive: true });
  rmSync(join(scratch, 'asked'), { force: true });
});

describe('a release', () => {
  it('makes one commit and a tag, after the tests and the audit', () => {
    const version = '0.1.1';
    const { status, stdout, stderr } = release(['patch']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(readFileSync(join(scratch, 'asked'), 'utf8')).toBe('test\naudit --omit=dev\n');
    expect(stdout).toContain(`git push origin main v${version}`);
    expect(git('log', '-1', '--format=%s')).toBe(`chore(release): ${version}`);
    expect(git('rev-parse', `v${version}^{commit}`)).toBe(git('rev-parse', 'HEAD'));
    expect(git('show', '--name-only', '--format=', 'HEAD').split('\n').sort()).toEqual([
      'CHANGELOG.md',
      'README.md',
      'package-lock.json',
      'package.json',
      'src/version.ts',
      'test/cli/cases/version.md',
    ]);
    expect(read('README.md')).toBe(`oauth-profile/${version} needs q 0.1.0\n`);
    expect(read('test/cli/cases/version.md')).toBe(`$ oauth-profile --version\n${version}\n`);
    expect(git('status', '--porcelain')).toBe('');
    expect(JSON.parse(read('package.json'))).toEqual({ name: 'p', version, type: 'module' });
    expect(JSON.parse(read('package-lock.json'))).toMatchObject({
      version,
      packages: { '': { version }, 'node_modules/q': { version: '0.1.0' } },
    });
    expect(read('src/version.ts')).toBe(`export const version = '${version}';\n`);
    const today = new Date().toISOString().slice(0, 10);
    expect(read('CHANGELOG.md')).toMatch(
      new RegExp(
        `^# Changelog\n\nAll notable changes\\.\n\n## ${version} \\((?:${today}|\\d{4}-\\d\\d-\\d\\d)\\)\n\nA person's words\\.\n\n### Added\n\n- \\*\\*cli\\*\\*: say`,
      ),
    );
    expect(read('CHANGELOG.md')).not.toContain('<!--');
    expect(run(process.execPath, ['tools/make-changelog.js', '--notes', version]).stdout).toMatch(
      /^A person's words\.\n\n### Added\n/,
    );
  });

  it('the first one may have the version that package.json has had from the beginning', () => {
    git('tag', '--delete', 'v0.1.0');
    expect(release(['0.1.0', '--checked']).status).toBe(0);
    expect(git('tag')).toBe('v0.1.0');
    expect(read('CHANGELOG.md')).toMatch(/## 0\.1\.0 \(.*\)\n\nA person's words\.\n\n## 0\.1\.0/);
  });

  it('is only shown with --dry-run', () => {
    const before = state();
    const { status, stdout } = release(['minor', '--dry-run', '--checked']);
    expect(status).toBe(0);
    expect(stdout).toContain("src/version.ts, README.md, test/cli/cases/version.md\n\nA person's words.");
    expect(stdout).toMatch(/^0\.1\.0 → 0\.2\.0: [\s\S]*\nnothing was changed\n$/);
    expect(release(['major', '--dry-run', '--checked']).stdout).toMatch(/^0\.1\.0 → 1\.0\.0: /);
    expect(state()).toEqual(before);
    expect(existsSync(join(scratch, 'asked'))).toBe(false);
  });

  it.each<[string, () => void, string[], string, Record<string, string>?]>([
    ['a changed file', () => write('src/version.ts', 'changed'), ['patch'], 'changes that no commit holds'],
    ['a new file', () => write('new.ts', ''), ['patch'], '?? new.ts'],
    ['another branch', () => git('switch', '--quiet', '--create', 'topic'), ['patch'], 'this is the branch topic'],
    ['no branch', () => git('switch', '--quiet', '--detach'), ['patch'], 'this is the branch (none)'],
    ['the version that is out', () => {}, ['0.1.0'], '0.1.0 does not come after 0.1.0'],
    ['an older version', () => {}, ['0.0.9'], '0.0.9 does not come after 0.1.0'],
    ['a tag that exists elsewhere', () => tagElsewhere('v0.1.1'), ['patch'], 'the tag v0.1.1 exists'],
    ['nothing to tell', () => forgetEverything(), ['patch'], 'nothing that a user would notice'],
    ['failing tests', () => {}, ['patch'], 'npm test failed', { FAILING: 'test' }],
    ['a known weakness', () => {}, ['patch'], 'npm audit --omit=dev failed', { FAILING: 'audit' }],
    [
      'no build',
      () => rmSync(join(repository, 'dist'), { recursive: true }),
      ['patch', '--checked'],
      'nothing is built',
    ],
    [
      'two versions in the source',
      () => commitVersion('0.0.7'),
      ['patch', '--checked'],
      'src/version.ts does not say 0.1.0',
    ],
    ['a commit that a hook refuses', () => refuseCommits(), ['patch', '--checked'], 'the commit cannot be made'],
  ])('is refused with %s, and nothing is changed', (_, prepare, args, told, more) => {
    prepare();
    const before = state();
    const { status, stderr } = release(args, more);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(told) });
    expect(stderr).toMatch(/^release: .*\n(?:.*\n)*? {2}→ .+\n$/);
    expect(state()).toEqual(before);
  });

  it('takes no arguments that it does not know', () => {
    for (const args of [[], ['1.2.3-rc.1'], ['patch', '--push']]) {
      const { status, stderr } = release(args);
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(/^usage: /) });
    }
  });
});

function tagElsewhere(tag: string): void {
  git('switch', '--quiet', '--create', 'elsewhere');
  commit('fix: elsewhere');
  git('tag', tag);
  git('switch', '--quiet', 'main');
}

function forgetEverything(): void {
  git('reset', '--quiet', '--hard', 'v0.1.0');
  write('CHANGELOG.md', changelog.replace("A person's words.\n\n", ''));
  git('add', '.');
  commit('docs: forget the words');
}

function commitVersion(version: string): void {
  write('src/version.ts', `export const version = '${version}';\n`);
  git('add', '.');
  commit('chore: another version');
}

function refuseCommits(): void {
  mkdirSync(join(repository, '.git', 'hooks'), { recursive: true });
  writeFileSync(join(repository, '.git', 'hooks', 'pre-commit'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
}

describe('the changelog', () => {
  const link = (hash: string) =>
    `([${hash.slice(0, 7)}](https://github.com/oauth-profile/oauth-profile/commit/${hash}))`;
  const listed = () => read('CHANGELOG.md').split('<!-- from the commits -->\n\n')[1]?.split('\n\n<!-- /')[0];

  it('lists what users notice, by kind and scope, with what breaks first', () => {
    const first = git('rev-parse', 'HEAD');
    const fix = commit('fix(store): open a vault again');
    const feat = commit('feat(check)!: ask with *stars* and [brackets]');
    commit('test: nothing of interest', 'docs(cli): still nothing');
    commit('Update things without a type');
    const perf = commit('perf: load less');
    const later = commit('fix(data): read <dashes>');
    const footer = commit(
      'refactor(cli): rename',
      'Some words.\n\nBREAKING CHANGE: `--old` is\nnow `--new`.\n\nReviewed-by: Bob',
    );
    expect(list().status).toBe(0);
    expect(listed()?.split('\n')).toEqual([
      '### Breaking',
      '',
      `- **check**: ask with \\*stars\\* and \\[brackets\\] ${link(feat)}`,
      `- **cli**: \`--old\` is now \`--new\`. ${link(footer)}`,
      '',
      '### Added',
      '',
      `- **check**: ask with \\*stars\\* and \\[brackets\\] ${link(feat)}`,
      `- **cli**: say \\<profile> and \`<code>\` ${link(first)}`,
      '',
      '### Fixed',
      '',
      `- **data**: read \\<dashes> ${link(later)}`,
      `- **store**: open a vault again ${link(fix)}`,
      '',
      '### Faster',
      '',
      `- load less ${link(perf)}`,
    ]);
  });

  it('keeps what people wrote, is the same when it is made again, and makes the section that is missing', () => {
    list();
    const once = read('CHANGELOG.md');
    expect(once).toContain("## Unreleased\n\nA person's words.\n\n<!-- from the commits -->");
    expect(once).toContain('\n\n## 0.1.0 (2026-01-02)\n\n- The first.\n');
    list();
    expect(read('CHANGELOG.md')).toBe(once);
    write('CHANGELOG.md', changelog.replace(/## Unreleased[^#]*/, ''));
    list();
    expect(read('CHANGELOG.md')).toBe(once.replace("A person's words.\n\n", ''));
  });

  it('lists nothing before a first release, which had nothing to change', () => {
    git('tag', '--delete', 'v0.1.0');
    expect(list().stdout).toBe('no version was released yet: nothing is listed\n');
    expect(read('CHANGELOG.md')).toBe(changelog);
  });

  it('has no notes for a version that it does not know', () => {
    expect(run(process.execPath, ['tools/make-changelog.js', '--notes', '0.9.0'])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'CHANGELOG.md has nothing to say about 0.9.0\n',
    });
  });
});
