// Gets the cached token of one client for the time that the parent names.
import { loadClient } from '../clients.js';
import { serveParent } from './child-process.js';

/** Calls between two reads of the clock. */
const BATCH = 100;
const [name = '', url = ''] = process.argv.slice(2);
const get = (await loadClient(name)).cache(url);
await get();

/** Returns calls per second of processor time: a cached token involves no waiting, and other programs do not distort it. @param {{ durationMs: number }} task */
async function measure({ durationMs }) {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  let count = 0;
  for (; performance.now() - startedAt < durationMs; count += BATCH) {
    for (let call = 0; call < BATCH; call++) if ((await get()) === undefined) throw new Error(`${name}: no token`);
  }
  const { user, system } = process.cpuUsage(before);
  return (count * 1e6) / (user + system);
}

serveParent(measure);
