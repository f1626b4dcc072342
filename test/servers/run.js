// `npm run test:servers`: tests the built program with OAuth servers of others, and prints a table.
//
//   npm run test:servers                    all servers
//   npm run test:servers -- doorkeeper      some of them, by directory
//
// The servers of npm are installed into this directory. Debian packages are installed only as root on a CI machine;
// without them a server is skipped.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { servers } from './servers.js';

/** @typedef {import('./servers.js').TestServer} TestServer */
/** @typedef {{ancestorTitles: string[], status: string}} TestResult */

const here = import.meta.dirname;
const root = join(here, '..', '..');
const report = join(root, 'reports', 'servers.json');
const isCi = process.env['CI'] === 'true';

/** The command that runs now, in a process group of its own. */
let running = 0;
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    if (running > 0) process.kill(-running, 'SIGTERM');
    process.exit(130);
  });
}

/**
 * Runs a command and shows its output.
 * @param {string} command @param {string[]} args @param {Record<string, string>} [env]
 * @returns {Promise<boolean>} whether it succeeded
 */
function run(command, args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    });
    running = child.pid ?? 0;
    child.on('error', () => resolve(false));
    child.on('close', (code) => {
      running = 0;
      resolve(code === 0);
    });
  });
}

/**
 * The installed versions of Debian packages.
 * @param {string[]} packages
 * @returns {Map<string, string>}
 */
function installedVersions(packages) {
  const format = '${Package} ${db:Status-Status} ${Version}\n';
  const { stdout } = spawnSync('dpkg-query', ['--show', `--showformat=${format}`, ...packages], { encoding: 'utf8' });
  const rows = (stdout ?? '').split('\n').map((line) => line.split(' '));
  return new Map(
    rows.filter(([, status]) => status === 'installed').map(([name = '', , version = '']) => [name, version]),
  );
}

/** @param {TestServer[]} chosen */
async function installDebianPackages(chosen) {
  const packages = [...new Set(chosen.flatMap(({ debian }) => debian))];
  const installed = installedVersions(packages);
  const missing = packages.filter((name) => !installed.has(name));
  if (missing.length === 0 || !isCi || process.getuid?.() !== 0) return;
  const install = `DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends ${missing.join(' ')}`;
  if (!(await run('sh', ['-c', `apt-get update -qq && ${install}`]))) console.error('cannot install Debian packages');
}

/** Installs the servers of npm unless the lock file has not changed since. */
async function installNpmPackages() {
  const installed = join(here, 'node_modules', '.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(here, 'package-lock.json')).mtimeMs) return;
  const args = ['ci', '--prefix', here, '--ignore-scripts', '--no-audit', '--no-fund'];
  if (!(await run('npm', args))) console.error('cannot install npm packages');
}

/**
 * The version of a server, or what is not installed.
 * @param {TestServer} server
 * @returns {{version: string} | {missing: string}}
 */
function findServer(server) {
  if (server.debian.length === 0) {
    const manifest = join(here, 'node_modules', server.package, 'package.json');
    if (!existsSync(manifest)) return { missing: `npm package ${server.package}` };
    return { version: JSON.parse(readFileSync(manifest, 'utf8')).version };
  }
  const installed = installedVersions(server.debian);
  const missing = server.debian.filter((name) => !installed.has(name));
  if (missing.length > 0) return { missing: `Debian packages ${missing.join(' ')}` };
  // Without the revision of Debian: 5.5.0-2+deb12u1 is 5.5.0.
  return { version: installed.get(server.package)?.replace(/^\d+:|[-+].*$/g, '') ?? '' };
}

/**
 * The flows of a server with the number of tests that passed, and of those that did not.
 * @param {TestResult[]} results
 */
function formatFlows(results) {
  /** @type {Map<string, {passed: number, failed: number}>} */
  const flows = new Map();
  for (const { ancestorTitles, status } of results) {
    const flow = ancestorTitles[1] ?? '';
    const counts = flows.get(flow) ?? { passed: 0, failed: 0 };
    if (status === 'passed') counts.passed++;
    if (status === 'failed') counts.failed++;
    flows.set(flow, counts);
  }
  return [...flows].map(([flow, { passed, failed }]) =>
    failed === 0 ? `${flow} ${passed}` : `${flow} ${passed}, FAILED ${failed}`,
  );
}

/** @param {TestServer[]} chosen @param {Map<string, ReturnType<typeof findServer>>} found */
function printTable(chosen, found) {
  const { testResults, numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'));
  /** @type {TestResult[]} */
  const results = testResults.flatMap((/** @type {{assertionResults: TestResult[]}} */ file) => file.assertionResults);
  const width = Math.max(...chosen.map(({ title }) => title.length));
  console.log(`\n${'server'.padEnd(width)}  version  flows passed, with the number of tests`);
  for (const { title, directory } of chosen) {
    const own = results.filter(({ ancestorTitles }) => ancestorTitles[0] === title);
    const state = found.get(directory);
    const row =
      state !== undefined && 'version' in state
        ? `${state.version.padEnd(7)}  ${formatFlows(own).join('; ')}`
        : `SKIPPED ${own.length} tests: not installed: ${state?.missing}`;
    console.log(`${title.padEnd(width)}  ${row}`);
  }
  console.log(`\n${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
}

const names = process.argv.slice(2);
const unknown = names.filter((name) => !servers.some(({ directory }) => directory === name));
if (unknown.length > 0) {
  const known = servers.map(({ directory }) => directory).join(', ');
  console.error(`unknown server ${unknown.join(', ')}: expected ${known}`);
  process.exit(2);
}
const chosen = servers.filter(({ directory }) => names.length === 0 || names.includes(directory));
mkdirSync(join(root, 'reports'), { recursive: true });
rmSync(report, { force: true });
await installDebianPackages(chosen);
await installNpmPackages();
const found = new Map(chosen.map((server) => [server.directory, findServer(server)]));
const missing = [...found].filter(([, state]) => 'missing' in state).map(([directory]) => directory);
const bin = join(root, 'node_modules', '.bin');
const vitest = ['run', '--config', join(here, 'vitest.config.ts'), '--reporter=default', '--reporter=json'];
const passed =
  (await run(join(bin, 'tsdown'), ['--log-level', 'error'])) &&
  (await run(
    join(bin, 'vitest'),
    [...vitest, `--outputFile.json=${report}`, ...chosen.map(({ directory }) => `test/servers/${directory}/`)],
    { MISSING_SERVERS: JSON.stringify(missing) },
  ));
if (existsSync(report)) printTable(chosen, found);
process.exitCode = passed ? 0 : 1;
