// A process of its own: how often a second a token that is at hand can be had, and an entry of a map behind a promise.
import { createTokenSource } from '../dist/index.js';
import { dataFor } from './profile.js';

const [url = ''] = process.argv.slice(2);
const source = createTokenSource('p', { data: dataFor(url), store: 'memory' });
await source.get();
const map = new Map([['p', await source.get()]]);
/** @type {Record<string, () => Promise<unknown>>} */
const ways = { 'oauth-profile': () => source.get(), 'a map': async () => map.get('p') };

/** @param {{ way: string, forMs: number }} task */
async function measure({ way, forMs }) {
  const get = ways[way] ?? (async () => undefined);
  const startedAt = performance.now();
  let count = 0;
  for (; performance.now() - startedAt < forMs; count += 1000) {
    for (let turn = 0; turn < 1000; turn++) if ((await get()) === undefined) throw new Error(`${way} has nothing`);
  }
  return (count * 1000) / (performance.now() - startedAt);
}

process.on('message', async (task) =>
  process.send?.(await measure(/** @type {Parameters<typeof measure>[0]} */ (task))),
);
process.on('disconnect', () => process.exit());
process.send?.('ready');
