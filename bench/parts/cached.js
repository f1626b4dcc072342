import { OURS } from '../candidates.js';
import { startChild, startEach } from '../child.js';
import { median, medianRatio } from '../median.js';
import { table, times, whole } from '../report/markdown.js';
import { bars } from '../report/plot.js';
import { explain } from '../report/reasons.js';

export const title = 'A token that is at hand';

const keepers = {
  [OURS]: '`createTokenSource().get()`',
  'a map': '`async () => map.get(name)`',
  '@badgateway/oauth2-client': '`OAuth2Fetch.getAccessToken()`',
  'google-auth-library': '`UserRefreshClient.getAccessToken()`',
  '@azure/msal-node': '`acquireTokenByClientCredential()`',
  '@azure/msal-node, silent': '`acquireTokenSilent()`',
};
const cannot = {
  'oauth4webapi, openid-client, simple-oauth2': 'cannot: they keep no token; what their callers keep is the map',
};

/** Gets from memory in a second of processor time, one number for each round. @param {boolean} quick */
export async function measure(quick) {
  const { rounds, roundMs, compileMs } = quick
    ? { rounds: 3, roundMs: 100, compileMs: 300 }
    : { rounds: 11, roundMs: 250, compileMs: 1500 };
  const server = await startChild('token-server.js');
  const names = Object.keys(keepers);
  const children = await startEach('getter.js', names, String(server.firstMessage));
  /** @type {Record<string, number[]>} */
  const found = Object.fromEntries(names.map((name) => [name, []]));
  try {
    for (const { child } of children) await child.ask({ forMs: compileMs });
    for (let round = 0; round < rounds; round++)
      for (const { name, child } of children) found[name]?.push(Number(await child.ask({ forMs: roundMs })));
    const { requests } = /** @type {{ requests: number }} */ (await server.ask({}));
    if (requests >= names.length) throw new Error(`${requests} requests: somebody asked again instead of keeping`);
    return found;
  } finally {
    server.end();
    for (const { child } of children) child.end();
  }
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present(data) {
  const rows = Object.entries(keepers).map(([name, call]) => ({
    name,
    call,
    ratio: medianRatio(data[OURS] ?? [], data[name] ?? []),
    rate: median(data[name] ?? []),
  }));
  return {
    plots: {
      cached: bars(
        'Gets of a token that is at hand, in a second of processor time (longer is better)',
        rows.map(({ name, rate }) => ({ name, value: rate, label: whole(rate), ours: name === OURS })),
      ),
    },
    text: [
      table(
        ['', 'ours ÷ it', 'gets/s of processor time', 'call'],
        [
          ...rows.map(({ name, ratio, rate, call }) => [name, times(ratio), whole(rate), call]),
          ...Object.entries(cannot).map(([name, reason]) => [name, '', '', reason]),
        ],
      ),
      explain(
        'cached',
        rows.filter(({ ratio }) => ratio < 1).map(({ name }) => name),
      ),
    ],
  };
}
