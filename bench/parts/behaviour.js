import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { OURS, requesters } from '../candidates.js';
import { startChild } from '../child.js';
import { client } from '../profile.js';
import { table, whole } from '../report/markdown.js';
import { bars } from '../report/plot.js';
import { seed } from '../seed.js';
import { createFolder } from '../vault.js';
import { sharers } from './rotation.js';

export const title = 'When the provider misbehaves';

/** Time limits as their sources have them; the run shows which of them end in its time. */
const limits = {
  [OURS]: '10 s an attempt, 30 s in all',
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
const secrets = { 'client secret': client.secret.replace('!', ''), 'refresh token': 'a-refresh-token-to-be-refused' };

/**
 * @typedef {object} Outcome
 * @property {boolean} ended
 * @property {boolean} [token]
 * @property {Record<'message' | 'inspect' | 'JSON', string>} [error]
 * @property {number} ms
 * @property {number} peakMib
 */

/** @typedef {{ secretOnSecondHost: boolean, secondHostAsked: boolean, sentMib: number }} Seen */

/** What each candidate does; nothing here is a matter of time, so waiting runs beside the rest. @param {boolean} quick */
export async function measure(quick) {
  const hangMs = quick ? 3_000 : 35_000;
  const { folder, env } = createFolder();
  const server = await startChild('odd-server.js');
  const origin = String(server.firstMessage);
  const run = async (
    /** @type {string} */ name,
    /** @type {string} */ path,
    { way = 'connect', waitMs = 60_000 } = {},
  ) => {
    const file = join(folder, `${name.replace('/', '-')}-${path}.json`);
    const url = `${origin}/${path}`;
    seed(name, file, secrets['refresh token']);
    const child = await startChild(
      'misbehave.js',
      [name, way, url, file, secrets['refresh token'], String(waitMs)],
      env,
    );
    return /** @type {Outcome} */ (child.firstMessage);
  };
  try {
    const hangs = new Map(requesters.map((name) => [name, run(name, 'hang', { waitMs: hangMs })]));
    const rows = [];
    for (const name of requesters) {
      await run(name, 'redirect');
      const redirect = /** @type {Seen} */ (await server.ask({}));
      const reading = await run(name, 'huge');
      const huge = { ...reading, .../** @type {Seen} */ (await server.ask({})) };
      const refusals = [await run(name, 'refuse')];
      if (name === OURS || sharers.includes(name)) refusals.push(await run(name, 'refuse', { way: 'share' }));
      rows.push({ name, redirect, huge, refusals });
    }
    return {
      hangMs,
      rows: await Promise.all(rows.map(async (row) => ({ ...row, hang: await hangs.get(row.name) }))),
    };
  } finally {
    server.end();
    rmSync(folder, { recursive: true });
  }
}

/** @param {Awaited<ReturnType<typeof measure>>} data */
export function present({ hangMs, rows }) {
  return {
    plots: {
      'huge-reply-memory': bars(
        'Peak memory at a token response of 256 MiB (shorter is better)',
        rows.map(({ name, huge }) => ({
          name,
          value: huge.peakMib,
          label: `${whole(huge.peakMib)} MiB`,
          ours: name === OURS,
        })),
      ),
    },
    text: [
      table(
        [
          '',
          'a 307 to another host',
          `a server that hangs: after ${hangMs / 1000} s`,
          'time limit by its source',
          'a reply of 256 MiB',
          'in the error object at a 400',
        ],
        rows.map(({ name, redirect, hang, huge, refusals }) => [
          name,
          tellRedirect(redirect),
          hang?.ended ? `ended by itself after ${(hang.ms / 1000).toFixed(1)} s` : 'still waiting',
          limits[/** @type {keyof typeof limits} */ (name)] ?? '',
          tellHuge(huge),
          tellLeaks(refusals),
        ]),
      ),
      'The error object was searched as a log would show it: its message, `util.inspect` to a depth of 12, and `JSON.stringify`. The refusal was of a ' +
        'request with the client secret, and, where the library can refresh, of one with the refresh token as well. How much a server has sent includes ' +
        'what the kernel still held for the reader.',
    ],
  };
}

/** @param {Seen} seen */
function tellRedirect({ secondHostAsked, secretOnSecondHost }) {
  if (secretOnSecondHost) return 'followed: the secret reached it';
  return secondHostAsked ? 'followed, without the secret' : 'not followed';
}

/** @param {Outcome & Seen} huge */
function tellHuge({ token, sentMib, peakMib }) {
  const end = sentMib < 256 ? `stopped after ${whole(sentMib)} MiB` : token ? 'taken' : 'read to the end';
  return `${end}, peak ${whole(peakMib)} MiB`;
}

/** @param {Outcome[]} refusals */
function tellLeaks(refusals) {
  if (refusals.every(({ error }) => error === undefined)) return 'no error: the caller must look at the reply';
  const leaks = Object.entries(secrets).flatMap(([name, secret]) => {
    const forms = ['message', 'inspect', 'JSON'].filter((form) =>
      refusals.some(({ error }) => error?.[/** @type {keyof typeof error} */ (form)].includes(secret)),
    );
    return forms.length === 0 ? [] : [`${name} (${forms.join(', ')})`];
  });
  return leaks.length === 0 ? 'no secret' : leaks.join(', ');
}
