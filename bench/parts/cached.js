import { startChild, startEach } from '../child.js';
import { cachers, OURS } from '../clients.js';
import { table, times, whole } from '../format.js';
import { bars } from '../plot.js';
import { median, medianRatio } from '../statistics.js';

export const title = 'Cached tokens';

/** @type {Record<string, string>} */
const calls = {
  [OURS]: '`createTokenSource().getAccessToken()`',
  Map: '`async () => map.get(name)`',
  '@badgateway/oauth2-client': '`OAuth2Fetch.getAccessToken()`',
  'google-auth-library': '`UserRefreshClient.getAccessToken()`',
  '@azure/msal-node': '`acquireTokenByClientCredential()`',
};

/** Returns gets per second of processor time, one number per round. @param {import('../report.js').Options} options */
export async function measure({ quick, selects }) {
  const { rounds, roundMs, warmUpMs } = quick
    ? { rounds: 3, roundMs: 100, warmUpMs: 300 }
    : { rounds: 11, roundMs: 250, warmUpMs: 1500 };
  const names = cachers.filter((name) => name === OURS || selects(name));
  const server = await startChild('token-server.js');
  const children = await startEach('get-cached-token.js', names, String(server.firstMessage));
  /** @type {Record<string, number[]>} */
  const found = Object.fromEntries(names.map((name) => [name, []]));
  try {
    for (const { child } of children) await child.call({ durationMs: warmUpMs });
    for (let round = 0; round < rounds; round++) {
      for (const { name, child } of children) found[name]?.push(Number(await child.call({ durationMs: roundMs })));
    }
    const requests = Number(await server.call({}));
    if (requests > names.length) throw new Error(`${requests} requests: a client did not use its cache`);
    return found;
  } finally {
    server.stop();
    for (const { child } of children) child.stop();
  }
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present(data) {
  const rows = Object.keys(data).map((name) => ({
    name,
    ratio: medianRatio(data[OURS] ?? [], data[name] ?? []),
    rate: median(data[name] ?? []),
  }));
  return {
    plots: {
      cached: bars(
        'Cached tokens per second of processor time (longer is better)',
        rows.map(({ name, rate }) => ({ name, value: rate, label: whole(rate) })),
      ),
    },
    text: [
      table(
        ['', 'ours ÷ it', 'gets/s of processor time', 'call'],
        rows.map(({ name, ratio, rate }) => [name, times(ratio), whole(rate), calls[name] ?? '']),
      ),
      'oauth4webapi, openid-client and simple-oauth2 have no cache. A Map does not check the expiry.',
    ],
  };
}
