// `npm run bench`: installs the other libraries where they are missing, measures, and prints a report. See README.md for the options.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const directory = import.meta.dirname;
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    rows: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});

if (!existsSync(join(directory, '..', 'dist', 'index.js'))) {
  throw new Error('dist/index.js not found: run "npm run build" first');
}

const lock = statSync(join(directory, 'package-lock.json'));
const installed = statSync(join(directory, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
if (installed === undefined || installed.mtimeMs < lock.mtimeMs) {
  console.error('npm ci …');
  const shell = process.platform === 'win32';
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: directory, stdio: ['ignore', 2, 2], shell });
}

// Imported late, because the parts import the libraries.
const { report } = await import('./report.js');
/** @type {Record<string, import('./report.js').Part>} */
const parts = {
  startup: await import('./parts/startup.js'),
  requests: await import('./parts/requests.js'),
  cached: await import('./parts/cached.js'),
  rotation: await import('./parts/rotation.js'),
  families: await import('./parts/families.js'),
  behaviour: await import('./parts/behaviour.js'),
  scripts: await import('./parts/scripts.js'),
  emulator: await import('./parts/emulator.js'),
  proxy: await import('./parts/proxy.js'),
};

const names = values.only?.split(',') ?? Object.keys(parts);
const unknown = names.filter((name) => !(name in parts));
if (unknown.length > 0) {
  throw new Error(`unknown part "${unknown.join(', ')}": expected one of ${Object.keys(parts).join(', ')}`);
}
if (values.write && (values.quick || values.only !== undefined || values.rows !== '')) {
  throw new Error('--write needs a full run: omit --quick, --only and --rows');
}

const startedAt = performance.now();
const selects = (/** @type {string} */ row) => row.toLowerCase().includes(values.rows.toLowerCase());
/** @type {Record<string, unknown>} */
const results = {};
for (const name of names) {
  console.error(`${parts[name]?.title} …`);
  results[name] = await parts[name]?.measure({ quick: values.quick, selects });
}
const minutes = (performance.now() - startedAt) / 60_000;
const { text, plots } = report(parts, results, { quick: values.quick, minutes });
console.log(text);

if (values.write) {
  const target = join(directory, 'plots');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  for (const [name, svg] of Object.entries(plots)) writeFileSync(join(target, `${name}.svg`), svg);
  writeFileSync(join(directory, 'results.md'), text);
}
