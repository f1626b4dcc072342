import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { version } from '../../src/version.ts';
import { Sandbox } from '../support/cli.ts';
import { startTokenServer, type TokenCall, type TokenServer } from '../support/server.ts';
import { type CaseFile, type Part, parseCase, serializeCase } from './case-file.ts';

/** Runs every cases/*.md. Their format is described in cases/README.md; UPDATE=1 rewrites the expected outputs. */
const directory = join(import.meta.dirname, 'cases');

/** Replaced in the output of cases whose names begin with `run-`: it differs each time. */
const times: readonly [RegExp, string][] = [
  [/\b\d+(?:\.\d+)? m?s\b/g, 'TIME'],
  [/("(?:at|startedAt|startedAtMs|elapsedMs)": ?)(?:\d+|"[^"]*")/g, '$1TIME'],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'TIME'],
  [/( time(?:stamp)?=)"[^"]*"/g, '$1"TIME"'],
];

for (const file of readdirSync(directory)) {
  if (file === 'README.md') continue;
  const name = file.replace(/\.md$/, '');
  const text = readFileSync(join(directory, file), 'utf8');
  const title = /^# (.+)$/m.exec(text)?.[1] ?? 'the heading is missing';
  test.concurrent(`${name}: ${title}`, { timeout: 180_000 }, async () => {
    if (name === file) throw new Error(`${file} is not a case: expected the extension .md`);
    const actual = serializeCase(await runCase(name, parseCase(text)));
    if (process.env['UPDATE'] && actual !== text) writeFileSync(join(directory, file), actual);
    else expect(actual).toBe(text);
  });
}

/** Runs the commands of a case; returns it with the outputs that it had. */
async function runCase(name: string, { title, parts }: CaseFile): Promise<CaseFile> {
  const sandbox = new Sandbox();
  const responses: Response[] = [];
  const server = await startTokenServer((response) => {
    const { status, reason, headers, body } = responses.shift() ?? unexpected;
    response.writeHead(status, reason, headers);
    response.end(body);
  });
  const normalize = (output: string): string =>
    (name.startsWith('run-') ? times : []).reduce(
      (steady, [time, word]) => steady.replace(time, word),
      output
        .replaceAll(`:${server.port}`, ':PORT')
        .replaceAll(sandbox.home, 'HOME')
        .replaceAll(sandbox.work, 'WORK')
        .replaceAll(version, 'VERSION')
        .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'),
    );
  try {
    const actual: Part[] = [];
    for (const part of parts) {
      if (part.kind === 'file') {
        const path = join(sandbox.work, part.path);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, part.content);
      }
      if (part.kind === 'response') responses.push(parseResponse(part.message));
      if (part.kind === 'command') actual.push(...(await runCommand(part.line, responses, sandbox, server, normalize)));
      else if (part.kind !== 'stderr' && part.kind !== 'request') actual.push(part);
    }
    return { title, parts: actual };
  } finally {
    sandbox.remove();
    await server.stop();
  }
}

/** Runs one command; returns the parts that describe what it did. */
async function runCommand(
  line: string,
  responses: readonly Response[],
  sandbox: Sandbox,
  server: TokenServer,
  normalize: (output: string) => string,
): Promise<Part[]> {
  const expected = responses.length;
  const { stdout, stderr, exit } = await sandbox.run(line, { PORT: String(server.port) });
  const requests = server.requests.splice(0);
  if (requests.length !== expected)
    throw new Error(`"${line}" sent ${requests.length} requests, but the case has ${expected} responses:\n${stderr}`);
  if (exit === null) throw new Error(`"${line}" was killed by a signal`);
  return [
    { kind: 'command', line, stdout: normalize(stdout), exit },
    ...(stderr === '' ? [] : [{ kind: 'stderr', text: normalize(stderr) } as const]),
    ...requests.map((request) => ({ kind: 'request', message: normalize(formatRequest(request)) }) as const),
  ];
}

/** A request as it is shown in a case: with the headers that matter to OAuth. */
function formatRequest({ method, path, headers, body }: TokenCall): string {
  const shown = (['content-type', 'accept', 'authorization'] as const).flatMap((header) =>
    headers[header] === undefined ? [] : [`${header}: ${headers[header]}`],
  );
  return `${[`${method} ${path} HTTP/1.1`, ...shown, ...(body === '' ? [] : ['', body])].join('\n')}\n`;
}

interface Response {
  readonly status: number;
  readonly reason: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** Sent where the case has no response: it fails anyway, because the numbers of requests and responses differ. */
const unexpected: Response = { status: 500, reason: 'Unexpected Request', headers: {}, body: Buffer.alloc(0) };

function parseResponse(message: Buffer): Response {
  const end = message.indexOf('\n\n');
  const [first = '', ...fields] = message.toString('utf8', 0, end < 0 ? message.length - 1 : end).split('\n');
  const [, status, reason = ''] = /^HTTP\/1\.1 (\d{3}) (.+)$/.exec(first) ?? [];
  if (status === undefined) throw new Error(`expected a status line such as HTTP/1.1 200 OK: ${first}`);
  const headers: Record<string, string> = {};
  for (const field of fields) {
    const [, header, value] = /^([\w-]+): (.*)$/.exec(field) ?? [];
    if (header === undefined || value === undefined) throw new Error(`expected a header field: ${field}`);
    headers[header] = value;
  }
  return { status: Number(status), reason, headers, body: message.subarray(end < 0 ? message.length : end + 2, -1) };
}
