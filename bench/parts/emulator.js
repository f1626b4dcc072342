import { generateKeyPairSync, sign } from 'node:crypto';
import { startChild } from '../child.js';
import { table, whole } from '../format.js';
import { bars } from '../plot.js';
import { median } from '../statistics.js';

export const title = 'Tokens of the emulator';

const algorithms = /** @type {const} */ (['RS256', 'PS256', 'ES256']);
const CONCURRENCY = 50;

/**
 * Processor time of one signature in ms, without anything else.
 * @param {(typeof algorithms)[number]} alg
 */
function signatureCost(alg) {
  const { privateKey } =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const options = alg === 'PS256' ? { key: privateKey, padding: 6, saltLength: 32 } : { key: privateKey };
  const data = Buffer.alloc(500, 'x');
  const before = process.cpuUsage();
  const count = 500;
  for (let i = 0; i < count; i++) sign('sha256', data, options);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / count;
}

/** Measures each algorithm, and the memory of the emulator. @param {import('../report.js').Options} options */
export async function measure({ quick, selects }) {
  const { rounds, roundMs, requests } = quick
    ? { rounds: 2, roundMs: 500, requests: 2_000 }
    : { rounds: 7, roundMs: 2_000, requests: 100_000 };
  /** @type {Record<string, { rates: number[], cpuMs: number[], signatureMs: number }>} */
  const rows = {};
  for (const alg of algorithms.filter((one) => selects(one))) {
    const { server, client, stop } = await start(alg);
    const row = {
      rates: /** @type {number[]} */ ([]),
      cpuMs: /** @type {number[]} */ ([]),
      signatureMs: signatureCost(alg),
    };
    await client.call({ concurrency: CONCURRENCY, durationMs: roundMs });
    for (let round = 0; round < rounds; round++) {
      const before = await used(server);
      const task = { concurrency: CONCURRENCY, durationMs: roundMs };
      const { count, rate } = /** @type {{ count: number, rate: number }} */ (await client.call(task));
      row.rates.push(rate);
      row.cpuMs.push(((await used(server)).cpuMs - before.cpuMs) / count);
    }
    rows[alg] = row;
    stop();
  }
  const { server, client, stop } = await start('ES256');
  const rss = [];
  for (const count of [requests / 100, requests / 10, requests]) {
    await client.call({ concurrency: CONCURRENCY, count: count - (rss.at(-1)?.count ?? 0) });
    rss.push({ count, bytes: (await used(server)).rss });
  }
  stop();
  return { rows, rss };
}

/** @param {string} alg */
async function start(alg) {
  const server = await startChild('emulator.js', [alg]);
  const client = await startChild('request-emulated-tokens.js', [String(server.firstMessage)]);
  const stop = () => {
    server.stop();
    client.stop();
  };
  return { server, client, stop };
}

/** @param {Awaited<ReturnType<typeof startChild>>} server */
async function used(server) {
  return /** @type {{ cpuMs: number, rss: number }} */ (await server.call({}));
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present({ rows, rss }) {
  const entries = Object.entries(rows).map(([alg, { rates, cpuMs, signatureMs }]) => ({
    alg,
    rate: median(rates),
    cpuMs: median(cpuMs),
    signatureMs,
  }));
  return {
    plots: {
      emulator: bars(
        `Signed tokens per second, ${CONCURRENCY} at once (longer is better)`,
        entries.map(({ alg, rate }) => ({ name: alg, value: rate, label: whole(rate) })),
      ),
    },
    text: [
      table(
        [
          '',
          'tokens/s, 50 at once',
          'processor ms per token',
          'of which the signature',
          'tokens/s that two cores can sign',
        ],
        entries.map(({ alg, rate, cpuMs, signatureMs }) => [
          alg,
          whole(rate),
          cpuMs.toFixed(2),
          signatureMs.toFixed(2),
          whole(2000 / signatureMs),
        ]),
      ),
      'RSA signatures are computed on other threads, so that both cores work. The client needs some of their time. The last column is ' +
        'the upper bound for any server with 2048-bit RSA, or P-256, and the OpenSSL of this Node.',
      table(
        ['requests', 'memory of the emulator'],
        rss.map(({ count, bytes }) => [whole(count), `${Math.round(bytes / 2 ** 20)} MiB`]),
      ),
    ],
  };
}
