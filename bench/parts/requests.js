import { OURS, requesters } from '../candidates.js';
import { startChild, startEach } from '../child.js';
import { median, medianRatio } from '../median.js';
import { table, times, whole } from '../report/markdown.js';
import { bars } from '../report/plot.js';
import { explain } from '../report/reasons.js';

export const title = 'Token requests';

/** Requests a second of each candidate, one number for each round. @param {boolean} quick */
export async function measure(quick) {
  // Some ten thousand requests, until V8 has compiled what it will compile.
  const { rounds, roundMs, compileMs } = quick
    ? { rounds: 2, roundMs: 150, compileMs: 400 }
    : { rounds: 11, roundMs: 300, compileMs: 2500 };
  const server = await startChild('token-server.js');
  const url = String(server.firstMessage);
  const children = await startEach('requester.js', requesters, url);
  const requestsSeen = async () => /** @type {{ requests: number }} */ (await server.ask({})).requests;
  /** One candidate after the other, so that the two processes at work, client and server, have a core each. */
  const ask = async (/** @type {number} */ atOnce, /** @type {number} */ forMs) => {
    /** @type {Record<string, number>} */
    const rates = {};
    for (const { name, child } of children) {
      const before = await requestsSeen();
      const { count, rate } = /** @type {{ count: number, rate: number }} */ (await child.ask({ atOnce, forMs }));
      if ((await requestsSeen()) - before < count) throw new Error(`${name} had more tokens than requests`);
      rates[name] = rate;
    }
    return rates;
  };
  const measureRounds = async (/** @type {number} */ atOnce) => {
    await ask(atOnce, roundMs);
    /** @type {Record<string, number[]>} */
    const found = Object.fromEntries(requesters.map((name) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const [name, rate] of Object.entries(await ask(atOnce, roundMs))) found[name]?.push(rate);
    }
    return found;
  };
  try {
    await ask(50, compileMs);
    return { alone: await measureRounds(1), fifty: await measureRounds(50) };
  } finally {
    server.end();
    for (const { child } of children) child.end();
  }
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present({ alone, fifty }) {
  const cells = (/** @type {Record<string, number[]>} */ found, /** @type {string} */ name) => ({
    ratio: medianRatio(found[OURS] ?? [], found[name] ?? []),
    rate: median(found[name] ?? []),
  });
  const rows = requesters.map((name) => ({ name, alone: cells(alone, name), fifty: cells(fifty, name) }));
  const plot = (/** @type {'alone' | 'fifty'} */ way, /** @type {string} */ heading) =>
    bars(
      heading,
      rows.map((row) => ({
        name: row.name,
        value: row[way].rate,
        label: whole(row[way].rate),
        ours: row.name === OURS,
      })),
    );
  return {
    plots: {
      'requests-one-by-one': plot('alone', 'Tokens a second, one request after the other (longer is better)'),
      'requests-50-at-once': plot('fifty', 'Tokens a second, 50 requests at once (longer is better)'),
    },
    text: [
      table(
        ['', 'ours ÷ it, one by one', 'ours ÷ it, 50 at once', 'tokens/s, one by one', 'tokens/s, 50 at once'],
        rows.map((row) => [
          row.name,
          times(row.alone.ratio),
          times(row.fifty.ratio),
          whole(row.alone.rate),
          whole(row.fifty.rate),
        ]),
      ),
      explain(
        'requests',
        rows.filter((row) => Math.min(row.alone.ratio, row.fifty.ratio) < 1).map((row) => row.name),
      ),
    ],
  };
}
