// Requests one token from a faulty endpoint, sends the outcome to the parent, and exits.
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { loadClient } from '../clients.js';

const [name = '', method = '', url = '', file = '', refreshToken = '', waitMs = '0'] = process.argv.slice(2);
const client = await loadClient(name);
const get = method === 'share' ? client.share(url, file, refreshToken) : client.request(url);

/** The forms in which a program may log an error. @param {unknown} error */
function formatError(error) {
  return {
    message: String(/** @type {{ message?: unknown }} */ (error)?.message),
    inspect: inspect(error, { depth: 12, maxStringLength: null }),
    JSON: toJson(error),
  };
}

/** @param {unknown} error */
function toJson(error) {
  try {
    return JSON.stringify(error) ?? '';
  } catch {
    return '';
  }
}

/** Peak memory of this process in MiB. On Linux getrusage includes the time before exec, VmHWM does not. */
function peakMib() {
  const kib =
    process.platform === 'linux' && /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kib || process.resourceUsage().maxRSS) / 1024;
}

process.on('disconnect', () => process.exit());

const startedAt = performance.now();
const timeout = new Promise((resolve) => setTimeout(resolve, Number(waitMs), { ended: false }));
const outcome = await Promise.race([
  get().then(
    (token) => ({ ended: true, token: typeof token === 'string' }),
    (error) => ({ ended: true, token: false, error: formatError(error) }),
  ),
  timeout,
]);
process.send?.({ ...outcome, ms: performance.now() - startedAt, peakMib: peakMib() }, () => process.exit());
