import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { candidateFile, OURS } from '../candidates.js';
import { processFile, startChild } from '../child.js';
import { median, medianRatio } from '../median.js';
import { accessToken } from '../profile.js';
import { startRedis } from '../redis.js';
import { table, times, whole } from '../report/markdown.js';
import { bars } from '../report/plot.js';
import { explain } from '../report/reasons.js';
import { seed } from '../seed.js';
import { createFolder } from '../vault.js';

export const title = 'One rotating refresh token, eight processes';

const PROCESSES = 8;
const CALLERS = 20;
/** oauth4webapi is what openid-client is made of. */
export const sharers = [
  'openid-client',
  'simple-oauth2',
  '@badgateway/oauth2-client',
  'google-auth-library',
  '@azure/msal-node',
];

/**
 * @typedef {object} Herd of processes that want the same token: one number for each round
 * @property {string} candidate
 * @property {string} store
 * @property {number} latencyMs of the provider
 * @property {NodeJS.ProcessEnv} env
 * @property {number[]} ms of the slowest
 * @property {number[]} bare of the slowest of as many that do nothing
 * @property {number[]} served
 * @property {number[]} requests
 * @property {number[]} refused
 * @property {number[]} alive 1 where the refresh token can still be used
 */

/** @param {boolean} quick @returns {Promise<Record<string, Herd>>} */
export async function measure(quick) {
  const rounds = quick ? 1 : 7;
  const { folder, env } = createFolder();
  const provider = await startChild('rotating-server.js');
  const redis = await startRedis(folder);
  try {
    const herds = prepareHerds(env, redis?.url);
    // The first only brings files into the page cache.
    for (let round = quick ? 0 : -1; round < rounds; round++) {
      for (const [index, herd] of Object.values(herds).entries()) {
        const family = `f${index}r${round + 1}`;
        const url = `${provider.firstMessage}/${herd.latencyMs}`;
        const file = join(folder, `${family}.json`);
        const refreshToken = `${family}.0`;
        seed(herd.candidate, file, refreshToken);
        const bare = await runTogether(['-e', '0'], env);
        const script = [processFile('herd.js'), candidateFile(herd.candidate), accessToken];
        const run = await runTogether([...script, url, file, refreshToken, String(CALLERS)], herd.env);
        const seen = /** @type {{ requests: number, refused: number, alive: boolean }} */ (await provider.ask(family));
        if (round < 0) continue;
        herd.bare.push(bare.ms);
        herd.ms.push(run.ms);
        herd.served.push(run.served);
        herd.requests.push(seen.requests);
        herd.refused.push(seen.refused);
        herd.alive.push(seen.alive ? 1 : 0);
      }
    }
    return herds;
  } finally {
    provider.end();
    await redis?.end();
    rmSync(folder, { recursive: true });
  }
}

/** @param {NodeJS.ProcessEnv} env @param {string | undefined} redisUrl */
function prepareHerds(env, redisUrl) {
  /** @type {Record<string, Herd>} */
  const herds = {};
  const add = (/** @type {Pick<Herd, 'candidate' | 'store' | 'latencyMs' | 'env'>} */ herd) => {
    const name = herd.candidate === OURS ? herd.store : herd.candidate;
    const empty = { ms: [], bare: [], served: [], requests: [], refused: [], alive: [] };
    herds[`${name}, provider ${herd.latencyMs} ms`] = { ...herd, ...empty };
  };
  for (const latencyMs of [0, 100]) {
    add({ candidate: OURS, store: 'the vault', latencyMs, env });
    if (redisUrl !== undefined)
      add({ candidate: OURS, store: 'Redis', latencyMs, env: { ...env, OAUTH_PROFILE_STORE: redisUrl } });
  }
  for (const candidate of sharers) add({ candidate, store: 'a JSON file', latencyMs: 100, env });
  return herds;
}

/** Milliseconds until the last of several processes has ended, and how many callers they have served. @param {string[]} args @param {NodeJS.ProcessEnv} env */
async function runTogether(args, env) {
  const startedAt = performance.now();
  const statuses = Array.from({ length: PROCESSES }, async () => {
    // Some libraries tell on stderr what is counted here.
    const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
    const [status] = await once(child, 'close');
    // What is less is Node's own: a process that failed has served nobody.
    return Math.max(0, Number(status) - 100);
  });
  const served = (await Promise.all(statuses)).reduce((sum, one) => sum + one, 0);
  return { ms: performance.now() - startedAt, served };
}

/** What a herd cannot be quicker than, and 100 ms. @param {{ bare: number[], latencyMs: number }} herd */
export const floorOf = ({ bare, latencyMs }) => bare.map((ms) => ms + latencyMs + 100);

/** @param {Record<string, Herd>} data */
export function present(data) {
  const rows = Object.values(data).map((herd) => ({
    ...herd,
    ratio: medianRatio(herd.ms, floorOf(herd)),
  }));
  const others = rows.filter(({ candidate }) => candidate !== OURS);
  const ours = rows.filter(({ candidate, latencyMs }) => candidate === OURS && latencyMs > 0);
  const all = PROCESSES * CALLERS;
  return {
    plots: {
      'rotation-served': bars(
        `Callers served, of ${all} in ${PROCESSES} processes, by one rotating refresh token (longer is better)`,
        rows
          .filter(({ latencyMs }) => latencyMs > 0)
          .map(({ candidate, store, served, alive }) => ({
            name: `${candidate}, ${store}`,
            value: median(served),
            label: `${whole(median(served))}${median(alive) < 1 ? ', then nobody: revoked' : ''}`,
            ours: candidate === OURS,
          })),
      ),
    },
    text: [
      table(
        [
          `${PROCESSES} processes, ${CALLERS} callers each`,
          'kept in',
          'provider takes',
          `served of ${all}`,
          'requests',
          'invalid_grant',
          'refresh token usable after',
          'slowest ÷ (slowest bare node + latency + 100 ms)',
          'ms',
          'ms, 8 × bare node',
        ],
        rows.map((row) => [
          row.candidate,
          row.store,
          `${row.latencyMs} ms`,
          whole(median(row.served)),
          whole(median(row.requests)),
          whole(median(row.refused)),
          `${row.alive.filter(Boolean).length} of ${row.alive.length} rounds`,
          times(row.ratio),
          whole(median(row.ms)),
          whole(median(row.bare)),
        ]),
      ),
      explain(
        'rotation',
        others.filter(({ ms }) => ours.some((own) => medianRatio(ms, own.ms) < 1)).map(({ candidate }) => candidate),
      ),
    ],
  };
}
