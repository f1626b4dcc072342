import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Sandbox } from '../support/cli.ts';
import { startTokenServer, type TokenServer } from '../support/server.ts';

const nasty = 'a\u001b[2J\u009b31m\u202eb';
const secret = 'c4n4ry-client-secret';

const responses: Readonly<Record<string, object>> = {
  '/controls': { access_token: nasty, refresh_token: `r${nasty}`, scope: nasty, list: [nasty], lines: 'a\nb' },
  '/type': { access_token: 'abc', token_type: `Bearer\u009b31m` },
  '/plain': { access_token: 'abc~ .-_/+=', token_type: 'bearer', [`odd${nasty}`]: 1, name: 'é漢😀' },
};

describe('terminal output', () => {
  const sandbox = new Sandbox();
  let server: TokenServer;
  beforeAll(async () => {
    server = await startTokenServer((response, { path }) => response.end(JSON.stringify(responses[path ?? ''] ?? {})));
    const profile = (name: string, path: string): string =>
      `${name}: {type: twitter, url: "http://127.0.0.1:${server.port}/${path}", client_id: id, client_secret: ${secret}}\n`;
    sandbox.write('oauth-profiles.yaml', profile('s', 'controls') + profile('t', 'type') + profile('p', 'plain'));
  });
  afterAll(async () => {
    sandbox.remove();
    await server.stop();
  });

  const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

  it.each(['token s', 'token s --header', 'token t --header', 'token s --field scope', 'token s --field access_token'])(
    '%s rejects a value with control characters',
    async (line) => {
      const { stdout, stderr, exit } = await sandbox.run(`oauth-profile ${line}`);
      expect({ stdout, exit }).toEqual({ stdout: '', exit: 4 });
      expect(stderr).toMatch(/--json|token_type|RFC 6749/);
      expect(stderr).not.toMatch(controls);
      const asJson = await sandbox.run(`oauth-profile ${line.replace(/ --header/, '')} --quiet`);
      expect(asJson.stdout + asJson.stderr).not.toMatch(controls);
    },
  );

  it.each(['token s --json', 'token s --json --reveal', 'token s --field list', 'token p --json'])(
    '%s escapes control characters',
    async (line) => {
      const { stdout, exit } = await sandbox.run(`oauth-profile ${line}`);
      expect(exit).toBe(0);
      expect(stdout).toContain('\\u202e');
      expect(stdout).not.toMatch(controls);
      const parsed = JSON.parse(stdout);
      if (line.includes('--json') && line.includes(' s ')) expect(parsed.access_token).toBe(nasty);
    },
  );

  it.each([
    ['token p', 'abc~ .-_/+=\n'],
    ['token p --header', 'Authorization: Bearer abc~ .-_/+=\n'],
    ['token p --field name', 'é漢😀\n'],
    ['token s --field lines', 'a\nb\n'],
  ])('%s prints other characters unchanged', async (line, expected) => {
    expect(await sandbox.run(`oauth-profile ${line}`)).toMatchObject({ stdout: expected, exit: 0 });
  });

  it('masks member names that may contain a token', async () => {
    const { stderr } = await sandbox.run('oauth-profile token p --field nothing');
    expect(stderr).toContain('access_token, token_type, ••••, name');
  });

  it('contains no workflow commands of GitHub Actions but those of the program', async () => {
    sandbox.write(
      'commands.yaml',
      'name: "##[group]a"\nsteps:\n  - base.verbose: "::warning::x ##[add-mask]y"\n  - base.assertEqual: ["##[error]b", "c\\n::notice::d"]\n',
    );
    const github = { GITHUB_ACTIONS: 'true' };
    const { stdout, stderr } = await sandbox.run('oauth-profile run commands.yaml --verbose', github);
    const lines = (stdout + stderr).split('\n');
    expect(lines.filter((line) => /^\s*::(?!add-mask::c4n4ry)/.test(line))).toEqual([
      expect.stringMatching(/^::error file=commands\.yaml,line=4/),
    ]);
    expect(lines.filter((line) => line.includes('##[') && !line.startsWith('::error '))).toEqual([]);
    const asJson = await sandbox.run('oauth-profile run commands.yaml --json', github);
    expect(asJson.stdout).not.toContain('##[');
    expect(JSON.parse(asJson.stdout).scripts[0].name).toBe('##[group]a');
    const masked = await sandbox.run("oauth-profile run commands.yaml --set 'x.password=${env:NAME}'", github);
    expect(masked.stderr).not.toContain('${env:NAME}');
    sandbox.write('invalid.yaml', '"##[group]": 1\n::error::boo\n');
    const invalid = await sandbox.run('oauth-profile run invalid.yaml', github);
    expect(invalid.stderr).not.toMatch(/^\s*::(?!add-mask::c4n4ry)|##\[/m);
  });

  it.each([
    ['GITHUB_ACTIONS', 'true', '::stop-commands::pause'],
    ['GITHUB_ACTIONS', 'true', 'a##[error]b'],
    ['TF_BUILD', 'True', 'a##vso[task.setvariable variable=x]b'],
    ['TEAMCITY_VERSION', '2026.1', "##teamcity[buildStatus status='SUCCESS']"],
  ])('contains no command of a CI server (%s=%s) from a token: %s', async (name, value, hostile) => {
    const response = { access_token: hostile, id_token: `first\n  ${hostile}`, refresh_token: hostile };
    const server = await startTokenServer((outgoing) => outgoing.end(JSON.stringify(response)));
    onTestFinished(() => server.stop());
    sandbox.write('hostile.yaml', `h: {type: custom, url: "http://127.0.0.1:${server.port}/", grant_type: x}\n`);
    const isCommand = (line: string): boolean =>
      /^\s*::(?!add-mask::)/.test(line) || (/##(?:vso|teamcity)?\[/.test(line) && !line.startsWith('::add-mask::'));
    for (const flags of ['', '--header', '--field id_token', '--json', '--json --reveal']) {
      const { stdout, stderr, exit } = await sandbox.run(`oauth-profile token h --data hostile.yaml ${flags}`, {
        [name]: value,
      });
      expect(`${stdout}\n${stderr}`.split('\n').filter(isCommand)).toEqual([]);
      if (flags.startsWith('--json')) expect(JSON.parse(stdout).access_token).toBe(hostile);
      else if (flags !== '--header' || hostile.includes('##'))
        expect({ stdout, exit }).toEqual({ stdout: '', exit: 4 });
    }
  });

  it('check and explain escape control characters in JSON', async () => {
    sandbox.write(
      'odd.yaml',
      `o: {type: custom, url: "https://a.example/", "f\\u202e": "v\\u009b", "g\\u202e.h": 1}\n`,
    );
    for (const command of ['explain o --json', 'check o --json']) {
      const { stdout } = await sandbox.run(`oauth-profile ${command} --data odd.yaml`);
      expect(stdout).toContain('\\u202e');
      expect(stdout).not.toMatch(controls);
    }
  });

  it.each(['client_secret: {S3cr3tF}', 'client_secret: {S3cr3tF: x}', 'basic: {password: {S3cr3tF}}'])(
    'does not show a secret in braces as a name: %s',
    async (line) => {
      sandbox.write('braces.yaml', `b:\n  type: twitter\n  client_id: id\n  ${line}\n`);
      for (const command of ['check b', 'check b --json', 'token b', 'token b --json', 'explain b --verbose']) {
        const { stdout, stderr } = await sandbox.run(`oauth-profile ${command} --data braces.yaml`);
        expect(stdout + stderr).not.toContain('S3cr3tF');
      }
    },
  );

  it.runIf(existsSync('/dev/full'))('reports a full device in one line and exits with 74', async () => {
    const full = { stdout: '', stderr: 'oauth-profile: cannot write the output (ENOSPC)\n', exit: 74 };
    for (const command of ['token p', 'token p --json', '--help', 'check --quiet']) {
      expect(await sandbox.run(`oauth-profile ${command} > /dev/full`)).toEqual(full);
    }
    expect(await sandbox.run('oauth-profile token unknown 2> /dev/full')).toEqual({ stdout: '', stderr: '', exit: 74 });
  });

  it('ignores a reader that closes the pipe', async () => {
    const { stderr } = await sandbox.run('oauth-profile completion bash | head -1; exit ${PIPESTATUS[0]}');
    expect(stderr).toBe('');
  });

  it('masks secrets in the output of NODE_DEBUG', async () => {
    const { stdout, stderr } = await sandbox.run('oauth-profile token p --force-refresh', {
      NODE_DEBUG: 'http,https,net',
    });
    expect(stdout).toBe('abc~ .-_/+=\n');
    expect(stderr).toContain('HTTP ');
    expect(stderr).not.toContain(Buffer.from(`id:${secret}`).toString('base64').slice(4, 20));
    expect(stderr).not.toContain(secret);
  });
});
