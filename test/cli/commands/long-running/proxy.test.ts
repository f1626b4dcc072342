import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Sandbox } from '../../../support/cli.ts';
import { startProvider, TOKEN } from '../../../support/proxy.ts';
import { startServer } from '../../../support/server.ts';

const MIB = 1_048_576;
const run = promisify(execFile);
const bin = join(import.meta.dirname, '..', '..', '..', '..', 'bin', 'oauth-profile.js');

/** A running `oauth-profile proxy`. */
interface Running {
  readonly pid: number;
  /** The output, line by line. */
  readonly next: () => Promise<string>;
  readonly stop: (signal: NodeJS.Signals) => Promise<number | null>;
}

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.remove());

/** Starts a proxy for an API that counts the bytes it receives, and sends as many as the path requests. */
async function start(...flags: string[]): Promise<Running> {
  const { port } = await startServer((request, response) => {
    let received = 0;
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    request.on('end', () => {
      const size = Number(request.url?.slice(1).split('?')[0]);
      const isAuthorized = request.headers.authorization === `Bearer ${TOKEN}1`;
      if (!(size > 0)) return void response.writeHead(isAuthorized ? 200 : 500).end(String(received));
      const chunk = Buffer.alloc(65_536);
      let left = size;
      const write = (): void => {
        while (left > 0 && response.write(chunk.subarray(0, left))) left -= chunk.length;
        if (left > 0) left -= chunk.length;
        if (left <= 0) response.end();
      };
      response.on('drain', write);
      write();
    });
  });
  const { data } = await startProvider([`http://127.0.0.1:${port}`]);
  sandbox.write('oauth-profiles.json', JSON.stringify(data));
  const child = spawn(process.execPath, [bin, 'proxy', 'api', ...flags], {
    cwd: sandbox.work,
    env: { PATH: process.env['PATH'], HOME: sandbox.home, OAUTH_PROFILE_HOME: sandbox.home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    next: async () => (await lines.next()).value ?? '',
    stop: async (signal) => {
      const exited = once(child, 'exit');
      child.kill(signal);
      const [status] = (await exited) as [number | null];
      return status;
    },
  };
}

describe('oauth-profile proxy', () => {
  test('prints its URL and one line for each request, without the query', async () => {
    const { next, stop } = await start();
    const [, url = '', target] = /^(http:\/\/127\.0\.0\.1:\d+) → http:\/\/(\S+); press/.exec(await next()) ?? [];
    expect((await run('curl', ['-sS', '-d', 'hello', `${url}/?access=hidden`])).stdout).toBe('5');
    expect(await next()).toMatch(new RegExp(`^POST ${target}/ 200 1 B \\d+ ms$`));
    expect(await stop('SIGINT')).toBe(0);
    const [error] = await once(connect(Number(new URL(url).port), '127.0.0.1'), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('removes its Unix socket after SIGTERM, although a client is connected', async () => {
    const path = join(sandbox.work, 'api.sock');
    const { next, stop } = await start('--socket', path, '--json');
    expect(JSON.parse(await next())).toEqual({ url: `unix:${path}`, target: expect.stringMatching(/^http:/) });
    expect((await run('curl', ['-sS', '--unix-socket', path, 'http://localhost/'])).stdout).toBe('0');
    expect(JSON.parse(await next())).toMatchObject({ method: 'GET', path: '/', status: 200, bytes: 1 });
    const client = connect(path);
    client.on('error', () => {});
    await once(client, 'connect');
    expect(await stop('SIGTERM')).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  test('accepts the URL with the caller secret only', async () => {
    const { next } = await start('--caller-secret', '--json');
    const { url, callerSecret } = JSON.parse(await next());
    expect(new URL(url).password).toBe(callerSecret);
    const status = async (target: string) =>
      (await run('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', target])).stdout;
    expect(await status(url)).toBe('200');
    expect(await status(url.replace(callerSecret, 'wrong'))).toBe('401');
  });

  // Node collects read buffers after 32 MiB at the latest, so that is the least that a transfer of any size takes.
  test.runIf(process.platform === 'linux')('takes less than 64 MiB of memory for 128 MiB up and down', async () => {
    const { next, pid } = await start();
    const [url = ''] = /^\S+/.exec(await next()) ?? [];
    const memory = (field: string): number =>
      Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    const size = 128 * MIB;
    const transfer = async (): Promise<number> => {
      const up = await run('bash', ['-c', `head -c ${size} /dev/zero | curl -sS -T - ${url}`]);
      expect(up.stdout).toBe(String(size));
      const down = await run('bash', ['-c', `curl -sS ${url}/${size} | wc -c`]);
      expect(Number(down.stdout)).toBe(size);
      return memory('VmHWM');
    };
    await run('curl', ['-sS', '-d', 'x', url]);
    const idle = memory('VmRSS');
    const first = await transfer();
    expect(first - idle).toBeLessThan(64);
    expect((await transfer()) - first).toBeLessThan(16);
  });
});
