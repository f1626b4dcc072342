// A process of its own for one candidate: asks for tokens when told to, idle else.
import { loadCandidate } from './candidates.js';
import { accessToken } from './profile.js';

const [name = '', url = ''] = process.argv.slice(2);
const requestToken = (await loadCandidate(name)).connect(url);

/** @param {{ atOnce: number, forMs: number }} task @returns {Promise<number>} requests a second */
async function measure({ atOnce, forMs }) {
  const startedAt = performance.now();
  let count = 0;
  const ask = async () => {
    while (performance.now() - startedAt < forMs) {
      if ((await requestToken()) !== accessToken) throw new Error(`${name} came back without the token`);
      count++;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  return (count * 1000) / (performance.now() - startedAt);
}

process.on('message', async (task) =>
  process.send?.(await measure(/** @type {Parameters<typeof measure>[0]} */ (task))),
);
process.on('disconnect', () => process.exit());
process.send?.('ready');
