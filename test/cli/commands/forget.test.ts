import { describe, expect, it } from 'vitest';
import { useCliFixture } from '../../support/cli.ts';

const fixture = useCliFixture();
const { run, sentRefreshTokens } = fixture;

const storedNames = async (): Promise<string[]> => {
  const { profiles } = JSON.parse((await run('oauth-profile list --json')).stdout);
  return profiles
    .filter((row: { kind?: string }) => row.kind !== undefined)
    .map((row: { profile: string }) => row.profile);
};

describe('forget', () => {
  it('deletes the cached token and the refresh token of one profile only', async () => {
    await run('oauth-profile token robot; oauth-profile token ada');
    expect(await storedNames()).toEqual(['ada', 'robot']);
    const { stdout, exit } = await run('oauth-profile forget robot --json');
    expect({ exit, deleted: JSON.parse(stdout).deleted }).toEqual({
      exit: 0,
      deleted: [{ profile: 'robot', kind: 'token' }],
    });
    expect(await storedNames()).toEqual(['ada']);
    await run('oauth-profile token robot');
    expect(fixture.server.requests).toHaveLength(3);
  });

  it('starts again with the configured refresh token, and warns that it may have been replaced', async () => {
    await run('oauth-profile token ada');
    const { stderr } = await run('oauth-profile forget ada');
    expect(stderr).toContain('ada.refresh_token is set in oauth-profiles.yaml');
    await run('oauth-profile token ada');
    expect(sentRefreshTokens()).toEqual(['configured-refresh-token-1', 'configured-refresh-token-1']);
  });

  it('deletes what is stored for a profile that is no longer defined', async () => {
    await run('oauth-profile token robot');
    fixture.sandbox.write('oauth-profiles.yaml', 'other: {type: twitter, client_id: a, client_secret: b}\n');
    expect(await storedNames()).toEqual(['robot']);
    expect(await run('oauth-profile forget robot')).toMatchObject({ exit: 0, stderr: '' });
    expect(await storedNames()).toEqual([]);
  });

  it('deletes everything with --all', async () => {
    await run('oauth-profile token robot; oauth-profile token ada');
    expect(await run('oauth-profile forget --all --quiet')).toMatchObject({ exit: 0, stderr: '' });
    expect(await storedNames()).toEqual([]);
  });

  it.each([
    ['forget', 'usage'],
    ['forget robot --all', 'usage'],
    ['forget robt', 'profile_not_found'],
  ])('rejects %s with %s', async (line, code) => {
    const { stderr, exit } = await run(`oauth-profile ${line} --json`);
    expect({ exit, code: JSON.parse(stderr).code }).toEqual({ exit: 2, code });
  });

  it('succeeds if nothing is stored for a profile', async () => {
    expect(await run('oauth-profile forget robot')).toMatchObject({ exit: 0 });
  });
});

describe('token --no-store', () => {
  it('requests a token and creates no file', async () => {
    const { stdout, exit } = await run(
      'oauth-profile token robot --no-store; oauth-profile token robot --no-store; ls -A "$HOME" >&2',
    );
    expect({ stdout, exit }).toEqual({ stdout: 'access-token-1\naccess-token-2\n', exit: 0 });
    expect((await run('ls -A "$HOME"')).stdout).toBe('');
  });

  it('sends no refresh token that the provider may replace', async () => {
    const { stderr, exit } = await run('oauth-profile token ada --no-store --json');
    expect({ exit, code: JSON.parse(stderr).code }).toEqual({ exit: 2, code: 'usage' });
    expect(fixture.server.requests).toEqual([]);
  });

  it('sends a refresh token that stays valid', async () => {
    const { exit } = await run('oauth-profile token ada --no-store --set ada.options.refresh_token_reuse=allowed');
    expect({ exit, sent: sentRefreshTokens() }).toEqual({ exit: 0, sent: ['configured-refresh-token-1'] });
    expect((await run('ls -A "$HOME"')).stdout).toBe('');
  });
});
