import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, createReadStream, openSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Sandbox } from '../support/cli.ts';
import { startTokenServer } from '../support/server.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

const bin = join(import.meta.dirname, '..', '..', 'bin', 'oauth-profile.js');
const large = 'x'.repeat(500_000);

it('token writes everything to a slow reader that must not block the program', async () => {
  const server = await startTokenServer((response) => response.end(JSON.stringify({ access_token: 'a', large })));
  const fifo = join(sandbox.directory, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const end = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
  const settings = ['p.type=custom', `p.url=http://127.0.0.1:${server.port}/`].flatMap((setting) => ['--set', setting]);
  const child = spawn(process.execPath, [bin, 'token', 'p', '--field', 'large', ...settings], {
    env: { HOME: sandbox.home },
    stdio: ['ignore', end, 'inherit'],
  });
  const exit = once(child, 'exit');
  let seen = '';
  for await (const chunk of createReadStream(fifo, { encoding: 'latin1', highWaterMark: 4096 })) {
    seen += chunk;
    if (seen.endsWith('\n')) break;
  }
  expect(seen === `${large}\n`).toBe(true);
  expect(await exit).toEqual([0, null]);
  await server.stop();
});

it('emulate serves requests while its output is not read', async () => {
  const child = spawn(process.execPath, [bin, 'emulate', '--json'], {
    env: { HOME: sandbox.home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  child.stdout.pause();
  const { port } = new URL(JSON.parse(line).url);
  for (let count = 0; count < 40; count++) {
    const posted = request({ port, host: '127.0.0.1', method: 'POST', path: '/gitlab.com/oauth/token', agent: false });
    posted.setHeader('Content-Type', 'application/x-www-form-urlencoded').end(`grant_type=${large.slice(0, 50_000)}`);
    const [response] = await once(posted, 'response');
    response.resume();
    expect(response.statusCode).toBe(400);
  }
  child.kill();
  child.stdout.resume();
  expect(await once(child, 'exit')).toEqual([0, null]);
});
