import { describe, expect, it } from 'vitest';
import { useCliFixture } from '../../support/cli-fixture.ts';

const fixture = useCliFixture();
const { run } = fixture;

describe('list', () => {
  it('prints profiles with fingerprint and expiry, never a token', async () => {
    await run('oauth-profile token robot; oauth-profile token ada');
    const { stdout, exit } = await run('oauth-profile list');
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^ada +\S{8} +59 min left +refreshable$/m);
    expect(stdout).toMatch(/^robot +\S{8} +59 min left$/m);
    expect(stdout).toContain('stored in ');
    expect(stdout).not.toMatch(/access-token|rotated-refresh|configured-refresh|robot-secret/);
  });

  it('shows a refresh token that has not been used successfully', async () => {
    await run('oauth-profile token ada --set ada.url=http://127.0.0.1:1/token --set ada.options.timeout=1s');
    const { stdout } = await run('oauth-profile list');
    expect(stdout).toMatch(/^ada +\S{8} +none +refreshable$/m);
  });

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
