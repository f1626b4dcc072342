// `npm run quality`: writes docs/quality.md from what other tools left in reports/ and bench/, and from what can be counted at once. A figure
// whose source is not there stays as it stands, with its date. `--coverage` runs all tests first, to see which code they run.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { costOf, pack } from './package-budget.js';

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs', 'quality.md');
const number = (/** @type {number} */ value) => Math.round(value).toLocaleString('en');
const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(1)} %`;

/** @param {string[]} head @param {(string | number)[][]} rows */
function table(head, rows) {
  const right = head.map((_, index) => (index === 0 ? '---' : '---:'));
  return [head, right, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** What a tool left, or undefined where it has not run. @param {string} name */
function report(name) {
  const file = join(root, name);
  return existsSync(file) ? { text: readFileSync(file, 'utf8'), date: dateOf(name) } : undefined;
}

/** When a file was made; a clone has the time of cloning, so what is committed has that of its commit. @param {string} name */
function dateOf(name) {
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%cs', '--', name], {
    cwd: root,
    encoding: 'utf8',
  });
  const changed = spawnSync('git', ['diff', '--quiet', 'HEAD', '--', name], { cwd: root }).status !== 0;
  if (status === 0 && stdout !== '' && !changed) return stdout.trim();
  return statSync(join(root, name)).mtime.toISOString().slice(0, 10);
}

function tests() {
  const found = report('reports/tests.json');
  if (found === undefined) return undefined;
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(found.text);
  const counts = [testResults.length, numPassedTests, numFailedTests, numPendingTests];
  return `${found.date}:\n\n${table(['files', 'passed', 'failed', 'skipped'], [counts.map(number)])}`;
}

function matrix() {
  const found = report('reports/matrix.json');
  if (found === undefined) return undefined;
  /** @type {{ date: string, platform: string, rows: { version: string, passed: number, failed: number, skipped: number }[] }} */
  const { date, platform, rows } = JSON.parse(found.text);
  const lines = rows.map(({ version, passed, failed, skipped }) => [version, ...[passed, failed, skipped].map(number)]);
  return `${date}, ${platform}:\n\n${table(['Node', 'passed', 'failed', 'skipped'], lines)}`;
}

function mutation() {
  const found = report('reports/mutation/mutation.json');
  if (found === undefined) return undefined;
  /** @type {{ files: Record<string, { mutants: { status: string }[] }> }} */
  const { files } = JSON.parse(found.text);
  const all = { caught: 0, missed: 0 };
  /** @type {Map<string, typeof all>} */
  const parts = new Map();
  for (const [file, { mutants }] of Object.entries(files)) {
    const part = file.replace(/^src\//, '').split('/')[0] ?? file;
    const count = parts.get(part) ?? { caught: 0, missed: 0 };
    parts.set(part, count);
    for (const { status } of mutants) {
      // Those that cannot be compiled or are left out on purpose say nothing about the tests.
      const outcome = { Killed: 'caught', Timeout: 'caught', Survived: 'missed', NoCoverage: 'missed' }[status];
      if (outcome !== 'caught' && outcome !== 'missed') continue;
      count[outcome]++;
      all[outcome]++;
    }
  }
  const lines = [...[...parts].sort(([a], [b]) => (a < b ? -1 : 1)), /** @type {const} */ (['all', all])]
    .filter(([, { caught, missed }]) => caught + missed > 0)
    .map(([part, { caught, missed }]) => [
      part,
      number(caught + missed),
      number(missed),
      percent(caught / (caught + missed)),
    ]);
  return `${found.date}:\n\n${table(['part', 'changes', 'unnoticed', 'noticed'], lines)}`;
}

function fuzzing() {
  const found = report('reports/fuzz.json');
  if (found === undefined) return undefined;
  /** @type {{ targets: { target: string, executions: number, seconds: number, blocks: number }[], failures: unknown[] }} */
  const { targets, failures } = JSON.parse(found.text);
  const lines = targets.map(({ target, executions, seconds, blocks }) => [
    target,
    ...[executions, seconds, blocks].map(number),
  ]);
  const outcome = failures.length === 0 ? 'no promise was broken' : `${failures.length} promises were broken`;
  return `${found.date}, ${outcome}:\n\n${table(['target', 'inputs', 'seconds', 'blocks of code reached'], lines)}`;
}

function coverage() {
  const found = report('reports/coverage/coverage-summary.json');
  if (found === undefined) return undefined;
  /** @type {{ total: Record<string, { covered: number, total: number }> }} */
  const { total } = JSON.parse(found.text);
  const kinds = ['lines', 'functions', 'branches'];
  const shares = kinds.map((kind) => percent((total[kind]?.covered ?? 0) / (total[kind]?.total ?? 0)));
  return `${found.date}, without what only runs in other processes:\n\n${table(kinds, [shares])}`;
}

function cost() {
  if (!existsSync(join(root, 'dist', 'index.js'))) return undefined;
  /** @type {Record<string, { limit: number, why: string }>} */
  const budget = JSON.parse(readFileSync(join(root, 'tools', 'package-budget.json'), 'utf8'));
  const names = new Map([
    ['packedBytes', 'bytes to download'],
    ['unpackedBytes', 'bytes on the disk'],
    ['files', 'files'],
    ['dependencies', 'packages that come along'],
    ['dependencyBytes', 'bytes of them on the disk'],
  ]);
  const lines = Object.entries(costOf(root, pack(root, ['--dry-run']))).map(([name, value]) => [
    names.get(name) ?? name,
    number(value),
    number(budget[name]?.limit ?? 0),
  ]);
  return `${new Date().toISOString().slice(0, 10)}:\n\n${table(['', 'found', 'limit'], lines)}`;
}

function speed() {
  const found = report('bench/results.md');
  const goals = found?.text.split(/^## Goals$/m)[1];
  // A trial says of itself that it is too short to rely on.
  if (found === undefined || goals === undefined || found.text.includes('**A trial')) return undefined;
  const rows = [...goals.matchAll(/^\| (.+) \| (.+) \| (.+) \| \**(met|missed)\** \|$/gm)];
  const met = rows.filter(([, , , , state]) => state === 'met').length;
  const missed = rows.filter(([, , , , state]) => state === 'missed').map(([, ...cells]) => cells.slice(0, 3));
  const list = missed.length === 0 ? '' : `\n\nMissed:\n\n${table(['', 'found', 'goal'], missed)}`;
  return `${found.date}: ${met} of ${rows.length} goals are met.${list}`;
}

function size() {
  const lines = ['src', 'test', 'tools', 'bench'].map((folder) => {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    const files = names.filter((name) => /\.(?:ts|js|cjs)$/.test(name));
    const count = files.reduce(
      (sum, file) => sum + readFileSync(join(root, folder, file), 'utf8').split('\n').length - 1,
      0,
    );
    return [`\`${folder}/\``, number(files.length), number(count)];
  });
  return table(['', 'files', 'lines'], lines);
}

/** @type {[name: string, heading: string, about: string, how: string, measure: () => string | undefined][]} */
const sections = [
  [
    'tests',
    'Tests',
    'Everything that `npm test` runs. Skipped is what needs a program that the machine does not have; it is named at the end.',
    'npm test',
    tests,
  ],
  [
    'matrix',
    'Versions of Node',
    'The tests that run our code in their own process, and those of the whole program that another Node could break (`tools/node-matrix.js` says which), under the newest Node of each line, as npm has it.',
    'npm run matrix',
    matrix,
  ],
  [
    'mutation',
    'Mutation',
    'The code is changed in small ways, one at a time, and the tests are to notice. What goes unnoticed is a missing test, or a change that makes no difference.',
    'npm run mutants',
    mutation,
  ],
  [
    'fuzzing',
    'Fuzzing',
    'Whatever reads foreign bytes is given random ones, steered by what they reach, and is to fail in words or not at all.',
    'npm run fuzz -- --json reports/fuzz.json',
    fuzzing,
  ],
  [
    'coverage',
    'Coverage',
    'How much of `src/` the tests run. It tells what is not tested, never what is.',
    'npm run quality -- --coverage',
    coverage,
  ],
  [
    'package',
    'What it costs to install',
    'No script runs at installation. The limits are in `tools/package-budget.json`, with their reasons; a test holds them.',
    'npm run build && npm run quality',
    cost,
  ],
  [
    'speed',
    'Speed',
    'What [the benchmarks](../bench/README.md) aim at, side by side with other clients.',
    'npm run bench -- --write',
    speed,
  ],
  ['size', 'Size of the code', 'Counted with blank lines and comments.', 'npm run quality', size],
];

if (process.argv.includes('--coverage')) {
  const flags = [
    '--coverage.enabled',
    '--coverage.include=src/**',
    '--coverage.reporter=json-summary',
    '--coverage.reportsDirectory=reports/coverage',
  ];
  execFileSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...flags], { cwd: root, stdio: 'inherit' });
}
const before = existsSync(page) ? readFileSync(page, 'utf8') : '';
const parts = sections.map(([name, heading, about, how, measure]) => {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const measured = measure();
  const kept = before.split(`${begin}\n`)[1]?.split(`\n${end}`)[0];
  console.log(
    `${measured === undefined ? 'kept   ' : 'written'} ${heading}${measured === undefined ? `: for a new figure, ${how}` : ''}`,
  );
  return `## ${heading}\n\n${about} Made by \`${how}\`.\n\n${begin}\n${measured ?? kept ?? 'Not measured yet.'}\n${end}`;
});
const head =
  '# Quality\n\nFigures, each with the day it was measured and the command that measures it again. `npm run quality` writes this page; what was not\nmeasured anew stays as it was.';
writeFileSync(page, `${[head, ...parts].join('\n\n')}\n`);
