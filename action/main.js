// The step of action.yml: asks the published program of the action's own version for a token, has it masked, and hands it to later steps.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const input = (/** @type {string} */ name) => (process.env[`INPUT_${name}`] ?? '').trim();
const linesOf = (/** @type {string} */ text) => text.split(/[\r\n]+/).filter((line) => line.trim() !== '');

/** A command of the runner; what is no data of it would end it, or begin another one. @param {string} name @param {string} text */
function tellRunner(name, text) {
  const data = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  process.stdout.write(`::${name}::${data}\n`);
}

/** @param {string} message @param {number} status @returns {never} */
function fail(message, status) {
  tellRunner('error title=oauth-profile', message);
  process.exit(status);
}

/** An output of the step. The end is marked with a word that nobody can know before, so that no value can begin another output. @param {string} name @param {string} value */
function output(name, value) {
  const end = `end-${randomUUID()}`;
  appendFileSync(process.env['GITHUB_OUTPUT'] ?? '', `${name}<<${end}\n${value}\n${end}\n`);
}

/** An error of the program as a person reads it. @param {{ message: string, hint?: string, issues?: { variable: string, message: string, hint?: string }[] }} error */
function wordsOf({ message, hint, issues = [] }) {
  const lines = issues.flatMap((fault) => [`${fault.variable} ${fault.message}`, fault.hint && `→ ${fault.hint}`]);
  return [message, hint && `→ ${hint}`, ...lines].filter(Boolean).join('\n');
}

/** What the program printed; it ends this one where it fails. @param {string[]} args @returns {Promise<string>} */
function run(args) {
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, npm_config_ignore_scripts: 'true', npm_config_update_notifier: 'false' };
  for (const name of Object.keys(env)) if (name.startsWith('INPUT_')) delete env[name];
  // An address may hold a password, and arguments are public.
  const store = input('STORE');
  if (store !== '') env['OAUTH_PROFILE_STORE'] = store;
  const npm = ['exec', '--yes', `--package=oauth-profile@${version}`, '--', 'oauth-profile', ...args];
  return new Promise((resolve) => {
    const child = spawn('npm', npm, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    let failure = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
    // Secrets are masked in it, and announced to the runner, by the program; an error is its one line of JSON.
    createInterface(child.stderr).on('line', (line) => {
      if (line.startsWith('{"code":')) failure = line;
      else process.stdout.write(`${line}\n`);
    });
    child.on('error', (error) => fail(`npm cannot be started: ${error.message}`, 1));
    child.on('close', (status) => {
      if (status === 0) return resolve(printed);
      if (failure === '') fail(`oauth-profile ended with status ${status}`, status ?? 1);
      fail(wordsOf(JSON.parse(failure)), status ?? 1);
    });
  });
}

const profile = input('PROFILE');
// What begins with a dash would be a flag.
if (profile === '' || profile.startsWith('-')) fail('the input profile is to name a profile', 2);
const args = ['token', profile, '--json', '--reveal'];
for (const file of linesOf(input('DATA'))) args.push(`--data=${file.trim()}`);
for (const setting of linesOf(input('SET'))) args.push(`--set=${setting.trim()}`);
if (input('MIN_TTL') !== '') args.push(`--min-ttl=${input('MIN_TTL')}`);

const response = JSON.parse(await run(args));
const field = input('FIELD') || 'access_token';
if (!Object.hasOwn(response, field)) {
  const members = Object.keys(response).join(', ');
  fail(
    wordsOf({ message: `a token was issued, but the response has no member ${field}`, hint: `it has ${members}` }),
    4,
  );
}
const value = typeof response[field] === 'string' ? response[field] : JSON.stringify(response[field]);
// Before anything else can print it; the runner masks line by line.
for (const line of linesOf(value)) tellRunner('add-mask', line);
output('token', value);
const seconds = Number(response.expires_in);
const expiresAt = seconds > 0 ? new Date(Date.now() + seconds * 1000).toISOString() : '';
output('expires-at', expiresAt);
process.stdout.write(`a token ${expiresAt === '' ? 'without a known end' : `until ${expiresAt}`}\n`);
