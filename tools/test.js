// `npm test`: builds, then runs every check, two at a time. Prints one line per check, and the output of a check that fails.
//
//   npm test                  all checks
//   npm test -- --verbose     all checks, with their output as it is written
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** @typedef {{ok: boolean, output: string}} Result */
/** @typedef {[name: string, run: () => Promise<Result>]} Check */

const root = join(import.meta.dirname, '..');
const scratch = mkdtempSync(join(tmpdir(), 'oauth-profile-test-'));
const report = join(root, 'reports', 'tests.json');
const verbose = process.argv.includes('--verbose');
const isRoot = process.getuid?.() === 0;

/** Programs that some tests need, with their Debian packages. @type {Record<string, string>} */
const programs = {
  'redis-server': 'redis-server',
  chromium: 'chromium',
  curl: 'curl',
  git: 'git',
  python3: 'python3',
  zsh: 'zsh',
  fish: 'fish',
  openssl: 'openssl',
  'gnome-keyring-daemon': 'gnome-keyring',
  'dbus-run-session': 'dbus',
  skopeo: 'skopeo',
  kubectl: 'kubernetes-client',
};

/** @param {string} command @param {string[]} args @returns {Promise<Result>} */
function run(command, args) {
  return new Promise((resolve) => {
    const shell = process.platform === 'win32';
    const child = spawn(command, args, { cwd: root, env: { ...process.env, NO_COLOR: '1' }, shell });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
        if (verbose) process.stderr.write(chunk);
      });
    }
    child.on('error', (error) => resolve({ ok: false, output: String(error) }));
    child.on('close', (code) => resolve({ ok: code === 0, output }));
  });
}

const runNode = (/** @type {string[]} */ ...args) => run(process.execPath, args);
const runBin = (/** @type {string} */ name, /** @type {string[]} */ ...args) =>
  run(join(root, 'node_modules', '.bin', name), args);

function missingPrograms() {
  /** @type {Record<string, string[]>} */
  const versionArgs = { openssl: ['version'], kubectl: ['version', '--client'] };
  return Object.keys(programs).filter(
    (name) => spawnSync(name, versionArgs[name] ?? ['--version'], { stdio: 'ignore' }).status !== 0,
  );
}

/** Installs missing programs, but only as root on a CI machine. */
async function installPrograms() {
  const missing = missingPrograms();
  if (missing.length === 0 || process.env['CI'] !== 'true' || !isRoot) return;
  const packages = missing.map((name) => programs[name]).join(' ');
  const install = `DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${packages}`;
  const { ok, output } = await run('sh', ['-c', `apt-get update && ${install}`]);
  console.log(ok ? `installed ${missing.join(', ')}` : `cannot install ${missing.join(', ')}:\n${output}`);
}

/** Checks the package as npm would publish it. */
async function checkPackage() {
  const packed = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', scratch]);
  if (!packed.ok) return packed;
  const tarball = join(scratch, readdirSync(scratch).find((file) => file.endsWith('.tgz')) ?? '');
  const publint = await runBin('publint', 'run', '--strict', tarball);
  if (!publint.ok) return publint;
  return runBin('attw', tarball, '--profile', 'esm-only', '--no-emoji');
}

/** @type {Check[]} */
const checks = [
  ['tests', () => runBin('vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`)],
  ['types', () => runNode('node_modules/typescript-native/bin/tsc', '--noEmit')],
  [
    'types (browser)',
    () => runNode('node_modules/typescript-native/bin/tsc', '--noEmit', '-p', 'tsconfig.browser.json'),
  ],
  ['lint', () => runBin('biome', 'check', '--error-on-warnings')],
  ['words', () => runNode('tools/check-words.js')],
  ['layers', () => runNode('tools/check-layers.js')],
  ['unused', () => runBin('knip')],
  ['package', checkPackage],
];

/** @type {Set<string>} */
const failed = new Set();

/** @param {Check} check */
async function perform([name, check]) {
  const startedAt = Date.now();
  const { ok, output } = await check();
  console.log(`${ok ? '✓' : '✗'} ${name.padEnd(8)} ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
  if (ok) return;
  failed.add(name);
  console.log(output);
}

/** Prints the skipped tests by file, the likely reasons, and the closing line. */
function summarize() {
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  for (const { name, assertionResults } of testResults) {
    const skipped = assertionResults.filter((/** @type {{status: string}} */ { status }) =>
      ['pending', 'skipped'].includes(status),
    );
    if (skipped.length > 0) console.log(`SKIPPED ${skipped.length} in ${relative(root, name)}`);
  }
  if (numPendingTests > 0) {
    const missing = missingPrograms();
    const reasons = [
      ...(missing.length > 0 ? [`not installed: ${missing.join(', ')}`] : []),
      ...(isRoot ? [] : ['not root']),
      `platform ${process.platform}`,
    ];
    console.log(`SKIPPED ${numPendingTests} in total: ${reasons.join('; ')}`);
  }
  console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
}

mkdirSync(join(root, 'reports'), { recursive: true });
rmSync(report, { force: true });
await installPrograms();
await perform(['build', () => runBin('tsdown')]);
if (failed.size === 0) {
  const queue = [...checks];
  const worker = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) await perform(check);
  };
  await Promise.all([worker(), worker()]);
}
try {
  summarize();
} catch {
  console.log('no test was run');
  failed.add('tests');
}
rmSync(scratch, { recursive: true });
if (failed.size > 0) console.log(`failed: ${[...failed].join(', ')}`);
process.exitCode = failed.size > 0 ? 1 : 0;
