import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processFile, startChild } from '../child.js';
import { OURS, requesters } from '../clients.js';
import { accessToken, createVault, dataFor, refreshDataFor } from '../fixtures.js';
import { table, times } from '../format.js';
import { bars } from '../plot.js';
import { median, medianRatio } from '../statistics.js';

export const title = 'Whole processes, from start to exit';
export const BARE = '`node -e 0`';
export const FROM_HTTP = '`oauth-profile token p`, profile in YAML, over HTTP';
export const FROM_VAULT = '`oauth-profile token p`, from the vault';
/** The row of a short script that gets one token with a client. @param {string} name */
export const scriptWith = (name) => `script with ${name}`;

/** Returns milliseconds, one number per round. @param {import('../report.js').Options} options */
export async function measure({ quick, selects }) {
  const rounds = quick ? 2 : 15;
  const servers = await Promise.all([startChild('token-server.js'), startChild('rotating-server.js')]);
  const { directory, env } = createVault();
  try {
    const [url = '', rotatingUrl = ''] = servers.map(({ firstMessage }) => String(firstMessage));
    const commands = Object.entries(prepareCommands(url, rotatingUrl, directory)).filter(
      ([name]) => name === BARE || name.includes(OURS) || selects(name),
    );
    /** @type {Record<string, number[]>} */
    const found = Object.fromEntries(commands.map(([name]) => [name, []]));
    // Round 0 only fills the page cache, Node's compile cache and the vault.
    for (let round = 0; round <= rounds; round++) {
      for (const [name, args] of commands) {
        const ms = runToExit(args, name === BARE ? '' : `${accessToken}\n`, directory, env);
        if (round > 0) found[name]?.push(ms);
      }
    }
    return found;
  } finally {
    for (const server of servers) server.stop();
    rmSync(directory, { recursive: true });
  }
}

/** @param {string} url @param {string} rotatingUrl @param {string} directory @returns {Record<string, string[]>} arguments for node, by row */
function prepareCommands(url, rotatingUrl, directory) {
  // Without reuse each run sends a request, as the other clients do.
  const fields = Object.entries({ ...dataFor(url).p, 'options.reuse': 'false' });
  const lines = fields.map(([name, value]) => `  ${name}: ${JSON.stringify(value)}\n`);
  writeFileSync(join(directory, 'http.yaml'), `p:\n${lines.join('')}`);
  writeFileSync(join(directory, 'vault.json'), JSON.stringify(refreshDataFor(rotatingUrl, 'startup.0')));
  const command = join(import.meta.dirname, '..', '..', 'bin', 'oauth-profile.js');
  return {
    [BARE]: ['-e', '0'],
    [FROM_HTTP]: [command, 'token', 'p', '--data', 'http.yaml'],
    [FROM_VAULT]: [command, 'token', 'p', '--data', 'vault.json'],
    ...Object.fromEntries(requesters.map((name) => [scriptWith(name), [processFile('print-token.js'), name, url]])),
  };
}

/** @param {string[]} args @param {string} expected @param {string} cwd @param {NodeJS.ProcessEnv} env */
function runToExit(args, expected, cwd, env) {
  const startedAt = performance.now();
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' });
  const ms = performance.now() - startedAt;
  if (status !== 0 || stdout !== expected) throw new Error(`node ${args.join(' ')} failed: ${stderr}`);
  return ms;
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present(data) {
  const rows = Object.entries(data).map(([name, ms]) => ({
    name,
    ratio: medianRatio(ms, data[BARE] ?? []),
    ms: median(ms),
  }));
  return {
    plots: {
      startup: bars(
        'From start to exit of the process (shorter is better)',
        rows.map(({ name, ms }) => ({ name: name.replaceAll('`', ''), value: ms, label: `${ms.toFixed(0)} ms` })),
      ),
    },
    text: [
      table(
        ['', 'time ÷ bare node', 'ms'],
        rows.map(({ name, ratio, ms }) => [name, times(ratio), ms.toFixed(1)]),
      ),
    ],
  };
}
