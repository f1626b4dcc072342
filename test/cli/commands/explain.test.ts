import { expect, it } from 'vitest';
import { useCliFixture } from '../../support/cli.ts';

const { run } = useCliFixture();

it('explain shows the refresh token that would be sent now, and its source', async () => {
  const { stdout: before } = await run('oauth-profile explain ada');
  expect(before).toMatch(/refresh_token +•••• +oauth-profiles\.yaml:2/);
  await run('oauth-profile token ada');
  const { stdout } = await run('oauth-profile explain ada --json --reveal');
  const field = JSON.parse(stdout).form.find(({ name }: { name: string }) => name === 'refresh_token');
  expect(field).toEqual({
    name: 'refresh_token',
    value: 'rotated-refresh-1',
    source: 'vault, successor of oauth-profiles.yaml:2',
  });
});
