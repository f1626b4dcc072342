import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatCurl, formatEnv, formatHeadersJson, formatNetrc } from '../../src/credential/formats.ts';
import { hasProgram } from '../support/cli.ts';

const hasCurl = hasProgram('curl');
const toToken = (token: string) => ({
  token,
  header: { name: 'Authorization', value: `Bearer ${token}` },
  expiresAt: Date.UTC(2030, 0, 1),
});
/** Printable ASCII, as RFC 6749 §A.12 allows it, with the characters that are special somewhere. */
const anyToken = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'\'"\\$`#!~=%@& '),
      fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    ),
    {
      minLength: 1,
      maxLength: 20,
    },
  )
  .map((characters) => characters.join(''));
const tokens = [
  ...fc.sample(anyToken, { numRuns: 30, seed: 1 }),
  "'",
  '"',
  '\\',
  '\\"',
  '$(x)',
  '`x`',
  '~',
  '=x',
  '-n',
  '@x',
];

let server: Server;
let origin: string;
/** Authorization header of the last request. */
let received: string | undefined;
let directory: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'oauth-profile-formats-'));
  server = createServer((request, response) => {
    received = request.headers.authorization;
    response.end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(directory, { recursive: true });
});

describe('the formats of token', () => {
  it('headers-json is JSON', () => {
    for (const token of tokens)
      expect(JSON.parse(formatHeadersJson(toToken(token)))).toEqual({ Authorization: `Bearer ${token}` });
  });

  it('env is evaluated by sh to the same values', () => {
    const lines = tokens.map((token) => `${formatEnv(toToken(token))}\nprintf '%s\\n' "$OAUTH_ACCESS_TOKEN"`);
    const { stdout, stderr } = spawnSync('sh', { input: lines.join('\n'), encoding: 'utf8' });
    expect([stdout.split('\n').slice(0, -1), stderr]).toEqual([tokens, '']);
    expect(formatEnv({ ...toToken('x'), expiresAt: undefined })).toBe('OAUTH_ACCESS_TOKEN=x\nOAUTH_TOKEN_EXPIRES_AT=');
  });

  it.skipIf(!hasCurl)('curl reads the header from --config -', async () => {
    for (const token of tokens) {
      await runCurl(['--config', '-', origin], formatCurl(toToken(token)));
      // The end of a header is trimmed (RFC 9110 §5.5).
      expect(received).toBe(`Bearer ${token}`.trimEnd());
    }
  });

  it.skipIf(!hasCurl)('curl reads the password from a netrc file', async () => {
    const file = join(directory, 'netrc');
    for (const token of tokens) {
      writeFileSync(file, `${formatNetrc(toToken(token), ['https://other.example.com', origin], 'oauth2')}\n`);
      await runCurl(['--netrc-file', file, origin]);
      expect(received).toBe(`Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}`);
    }
  });

  it('netrc has each host once and no wildcards', () => {
    const origins = ['https://a.example.com', 'https://a.example.com:8443', 'https://*.example.com', 'https://[::1]'];
    expect(formatNetrc(toToken('t'), origins, 'u')).toBe(
      'machine a.example.com login u password t\nmachine ::1 login u password t',
    );
    expect(formatNetrc(toToken('t'), ['https://*.example.com'], 'u')).toBe('');
  });
});

/** Runs curl and waits for its end. */
async function runCurl(args: readonly string[], input = ''): Promise<void> {
  const child = spawn('curl', ['--silent', '--show-error', ...args], { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(input);
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`curl exited with ${status}`);
}
