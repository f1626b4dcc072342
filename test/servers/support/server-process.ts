import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { servers } from '../servers.js';
import { RecordingProxy } from './recording-proxy.ts';

const directory = join(import.meta.dirname, '..');

/** A running server. */
export interface ServerProcess {
  readonly proxy: RecordingProxy;
  close(): Promise<void>;
}

/** Starts the server of a directory. Its clients have `redirectUri`. */
export async function startServer(name: string, redirectUri: string): Promise<ServerProcess> {
  const [command, ...args] = servers.find((server) => server.directory === name)?.command ?? [];
  if (command === undefined) throw new Error(`unknown server ${name}`);
  const proxy = await RecordingProxy.start();
  const data = mkdtempSync(join(tmpdir(), `oauth-profile-${name}-`));
  const child = spawn(process.execPath, [join(import.meta.dirname, 'supervise.js'), command, ...args], {
    cwd: join(directory, name),
    env: {
      PATH: process.env['PATH'],
      LANG: 'C.UTF-8',
      PYTHONDONTWRITEBYTECODE: '1',
      DATA: data,
      ISSUER: proxy.origin,
      REDIRECT_URI: redirectUri,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  proxy.forwardTo(await readPort(child, name));
  return {
    proxy,
    async close() {
      child.stdin?.end();
      await Promise.all([once(child, 'exit'), proxy.close()]);
      rmSync(data, { recursive: true });
    },
  };
}

/** The first line that the server prints is its port. */
async function readPort(child: ChildProcess, name: string): Promise<number> {
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    errors += text;
    if (process.env['SERVER_OUTPUT']) process.stderr.write(text);
  });
  if (child.stdout === null) throw new Error('the server has no standard output');
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${name} did not start:\n${errors}`);
  });
  const [line] = await Promise.race([once(lines, 'line'), ended]);
  ended.catch(() => {});
  return Number(line);
}
