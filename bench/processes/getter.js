// Gets the token that one candidate keeps: for a while one by one, or once by many callers at once.
import { loadCandidate } from '../candidates.js';
import { serveParent } from './serve-parent.js';

/** Gets between two looks at the clock. */
const BATCH = 100;
const [name = '', url = ''] = process.argv.slice(2);
const get = (await loadCandidate(name)).keep(url);
await get();

/** Nothing is waited for, so processor time is the measure: other programs do not blur it. @param {{ forMs: number }} task @returns gets a second */
async function measureRate({ forMs }) {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  let count = 0;
  for (; performance.now() - startedAt < forMs; count += BATCH) {
    for (let turn = 0; turn < BATCH; turn++) if ((await get()) === undefined) throw new Error(`${name} has nothing`);
  }
  const { user, system } = process.cpuUsage(before);
  return (count * 1e6) / (user + system);
}

/** @param {{ callers: number }} task @returns milliseconds until all are served, and how many were */
async function measureCallers({ callers }) {
  const startedAt = performance.now();
  const got = await Promise.allSettled(Array.from({ length: callers }, get));
  return {
    ms: performance.now() - startedAt,
    served: got.filter((one) => one.status === 'fulfilled' && one.value !== undefined).length,
  };
}

serveParent((task) => ('forMs' in task ? measureRate(task) : measureCallers(task)));
