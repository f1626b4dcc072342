import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordConnections, Sandbox } from '../../support/cli.ts';
import { encodingsOf, leaksIn } from '../../support/leaks.ts';
import { startTokenServer, type TokenServer } from '../../support/server.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

const reportFlags = '--report junit=out/junit.xml --report json=out/report.json --report html=out/report.html';
const reports = ['junit.xml', 'report.html', 'report.json'];

describe('an interrupted run', () => {
  /** Starts a server that never responds. */
  const startSilentServer = async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return { port: (server.address() as AddressInfo).port, close: () => server.close() };
  };

  const slowSteps: readonly [what: string, step: string][] = [
    ['a wait', '- base.waitFor: 600000'],
    ['a request to an API that does not respond', '- ws.get: ["http://127.0.0.1:${env:PORT}/", "", response]'],
    ['a download', '- ws.download: ["http://127.0.0.1:${env:PORT}/", "", saved.bin]'],
    ['a request to a provider that does not respond', '- ws.oauthProfile: [token, p]'],
  ];

  it.each(
    slowSteps.flatMap(([what, step]) => (['SIGINT', 'SIGTERM'] as const).map((signal) => ({ what, step, signal }))),
  )(
    'by $signal during $what ends the step, writes the reports and leaves no temporary files',
    async ({ step, signal }) => {
      const server = await startSilentServer();
      const directory = join(sandbox.work, `${signal}-${slowSteps.findIndex(([, one]) => one === step)}`);
      mkdirSync(directory);
      writeFileSync(
        join(directory, 'slow.yaml'),
        `data: {p: {type: custom, url: "http://127.0.0.1:\${env:PORT}/", grant_type: client_credentials}}
steps:
  - base.verbose: first
  ${step}
  - base.verbose: never
  - base.verbose: never either
    always: true
`,
      );
      writeFileSync(join(directory, 'next.yaml'), 'steps:\n  - base.verbose: never\n');
      const child = spawn(
        process.execPath,
        [join(root, 'bin', 'oauth-profile.js'), 'run', 'slow.yaml', 'next.yaml', '--events', ...reportFlags.split(' ')],
        { cwd: directory, env: { PATH: process.env['PATH'], HOME: sandbox.home, PORT: String(server.port) } },
      );
      let text = '';
      let sent = false;
      child.stdout.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
        if (sent || !/^\{"type":"step-start".*"number":2,/m.test(text)) return;
        sent = true;
        child.kill(signal);
      });
      let errors = '';
      child.stderr.setEncoding('utf8').on('data', (chunk) => {
        errors += chunk;
      });
      const exit = await new Promise((resolve) => {
        child.on('close', (code, by) => resolve(code ?? by));
      });
      server.close();
      expect({ exit, errors }).toEqual({ exit: 130, errors: '' });
      const events = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(events.map(({ type, file }) => `${type} ${file}`).slice(-4)).toEqual([
        'run-end slow.yaml',
        'run-start next.yaml',
        'step-end next.yaml',
        'run-end next.yaml',
      ]);
      expect(readdirSync(directory).sort()).toEqual(['next.yaml', 'out', 'slow.yaml']);
      expect(readdirSync(join(directory, 'out')).sort()).toEqual(reports);
      const { scripts } = JSON.parse(readFileSync(join(directory, 'out', 'report.json'), 'utf8'));
      expect(scripts.map(({ interrupted, state }: Record<string, unknown>) => [interrupted, state])).toEqual([
        [true, 'failed'],
        [true, 'failed'],
      ]);
      const [slow] = scripts;
      expect(slow.steps.map(({ state }: { state: string }) => state)).toEqual([
        'passed',
        'failed',
        'skipped',
        'skipped',
      ]);
      expect(slow.steps[1].failure.code).toBe('aborted');
      expect(slow.steps[3].reason).toBe('the run was interrupted');
    },
  );
});

describe('run --emulate', () => {
  it('connects only to 127.0.0.1, looks up no name, uses no proxy and creates no vault', async () => {
    const { stdout, stderr, exit } = await sandbox.run(
      `oauth-profile run '${join(root, 'examples')}/*.yaml' --emulate --quiet && cat "$CONNECTIONS" >&2 && ls -A "$HOME"`,
      recordConnections(sandbox),
    );
    expect({ stdout, exit }).toMatchObject({
      stdout: expect.stringMatching(/^\n✓ \d+ scripts {2}\d+ steps passed {2}[^\n]*\n$/),
      exit: 0,
    });
    const lines = stderr.trim().split('\n');
    expect(lines.filter((line) => line.startsWith('connect')).length).toBeGreaterThan(5);
    expect(lines.filter((line) => !line.endsWith(' 127.0.0.1'))).toEqual([]);
  });

  it('returns the result of every step of 100 scripts', async () => {
    const directory = join(sandbox.work, 'many');
    mkdirSync(directory);
    const count = 100;
    for (let n = 0; n < count; n++) {
      writeFileSync(
        join(directory, `${n}.yaml`),
        `name: Script ${n}
data: {p: {type: microsoft, tenant_id: contoso.com, client_id: client, username: "user${n}@contoso.com", password: "password of user ${n}"}}
steps:
  - ws.oauthProfile: [token, p]
  - base.save: [mine, "${n} \${token.token_type}"]
  - base.verbose: "\${mine}"
`,
      );
    }
    const { stdout, exit } = await sandbox.run('oauth-profile run many --emulate --parallel 8 --quiet --json');
    expect(exit).toBe(0);
    const { counts, scripts } = JSON.parse(stdout);
    expect(counts).toEqual({
      scripts: { passed: count, failed: 0, flaky: 0 },
      steps: { passed: 3 * count, failed: 0, skipped: 0 },
    });
    type Script = { name: string; file: string; steps: { number: number; output: string[] }[] };
    const found = (scripts as Script[]).map(({ name, file, steps }) => [name, file, steps.map(({ output }) => output)]);
    const files = Array.from({ length: count }, (_, n) => `many/${n}.yaml`).sort();
    expect(found).toEqual(
      files.map((file) => {
        const n = /\d+/.exec(file)?.[0];
        return [`Script ${n}`, file, [[], [], [`${n} Bearer`]]];
      }),
    );
  });
});

/** Runs scripts in every output mode and returns all output. */
async function allOutputs(scripts: string, env: Record<string, string>, flags = ''): Promise<string> {
  const texts: string[] = [];
  const collect = async (line: string, more: Record<string, string> = {}): Promise<void> => {
    const { stdout, stderr } = await sandbox.run(line, { ...env, ...more });
    texts.push(stdout, more['GITHUB_ACTIONS'] === undefined ? stderr : stderr.replace(/^::add-mask::.*$/gm, ''));
  };
  const summary = join(sandbox.work, 'summary.md');
  writeFileSync(summary, '');
  await collect(`oauth-profile run ${scripts} ${flags} --verbose ${reportFlags}`);
  await collect(`oauth-profile run ${scripts} ${flags} --json --verbose`);
  await collect(`oauth-profile run ${scripts} ${flags} --events --verbose`, {
    GITHUB_ACTIONS: 'true',
    GITHUB_STEP_SUMMARY: summary,
  });
  for (const report of reports) texts.push(readFileSync(join(sandbox.work, 'out', report), 'utf8'));
  texts.push(readFileSync(summary, 'utf8'));
  return texts.join('\n');
}

describe('secrets', () => {
  const canary = (name: string): string => `c4n4ry ${name}/+~"'<&>%2B\\é漢😀$x-_.!*()`;

  it('are masked in every output of every example', { timeout: 120_000 }, async () => {
    const examples = readdirSync(join(root, 'examples')).filter((file) => file.endsWith('.yaml'));
    const named = examples.flatMap((file) => [
      ...readFileSync(join(root, 'examples', file), 'utf8').matchAll(/\$\{env:([A-Z_]+)/g),
    ]);
    const names = [...new Set(named.map(([, name = '']) => name))];
    const secretNames = names.filter((name) => /SECRET|PASSWORD|TOKEN|KEY/.test(name));
    expect(secretNames.length).toBeGreaterThanOrEqual(5);
    const env = Object.fromEntries(secretNames.map((name) => [name, canary(name)]));
    const text = await allOutputs(`'${join(root, 'examples')}/*.yaml'`, env, '--emulate');
    expect(text).toContain(`✓ ${examples.length} scripts`);
    expect(text).not.toContain('✗');
    expect(leaksIn(text, Object.values(env))).toEqual([]);
    // JWTs of the emulator start like this; its other tokens are values of these members.
    expect(text).not.toMatch(/eyJ[\w-]{10,}\.[\w-]+/);
    expect(text).not.toMatch(/"(?:access|refresh|id)_token\\?": ?\\?"[^•"\\]/);
  });

  describe('in a script that tries to show them', () => {
    const issued = {
      access_token: 'c4n4ry-issued.access/token+1',
      refresh_token: 'c4n4ry-issued-refresh',
      id_token: 'c4n4ry-issued-id',
    };
    const secret = canary('client_secret');
    const all = [...Object.values(issued), secret];
    let server: TokenServer;
    beforeAll(async () => {
      server = await startTokenServer((response, { path, headers, body }) => {
        if (path === '/token')
          return void response.end(JSON.stringify({ ...issued, token_type: 'Bearer', expires_in: 60 }));
        // An API that repeats the request in many encodings.
        const repeated = [String(headers.authorization ?? ''), decodeURIComponent(path ?? ''), body].flatMap((text) => [
          text,
          ...all.filter((one) => text.includes(one) || text.includes(encodeURIComponent(one))).flatMap(encodingsOf),
        ]);
        const echo = repeated.join(' | ');
        const ascii = repeated.filter((text) => /^[\x20-\x7e]*$/.test(text)).join(' | ');
        response.setHeader('x-echo', ascii);
        response.setHeader('location', `https://other.example/?${encodeURIComponent(String(headers.authorization))}`);
        response.statusCode = path?.startsWith('/error') ? 500 : 200;
        response.statusMessage = ascii;
        if (path?.startsWith('/json'))
          response.setHeader('content-type', 'application/json').end(JSON.stringify({ echo, data: [{ repeated }] }));
        else response.end(`<html><body>${echo}</body></html>`);
      });
    });
    afterAll(() => server.stop());

    const steps = `
  - ws.oauthProfile: [token, p]
  - base.verbose: "\${token.access_token}"
  - base.verbose: "\${token}"
  - base.verbose: "\${p.client_secret}"
  - base.verbose: "\${env:THE_SECRET}"
  - base.verbose: "\${file:secret.txt}"
  - base.save: [innocent, "\${token.access_token}"]
  - base.verbose: "\${innocent}"
  - base.save: [list, ["\${innocent}", {a: "x \${p.client_secret} y"}]]
  - base.verbose: "\${list}"
  - base.assertEqual: [nothing, "\${innocent}"]
    continueOnFailure: true
  - base.assertEqual: ["\${list}", "\${token}"]
    continueOnFailure: true
  - base.assertContains: ["\${list}", "\${innocent} and more"]
    continueOnFailure: true
  - base.assertMatch: ["\${innocent}", "^$"]
    continueOnFailure: true
  - json.assertValue: ["\${token}", access_token, nothing]
    continueOnFailure: true
  - json.assertCorrectness: ["\${token}", {properties: {access_token: {const: x}, id_token: {pattern: "^x"}, refresh_token: {type: number}}}]
    continueOnFailure: true
  - json.storeValue: ["\${token}", "$..*", parts]
  - base.verbose: "\${parts}"
  - number.assertEqual: [1, "\${innocent}"]
    continueOnFailure: true
  - base.waitFor: "\${innocent}"
    continueOnFailure: true
  - ws.assertReturnCode: ["\${innocent}", 200]
    continueOnFailure: true
  - ws.oauthProfile: [other, "\${innocent}"]
    continueOnFailure: true
  - base.verbose: "\${innocent.member}"
    continueOnFailure: true
  - base.verbose: "x \${list}"
    continueOnFailure: true
  - if: "\${innocent} = nothing & \${env:THE_SECRET} is empty"
    base.verbose: never
  - if: "x matches \${innocent}("
    base.verbose: never
    continueOnFailure: true
  - ws.header: [Authorization, "Bearer \${innocent}"]
  - ws.get: ["\${api}/html", {q: "\${innocent}"}, echoed]
  - base.verbose: "\${echoed.text}"
  - base.verbose: "\${echoed.headers.x-echo}"
  - base.verbose: "\${echoed.statusText}"
  - base.verbose: "\${echoed}"
  - ws.get: ["\${api}/json?access_token=\${innocent}", "", echoed]
  - base.verbose: "\${echoed.body.data[0].repeated}"
  - base.assertEqual: [{}, "\${echoed.body}"]
    continueOnFailure: true
  - ws.assertReturnCode: [echoed, 404]
    continueOnFailure: true
  - ws.post: ["\${api}/error", {client_secret: "\${p.client_secret}", other: "\${innocent}"}, echoed]
  - ws.assertReturnCode: [echoed, 200]
    continueOnFailure: true
  - ws.get: ["http://localhost:1/\${innocent}", "", nowhere]
    continueOnFailure: true
  - ws.get: ["\${innocent}", "", nowhere]
    continueOnFailure: true
  - ws.jwtParse: [claims, "\${innocent}"]
    continueOnFailure: true
  - ws.jwtSignHS256: [signed, {secret: "\${p.client_secret}"}, "\${innocent}"]
    continueOnFailure: true
  - base.verbose: "\${signed:-}"
  - name: "c4n4ry-issued.access/token+1 in a name"
    base.failImmediate: "\${innocent} and \${p.client_secret}"
`;

    const failing = [
      'the values differ',
      'the values differ',
      'does not contain the expected value',
      'does not match the regular expression',
      '$.access_token differs',
      'does not match the schema: /access_token must be',
      'num2 must be a number',
      'waitMs must be a non-negative integer',
      'var must be a variable name',
      'profile must be the name of a profile',
      'innocent.member is not defined',
      'list is a list and cannot be part of a string',
      'the operand of matches must be a regular expression',
      'the values differ',
      'echoed returned HTTP 200 ••••',
      'echoed returned HTTP 500 ••••',
      'connection refused by localhost:1',
      'url is not an absolute http or https URL',
      'not a JWT',
      '••••',
    ];

    it('are masked, whatever the provider and the API return', { timeout: 120_000 }, async () => {
      sandbox.write('secret.txt', secret);
      sandbox.write(
        'leak.yaml',
        `data:
  api: http://127.0.0.1:\${env:PORT}
  p:
    type: custom
    url: \${api}/token
    grant_type: client_credentials
    client_secret: \${env:THE_SECRET}
steps:${steps}`,
      );
      const text = await allOutputs('leak.yaml', { PORT: String(server.port), THE_SECRET: secret });
      const report = JSON.parse(readFileSync(join(sandbox.work, 'out', 'report.json'), 'utf8'));
      type Step = { number: number; state: string; failure?: { message: string } };
      const failures = (report.scripts[0].steps as Step[]).flatMap(({ failure }) => failure?.message ?? []);
      // If a step failed for another reason, it would not test the masking.
      expect(failures).toEqual(failing.map((start) => expect.stringContaining(start)));
      expect(
        server.requests.filter(({ headers }) => headers.authorization === `Bearer ${issued.access_token}`).length,
      ).toBe(9);
      expect(leaksIn(text, all)).toEqual([]);
      // Nor is a part of a secret left where a string was truncated.
      expect(text).not.toContain('c4n4ry');
    });
  });

  it('are masked in the issues of a script', async () => {
    sandbox.write(
      'bad.yaml',
      `data: {p: {client_secret: c4n4ry-in-a-script}}
steps:
  - ws.header: [Authorization, "Bearer c4n4ry-in-a-script", x]
  - ws.oauth: {var: t, url: x, auth: {password: c4n4ry-in-a-script}, password: c4n4ry-in-a-script}
  - ws.jwtSignHS256: [t, {}, c4n4ry-in-a-script, "c4n4ry-in-a-script
`,
    );
    const { stdout, stderr, exit } = await sandbox.run('oauth-profile run bad.yaml; oauth-profile run bad.yaml --json');
    expect(exit).toBe(2);
    expect(leaksIn(stdout + stderr, ['c4n4ry-in-a-script'])).toEqual([]);
  });
});

it('an invalid flag is reported before an emulator starts', async () => {
  sandbox.write('say.yaml', 'steps:\n  - base.verbose: hello\n');
  const { stderr, exit } = await sandbox.run('oauth-profile run say.yaml --emulate --store nonsense --quiet');
  expect(exit).toBe(2);
  expect(stderr).toContain('--store');
});
