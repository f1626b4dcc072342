// Requests tokens with one client for the time that the parent names.
import { loadClient } from '../clients.js';
import { accessToken } from '../fixtures.js';
import { serveParent } from './child-process.js';

const [name = '', url = ''] = process.argv.slice(2);
const requestToken = (await loadClient(name)).request(url);

/** @param {{ concurrency: number, durationMs: number }} task */
async function measure({ concurrency, durationMs }) {
  const startedAt = performance.now();
  let count = 0;
  const caller = async () => {
    while (performance.now() - startedAt < durationMs) {
      if ((await requestToken()) !== accessToken) throw new Error(`${name} returned a wrong token`);
      count++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  return { count, rate: (count * 1000) / (performance.now() - startedAt) };
}

serveParent(measure);
