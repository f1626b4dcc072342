import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sandbox } from '../support/run-cli.ts';
import { startTokenServer, type TokenServer } from '../support/token-server.ts';

const PASTED = 'pasted-refresh-token-1';
let sandbox: Sandbox;
let server: TokenServer;
let env: Record<string, string>;

beforeEach(async () => {
  sandbox = new Sandbox();
  server = await startTokenServer((response, { body }, count) => {
    const rotated = body.includes('grant_type=refresh_token') ? { refresh_token: `rotated-refresh-${count}` } : {};
    response.end(JSON.stringify({ access_token: `access-token-${count}`, expires_in: 3600, ...rotated }));
  });
  env = { PORT: String(server.port) };
  const url = `http://127.0.0.1:${server.port}/token`;
  sandbox.write(
    'oauth-profiles.yaml',
    `robot: {type: custom, url: "${url}", grant_type: client_credentials, client_id: robot, client_secret: robot-secret-1}
ada: {type: custom, url: "${url}", grant_type: refresh_token, client_id: app, refresh_token: ${PASTED}}
`,
  );
});

afterEach(async () => {
  sandbox.remove();
  await server.close();
});

const run = (line: string, more: Record<string, string> = {}) => sandbox.run(line, { ...env, ...more });
const sentRefreshTokens = (): (string | null)[] =>
  server.received.map(({ body }) => new URLSearchParams(body).get('refresh_token'));

describe('token', () => {
  it('D1 hands out a kept token while it is fresh', async () => {
    expect(await run('oauth-profile token robot && oauth-profile token robot')).toEqual({
      stdout: 'access-token-1\naccess-token-1\n',
      stderr: '',
      exit: 0,
    });
    expect(server.received).toHaveLength(1);
  });

  it('with --verbose tells what it asks for, and whether the token is new', async () => {
    const line = 'oauth-profile token robot --verbose >/dev/null';
    const { stderr } = await run(`${line}; ${line}`);
    const way = `robot: custom, client_credentials, http://127.0.0.1:${server.port}/token`;
    expect(stderr.split('\n')).toEqual([
      way,
      expect.stringMatching(/^the token is new; it lasts for another 3(?:600|59\d) s$/),
      way,
      expect.stringMatching(/^the token is kept in .+\/vault; it lasts for another 3(?:600|59\d) s$/),
      '',
    ]);
  });

  it.each(['--force-refresh', '--min-ttl 2h'])('asks anew with %s, and keeps what it got', async (flag) => {
    const { stdout } = await run(
      `oauth-profile token robot; oauth-profile token robot ${flag}; oauth-profile token robot`,
    );
    expect(stdout).toBe('access-token-1\naccess-token-2\naccess-token-2\n');
  });

  it('follows a pasted refresh token through its rotations', async () => {
    const { stdout } = await run('for i in 1 2 3; do oauth-profile token ada --force-refresh; done');
    expect(stdout).toBe('access-token-1\naccess-token-2\naccess-token-3\n');
    expect(sentRefreshTokens()).toEqual([PASTED, 'rotated-refresh-1', 'rotated-refresh-2']);
  });

  it('begins anew with a refresh token that was pasted since', async () => {
    await run('oauth-profile token ada; oauth-profile token ada --set ada.refresh_token=newly-pasted-token-1');
    expect(sentRefreshTokens()).toEqual([PASTED, 'newly-pasted-token-1']);
  });

  it('never gives a kept refresh token to another client or server of the same name', async () => {
    await run('oauth-profile token ada');
    await run('oauth-profile token ada --set ada.client_id=thief');
    await run('oauth-profile token ada --set ada.url=http://localhost:$PORT/token');
    expect(sentRefreshTokens()).toEqual([PASTED, PASTED, PASTED]);
  });

  it('without a vault that can be written to warns, and goes on unless it refreshes', async () => {
    const broken = { OAUTH_PROFILE_HOME: '/proc/no-such-folder' };
    const robot = await run('oauth-profile token robot', broken);
    expect(robot).toMatchObject({ stdout: 'access-token-1\n', exit: 0 });
    expect(robot.stderr).toMatch(/^warning: the token is not kept: /);
    const ada = await run('oauth-profile token ada', broken);
    expect(ada).toMatchObject({ stdout: '', exit: 6 });
    expect(server.received).toHaveLength(1);
  });

  it('says no in one line to a --min-ttl or --store that is none', async () => {
    expect(await run('oauth-profile token robot --min-ttl soon')).toMatchObject({ exit: 2 });
    expect(await run('oauth-profile token robot --store http://127.0.0.1')).toMatchObject({ exit: 2 });
    expect(server.received).toHaveLength(0);
  });
});

it('explain shows the refresh token that would be sent now, and where it comes from', async () => {
  const { stdout: before } = await run('oauth-profile explain ada');
  expect(before).toMatch(/refresh_token +•••• +oauth-profiles\.yaml:2/);
  await run('oauth-profile token ada');
  const { stdout } = await run('oauth-profile explain ada --json --reveal');
  const field = JSON.parse(stdout).form.find(({ name }: { name: string }) => name === 'refresh_token');
  expect(field).toEqual({
    name: 'refresh_token',
    value: 'rotated-refresh-1',
    source: 'vault, follows oauth-profiles.yaml:2',
  });
});

describe('exec', () => {
  it('gives the token to the command, and nothing else that is ours', async () => {
    const { stdout, exit } = await run(
      `oauth-profile exec robot -- sh -c 'echo "$OAUTH_ACCESS_TOKEN"; env | grep -c ^OAUTH_PROFILE_; exit 7'`,
      { OAUTH_PROFILE_KEY: Buffer.alloc(32, 1).toString('base64') },
    );
    expect({ stdout, exit }).toEqual({ stdout: 'access-token-1\n0\n', exit: 7 });
  });

  it('puts no secret into the arguments of any process', async () => {
    const { stdout } = await run(`oauth-profile exec robot -- sh -c 'cat /proc/$$/cmdline /proc/$PPID/cmdline'`);
    expect(stdout).toContain('exec');
    expect(stdout).not.toMatch(/access-token-1|robot-secret/);
  });

  it('hands over a file for this user alone, and removes it afterwards', async () => {
    const { stdout } = await run(
      `oauth-profile exec robot --token-file -- sh -c 'cat "$OAUTH_ACCESS_TOKEN_FILE"; echo; stat -c %a "$OAUTH_ACCESS_TOKEN_FILE"; echo "[$OAUTH_ACCESS_TOKEN]" "$OAUTH_ACCESS_TOKEN_FILE"' > out; cat out; ls "$(awk 'END {print $2}' out)" 2>/dev/null`,
    );
    expect(stdout.split('\n').slice(0, 2)).toEqual(['access-token-1', '600']);
    expect(stdout.split('\n').slice(2)).toEqual([expect.stringMatching(/^\[\] \/.+\/token$/), '']);
  });

  it.each(['', 'run', '/nowhere'])(
    'hands it over among the temporary files where XDG_RUNTIME_DIR is %j',
    async (folder) => {
      const { stdout, exit } = await run(
        `XDG_RUNTIME_DIR='${folder}' oauth-profile exec robot --token-file -- sh -c 'echo "$OAUTH_ACCESS_TOKEN_FILE"'`,
      );
      expect({ stdout, exit }).toEqual({ stdout: expect.stringMatching(/^\/.+\/token\n$/), exit: 0 });
    },
  );

  it.each(['TERM', 'INT', 'USR2'])('passes SIG%s on and tells how the command ended', async (signal) => {
    const { stdout, exit } = await run(
      `oauth-profile exec robot -- sh -c 'trap "echo got it; exit 9" ${signal}; kill -${signal} $PPID; while :; do sleep 0.05; done'`,
    );
    expect({ stdout, exit }).toEqual({ stdout: 'got it\n', exit: 9 });
  });

  it('tells a death by signal as a shell does', async () => {
    expect(await run(`oauth-profile exec robot -- sh -c 'kill -KILL $$'`)).toMatchObject({ exit: 137 });
  });

  it.each([
    [
      'a command that is not there',
      'oauth-profile exec robot -- no-such-command-here',
      /no-such-command-here is not there/,
    ],
    ['a profile that is not there', 'oauth-profile exec nobody -- true', /there is no profile nobody/],
  ])('ends with 125 for %s', async (_, line, message) => {
    const { stderr, exit } = await run(line);
    expect(exit).toBe(125);
    expect(stderr).toMatch(message);
  });
});

describe('list', () => {
  it('shows profiles and what is kept for them, never a token', async () => {
    await run('oauth-profile token robot; oauth-profile token ada');
    const { stdout, exit } = await run('oauth-profile list');
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^ada +\S{8} +59 min left +refreshable$/m);
    expect(stdout).toMatch(/^robot +\S{8} +59 min left$/m);
    expect(stdout).toContain('kept in ');
    expect(stdout).not.toMatch(/access-token|rotated-refresh|pasted-refresh|robot-secret/);
  });

  it('says where no token ever came', async () => {
    await run('oauth-profile token ada --set ada.url=http://127.0.0.1:1/token --set ada.options.timeout=1s');
    const { stdout } = await run('oauth-profile list');
    expect(stdout).toMatch(/^ada +\S{8} +never got one +refreshable$/m);
  });

  it('gives programs the same', async () => {
    await run('oauth-profile token ada');
    const { stdout } = await run('oauth-profile list --json');
    expect(JSON.parse(stdout)).toEqual({
      store: expect.stringContaining(sandbox.home),
      profiles: [
        {
          profile: 'ada',
          defined: true,
          kind: 'refresh',
          fingerprint: expect.stringMatching(/^\S{8}$/),
          obtainedAt: expect.stringMatching(/^\d{4}-/),
          expiresAt: expect.stringMatching(/^\d{4}-/),
          refreshable: true,
        },
        { profile: 'robot', defined: true },
      ],
    });
  });
});

it('leaves no secret in clear in the vault, and no lock', async () => {
  await run('oauth-profile token robot; oauth-profile token ada --force-refresh');
  const folder = join(sandbox.home, '.local', 'share', 'oauth-profile');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.map(({ name }) => name.replace(/^[0-9a-f-]+\./, '*.')).sort()).toEqual([
    '*.sealed',
    '*.sealed',
    'vault.json',
  ]);
  for (const { parentPath, name } of files) {
    expect(readFileSync(join(parentPath, name), 'latin1')).not.toMatch(/access-token|refresh|robot|127\.0\.0\.1/);
  }
});
