import { describe, expect, it, onTestFinished } from 'vitest';
import { useCliFixture } from '../../support/cli.ts';
import { startTokenServer } from '../../support/server.ts';

const fixture = useCliFixture();
const { run } = fixture;

describe('list', () => {
  it('prints profiles with server, expiry and fingerprint, never a token', async () => {
    await run('oauth-profile token robot; oauth-profile token ada');
    const { stdout, exit } = await run('oauth-profile list');
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^profile +server +access token +refresh token +account +fingerprint$/m);
    expect(stdout).toMatch(/^ada +http:\/\/127\.0\.0\.1:\d+ +expires in 59 min +stored +\S{8}$/m);
    expect(stdout).toMatch(/^robot +http:\/\/127\.0\.0\.1:\d+ +expires in 59 min +\S{8}$/m);
    expect(stdout).toContain('stored in ');
    expect(stdout).not.toMatch(/access-token|rotated-refresh|configured-refresh|robot-secret/);
  });

  it('shows a refresh token that has not been used successfully', async () => {
    await run('oauth-profile token ada --set ada.url=http://127.0.0.1:1/token --set ada.options.timeout=1s');
    const { stdout } = await run('oauth-profile list');
    expect(stdout).toMatch(/^ada +http:\/\/127\.0\.0\.1:1 +none +stored +\S{8}$/m);
  });

  it.each(['8.64e12', '1e13', '-1e13', '-1e16', '1e300', '"9999999999999999999"'])(
    'prints a token with expires_in %s, which is outside the range of dates',
    async (expiresIn) => {
      const server = await startTokenServer((response) =>
        response.end(`{"access_token":"access-token-x","expires_in":${expiresIn}}`),
      );
      onTestFinished(() => server.stop());
      const set = `--set robot.url=http://127.0.0.1:${server.port}/token`;
      expect(await run(`oauth-profile token robot --verbose ${set}`)).toMatchObject({ exit: 0 });
      expect(await run('oauth-profile list')).toMatchObject({ exit: 0, stderr: '' });
      expect(await run('oauth-profile list --json')).toMatchObject({ exit: 0, stderr: '' });
    },
  );

  it('prints the same as JSON', async () => {
    await run('oauth-profile token ada');
    const { stdout } = await run('oauth-profile list --json');
    expect(JSON.parse(stdout)).toEqual({
      store: expect.stringContaining(fixture.sandbox.home),
      profiles: [
        {
          profile: 'ada',
          defined: true,
          kind: 'refresh',
          server: `http://127.0.0.1:${fixture.server.port}`,
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
