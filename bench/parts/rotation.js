import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processFile, startChild } from '../child.js';
import { serializedCache } from '../clients/msal-account.js';
import { writeToken } from '../clients/token-file.js';
import { clientFile, OURS, refreshers } from '../clients.js';
import { accessToken, createVault, startRedis } from '../fixtures.js';
import { table, whole } from '../format.js';
import { bars } from '../plot.js';
import { median } from '../statistics.js';

export const title = 'One rotating refresh token, eight processes';
export const VAULT = `${OURS}, vault`;
export const REDIS = `${OURS}, Redis`;

const PROCESSES = 8;
const CALLERS = 20;
const LATENCY_MS = 100;

/**
 * Results of one row, one number per round.
 * @typedef {object} Row
 * @property {string} client
 * @property {NodeJS.ProcessEnv} env
 * @property {number[]} ms until the last process has exited
 * @property {number[]} served callers that got the token
 * @property {number[]} requests
 * @property {number[]} rejected requests
 * @property {number[]} alive 1 if the refresh token can still be used
 */

/** @param {import('../report.js').Options} options @returns {Promise<Record<string, Row>>} */
export async function measure({ quick, selects }) {
  const rounds = quick ? 1 : 7;
  const { directory, env } = createVault();
  const provider = await startChild('rotating-server.js');
  const redis = await startRedis(directory);
  if (redis === undefined) console.error('SKIPPED Redis: redis-server is not installed');
  try {
    const rows = createRows(env, redis?.url, selects);
    // Round 0 only fills the page cache.
    for (let round = 0; round <= rounds; round++) {
      for (const [index, row] of Object.values(rows).entries()) {
        const family = `row${index}round${round}`;
        const file = join(directory, `${family}.json`);
        writeExpiredToken(row.client, file, `${family}.0`);
        const script = [processFile('share-token.js'), clientFile(row.client), accessToken];
        const args = [...script, `${provider.firstMessage}/${LATENCY_MS}`, file, `${family}.0`, String(CALLERS)];
        const { ms, served } = await runConcurrently(args, row.env);
        const state = /** @type {{ requests: number, rejected: number, alive: boolean }} */ (
          await provider.call(family)
        );
        if (round === 0) continue;
        row.ms.push(ms);
        row.served.push(served);
        row.requests.push(state.requests);
        row.rejected.push(state.rejected);
        row.alive.push(state.alive ? 1 : 0);
      }
    }
    return rows;
  } finally {
    provider.stop();
    await redis?.stop();
    rmSync(directory, { recursive: true });
  }
}

/** @param {NodeJS.ProcessEnv} env @param {string | undefined} redisUrl @param {(row: string) => boolean} selects */
function createRows(env, redisUrl, selects) {
  const row = (/** @type {string} */ client, /** @type {NodeJS.ProcessEnv} */ rowEnv) => ({
    client,
    env: rowEnv,
    ms: [],
    served: [],
    requests: [],
    rejected: [],
    alive: [],
  });
  /** @type {Record<string, Row>} */
  const rows = { [VAULT]: row(OURS, env) };
  if (redisUrl !== undefined) rows[REDIS] = row(OURS, { ...env, OAUTH_PROFILE_STORE: redisUrl });
  for (const client of refreshers) if (selects(client)) rows[`${client}, JSON file`] = row(client, env);
  return rows;
}

/** Writes the file that a client's `share` starts with; ours does not read it. @param {string} client @param {string} file @param {string} refreshToken */
export function writeExpiredToken(client, file, refreshToken) {
  if (client === '@azure/msal-node') writeFileSync(file, serializedCache(refreshToken));
  else writeToken(file, { access_token: 'expired', refresh_token: refreshToken, expires_at: 1 });
}

/** Returns milliseconds until the last process has exited, and the number of callers served. @param {string[]} args @param {NodeJS.ProcessEnv} env */
async function runConcurrently(args, env) {
  const startedAt = performance.now();
  const counts = Array.from({ length: PROCESSES }, async () => {
    // Some libraries log the expected errors to stderr.
    const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
    const [status] = await once(child, 'close');
    // A status below 100 is Node's own: the process failed.
    return Math.max(0, Number(status) - 100);
  });
  const served = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  return { ms: performance.now() - startedAt, served };
}

/** @param {Record<string, Row>} data */
export function present(data) {
  const rows = Object.entries(data);
  const all = PROCESSES * CALLERS;
  return {
    plots: {
      'rotation-served': bars(
        `Callers served, of ${all} in ${PROCESSES} processes, with one rotating refresh token (longer is better)`,
        rows.map(([name, { served, alive }]) => ({
          name,
          value: median(served),
          label: `${whole(median(served))}${median(alive) < 1 ? ', then the token family is revoked' : ''}`,
        })),
      ),
    },
    text: [
      table(
        [
          `${PROCESSES} processes, ${CALLERS} callers each`,
          `served of ${all}`,
          'requests',
          'invalid_grant',
          'refresh token usable afterwards',
          'ms until the last process has exited',
        ],
        rows.map(([name, { served, requests, rejected, alive, ms }]) => [
          name,
          whole(median(served)),
          whole(median(requests)),
          whole(median(rejected)),
          `${alive.filter(Boolean).length} of ${alive.length} rounds`,
          whole(median(ms)),
        ]),
      ),
      `The provider responds after ${LATENCY_MS} ms. The other libraries have no lock: their processes use the same refresh token twice, and the ` +
        'provider revokes the family.',
    ],
  };
}
