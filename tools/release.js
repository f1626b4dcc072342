// `npm run release -- patch|minor|major|X.Y.Z [--dry-run] [--checked]`: makes the commit and the tag of a version. It pushes nothing and
// publishes nothing: the workflow does, when the tag is pushed. See docs/releasing.md.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastTag, sectionOf, upToDate, withRelease } from './make-changelog.js';

const root = join(import.meta.dirname, '..');
const BRANCH = 'main';
const STEPS = ['major', 'minor', 'patch'];

/** Ends the run, in words for whoever wants to release. @param {string} what @param {string} hint @returns {never} */
function refuse(what, hint) {
  console.error(`release: ${what}\n  → ${hint}`);
  process.exit(1);
}

/** @param {string[]} args */
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const textOf = (/** @type {string} */ name) => readFileSync(join(root, name), 'utf8');
const numbersOf = (/** @type {string} */ version) => version.split('.').map(Number);

/** Less than, equal to or greater than zero, as a is to b. @param {string} a @param {string} b */
function compare(a, b) {
  const other = numbersOf(b);
  return numbersOf(a).reduce((found, number, index) => found || number - (other[index] ?? 0), 0);
}

/** @param {string} asked @param {string} current */
function versionFrom(asked, current) {
  const step = STEPS.indexOf(asked);
  if (step < 0) return asked;
  return numbersOf(current)
    .map((number, index) => (index < step ? number : index === step ? number + 1 : 0))
    .join('.');
}

/** The files of a release with their new text. @param {string} from @param {string} version @param {string} changelog @returns {Map<string, string>} */
function bump(from, version, changelog) {
  const files = new Map([['CHANGELOG.md', changelog]]);
  const json = (/** @type {unknown} */ value) => `${JSON.stringify(value, undefined, 2)}\n`;
  files.set('package.json', json({ ...JSON.parse(textOf('package.json')), version }));
  const lock = JSON.parse(textOf('package-lock.json'));
  lock.version = version;
  lock.packages[''].version = version;
  files.set('package-lock.json', json(lock));
  if (existsSync(join(root, 'src', 'version.ts'))) {
    const text = textOf('src/version.ts');
    const changed = text.replace(`'${from}'`, `'${version}'`);
    if (changed === text && from !== version)
      refuse(`src/version.ts does not say ${from}`, 'make it say what package.json says');
    files.set('src/version.ts', changed);
  }
  // What shows the program's own output shows its version too.
  for (const name of git('ls-files', 'README.md', 'docs', 'test/cli/cases').split('\n').filter(Boolean)) {
    const word = name.startsWith('test/') ? from : `oauth-profile/${from}`;
    const text = textOf(name);
    if (text.includes(word)) files.set(name, text.replaceAll(word, word.replace(from, version)));
  }
  return files;
}

const args = process.argv.slice(2);
const flags = args.filter((arg) => arg.startsWith('--'));
const [asked, ...rest] = args.filter((arg) => !arg.startsWith('--'));
const known = ['--dry-run', '--checked'];
if (
  asked === undefined ||
  rest.length > 0 ||
  flags.some((flag) => !known.includes(flag)) ||
  (!STEPS.includes(asked) && !/^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(asked))
) {
  console.error('usage: npm run release -- patch|minor|major|X.Y.Z [--dry-run] [--checked]');
  process.exit(2);
}

const dirty = git('status', '--porcelain');
if (dirty !== '') refuse(`there are changes that no commit holds:\n${dirty}`, 'commit them, or put them aside');
const branch = git('branch', '--show-current');
if (branch !== BRANCH) refuse(`this is the branch ${branch || '(none)'}`, `releases are made from ${BRANCH}`);

/** @type {string} */
const current = JSON.parse(textOf('package.json')).version;
const version = versionFrom(asked, current);
const released = lastTag()?.slice(1);
if (compare(version, current) < 0 || (released !== undefined && compare(version, released) <= 0))
  refuse(`${version} does not come after ${released ?? current}`, 'versions only rise');
if (git('tag', '--list', `v${version}`) !== '') refuse(`the tag v${version} exists`, 'choose the next version');

const today = new Date().toISOString().slice(0, 10);
const listed = upToDate(textOf('CHANGELOG.md'));
if (!sectionOf(listed, 'Unreleased'))
  refuse(
    'nothing that a user would notice has changed',
    'write it under "## Unreleased" in CHANGELOG.md, or do not release',
  );
const changelog = withRelease(listed, version, today);

if (!flags.includes('--checked')) {
  for (const check of [['test'], ['audit', '--omit=dev']]) {
    console.log(`npm ${check.join(' ')} …`);
    const { status } = spawnSync('npm', check, { cwd: root, stdio: 'inherit' });
    if (status !== 0) refuse(`npm ${check.join(' ')} failed`, 'what fails is not released');
  }
}
if (!existsSync(join(root, 'dist', 'index.js'))) refuse('nothing is built', 'run npm run build, and try what it made');

const files = bump(current, version, changelog);
console.log(
  `${released ?? 'nothing'} → ${version}: ${[...files.keys()].join(', ')}\n\n${sectionOf(changelog, version)}\n`,
);
if (flags.includes('--dry-run')) {
  console.log('nothing was changed');
  process.exit(0);
}

const before = new Map([...files.keys()].map((name) => [name, textOf(name)]));
try {
  for (const [name, text] of files) writeFileSync(join(root, name), text);
  git('add', ...files.keys());
  git('commit', '--quiet', '--message', `chore(release): ${version}`);
} catch (error) {
  for (const [name, text] of before) writeFileSync(join(root, name), text);
  git('reset', '--quiet');
  refuse(`the commit cannot be made: ${error instanceof Error ? error.message : error}`, 'the files are as they were');
}
git('tag', '--annotate', `v${version}`, '--message', version);
console.log(`committed and tagged. To publish: git push origin ${BRANCH} v${version}`);
