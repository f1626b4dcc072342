// Gets the first token for each of some refresh tokens that the store has not seen. Sends the milliseconds of each call to the parent.
import { createTokenSource } from '../../dist/index.js';
import { accessToken, refreshDataFor } from '../fixtures.js';

const [url = '', prefix = '', count = '1'] = process.argv.slice(2);
/** @param {number} index */
async function measure(index) {
  const source = createTokenSource('p', { data: refreshDataFor(url, `${prefix}x${index}.0`) });
  const startedAt = performance.now();
  const { access_token: token } = await source.get();
  if (token !== accessToken) throw new Error('wrong token');
  return performance.now() - startedAt;
}
// The first call loads the store.
await measure(-1);
/** @type {number[]} */
const times = [];
for (let index = 0; index < Number(count); index++) times.push(await measure(index));
process.send?.(times);
