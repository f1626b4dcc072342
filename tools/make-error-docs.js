// Generates docs/reference/errors.md: every code with its cause, its fix and the output of an example, and the hints for error codes of providers.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmulator } from '../src/emulator/start-emulator.ts';
import { errorCodes } from '../src/errors.ts';
import { findHint } from '../src/oauth/provider-error.ts';
import { loginCommand } from '../src/profile/profile.ts';
import { findProvider, loadCatalogue, providerTypes } from '../src/providers/registry.ts';
import { registerEmulator } from '../src/store/emulator-registry.ts';
import { errorGuide } from './error-guide.js';
import { runCommand } from './run-command.js';

/** @typedef {import('../src/errors.ts').ErrorCode} ErrorCode */
/** @typedef {import('./run-command.js').Finished} Finished */
/** @typedef {{exit: number, code: string | undefined, shown: string}} Caused */

/** Output that differs from run to run, and its replacement. @type {[RegExp, string][]} */
const REPLACEMENTS = [
  [/\bprocess \d+/g, 'process 4711'],
  [/ {2}\d+ ms$/gm, '  2 ms'],
  [/after [\d.]+ s/g, 'after 1 s'],
  [/within [\d.]+ m?s/g, 'within 1 s'],
  [/\/\S*oauth-profile-errors-\w+\/home/g, '/home/ada'],
  [/\/\S*oauth-profile-errors-\w+\/work/g, '/home/ada/work'],
];

/** Timeouts to try in turn: on a busy machine a command can time out before it has sent its request. */
const TIMEOUTS = ['500ms', '2s', '8s', '20s'];

/** Causes an error. @param {ErrorCode} code @returns {Promise<Caused>} */
async function causeError(code) {
  const { example } = errorGuide[code];
  const [first = '', ...more] = JSON.stringify(example).includes('TIME') ? TIMEOUTS : [''];
  let caused = await runExample(example, first);
  for (const time of more) {
    if (caused.requested && caused.code === code) break;
    caused = await runExample(example, time);
  }
  return caused;
}

/** Runs an example in a temporary directory. @param {import('./error-guide.js').Example} example @param {string} time @returns {Promise<Caused & {requested: boolean}>} */
async function runExample({ files = {}, env = {}, args, before, server, meanwhile }, time) {
  let requested = false;
  const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-errors-'));
  const interrupt = new AbortController();
  /** @type {Promise<Finished> | undefined} */
  let second;
  const { port, ca, close } = await serve(server, () => {
    requested = true;
    if (server === 'hang' && meanwhile === undefined) interrupt.abort('SIGINT');
    if (meanwhile !== undefined) second ??= runCommand(words(args), context(env)).finally(close);
  });
  const cwd = join(directory, 'work');
  const fill = (/** @type {string} */ text) =>
    text.replaceAll('PORT', String(port)).replaceAll('TIME', time).replaceAll('HERE', cwd);
  const words = (/** @type {string} */ line) => fill(line).split(' ');
  const context = (/** @type {Record<string, string>} */ more) => ({
    cwd,
    env: {
      HOME: join(directory, 'home'),
      // Never the keychain of the developer.
      OAUTH_PROFILE_KEY: Buffer.alloc(32).toString('base64'),
      ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, fill(value)])),
    },
    interrupt: interrupt.signal,
  });
  try {
    for (const name of ['home', 'work']) mkdirSync(join(directory, name));
    if (ca !== undefined) await registerEmulator({ port, ca }, context({}).env);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), fill(text));
    if (before !== undefined) {
      const { exit, output } = await runCommand(words(before.args), context(before.env ?? {}));
      if (exit !== 0) throw new Error(`oauth-profile ${before.args} failed: ${output}`);
    }
    const first = await runCommand(words(meanwhile ?? args), context(env));
    const { output, exit, code } = (await second) ?? first;
    const shown = output.replaceAll(`:${port}`, ':8080');
    return { requested, exit, code, shown: REPLACEMENTS.reduce((text, [what, as]) => text.replace(what, as), shown) };
  } finally {
    await close();
    rmSync(directory, { recursive: true });
  }
}

/** @param {import('./error-guide.js').Server | undefined} kind @param {() => void} onRequest */
async function serve(kind, onRequest) {
  if (kind === undefined) return { port: 0, ca: undefined, close: async () => {} };
  if (kind === 'emulator') return startEmulator({});
  const server = createServer((_, response) => {
    onRequest();
    if (typeof kind === 'object') response.writeHead(kind.status, kind.headers).end(JSON.stringify(kind.body));
  });
  if (kind === 'proxy')
    server.on('connect', (_, socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    ca: undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const PROFILE = 'profile';

/** The codes of the standards (RFC 6749 §5.2, RFC 8628 §3.5, RFC 8707), and the grants for which the hint differs. @type {[string, ...string[]][]} */
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

/** Returns the page. */
export async function errorDocs() {
  const codes = /** @type {ErrorCode[]} */ (Object.keys(errorCodes));
  const sections = codes.map(async (code) => {
    const guide = errorGuide[code];
    // Invalid scripts and failed steps are reported by the run, which has no error code of its own.
    const { exit, code: found = code, shown } = await causeError(code);
    if (exit !== errorCodes[code] || found !== code)
      throw new Error(`${code} was not caused: ${found}, ${exit}, ${shown}`);
    const args = guide.example.args.replaceAll('PORT', '8080').replaceAll('TIME', '1s');
    return [
      `### ${code}`,
      '',
      guide.cause,
      '',
      `**Fix:** ${guide.fix}`,
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
    '<!-- Generated by npm run docs from tools/error-guide.js and src/. Do not edit. -->',
    '# Errors',
    '',
    'This page helps you find the cause of an error and fix it. Almost every error has one of the codes below;',
    'the exceptions follow the table. On the command line, the code determines the exit status (except with',
    '`exec` and `run`), and `--json` prints it as `code`. In TypeScript, it is `error.code`, and',
    '`errorCodes[error.code]` is the exit status. The examples show real output.',
    '',
    'To find the cause, run `oauth-profile check <profile>` (validates the profile),',
    '`oauth-profile check --online <profile>` (tests the connection), or `oauth-profile explain <profile>`',
    '(shows the request with the source of each field).',
    '',
    '| code | exit | |',
    '|---|---:|---|',
    ...codes.map((name) => `| [\`${name}\`](#${name}) | ${errorCodes[name]} | ${firstSentence(name)} |`),
    '',
    'Two exit statuses have no error code: 70 means a bug in oauth-profile (please report it), and 74 means',
    'that the output could not be written. `exec` exits with the status of its command, or with 125 if the command',
    'was not started. `run` exits with 1 if any of these errors causes a step to fail.',
    '',
    '## Codes',
    '',
    ...(await Promise.all(sections)).flat(),
    '## Provider error codes',
    '',
    'Providers return their own codes in error responses. For the codes below, oauth-profile adds a hint to',
    'its error message. If a code is followed by a quoted phrase, the hint applies only when the error',
    'description contains that phrase. In messages, fields are prefixed with the profile name, such as',
    '`graph.client_secret`.',
    '',
    ...providers().flatMap(({ type, hints }) =>
      Object.keys(hints).length === 0
        ? []
        : [`### ${type}`, '', '| code | grant | hint |', '|---|---|---|', ...hintRows(hints), ''],
    ),
    '### Any provider',
    '',
    'These codes are defined in the OAuth RFCs. They apply if the provider’s own table has no entry for the code.',
    '',
    '| code | grant | hint |',
    '|---|---|---|',
    ...standard.map((row) => `| ${row.join(' | ')} |`),
    '',
  ].join('\n');
}

await loadCatalogue();

function providers() {
  const found = providerTypes.map((type) => findProvider(type)).filter((provider) => provider !== undefined);
  return [...new Set(found)];
}

/** Returns the hint for a profile of an unknown provider. @param {string} error @param {string | undefined} grant */
function standardHint(error, grant) {
  const profile = /** @type {import('../src/profile/profile.ts').Profile} */ (
    /** @type {unknown} */ ({
      name: PROFILE,
      provider: findProvider('custom'),
      grant,
      clientAuth: 'client_secret_post',
      fields: [],
      warnings: [],
      options: { authorizationUrl: new URL('https://id.example.com') },
    })
  );
  return findHint(profile, { status: 400, error }, 'provider_rejected')
    ?.replaceAll(`run: ${loginCommand(PROFILE)}`, 'run `oauth-profile login`')
    .replace(new RegExp(`${PROFILE}\\.([a-z_.]+)`, 'g'), (_, field) => code(field));
}

/** @param {ErrorCode} name */
function firstSentence(name) {
  return errorGuide[name].cause.split(/(?<=[.:])\s/)[0]?.replace(/:$/, '.');
}

/** Codes with the same hint share a row. @param {import('../src/providers/provider.ts').ErrorHints} hints */
function hintRows(hints) {
  /** @type {Map<string, string[]>} */
  const codesByRow = new Map();
  for (const [name, list] of Object.entries(hints)) {
    for (const one of [list].flat()) {
      const { description, grant, hint } = typeof one === 'string' ? { hint: one } : one;
      const row = `${grant === undefined ? '' : code(grant)} | ${formatHint(hint)}`;
      const shownCode = name === '' ? 'any' : code(name);
      const phrases = description?.source.split('|').map((phrase) => `“${phrase}”`);
      const shown = phrases === undefined ? shownCode : `${shownCode} ${phrases.join(' or ')}`;
      codesByRow.set(row, [...(codesByRow.get(row) ?? []), shown]);
    }
  }
  return Array.from(codesByRow, ([row, codes]) => `| ${codes.join(', ')} | ${row} |`);
}

/** Replaces placeholders: `{client_secret}` is a variable of the profile, `{login}` a command. @param {string} hint */
function formatHint(hint) {
  return hint
    .replaceAll('{login}', 'run `oauth-profile login`')
    .replace(/\{([a-z_.]+)\}/g, (_, field) => code(field))
    .replaceAll('|', '\\|');
}

/** @param {string} text */
function code(text) {
  return `\`${text}\``;
}
