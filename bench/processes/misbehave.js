// Gets one token with a candidate from an endpoint that misbehaves, tells its parent how that ended, and ends.
import { inspect } from 'node:util';
import { loadCandidate } from '../candidates.js';
import { peakMib } from '../peak-memory.cjs';

const [name = '', way = '', url = '', file = '', refreshToken = '', waitMs = '0'] = process.argv.slice(2);
const candidate = await loadCandidate(name);
const get = way === 'share' ? candidate.share(url, file, refreshToken) : candidate.connect(url);

/** Every form in which an error object may be written to a log. @param {unknown} error */
function formsOf(error) {
  return {
    message: String(/** @type {{ message?: unknown }} */ (error)?.message),
    inspect: inspect(error, { depth: 12, maxStringLength: null }),
    JSON: jsonOf(error),
  };
}

/** @param {unknown} error */
function jsonOf(error) {
  try {
    return JSON.stringify(error) ?? '';
  } catch {
    return '';
  }
}

process.on('disconnect', () => process.exit());

const startedAt = performance.now();
const waiting = new Promise((resolve) => setTimeout(resolve, Number(waitMs), { ended: false }));
const outcome = await Promise.race([
  get().then(
    (token) => ({ ended: true, token: typeof token === 'string' }),
    (error) => ({ ended: true, token: false, error: formsOf(error) }),
  ),
  waiting,
]);
const report = { ...outcome, ms: performance.now() - startedAt, peakMib: peakMib() };
process.send?.(report, () => process.exit());
