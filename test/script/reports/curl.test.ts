import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { curlCommand, quoteWithVariables } from '../../../src/script/reports/curl.ts';
import { anyText } from '../../support/arbitraries.ts';
import { ApiServer, json } from '../../support/server.ts';
import { runText } from '../run-text.ts';

const url = 'https://api.example.com/items?q=[1-3]';
const request = { method: 'GET', url, headers: [] };

/** The arguments that a shell passes to curl. */
function argumentsOf(command: string, env: Record<string, string> = {}, shell = 'sh'): string[] {
  const { stdout, stderr } = spawnSync(shell, {
    input: `curl() { printf '%s\\0' "$@"; }\n${command}\n`,
    env,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout.split('\0').slice(0, -1);
}

describe('The curl command of an exchange', () => {
  it.each([
    ['GET', undefined, ['--globoff', url]],
    ['HEAD', undefined, ['--globoff', '--head', url]],
    ['POST', '{}', ['--globoff', url, '--data-raw', '{}']],
    ['POST', undefined, ['--globoff', '-X', 'POST', url]],
    ['PUT', '@a.txt', ['--globoff', '-X', 'PUT', url, '--data-raw', '@a.txt']],
  ])('of %s with body %j has the arguments %j', (method, body, expected) => {
    expect(argumentsOf(curlCommand({ ...request, method, body }))).toEqual(expected);
  });

  it.each([
    ['Authorization', 'Bearer ••••', 'Authorization: Bearer $TOKEN'],
    ['X-Api-Key', '••••', 'X-Api-Key: $X_API_KEY'],
    ['Cookie', '••••', 'Cookie: $SECRET'],
    ['X-User', 'user=••••', 'X-User: user=$SECRET'],
    ['X-Empty', '', 'X-Empty;'],
  ])('has a variable for the masked secrets of the header %s: %s', (name, value, expected) => {
    const names = ['TOKEN', 'X_API_KEY', 'SECRET'];
    const env = Object.fromEntries(names.map((one) => [one, `$${one}`]));
    expect(argumentsOf(curlCommand({ ...request, headers: [[name, value]] }), env)).toEqual([
      '--globoff',
      url,
      '-H',
      expected,
    ]);
  });

  it.each(['sh', 'bash', 'zsh'])('quotes any string for %s', (shell) => {
    const hostile = fc.constantFrom("'", '"', '$(id)', '`id`', '\\', '\n', '!', '=', '~', '*', '$HOME', '••••', '# ');
    const text = fc.array(fc.oneof(hostile, anyText), { maxLength: 6 }).map((parts) => parts.join(''));
    const value = `a'b"c $(id) \\ \n•`;
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 10 }), (texts) => {
        const wanted = texts.map((one) => one.replaceAll('\0', '').toWellFormed());
        const quoted = wanted.map(quoteWithVariables);
        const names = quoted.flatMap((one) =>
          Array.from(one.matchAll(/"\$([A-Z_][A-Z0-9_]*)"/g), ([, name = '']) => name),
        );
        const env = Object.fromEntries(names.map((name) => [name, value]));
        expect(argumentsOf(`curl ${quoted.join(' ')}`, env, shell)).toEqual(
          wanted.map((one) => one.replaceAll('••••', value)),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('sends the same request again', async () => {
    const api = await ApiServer.start(json({}));
    const { steps, directory } = await runText(
      `
data: {client_secret: "a secret & more"}
steps:
  - ws.header: [X-Api-Key, "\${client_secret}"]
  - ws.post: ["${api.origin}/a?b={1}&c=[d]", {text: "it's \\"ü\\" $(id) \`id\` \\\\\\\\", n: 1.50}, r]
  - ws.post: ["${api.origin}", "@@not-a-file\\nline 2", r]
  - ws.postForm: ["${api.origin}", {a: "b & c=ü", client_secret: "\${client_secret}"}, r]
  - ws.put: ["${api.origin}", "@a,b.txt", r]
  - ws.upload: ["${api.origin}", {title: "@ü"}, {file: "a,b.txt"}, r]
  - ws.delete: ["${api.origin}/orders/7", "", r]
  - ws.head: ["${api.origin}/orders", r]
`,
      { files: { 'a,b.txt': 'line 1\r\nline 2\n' } },
    );
    const sent = api.calls.splice(0);
    const shown = steps.flatMap(({ exchanges }) => exchanges.map(({ request: one }) => curlCommand(one)));
    expect(shown.join('\n')).not.toContain('a secret');
    for (const command of shown) {
      const env = { ...process.env, X_API_KEY: 'a secret & more', CLIENT_SECRET: 'a secret & more' };
      const child = spawn('sh', ['-c', `${command} --silent --noproxy '*'`], { cwd: directory, env });
      expect(await once(child, 'exit')).toEqual([0, null]);
    }
    const comparable = ({ method, path, headers, body }: (typeof sent)[number]) => {
      const [type, boundary = '-'] = String(headers['content-type']).split('; boundary=');
      // curl writes another boundary, and %20 for a space in a form.
      const text = body.toString().replaceAll(boundary, '-').replace(/^-+/gm, '').replaceAll('+', '%20');
      return { method, path, type, key: headers['x-api-key'], agent: headers['user-agent'], text };
    };
    expect(sent).toHaveLength(7);
    expect(api.calls.map(comparable)).toEqual(sent.map(comparable));
  });
});
