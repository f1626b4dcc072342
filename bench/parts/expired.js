import { setTimeout as sleep } from 'node:timers/promises';
import { OURS } from '../candidates.js';
import { startChild, startEach } from '../child.js';
import { median, medianRatio } from '../median.js';
import { table, times, whole } from '../report/markdown.js';
import { bars } from '../report/plot.js';
import { explain } from '../report/reasons.js';

export const title = 'A thousand callers, one expired token';

const CALLERS = 1000;
const keepers = {
  [OURS]: '',
  'openid-client': 'its caller keeps the token in a variable',
  'simple-oauth2': 'its caller keeps the token in a variable',
  '@badgateway/oauth2-client': '',
  'google-auth-library': '',
  '@azure/msal-node': '`acquireTokenByClientCredential()`',
  '@azure/msal-node, silent': '`acquireTokenSilent()`',
};

/** Requests that the server saw, callers served and milliseconds until the last: one number for each round, each in a new process. @param {boolean} quick */
export async function measure(quick) {
  const rounds = quick ? 1 : 5;
  const server = await startChild('token-server.js');
  const url = String(server.firstMessage);
  const tell = async (/** @type {{ expiresIn?: number }} */ task) =>
    /** @type {{ requests: number }} */ (await server.ask(task)).requests;
  /** @type {Record<string, { requests: number[], served: number[], ms: number[] }>} */
  const found = Object.fromEntries(Object.keys(keepers).map((name) => [name, { requests: [], served: [], ms: [] }]));
  try {
    for (let round = 0; round < rounds; round++) {
      await tell({ expiresIn: 1 });
      const children = await startEach('getter.js', Object.keys(keepers), url);
      await sleep(1100);
      await tell({ expiresIn: 3600 });
      for (const { name, child } of children) {
        const before = await tell({});
        const { ms, served } = /** @type {{ ms: number, served: number }} */ (await child.ask({ callers: CALLERS }));
        found[name]?.requests.push((await tell({})) - before);
        found[name]?.served.push(served);
        found[name]?.ms.push(ms);
      }
      for (const { child } of children) child.end();
    }
    return found;
  } finally {
    server.end();
  }
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present(data) {
  const rows = Object.entries(data).map(([name, { requests, served, ms }]) => ({
    name,
    ratio: medianRatio(ms, data[OURS]?.ms ?? []),
    requests: median(requests),
    served: median(served),
    ms: median(ms),
  }));
  return {
    plots: {
      'expired-requests': bars(
        'Requests for 1,000 callers of an expired token (shorter is better)',
        rows.map(({ name, requests }) => ({ name, value: requests, label: whole(requests), ours: name === OURS })),
      ),
    },
    text: [
      table(
        ['', 'its time ÷ ours', 'requests', `served of ${whole(CALLERS)}`, 'ms until the last', ''],
        rows.map(({ name, ratio, requests, served, ms }) => [
          name,
          times(ratio),
          whole(requests),
          whole(served),
          ms.toFixed(1),
          keepers[/** @type {keyof typeof keepers} */ (name)] ?? '',
        ]),
      ),
      explain(
        'expired',
        rows.filter(({ ratio }) => ratio < 1).map(({ name }) => name),
      ),
    ],
  };
}
