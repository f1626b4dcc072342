import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Emulator, startEmulator } from '../../src/emulator.ts';
import { version } from '../../src/version.ts';
import { lockAction } from '../../tools/lock-action.js';
import { startTokenServer } from '../support/server.ts';

const root = join(import.meta.dirname, '..', '..');
const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-action-'));
const PASSWORD = 'c4n4ry-password-of-the-workflow';
const STORE = 'redis://:c4n4ry-password-of-redis@127.0.0.1:1';
const outputFile = join(directory, 'output');
const argumentsFile = join(directory, 'arguments');
let emulator: Emulator;

const actionPath = join(directory, 'action-of-a-release');

/** The action of a release, and a fake npm that downloads nothing: it writes its arguments to a file and installs the program that was built here. */
beforeAll(async () => {
  for (const name of ['bin', 'action-of-a-release', 'runner-temp']) mkdirSync(join(directory, name));
  for (const name of ['action', 'package.json']) cpSync(join(root, name), join(actionPath, name), { recursive: true });
  for (const [name, content] of Object.entries(lockAction(Buffer.from('a tarball'))))
    writeFileSync(join(actionPath, 'action', name), JSON.stringify(content));
  const npm = `#!/bin/sh
printf '%s\\n' "$@" "cwd $PWD" "$(env)" > '${argumentsFile}'
test -f package-lock.json || exit 1
mkdir -p node_modules/oauth-profile
ln -s '${join(root, 'bin')}' node_modules/oauth-profile/bin
`;
  writeFileSync(join(directory, 'bin', 'npm'), npm, { mode: 0o755 });
  emulator = await startEmulator({ profiles: { lab: { type: 'gitlab', username: 'ada', password: PASSWORD } } });
});
afterAll(async () => {
  await emulator.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  for (const file of [outputFile, argumentsFile]) rmSync(file, { force: true });
});

/** Runs the step of action.yml as a runner does, with both output streams in one log. */
function runStep(inputs: Record<string, string>, env: Record<string, string> = {}) {
  const step = parse(readFileSync(join(root, 'action.yml'), 'utf8')).runs.steps[0] as {
    run: string;
    env: Record<string, string>;
  };
  const given = Object.entries(step.env).map(([name, from]) => {
    const input = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(from)?.[1] ?? '';
    return [name, inputs[input] ?? ''];
  });
  return new Promise<{ status: number | null; log: string; outputs: Record<string, string> }>((resolve, reject) => {
    const child = spawn('/bin/bash', ['-c', `exec 2>&1; ${step.run}`], {
      cwd: directory,
      env: {
        PATH: `${join(directory, 'bin')}${delimiter}${process.env['PATH']}`,
        HOME: mkdtempSync(join(directory, 'home-')),
        GITHUB_ACTIONS: 'true',
        GITHUB_ACTION_PATH: actionPath,
        RUNNER_TEMP: join(directory, 'runner-temp'),
        npm_config_registry: 'http://127.0.0.1:9',
        GITHUB_OUTPUT: outputFile,
        ...Object.fromEntries(given),
        ...env,
      },
    });
    let log = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      log += text;
    });
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, log, outputs: readOutputs() }));
  });
}

/** Parses the outputs as the runner does. */
function readOutputs(): Record<string, string> {
  const lines = existsSync(outputFile) ? readFileSync(outputFile, 'utf8').split('\n') : [];
  const outputs: Record<string, string> = {};
  for (let line = lines.shift(); line !== undefined && line !== ''; line = lines.shift()) {
    const [, name = '', end = ''] = /^([\w-]+)<<(.+)$/.exec(line) ?? [];
    const at = lines.indexOf(end);
    if (name === '' || at < 0) throw new Error(`the runner cannot read ${line}`);
    outputs[name] = lines.splice(0, at).join('\n');
    lines.shift();
  }
  return outputs;
}

const unmasked = (log: string) =>
  log
    .split('\n')
    .filter((line) => !line.startsWith('::add-mask::'))
    .join('\n');

const settings = () =>
  `lab.type=gitlab
   lab.url=http://127.0.0.1:${emulator.port}/gitlab.com/oauth/token
   lab.username=ada
   lab.password=\${env:LAB_PASSWORD}`;

describe('the action', () => {
  it('sets a masked token as output, and passes no secret as an argument', async () => {
    const inputs = { profile: 'lab', set: settings(), 'min-ttl': '5m' };
    const { status, log, outputs } = await runStep(inputs, { LAB_PASSWORD: PASSWORD });
    expect({ status, log }).toEqual({ status: 0, log: expect.stringMatching(/\ngot a token that expires at .*Z\n$/) });
    const token = outputs['token'] ?? '';
    expect(token).toMatch(/^[!-~]{20,}$/);
    expect(log.split('\n').find((line) => line.includes(token))).toBe(`::add-mask::${token}`);
    expect(unmasked(log)).not.toContain(token);
    expect(unmasked(log)).not.toContain(PASSWORD);
    expect(new Date(outputs['expires-at'] ?? '').getTime()).toBeGreaterThan(Date.now());
    const ends = [...readFileSync(outputFile, 'utf8').matchAll(/<<(end-[\w-]{36})$/gm)].map(([, end]) => end);
    expect(ends).toHaveLength(2);
    expect(new Set(ends).size).toBe(2);
    const npm = readFileSync(argumentsFile, 'utf8');
    expect(npm).not.toContain(PASSWORD);
    expect(npm).not.toContain('npm_config_');
    expect(npm.split('\n')).toEqual(
      expect.arrayContaining([
        'ci',
        '--ignore-scripts',
        '--registry=https://registry.npmjs.org/',
        '--userconfig=npmrc',
      ]),
    );
    expect(npm).toMatch(new RegExp(`^cwd ${join(directory, 'runner-temp')}/`, 'm'));
  });

  it('installs only packages with the hash that the release has', () => {
    const { packages } = lockAction(Buffer.from('a tarball'))['package-lock.json'] as {
      packages: Record<string, { version: string; integrity: string }>;
    };
    const { '': _, ...locked } = packages;
    expect(locked['node_modules/oauth-profile']?.version).toBe(version);
    expect(Object.keys(locked)).toContain('node_modules/jose');
    for (const { integrity } of Object.values(locked)) expect(integrity).toMatch(/^sha512-/);
  });

  it('fails without the lock file of a release, before anything is installed', async () => {
    const { status, log } = await runStep({ profile: 'lab', set: settings() }, { GITHUB_ACTION_PATH: root });
    expect({ status, log }).toEqual({ status: 2, log: expect.stringContaining('is not released') });
    expect(existsSync(argumentsFile)).toBe(false);
  });

  it('has no expiry if expires_in is outside the range of dates', async () => {
    const server = await startTokenServer((response) => response.end('{"access_token":"c4n4ry","expires_in":1e13}'));
    const set = `own.type=custom\nown.url=http://127.0.0.1:${server.port}/`;
    const { status, outputs } = await runStep({ profile: 'own', set });
    await server.stop();
    expect({ status, outputs }).toEqual({ status: 0, outputs: { token: 'c4n4ry', 'expires-at': '' } });
  });

  it('masks every line of the member that it sets as output, and no line can set another output', async () => {
    const hostile = 'first-line-of-it\nexpires-at=never\r\ntoken<<end\n100% mine\n::warning::boo\npin-42';
    const server = await startTokenServer((response) =>
      response.end(JSON.stringify({ access_token: 'c4n4ry-access-token', id_token: hostile })),
    );
    writeFileSync(
      join(directory, 'own.json'),
      `{"own": {"type": "custom", "url": "http://127.0.0.1:${server.port}/"}}`,
    );
    const { status, log, outputs } = await runStep({ profile: 'own', data: 'own.json', field: 'id_token' });
    await server.stop();
    expect({ status, log }).toEqual({
      status: 0,
      log: expect.stringMatching(/\ngot a token that has no known expiry\n$/),
    });
    expect(outputs).toEqual({ token: hostile, 'expires-at': '' });
    for (const line of [
      'first-line-of-it',
      'expires-at=never',
      'token<<end',
      '100%25 mine',
      '::warning::boo',
      'pin-42',
    ]) {
      expect(log.split('\n')).toContain(`::add-mask::${line}`);
    }
    for (const secret of ['first-line-of-it', 'c4n4ry-access-token', 'boo', 'pin-42'])
      expect(unmasked(log)).not.toContain(secret);
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['an error response', { profile: 'lab' }, 3, 'invalid_grant'],
    ['a missing profile', { profile: 'elsewhere' }, 2, 'elsewhere'],
    ['a profile that looks like a flag', { profile: '--help' }, 2, 'profile'],
    ['a shared store without a key', { profile: 'lab', store: STORE }, 6, 'OAUTH_PROFILE_KEY'],
  ])('fails with the exit status and the message of the program after %s', async (_, inputs, expected, message) => {
    const { status, log, outputs } = await runStep(
      { set: settings(), ...inputs },
      { LAB_PASSWORD: 'c4n4ry-wrong-password' },
    );
    expect({ status, log }).toEqual({ status: expected, log: expect.stringContaining(message) });
    const errors = log.split('\n').filter((line) => line.startsWith('::error title=oauth-profile::'));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(message);
    expect(unmasked(log)).not.toContain('c4n4ry');
    if (existsSync(argumentsFile)) expect(readFileSync(argumentsFile, 'utf8')).not.toContain('c4n4ry');
    expect(outputs).toEqual({});
  });

  it('lists the members of the response if the requested one is missing', async () => {
    const inputs = { profile: 'lab', set: settings(), field: 'id_token' };
    const { status, log, outputs } = await runStep(inputs, { LAB_PASSWORD: PASSWORD });
    expect({ status, outputs }).toEqual({ status: 4, outputs: {} });
    expect(log).toMatch(
      /::error title=oauth-profile::a token was issued, .* no member id_token%0A→ it has access_token, /,
    );
  });
});
