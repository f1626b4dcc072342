import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Sandbox } from '../support/run-cli.ts';
import { startTokenServer } from '../support/token-server.ts';

/**
 * One folder a case: `cmd` is a line of shell; `stdout`, `stderr` and `exit` are what it must give; `replies.json`, if there, is what the
 * server at $PORT answers, and `requests` what it must have received; all other files lie in the working folder. In cases that begin with run- times are TIME. GOLDEN=write writes anew.
 */
const cases = join(import.meta.dirname, 'golden');
/** What differs from run to run of the same script. */
const times: readonly [RegExp, string][] = [
  [/\b\d+(?:\.\d+)? m?s\b/g, 'TIME'],
  [/("(?:at|startedAt|startedAtMs|elapsedMs)": ?)(?:\d+|"[^"]*")/g, '$1TIME'],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'TIME'],
  [/( time(?:stamp)?=)"[^"]*"/g, '$1"TIME"'],
];
const own = new Set(['cmd', 'stdout', 'stderr', 'exit', 'requests', 'replies.json']);

interface CannedReply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

describe.concurrent('the command line, case by case', () => {
  it.each(readdirSync(cases))('%s', { timeout: 60_000 }, async (name) => {
    const folder = join(cases, name);
    const read = (file: string): string =>
      existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : '';
    const replies: CannedReply[] = JSON.parse(read('replies.json') || '[]');
    const server = await startTokenServer((response, _, count) => {
      const { status = 200, headers = {}, body = '' } = replies[Math.min(count, replies.length) - 1] ?? {};
      response.writeHead(status, headers);
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    const sandbox = new Sandbox();
    try {
      cpSync(folder, sandbox.work, { recursive: true, filter: (path) => !own.has(path.slice(folder.length + 1)) });
      const { stdout, stderr, exit } = await sandbox.run(read('cmd'), { PORT: String(server.port) });
      const plain = (text: string): string =>
        (name.startsWith('run-') ? times : []).reduce(
          (steady, [time, word]) => steady.replace(time, word),
          text.replaceAll(`:${server.port}`, ':PORT').replaceAll(sandbox.home, 'HOME').replaceAll(sandbox.work, 'WORK'),
        );
      const requests = server.received
        .map(({ method, url, headers, body }) => {
          const { authorization, accept, 'content-type': type } = headers;
          return [
            `${method} ${url}`,
            `content-type: ${type}`,
            `accept: ${accept}`,
            authorization && `authorization: ${authorization}`,
            '',
            body,
          ]
            .filter((line) => line !== undefined)
            .join('\n');
        })
        .join('\n\n');
      const actual = {
        stdout: plain(stdout),
        stderr: plain(stderr),
        exit: `${exit}\n`,
        requests: requests && `${requests}\n`,
      };
      if (process.env['GOLDEN'] === 'write') {
        for (const [file, text] of Object.entries(actual)) {
          if (text !== '' || existsSync(join(folder, file))) writeFileSync(join(folder, file), text);
        }
      }
      const expected = {
        stdout: read('stdout'),
        stderr: read('stderr'),
        exit: read('exit'),
        requests: read('requests'),
      };
      expect(actual).toEqual(expected);
    } finally {
      sandbox.remove();
      await server.close();
    }
  });
});
