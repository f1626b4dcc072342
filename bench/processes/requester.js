// Asks for tokens with one candidate when told to, idle else.
import { loadCandidate } from '../candidates.js';
import { accessToken } from '../profile.js';
import { serveParent } from './serve-parent.js';

const [name = '', url = ''] = process.argv.slice(2);
const requestToken = (await loadCandidate(name)).connect(url);

/** @param {{ atOnce: number, forMs: number }} task */
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
  return { count, rate: (count * 1000) / (performance.now() - startedAt) };
}

serveParent(measure);
