// A child process that uses the built library as a program would. Its parent sends orders; it sends back the results.
import { createTokenSource } from '../../dist/index.js';

/** @typedef {{ id: number, action: string, data: import('../../dist/index.js').DataObject, callers: number, pauseMs: number }} Order */
/** @typedef {import('../../dist/index.js').TokenSource} TokenSource */

const store = process.env['OAUTH_PROFILE_STORE'];
/** @type {Map<string, TokenSource>} */
const sources = new Map();

/** @param {Order['data']} data */
function sourceFor(data) {
  const key = JSON.stringify(data);
  const source = sources.get(key) ?? createTokenSource('p', { data, ...(store !== undefined && { store }) });
  sources.set(key, source);
  return source;
}

/** Calls `get` this many times in parallel. @param {TokenSource} source @param {number} callers */
async function get(source, callers) {
  const results = await Promise.allSettled(Array.from({ length: callers }, () => source.get()));
  const tokens = results.flatMap((call) => (call.status === 'fulfilled' ? [call.value.access_token] : []));
  const errors = results.flatMap((call) => (call.status === 'rejected' ? [`${call.reason.code} ${call.reason}`] : []));
  return { served: tokens.length, tokens: [...new Set(tokens)], errors: [...new Set(errors)] };
}

process.on('message', async (message) => {
  const { id, action, data, callers, pauseMs } = /** @type {Order} */ (message);
  if (action === 'end') {
    // Nothing else may keep the process alive.
    process.disconnect();
    return;
  }
  const source = sourceFor(data);
  if (action === 'refresh') source.invalidate();
  if (action !== 'loop') {
    process.send?.({ id, result: await get(source, callers) });
    return;
  }
  for (let refresh = 1; ; refresh++) {
    source.invalidate();
    const { errors } = await get(source, callers);
    process.send?.({ refresh, errors });
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
});
process.on('disconnect', () => {
  if (process.exitCode === undefined) process.exitCode = 0;
});
process.send?.({ ready: true });
