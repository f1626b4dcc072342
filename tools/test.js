// `npm test`: everything that must hold, two checks at a time, one line each; the output of a check is shown when it fails.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const bin = (/** @type {string} */ name) => join(root, 'node_modules', '.bin', name);
const scratch = mkdtempSync(join(tmpdir(), 'oauth-profile-test-'));
const report = join(root, 'reports', 'tests.json');
const verbose = process.argv.includes('--verbose');

/** @param {string} command @param {string[]} args @returns {Promise<{ok: boolean, output: string}>} */
function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env: { ...process.env, NO_COLOR: '1' } });
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

/** What some tests need beside Node. Where it is missing they are skipped, and listed at the end. */
const programs = ['redis-server', 'chromium', 'zsh', 'fish'];

/** A machine of a CI that is ours to change gets the programs that it lacks. */
async function installPrograms() {
  const missing = programs.filter((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status !== 0);
  if (missing.length === 0 || process.env['CI'] !== 'true' || process.getuid?.() !== 0) return;
  const { ok, output } = await run('sh', [
    '-c',
    `apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${missing.join(' ')}`,
  ]);
  console.log(ok ? `installed ${missing.join(', ')}` : `${missing.join(', ')} cannot be installed:\n${output}`);
}

/** The package as npm would publish it, held to the rules of the registry and of the type system. */
async function checkPackage() {
  const packed = await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', scratch]);
  if (!packed.ok) return packed;
  const tarball = join(scratch, readdirSync(scratch).find((file) => file.endsWith('.tgz')) ?? '');
  const publint = await run(bin('publint'), ['run', '--strict', tarball]);
  if (!publint.ok) return publint;
  return run(bin('attw'), [tarball, '--profile', 'esm-only', '--no-emoji']);
}

/** @type {[string, () => Promise<{ok: boolean, output: string}>][]} */
const checks = [
  ['tests', () => run(bin('vitest'), ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`])],
  ['types', () => run(bin('tsc'), ['--noEmit'])],
  ['lint', () => run(bin('biome'), ['check', '--error-on-warnings'])],
  ['layers', () => run(process.execPath, ['tools/check-layers.js'])],
  ['unused', () => run(bin('knip'), [])],
  ['package', checkPackage],
];

/** @type {string[]} */
const failed = [];
/** @param {[string, () => Promise<{ok: boolean, output: string}>]} check */
async function perform([name, check]) {
  const started = Date.now();
  const { ok, output } = await check();
  console.log(`${ok ? '✓' : '✗'} ${name.padEnd(8)} ${((Date.now() - started) / 1000).toFixed(1)} s`);
  if (ok) return;
  failed.push(name);
  console.log(output);
}

await installPrograms();
await perform(['build', () => run(bin('tsdown'), [])]);
if (failed.length === 0) {
  const queue = [...checks];
  const worker = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) await perform(check);
  };
  await Promise.all([worker(), worker()]);
}

try {
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  for (const { assertionResults } of testResults) {
    for (const { status, fullName } of assertionResults) {
      if (status === 'pending' || status === 'skipped') console.log(`SKIPPED ${fullName}`);
    }
  }
  console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
} catch {
  console.log('no test was run');
  failed.push('tests');
}
rmSync(scratch, { recursive: true });
if (failed.length > 0) console.log(`failed: ${[...new Set(failed)].join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
