// docs/errors.md: every code with its cause, its cure and a message that was really caused, and the hint for what providers say.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmulator } from '../src/emulator/start-emulator.ts';
import { errorCodes } from '../src/errors.ts';
import { findHint } from '../src/oauth/provider-error.ts';
import { loginCommand } from '../src/profile/profile.ts';
import { findProvider, providerTypes } from '../src/providers/registry.ts';
import { errorGuide } from './error-guide.js';
import { runCommand } from './run-command.js';

/** @typedef {import('../src/errors.ts').ErrorCode} ErrorCode */
/** @typedef {import('./run-command.js').Finished} Finished */
/** @typedef {{exit: number, code: string | undefined, shown: string}} Caused */

/** What differs from run to run, and what it is shown as. @type {[RegExp, string][]} */
const STEADY = [
  [/\bprocess \d+/g, 'process 4711'],
  [/ {2}\d+ ms$/gm, '  2 ms'],
  [/after [\d.]+ s/g, 'after 1 s'],
  [/within [\d.]+ m?s/g, 'within 1 s'],
  [/\/\S*oauth-profile-errors-\w+\/home/g, '/home/ada'],
  [/\/\S*oauth-profile-errors-\w+\/work/g, '/home/ada/work'],
];

/** How long a command is given that is to run out of time: on a busy machine it may do so before it has asked, and then gets more. */
const TIMES = ['500ms', '2s', '8s', '20s'];

/** Really causes an error. @param {ErrorCode} code @returns {Promise<Caused>} */
async function cause(code) {
  const { example } = errorGuide[code];
  const [first = '', ...more] = JSON.stringify(example).includes('TIME') ? TIMES : [''];
  let caused = await attempt(example, first);
  for (const time of more) {
    if (caused.asked && caused.code === code) break;
    caused = await attempt(example, time);
  }
  return caused;
}

/** Runs an example in a folder of its own. @param {import('./error-guide.js').Example} example @param {string} time @returns {Promise<Caused & {asked: boolean}>} */
async function attempt({ files = {}, env = {}, args, before, server, meanwhile }, time) {
  let asked = false;
  const folder = mkdtempSync(join(tmpdir(), 'oauth-profile-errors-'));
  const interrupt = new AbortController();
  /** @type {Promise<Finished> | undefined} */
  let second;
  const { port, close } = await serve(server, () => {
    asked = true;
    if (server === 'hang' && meanwhile === undefined) interrupt.abort('SIGINT');
    if (meanwhile !== undefined) second ??= runCommand(words(args), place(env)).finally(close);
  });
  const cwd = join(folder, 'work');
  const fill = (/** @type {string} */ text) =>
    text.replaceAll('PORT', String(port)).replaceAll('TIME', time).replaceAll('HERE', cwd);
  const words = (/** @type {string} */ line) => fill(line).split(' ');
  const place = (/** @type {Record<string, string>} */ more) => ({
    cwd,
    env: {
      HOME: join(folder, 'home'),
      // No keychain of whoever runs this.
      OAUTH_PROFILE_KEY: Buffer.alloc(32).toString('base64'),
      ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, fill(value)])),
    },
    interrupt: interrupt.signal,
  });
  try {
    for (const name of ['home', 'work']) mkdirSync(join(folder, name));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), fill(text));
    if (before !== undefined) {
      const { exit, output } = await runCommand(words(before.args), place(before.env ?? {}));
      if (exit !== 0) throw new Error(`oauth-profile ${before.args} failed: ${output}`);
    }
    const first = await runCommand(words(meanwhile ?? args), place(env));
    const { output, exit, code } = (await second) ?? first;
    const shown = output.replaceAll(`:${port}`, ':8080');
    return { asked, exit, code, shown: STEADY.reduce((text, [what, as]) => text.replace(what, as), shown) };
  } finally {
    await close();
    rmSync(folder, { recursive: true });
  }
}

/** @param {import('./error-guide.js').Server | undefined} kind @param {() => void} onAsked */
async function serve(kind, onAsked) {
  if (kind === undefined) return { port: 0, close: async () => {} };
  if (kind === 'emulator') return startEmulator({});
  const server = createServer((_, response) => {
    onAsked();
    if (typeof kind === 'object') response.writeHead(kind.status, kind.headers).end(JSON.stringify(kind.body));
  });
  if (kind === 'proxy')
    server.on('connect', (_, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const PROFILE = 'profile';

/** The standard's own codes (RFC 6749 §5.2, RFC 8628 §3.5, RFC 8707), and the grants for which the hint differs. @type {[string, ...string[]][]} */
const STANDARD = [
  ['invalid_client'],
  ['invalid_grant', 'password', 'refresh_token', 'authorization_code'],
  ['unauthorized_client'],
  ['unsupported_grant_type'],
  ['invalid_scope'],
  ['invalid_target'],
  ['authorization_pending'],
  ['slow_down'],
  ['expired_token'],
];

/** The page. */
export async function errorDocs() {
  const codes = /** @type {ErrorCode[]} */ (Object.keys(errorCodes));
  const sections = codes.map(async (code) => {
    const guide = errorGuide[code];
    // What is wrong with a script, or fails in one, is told by the run and does not end it with an error.
    const { exit, code: found = code, shown } = await cause(code);
    if (exit !== errorCodes[code] || found !== code)
      throw new Error(`${code} was not caused: ${found}, ${exit}, ${shown}`);
    const args = guide.example.args.replaceAll('PORT', '8080').replaceAll('TIME', '1s');
    return [
      `### ${code}`,
      '',
      `${guide.cause}`,
      '',
      `**Do:** ${guide.cure}`,
      '',
      guide.example.given,
      '',
      `\`\`\`console\n$ oauth-profile ${args}\n${shown}\`\`\``,
      '',
    ];
  });
  const standard = STANDARD.flatMap(([error, ...grants]) =>
    (grants.length > 0 ? grants : [undefined]).map((grant) => [
      code(error),
      grant === undefined ? '' : code(grant),
      standardHint(error, grant),
    ]),
  );
  return [
    '<!-- Made by npm run docs from tools/error-guide.js and src/; not for editing. -->',
    '# Errors: what happened, what to do',
    '',
    'Every failure has a code from this closed list. On the command line it decides the exit status; `--json` prints it as `code`; in TypeScript it is',
    '`error.code`, and `errorCodes[error.code]` is the exit status. The messages below were caused, not written: `npm run docs` does it again.',
    '',
    'Not sure where to begin? `oauth-profile check <profile>` finds issues without a network, `check --online` looks at the way to the provider, and',
    '`explain <profile>` shows the request with the source of each field.',
    '',
    '| code | exit | |',
    '|---|---:|---|',
    ...codes.map((name) => `| [\`${name}\`](#${name}) | ${errorCodes[name]} | ${firstSentence(name)} |`),
    '',
    'Two statuses have no code: 70 is a bug of ours, please report it; 74 means that the output could not be written.',
    '`exec` ends with the status of its command; where that was not started, for want of a token or of such a command, with 125 and the message of the code.',
    '`run` ends with 1 where any of these fails a step.',
    '',
    '## Code by code',
    '',
    ...(await Promise.all(sections)).flat(),
    '## What providers say',
    '',
    'A refusal carries the provider’s own code. These are known, and this is the hint that comes with them; in a message the names are those of your',
    'profile, such as `graph.client_secret`.',
    '',
    ...providers().flatMap(({ type, hints }) =>
      hints.length === 0
        ? []
        : [`### ${type}`, '', '| the provider says | with | hint |', '|---|---|---|', ...hints.map(hintRow), ''],
    ),
    '### Any other server',
    '',
    'The codes of the standards, where the provider’s own list has nothing better.',
    '',
    '| the server says | with | hint |',
    '|---|---|---|',
    ...standard.map((row) => `| ${row.join(' | ')} |`),
    '',
  ].join('\n');
}

function providers() {
  const found = providerTypes.map((type) => findProvider(type)).filter((provider) => provider !== undefined);
  return [...new Set(found)];
}

/** What a profile of which nothing is known is told. @param {string} error @param {string | undefined} grant */
function standardHint(error, grant) {
  const profile = /** @type {import('../src/profile/profile.ts').Profile} */ (
    /** @type {unknown} */ ({
      name: PROFILE,
      provider: findProvider('custom'),
      grant,
      clientAuth: 'client_secret_post',
      fields: [],
      options: { authorizationUrl: new URL('https://id.example.com') },
    })
  );
  return findHint(profile, { status: 400, error }, 'provider_rejected')
    ?.replaceAll(loginCommand(PROFILE), `\`oauth-profile login\``)
    .replace(new RegExp(`${PROFILE}\\.([a-z_.]+)`, 'g'), (_, field) => code(field));
}

/** @param {ErrorCode} name */
function firstSentence(name) {
  return errorGuide[name].cause.split(/(?<=[.:])\s/)[0]?.replace(/:$/, '.');
}

/** @param {import('../src/providers/provider.ts').ErrorHint} hint */
function hintRow({ codes, error, description, grant, hint }) {
  const words = description === undefined ? '' : ` “${description.source}”`;
  const says = [...(codes ?? []), ...(error === undefined ? [] : [error])].map(code).join(', ');
  return `| ${says}${words} | ${grant === undefined ? '' : code(grant)} | ${marked(hint)} |`;
}

/** `{client_secret}` stands for a variable of the profile, `{login}` for a command. @param {string} hint */
function marked(hint) {
  return hint
    .replaceAll('{login}', 'run `oauth-profile login`')
    .replace(/\{([a-z_.]+)\}/g, (_, field) => code(field))
    .replaceAll('|', '\\|');
}

/** @param {string} text */
function code(text) {
  return `\`${text}\``;
}
