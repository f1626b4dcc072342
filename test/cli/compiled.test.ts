import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Sandbox } from '../support/run-cli.ts';
import { startTokenServer } from '../support/token-server.ts';

const root = join(import.meta.dirname, '..', '..');
let sandbox: Sandbox;
let server: Awaited<ReturnType<typeof startTokenServer>>;
let program: string;

beforeEach(async () => {
  sandbox = new Sandbox();
  server = await startTokenServer((response) => response.end('{"access_token":"the-token"}'));
  const installed = join(sandbox.folder, 'installed');
  program = join(installed, 'dist', 'cli');
  cpSync(join(root, 'bin'), join(installed, 'bin'), { recursive: true });
  mkdirSync(program, { recursive: true });
  // Other tests run the program at the same time: compiled code, and what is on its way to become it, comes and goes.
  for (const file of readdirSync(join(root, 'dist', 'cli')))
    if (!file.includes('.compiled')) copyFileSync(join(root, 'dist', 'cli', file), join(program, file));
  sandbox.write('p.json', `{"p": {"type": "custom", "url": "http://127.0.0.1:${server.port}/"}}`);
});
afterEach(async () => {
  sandbox.remove();
  await server.close();
});

const run = (args: string, env = {}) =>
  sandbox.run(`'${process.execPath}' ../installed/bin/oauth-profile.js ${args}`, env);
const compiled = () => readdirSync(program).filter((file) => file.includes('.compiled'));
const given = { stdout: 'the-token\n', stderr: '', exit: 0 };

it('a token leaves compiled code beside the program, once, and the next one works with it', async () => {
  expect(await run('token p --data p.json')).toEqual(given);
  const left = compiled();
  expect(left.filter((file) => file.startsWith(`main.cjs.${process.version}-`))).toHaveLength(1);
  const contents = left.map((file) => readFileSync(join(program, file)));
  for (const bytes of contents) expect(bytes.includes('the-token')).toBe(false);
  expect(await run('token p --data p.json')).toEqual(given);
  expect(compiled()).toEqual(left);
  expect(left.every((file, index) => contents[index]?.equals(readFileSync(join(program, file))))).toBe(true);
});

it('the program is written in ASCII, so that it is read without decoding', () => {
  for (const file of readdirSync(program))
    expect(
      readFileSync(join(program, file)).every((byte) => byte < 0x80),
      file,
    ).toBe(true);
});

it('nothing is left by other commands, by a failure, or where Node is told to keep nothing', async () => {
  await run('--help');
  await run('check --data p.json');
  await run('token q --data p.json');
  await run('token p --data p.json', { NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(compiled()).toEqual([]);
});

it('a program that is linked from elsewhere is found all the same', async () => {
  const link = join(sandbox.folder, 'link');
  symlinkSync(join(sandbox.folder, 'installed', 'bin', 'oauth-profile.js'), link);
  expect(await sandbox.run('../link token p --data p.json')).toEqual(given);
  rmSync(link);
});
