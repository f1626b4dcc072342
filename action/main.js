// The step of action.yml: gets a token with the published package of the same version, masks it, and passes it to later steps.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const input = (/** @type {string} */ name) => (process.env[`INPUT_${name}`] ?? '').trim();
const linesOf = (/** @type {string} */ text) => text.split(/[\r\n]+/).filter((line) => line.trim() !== '');

/** Sends a workflow command to the runner. Line ends are escaped, because they would end the command. @param {string} name @param {string} text */
function sendCommand(name, text) {
  const data = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  process.stdout.write(`::${name}::${data}\n`);
}

/** @param {string} message @param {number} status @returns {never} */
function fail(message, status) {
  sendCommand('error title=oauth-profile', message);
  process.exit(status);
}

/** Sets an output of the step. The delimiter is random, so that a value cannot start another output. @param {string} name @param {string} value */
function output(name, value) {
  const end = `end-${randomUUID()}`;
  appendFileSync(process.env['GITHUB_OUTPUT'] ?? '', `${name}<<${end}\n${value}\n${end}\n`);
}

/** Formats an error of the program. @param {{ message: string, hint?: string, issues?: { variable: string, message: string, hint?: string }[] }} error */
function formatError({ message, hint, issues = [] }) {
  const lines = issues.flatMap((issue) => [`${issue.variable} ${issue.message}`, issue.hint && `→ ${issue.hint}`]);
  return [message, hint && `→ ${hint}`, ...lines].filter(Boolean).join('\n');
}

/**
 * Installs the program outside the checkout, whose node_modules and .npmrc must not decide which code gets the secrets. The lock file of the release
 * has the hash of every package.
 * @returns {string} the path of the program
 */
function install() {
  const directory = mkdtempSync(join(process.env['RUNNER_TEMP'] || tmpdir(), 'oauth-profile-'));
  for (const name of ['package.json', 'package-lock.json']) {
    const file = new URL(name, import.meta.url);
    if (!existsSync(file))
      fail(`oauth-profile ${version} is not released: use the action of a release, such as @v1.0.0`, 2);
    copyFileSync(file, join(directory, name));
  }
  writeFileSync(join(directory, 'npmrc'), '');
  const config = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  const sources = ['--registry=https://registry.npmjs.org/', '--userconfig=npmrc', '--globalconfig=npmrc'];
  // No secret of the step, and no npm_config_* variable.
  const names =
    /^(?:PATH|Path|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SystemRoot|TEMP|TMP|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)));
  const shell = process.platform === 'win32';
  const { status, error } = spawnSync('npm', ['ci', ...config, ...sources], {
    cwd: directory,
    env,
    shell,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (error !== undefined) fail(`cannot start npm: ${error.message}`, 1);
  if (status !== 0) fail(`cannot install oauth-profile ${version}: npm exited with status ${status}`, 1);
  return join(directory, 'node_modules', 'oauth-profile', 'bin', 'oauth-profile.js');
}

/** Runs the program and returns its output. If it fails, the step fails. @param {string[]} args @returns {Promise<string>} */
function run(args) {
  const program = install();
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env };
  for (const name of Object.keys(env)) if (name.startsWith('INPUT_')) delete env[name];
  // The URL may contain a password, and other users can see arguments.
  const store = input('STORE');
  if (store !== '') env['OAUTH_PROFILE_STORE'] = store;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    let failure = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
    // The program masks secrets and registers them with the runner. An error is one line of JSON.
    createInterface(child.stderr).on('line', (line) => {
      if (line.startsWith('{"code":')) failure = line;
      else process.stdout.write(`${line}\n`);
    });
    child.on('error', (error) => fail(`cannot start oauth-profile: ${error.message}`, 1));
    child.on('close', (status) => {
      if (status === 0) return resolve(printed);
      if (failure === '') fail(`oauth-profile exited with status ${status}`, status ?? 1);
      fail(formatError(JSON.parse(failure)), status ?? 1);
    });
  });
}

const profile = input('PROFILE');
// A name that starts with a dash would be a flag.
if (profile === '' || profile.startsWith('-')) fail('the input profile must be the name of a profile', 2);
const args = ['token', profile, '--json', '--reveal'];
for (const file of linesOf(input('DATA'))) args.push(`--data=${file.trim()}`);
for (const setting of linesOf(input('SET'))) args.push(`--set=${setting.trim()}`);
if (input('MIN_TTL') !== '') args.push(`--min-ttl=${input('MIN_TTL')}`);

const response = JSON.parse(await run(args));
const field = input('FIELD') || 'access_token';
if (!Object.hasOwn(response, field)) {
  const members = Object.keys(response).join(', ');
  fail(
    formatError({ message: `a token was issued, but the response has no member ${field}`, hint: `it has ${members}` }),
    4,
  );
}
const value = typeof response[field] === 'string' ? response[field] : JSON.stringify(response[field]);
// Before anything else can print it; the runner masks line by line.
for (const line of linesOf(value)) sendCommand('add-mask', line);
output('token', value);
const date = new Date(Date.now() + Number(response.expires_in) * 1000);
// A provider's expires_in may exceed the range of dates.
const expiresAt = Number(response.expires_in) > 0 && !Number.isNaN(date.getTime()) ? date.toISOString() : '';
output('expires-at', expiresAt);
process.stdout.write(`got a token that ${expiresAt === '' ? 'has no known expiry' : `expires at ${expiresAt}`}\n`);
