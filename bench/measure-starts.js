import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { candidates } from './candidates.js';
import { cleanEnvironment } from './child.js';
import { accessToken, dataFor } from './profile.js';

const ROUNDS = 15;
const MEMORY_ROUNDS = 5;

/**
 * Loaded in front of a program with `--require`: at exit writes the peak of its resident memory, in KiB, to file descriptor 3. Linux
 * counts getrusage's maximum from before exec, when the process was a copy of its parent; VmHWM starts at exec.
 */
const peakMemoryHook = `
const { readFileSync, writeSync } = require('node:fs');
process.on('exit', () => {
  const linux = process.platform === 'linux' && /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1];
  writeSync(3, String(linux || process.resourceUsage().maxRSS));
});
`;

/**
 * @typedef {object} Start
 * @property {string[]} args for node
 * @property {string} expected where its output begins
 * @property {NodeJS.ProcessEnv} [env] beside the clean environment
 */

/** Milliseconds and peak MiB of whole processes, one number for each round. @param {string} url */
export function measureStarts(url) {
  const folder = mkdtempSync(join(tmpdir(), 'oauth-profile-bench-'));
  try {
    const starts = prepareStarts(url, folder);
    /** @type {Record<string, { ms: number[], mib: number[] }>} */
    const results = Object.fromEntries(Object.keys(starts).map((name) => [name, { ms: [], mib: [] }]));
    const each = (/** @type {(start: Start, result: { ms: number[], mib: number[] }) => void} */ act) => {
      for (const [name, start] of Object.entries(starts)) act(start, results[name] ?? { ms: [], mib: [] });
    };
    // The first run of each only brings its files into the page cache.
    each((start) => run(start, folder));
    for (let round = 0; round < ROUNDS; round++) each((start, { ms }) => ms.push(run(start, folder).ms));
    const hook = join(folder, 'peak-memory.cjs');
    writeFileSync(hook, peakMemoryHook);
    for (let round = 0; round < MEMORY_ROUNDS; round++) {
      each(({ args, ...start }, { mib }) => {
        mib.push(run({ args: ['--require', hook, ...args], ...start }, folder).mib);
      });
    }
    return results;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {string} url @param {string} folder @returns {Record<string, Start>} */
function prepareStarts(url, folder) {
  // Each run asks, as the others do; a kept token is measured by itself.
  const p = { ...dataFor(url).p, 'options.reuse': 'false' };
  writeFileSync(join(folder, 'p.json'), JSON.stringify({ p }, null, 2));
  const lines = Object.entries(p).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}\n`);
  writeFileSync(join(folder, 'p.yaml'), `p:\n${lines.join('')}`);
  const command = join(import.meta.dirname, '..', 'bin', 'oauth-profile.js');
  const script = join(import.meta.dirname, 'print-token.js');
  const expected = `${accessToken}\n`;
  const others = Object.keys(candidates).filter((name) => name !== 'oauth-profile');
  const json = { args: [command, 'token', 'p', '--data', 'p.json'], expected };
  const yaml = { args: [command, 'token', 'p', '--data', 'p.yaml'], expected };
  const uncompiled = { NODE_DISABLE_COMPILE_CACHE: '1' };
  return {
    'node -e 0': { args: ['-e', '0'], expected: '' },
    'oauth-profile --help': { args: [command, '--help'], expected: 'oauth-profile: name a profile, get a token' },
    'oauth-profile token p --data p.json': json,
    'oauth-profile token p --data p.yaml': yaml,
    'oauth-profile token p --fresh, and kept': {
      args: [...json.args, '--set', 'p.options.reuse=true', '--fresh'],
      expected,
    },
    // What the first run of a Node pays, and every one where the program's folder cannot be written to.
    'oauth-profile token p --data p.json, not compiled': { ...json, env: uncompiled },
    'oauth-profile token p --data p.yaml, not compiled': { ...yaml, env: uncompiled },
    ...Object.fromEntries(others.map((name) => [`a script with ${name}`, { args: [script, name, url], expected }])),
  };
}

/** @param {Start} start @param {string} cwd */
function run({ args, expected, env }, cwd) {
  const startedAt = performance.now();
  const { stdout, stderr, status, output } = spawnSync(process.execPath, args, {
    cwd,
    env: { ...cleanEnvironment, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const ms = performance.now() - startedAt;
  if (status !== 0 || !stdout.startsWith(expected)) throw new Error(`node ${args.join(' ')} failed: ${stderr}`);
  return { ms, mib: Number(output[3]) / 1024 };
}
