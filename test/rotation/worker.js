// A process of its own that uses the built library as a program would. It does what its parent says and tells what came of it.
import { createTokenSource } from '../../dist/index.js';

/** @typedef {{ id: number, act: string, data: import('../../dist/index.js').DataObject, callers: number, pauseMs: number }} Order */
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

/** So many callers at once. @param {TokenSource} source @param {number} callers */
async function get(source, callers) {
  const results = await Promise.allSettled(Array.from({ length: callers }, () => source.get()));
  const tokens = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value.access_token] : []));
  const errors = results.flatMap((one) => (one.status === 'rejected' ? [`${one.reason.code} ${one.reason}`] : []));
  return { served: tokens.length, tokens: [...new Set(tokens)], errors: [...new Set(errors)] };
}

process.on('message', async (message) => {
  const { id, act, data, callers, pauseMs } = /** @type {Order} */ (message);
  if (act === 'end') {
    // Nothing else may keep the process alive.
    process.disconnect();
    return;
  }
  const source = sourceFor(data);
  if (act === 'refresh') source.invalidate();
  if (act !== 'loop') {
    process.send?.({ id, answer: await get(source, callers) });
    return;
  }
  for (let turn = 0; ; turn++) {
    source.invalidate();
    const { errors } = await get(source, callers);
    process.send?.({ turn, errors });
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
});
process.on('disconnect', () => {
  if (process.exitCode === undefined) process.exitCode = 0;
});
process.send?.({ ready: true });
