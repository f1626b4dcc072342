import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { version } from '../../src/version.ts';
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

it('who loads a file that nobody loaded before keeps what it compiled of the others too', async () => {
  await run('token p --data p.json');
  const main = () => readFileSync(join(program, compiled().find((file) => file.startsWith('main.cjs')) as string));
  const before = main();
  sandbox.write('p.yaml', `p: { type: custom, url: "http://127.0.0.1:${server.port}/" }`);
  expect(await run('token p --data p.yaml')).toEqual(given);
  const after = main();
  expect(after.equals(before)).toBe(false);
  expect(await run('token p --data p.yaml')).toEqual(given);
  expect(main().equals(after)).toBe(true);
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

it.each([
  ['empty', () => Buffer.alloc(0)],
  ['cut', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
  ['made of zeros', (whole: Buffer) => Buffer.alloc(whole.length)],
  ['damaged', (whole: Buffer) => whole.map((byte, index) => (index === whole.length - 100 ? byte ^ 0xff : byte))],
])('compiled code that is %s is not used', async (_, spoil) => {
  await run('token p --data p.json');
  for (const file of compiled()) writeFileSync(join(program, file), spoil(readFileSync(join(program, file))));
  expect(await run('token p --data p.json')).toEqual(given);
});

it('compiled code of another source is not used, not even where it is as long', async () => {
  await run('token p --data p.json');
  const file = join(program, 'main.cjs');
  writeFileSync(file, readFileSync(file, 'utf8').replace(`\`${version}\``, '`9.9.9`'));
  expect((await run('--version')).stdout).toBe('9.9.9\n');
});

it('what cannot be kept leaves nothing behind', async () => {
  await run('token p --data p.json');
  const left = compiled();
  // Neither to be read nor to be replaced; a full disk ends in the same way.
  for (const file of left) {
    rmSync(join(program, file));
    mkdirSync(join(program, file));
  }
  expect(await run('token p --data p.json')).toEqual(given);
  expect(compiled()).toEqual(left);
});

it('a program that is linked from elsewhere is found all the same', async () => {
  const link = join(sandbox.folder, 'link');
  symlinkSync(join(sandbox.folder, 'installed', 'bin', 'oauth-profile.js'), link);
  expect(await sandbox.run('../link token p --data p.json')).toEqual(given);
  rmSync(link);
});
