import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONFIGURED, useCliFixture } from '../../support/cli.ts';
import { startTokenServer } from '../../support/server.ts';

const fixture = useCliFixture();
const { run, sentRefreshTokens } = fixture;

describe('token', () => {
  it('D1 prints a cached token while it is usable', async () => {
    expect(await run('oauth-profile token robot && oauth-profile token robot')).toEqual({
      stdout: 'access-token-1\naccess-token-1\n',
      stderr: '',
      exit: 0,
    });
    expect(fixture.server.requests).toHaveLength(1);
  });

  it('with --verbose prints the request and whether the token is new', async () => {
    const line = 'oauth-profile token robot --verbose >/dev/null';
    const { stderr } = await run(`${line}; ${line}`);
    const request = `robot: custom, client_credentials, http://127.0.0.1:${fixture.server.port}/token`;
    const note = expect.stringContaining('robot.client_secret is written in oauth-profiles.yaml');
    expect(stderr.split('\n')).toEqual([
      note,
      request,
      expect.stringMatching(/^token: new, expires in 3(?:600|59\d) s$/),
      note,
      request,
      expect.stringMatching(/^token: from .+\/vault, expires in 3(?:600|5\d\d) s$/),
      '',
    ]);
  });

  it('with --force-refresh requests a new token and caches it', async () => {
    const { stdout } = await run(
      'oauth-profile token robot; oauth-profile token robot --force-refresh; oauth-profile token robot',
    );
    expect(stdout).toBe('access-token-1\naccess-token-2\naccess-token-2\n');
  });

  it('with a --min-ttl that no token of the provider reaches prints a cached token in the first half of its lifetime', async () => {
    const { stdout } = await run('oauth-profile token robot; oauth-profile token robot --min-ttl 2h');
    expect(stdout).toBe('access-token-1\naccess-token-1\n');
  });

  it('follows a configured refresh token through its rotations', async () => {
    const { stdout } = await run('for i in 1 2 3; do oauth-profile token ada --force-refresh; done');
    expect(stdout).toBe('access-token-1\naccess-token-2\naccess-token-3\n');
    expect(sentRefreshTokens()).toEqual([CONFIGURED, 'rotated-refresh-1', 'rotated-refresh-2']);
  });

  it('starts a new token family with an unknown refresh token', async () => {
    await run('oauth-profile token ada; oauth-profile token ada --set ada.refresh_token=another-refresh-token-1');
    expect(sentRefreshTokens()).toEqual([CONFIGURED, 'another-refresh-token-1']);
  });

  it('does not send a stored refresh token to another client or server', async () => {
    await run('oauth-profile token ada');
    await run('oauth-profile token ada --set ada.client_id=thief');
    await run('oauth-profile token ada --set ada.url=http://localhost:$PORT/token');
    expect(sentRefreshTokens()).toEqual([CONFIGURED, CONFIGURED, CONFIGURED]);
  });

  it('without a writable vault prints a warning, and fails only if it would refresh', async () => {
    const broken = { OAUTH_PROFILE_HOME: '/proc/no-such-directory' };
    const robot = await run('oauth-profile token robot', broken);
    expect(robot).toMatchObject({ stdout: 'access-token-1\n', exit: 0 });
    expect(robot.stderr).toMatch(/^warning: the token is not cached: /);
    const ada = await run('oauth-profile token ada', broken);
    expect(ada).toMatchObject({ stdout: '', exit: 6 });
    expect(fixture.server.requests).toHaveLength(1);
  });

  it('rejects an invalid --min-ttl or --store', async () => {
    expect(await run('oauth-profile token robot --min-ttl soon')).toMatchObject({ exit: 2 });
    expect(await run('oauth-profile token robot --store http://127.0.0.1')).toMatchObject({ exit: 2 });
    expect(fixture.server.requests).toHaveLength(0);
  });

  it('leaves no secret in plaintext in the vault, and no lock', async () => {
    await run('oauth-profile token robot; oauth-profile token ada --force-refresh');
    const directory = join(fixture.sandbox.home, '.local', 'share', 'oauth-profile');
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name.replace(/^[0-9a-f-]+\./, '*.')).sort()).toEqual(['*.record', '*.record']);
    for (const { parentPath, name } of files) {
      expect(readFileSync(join(parentPath, name), 'latin1')).not.toMatch(/access-token|refresh|robot|127\.0\.0\.1/);
    }
  });

  it.each([
    ['an error response', 400, '{"error":"invalid_client"}'],
    ['an incomplete response', 200, '{"access_token":"abc'],
    ['a response without a token', 200, '{"token_type":"Bearer"}'],
    ['an empty token', 200, '{"access_token":""}'],
    ['an HTML page', 200, '<html></html>'],
  ])(
    'D2 after %s prints nothing to stdout, so that a shell does not overwrite a saved token',
    async (_, status, body) => {
      const server = await startTokenServer((response) => {
        response.statusCode = status;
        response.end(body);
      });
      fixture.sandbox.write('token', 'the former value');
      const { stdout, exit } = await run(
        'token=$(oauth-profile token p --set p.type=custom --set p.url=http://127.0.0.1:$PORT/ 2>/dev/null) && printf "%s" "$token" > token; echo "status $?, token is [$token]"; cat token',
        { PORT: String(server.port) },
      );
      expect(exit).toBe(0);
      expect(stdout).toMatch(/^status [34], token is \[\]\nthe former value$/);
      await server.stop();
    },
  );
});
