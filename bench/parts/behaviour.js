import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../child.js';
import { OURS, refreshers, requesters } from '../clients.js';
import { client, createVault } from '../fixtures.js';
import { table, whole } from '../format.js';
import { bars } from '../plot.js';
import { writeExpiredToken } from './rotation.js';

export const title = 'Faulty token endpoints';

/** Timeouts according to the sources of the libraries. @type {Record<string, string>} */
const timeouts = {
  [OURS]: '10 s per attempt, 30 s in total',
  'node:http': 'none',
  'undici.request': '300 s until the headers',
  fetch: '300 s until the headers',
  oauth4webapi: 'that of fetch',
  'openid-client': '30 s',
  'simple-oauth2': 'none',
  '@badgateway/oauth2-client': 'that of fetch',
  'google-auth-library': 'none',
  '@azure/msal-node': 'that of fetch',
};

/** Without the characters that an encoding would change. */
const secrets = { 'client secret': client.secret.replace('!', ''), 'refresh token': 'a-refresh-token-to-be-rejected' };

/**
 * @typedef {object} Outcome
 * @property {boolean} ended
 * @property {boolean} [token]
 * @property {Record<'message' | 'inspect' | 'JSON', string>} [error]
 * @property {number} ms
 * @property {number} peakMib
 */

/** @typedef {{ secretAtSecondHost: boolean, secondHostReached: boolean, sentMib: number }} Observed */

/** Nothing here is timed, so the hanging requests run in parallel to the others. @param {import('../report.js').Options} options */
export async function measure({ quick, selects }) {
  const hangMs = quick ? 3_000 : 35_000;
  const names = requesters.filter((name) => name === OURS || selects(name));
  const { directory, env } = createVault();
  const server = await startChild('faulty-server.js');
  const run = async (
    /** @type {string} */ name,
    /** @type {string} */ path,
    { method = 'request', waitMs = 60_000 } = {},
  ) => {
    const file = join(directory, `${name.replace('/', '-')}-${path}.json`);
    const url = `${server.firstMessage}/${path}`;
    const refreshToken = secrets['refresh token'];
    writeExpiredToken(name, file, refreshToken);
    const child = await startChild('request-once.js', [name, method, url, file, refreshToken, String(waitMs)], env);
    return /** @type {Outcome} */ (child.firstMessage);
  };
  try {
    const hangs = new Map(names.map((name) => [name, run(name, 'hang', { waitMs: hangMs })]));
    const rows = [];
    for (const name of names) {
      await run(name, 'redirect');
      const redirect = /** @type {Observed} */ (await server.call({}));
      const outcome = await run(name, 'huge');
      const huge = { ...outcome, .../** @type {Observed} */ (await server.call({})) };
      const errors = [await run(name, 'reject')];
      if (name === OURS || refreshers.includes(name)) errors.push(await run(name, 'reject', { method: 'share' }));
      rows.push({ name, redirect, huge, errors });
    }
    return {
      hangMs,
      rows: await Promise.all(rows.map(async (row) => ({ ...row, hang: await hangs.get(row.name) }))),
    };
  } finally {
    server.stop();
    rmSync(directory, { recursive: true });
  }
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present({ hangMs, rows }) {
  return {
    plots: {
      'huge-response-memory': bars(
        'Peak memory with a token response of 256 MiB (shorter is better)',
        rows.map(({ name, huge }) => ({ name, value: huge.peakMib, label: `${whole(huge.peakMib)} MiB` })),
      ),
    },
    text: [
      table(
        [
          '',
          '307 to another host',
          `no response for ${hangMs / 1000} s`,
          'timeout according to its source',
          'response of 256 MiB',
          'secrets in the error object after a 400',
        ],
        rows.map(({ name, redirect, hang, huge, errors }) => [
          name,
          describeRedirect(redirect),
          hang?.ended ? `failed after ${(hang.ms / 1000).toFixed(1)} s` : 'still waiting',
          timeouts[name] ?? '',
          describeHuge(huge),
          describeLeaks(errors),
        ]),
      ),
      'The error object is searched as a log would show it: its message, `util.inspect` with depth 12, and `JSON.stringify`. The rejected request ' +
        'carried the client secret and, if the library can refresh, the refresh token. The size that the server has sent includes buffers of the kernel.',
    ],
  };
}

/** @param {Observed} observed */
function describeRedirect({ secondHostReached, secretAtSecondHost }) {
  if (secretAtSecondHost) return 'followed, with the secret';
  return secondHostReached ? 'followed, without the secret' : 'not followed';
}

/** @param {Outcome & Observed} huge */
function describeHuge({ token, sentMib, peakMib }) {
  const end = sentMib < 256 ? `stopped after ${whole(sentMib)} MiB` : token ? 'accepted' : 'read to the end';
  return `${end}, peak ${whole(peakMib)} MiB`;
}

/** @param {Outcome[]} outcomes */
function describeLeaks(outcomes) {
  if (outcomes.every(({ error }) => error === undefined)) return 'no error: the caller must check the status';
  const leaks = Object.entries(secrets).flatMap(([name, secret]) => {
    const forms = ['message', 'inspect', 'JSON'].filter((form) =>
      outcomes.some(({ error }) => error?.[/** @type {keyof typeof error} */ (form)].includes(secret)),
    );
    return forms.length === 0 ? [] : [`${name} (${forms.join(', ')})`];
  });
  return leaks.length === 0 ? 'none' : leaks.join(', ');
}
