import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OURS, requesters } from '../candidates.js';
import { processFile, startChild } from '../child.js';
import { median, medianRatio } from '../median.js';
import { accessToken, dataFor, refreshingDataFor } from '../profile.js';
import { table, times } from '../report/markdown.js';
import { bars } from '../report/plot.js';
import { explain } from '../report/reasons.js';
import { createFolder } from '../vault.js';

export const title = 'From start to end';
export const BARE = 'node -e 0';

/**
 * @typedef {object} Start
 * @property {string[]} args for node
 * @property {string} expected where its output begins
 * @property {NodeJS.ProcessEnv} [env] beside that of all
 */

/** Milliseconds and peak MiB of whole processes, one number for each round. @param {boolean} quick */
export async function measure(quick) {
  const { rounds, memoryRounds } = quick ? { rounds: 1, memoryRounds: 1 } : { rounds: 15, memoryRounds: 5 };
  const servers = await Promise.all([startChild('token-server.js'), startChild('rotating-server.js')]);
  const { folder, env } = createFolder();
  try {
    const [url, rotatingUrl] = servers.map(({ firstMessage }) => String(firstMessage));
    const starts = prepareStarts(String(url), String(rotatingUrl), folder);
    const run = (/** @type {Start} */ start) => runToEnd(start, folder, env);
    /** @type {Record<string, { ms: number[], mib: number[] }>} */
    const found = Object.fromEntries(Object.keys(starts).map((name) => [name, { ms: [], mib: [] }]));
    // The first run of each only brings its files into the page cache.
    for (const start of Object.values(starts)) run(start);
    for (let round = 0; round < rounds; round++)
      for (const [name, start] of Object.entries(starts)) found[name]?.ms.push(run(start).ms);
    const hook = processFile('tell-peak-memory.cjs');
    for (let round = 0; round < memoryRounds; round++)
      for (const [name, { args, ...start }] of Object.entries(starts))
        found[name]?.mib.push(run({ args: ['--require', hook, ...args], ...start }).mib);
    return found;
  } finally {
    for (const server of servers) server.end();
    rmSync(folder, { recursive: true });
  }
}

/** @param {string} url @param {string} rotatingUrl @param {string} folder @returns {Record<string, Start>} */
function prepareStarts(url, rotatingUrl, folder) {
  // Each run asks, as the others do; a kept token is measured by itself.
  const p = { ...dataFor(url).p, 'options.reuse': 'false' };
  writeFileSync(join(folder, 'p.json'), JSON.stringify({ p }, null, 2));
  const lines = Object.entries(p).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}\n`);
  writeFileSync(join(folder, 'p.yaml'), `p:\n${lines.join('')}`);
  writeFileSync(join(folder, 'kept.json'), JSON.stringify(refreshingDataFor(rotatingUrl, 'kept.0'), null, 2));
  const command = join(install(folder), 'bin', 'oauth-profile.js');
  const expected = `${accessToken}\n`;
  const token = (/** @type {string[]} */ ...args) => ({ args: [command, 'token', 'p', '--data', ...args], expected });
  const uncompiled = { NODE_DISABLE_COMPILE_CACHE: '1' };
  return {
    [BARE]: { args: ['-e', '0'], expected: '' },
    'oauth-profile --help': { args: [command, '--help'], expected: 'oauth-profile: name a profile, get a token' },
    'oauth-profile token p --data p.json': token('p.json'),
    'oauth-profile token p --data p.yaml': token('p.yaml'),
    'oauth-profile token p, from the vault': token('kept.json'),
    'oauth-profile token p --fresh, and kept': token('p.json', '--set', 'p.options.reuse=true', '--fresh'),
    // What the first run of a Node pays, and every one where the program's folder cannot be written to.
    'oauth-profile token p --data p.json, not compiled': { ...token('p.json'), env: uncompiled },
    'oauth-profile token p --data p.yaml, not compiled': { ...token('p.yaml'), env: uncompiled },
    ...Object.fromEntries(
      requesters.map((name) => [scriptWith(name), { args: [processFile('print-token.js'), name, url], expected }]),
    ),
  };
}

/** The program as it is after its installation: in a clone, tests have left compiled code of ways that hardly anybody goes. @param {string} folder */
function install(folder) {
  const root = join(import.meta.dirname, '..', '..');
  const installed = join(folder, 'installed');
  for (const part of ['bin', 'dist/cli']) {
    cpSync(join(root, part), join(installed, part), { recursive: true, filter: (file) => !file.includes('.compiled') });
  }
  return installed;
}

/** @param {string} candidate */
export const scriptWith = (candidate) => `a script with ${candidate}`;

/** @param {Start} start @param {string} cwd @param {NodeJS.ProcessEnv} common */
function runToEnd({ args, expected, env }, cwd, common) {
  const startedAt = performance.now();
  const { stdout, stderr, status, output } = spawnSync(process.execPath, args, {
    cwd,
    env: { ...common, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const ms = performance.now() - startedAt;
  if (status !== 0 || !stdout.startsWith(expected)) throw new Error(`node ${args.join(' ')} failed: ${stderr}`);
  return { ms, mib: Number(output[3]) };
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present(data) {
  const bare = data[BARE] ?? { ms: [], mib: [] };
  const script = data[scriptWith(OURS)] ?? bare;
  const rows = Object.entries(data).map(([name, { ms, mib }]) => ({
    name,
    time: medianRatio(ms, bare.ms),
    memory: medianRatio(mib, bare.mib),
    ms: median(ms),
    mib: median(mib),
    ahead: !name.includes(OURS) && Math.min(medianRatio(ms, script.ms), medianRatio(mib, script.mib)) < 1,
  }));
  const plot = (/** @type {'ms' | 'mib'} */ unit, /** @type {string} */ heading) =>
    bars(
      heading,
      rows.map((row) => ({
        name: row.name,
        value: row[unit],
        label: `${row[unit].toFixed(0)} ${unit === 'ms' ? 'ms' : 'MiB'}`,
        ours: row.name.includes(OURS),
      })),
    );
  return {
    plots: {
      'starts-time': plot('ms', 'From start to end of the process (shorter is better)'),
      'starts-memory': plot('mib', 'Peak memory of the process (shorter is better)'),
    },
    text: [
      table(
        ['', 'time ÷ bare node', 'peak memory ÷ bare node', 'ms', 'MiB'],
        rows.map(({ name, time, memory, ms, mib }) => [
          name.startsWith('a ') ? name : `\`${name}\``,
          times(time),
          times(memory),
          ms.toFixed(1),
          mib.toFixed(1),
        ]),
      ),
      explain(
        'starts',
        rows.filter(({ ahead }) => ahead).map(({ name }) => name),
      ),
    ],
  };
}
