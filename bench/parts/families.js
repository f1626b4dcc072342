import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../child.js';
import { createVault, startRedis } from '../fixtures.js';
import { table, whole } from '../format.js';
import { median } from '../statistics.js';

export const title = 'First use of a refresh token, by the number of token families in the store';

/** Milliseconds of each call, by the number of families. @typedef {Record<number, number[]>} Row */

/** @param {import('../report.js').Options} options @returns {Promise<Record<string, Row>>} */
export async function measure({ quick }) {
  const calls = quick ? 10 : 60;
  const sizes = quick ? [100, 10_000] : [100, 10_000, 100_000];
  const { directory, env } = createVault();
  const provider = await startChild('rotating-server.js');
  const redis = await startRedis(directory);
  if (redis === undefined) console.error('SKIPPED Redis: redis-server is not installed');
  /** @type {Record<string, { env: NodeJS.ProcessEnv, fill: (from: number, to: number) => void }>} */
  const stores = { vault: { env, fill: (from, to) => fillVault(join(directory, 'vault'), from, to) } };
  if (redis !== undefined) {
    stores['Redis'] = {
      env: { ...env, OAUTH_PROFILE_STORE: redis.url },
      fill: (from, to) => fillRedis(redis.url, from, to),
    };
  }
  /** @type {Record<string, Row>} */
  const rows = {};
  try {
    for (const [name, store] of Object.entries(stores)) {
      /** @type {Row} */
      const row = {};
      rows[name] = row;
      const run = async (/** @type {string} */ prefix, /** @type {number} */ count) => {
        const child = await startChild(
          'first-use.js',
          [`${provider.firstMessage}/0`, prefix, String(count)],
          store.env,
        );
        child.stop();
        return /** @type {number[]} */ (child.firstMessage);
      };
      // Creates the store.
      await run(`${name}create`, 1);
      let filled = 0;
      for (const size of sizes) {
        store.fill(filled, size);
        filled = size;
        row[size] = await run(`${name}${size}`, calls);
      }
    }
    return rows;
  } finally {
    provider.stop();
    await redis?.stop();
    rmSync(directory, { recursive: true });
  }
}

const recordName = (/** @type {number} */ index) =>
  createHash('sha256').update(String(index)).digest('hex').slice(0, 32);

/** Copies a record under other names. @param {string} vault @param {number} from @param {number} to */
function fillVault(vault, from, to) {
  const [key = ''] = readdirSync(vault);
  const records = join(vault, key);
  const content = readFileSync(join(records, readdirSync(records).find((name) => name.endsWith('.record')) ?? ''));
  for (let index = from; index < to; index++) {
    writeFileSync(join(records, `${recordName(index)}.record`), content, { mode: 0o600 });
  }
}

/** Copies a record under other names. @param {string} url @param {number} from @param {number} to */
function fillRedis(url, from, to) {
  const script = `
    local hash = redis.call('KEYS', 'oauth-profile:{store}:records:*')[1]
    local value = redis.call('HVALS', hash)[1]
    for i = ARGV[1], ARGV[2] do redis.call('HSET', hash, string.sub(redis.sha1hex(i), 1, 32), value) end`;
  execFileSync('redis-cli', ['-u', url, 'EVAL', script, '0', String(from), String(to - 1)]);
}

/** @param {Record<string, Row>} data */
export function present(data) {
  const sizes = Object.keys(Object.values(data)[0] ?? {}).map(Number);
  return {
    plots: {},
    text: [
      table(
        ['ms until the first token', ...sizes.map((size) => `${whole(size)} families`)],
        Object.entries(data).map(([name, row]) => [name, ...sizes.map((size) => median(row[size] ?? []).toFixed(1))]),
      ),
      'Median of the calls, including the request to the provider and two durable writes.',
    ],
  };
}
