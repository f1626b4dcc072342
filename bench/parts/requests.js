import { startChild, startEach } from '../child.js';
import { OURS, requesters } from '../clients.js';
import { table, times, whole } from '../format.js';
import { bars } from '../plot.js';
import { median, medianRatio } from '../statistics.js';

export const title = 'Token requests';

/** Returns tokens per second of each client, one number per round. @param {import('../report.js').Options} options */
export async function measure({ quick, selects }) {
  // The warm-up is some ten thousand requests: V8 has then optimised what it will optimise.
  const { rounds, roundMs, warmUpMs } = quick
    ? { rounds: 2, roundMs: 150, warmUpMs: 400 }
    : { rounds: 11, roundMs: 300, warmUpMs: 2500 };
  const names = requesters.filter((name) => name === OURS || name === 'node:http' || selects(name));
  const server = await startChild('token-server.js');
  const children = await startEach('request-tokens.js', names, String(server.firstMessage));
  /** Runs one client after the other, so that client and server have a core each. */
  const runRound = async (/** @type {number} */ concurrency, /** @type {number} */ durationMs) => {
    /** @type {Record<string, number>} */
    const rates = {};
    for (const { name, child } of children) {
      const before = Number(await server.call({}));
      const task = { concurrency, durationMs };
      const { count, rate } = /** @type {{ count: number, rate: number }} */ (await child.call(task));
      if (Number(await server.call({})) - before < count)
        throw new Error(`${name} returned more tokens than requested`);
      rates[name] = rate;
    }
    return rates;
  };
  const measureRounds = async (/** @type {number} */ concurrency) => {
    await runRound(concurrency, roundMs);
    /** @type {Record<string, number[]>} */
    const found = Object.fromEntries(names.map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const [name, rate] of Object.entries(await runRound(concurrency, roundMs))) found[name]?.push(rate);
    }
    return found;
  };
  try {
    await runRound(50, warmUpMs);
    return { sequential: await measureRounds(1), concurrent: await measureRounds(50) };
  } finally {
    server.stop();
    for (const { child } of children) child.stop();
  }
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present({ sequential, concurrent }) {
  const cells = (/** @type {Record<string, number[]>} */ found, /** @type {string} */ name) => ({
    ratio: medianRatio(found[OURS] ?? [], found[name] ?? []),
    rate: median(found[name] ?? []),
  });
  const rows = Object.keys(sequential).map((name) => ({
    name,
    sequential: cells(sequential, name),
    concurrent: cells(concurrent, name),
  }));
  const plot = (/** @type {'sequential' | 'concurrent'} */ mode, /** @type {string} */ heading) =>
    bars(
      heading,
      rows.map((row) => ({ name: row.name, value: row[mode].rate, label: whole(row[mode].rate) })),
    );
  return {
    plots: {
      'requests-sequential': plot('sequential', 'Tokens per second, one request after the other (longer is better)'),
      'requests-concurrent': plot('concurrent', 'Tokens per second, 50 concurrent requests (longer is better)'),
    },
    text: [
      table(
        ['', 'ours ÷ it, one by one', 'ours ÷ it, 50 at once', 'tokens/s, one by one', 'tokens/s, 50 at once'],
        rows.map((row) => [
          row.name,
          times(row.sequential.ratio),
          times(row.concurrent.ratio),
          whole(row.sequential.rate),
          whole(row.concurrent.rate),
        ]),
      ),
      'node:http sends a prepared request and checks nothing. undici is a faster HTTP client, but importing it takes a short process longer ' +
        'than all its requests.',
    ],
  };
}
