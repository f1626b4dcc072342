import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useToolFixture } from '../../support/cli.ts';

const fixture = useToolFixture();
const home = (...path: string[]) => join(fixture.sandbox.home, ...path);

beforeEach(() => fixture.setProfiles({ origins: ['https://api.example.com'] }));

describe('configure', () => {
  it('with --dry-run shows the change of every tool and makes none', async () => {
    mkdirSync(home('.cargo'));
    writeFileSync(home('.cargo', 'config.toml'), '[registries.corp]\nindex = "sparse+https://api.example.com/"\n');
    const before = readdirSync(fixture.sandbox.home, { recursive: true });
    const expected = {
      git: 'git config --global --add credential.https://api.example.com.helper',
      kubectl: '+ - name: "oauth-profile-lab"',
      docker: '+     "api.example.com": "oauth-profile-lab"',
      cargo: '+ credential-provider = ["oauth-profile","--profile","lab"]',
      pnpm: '+ //api.example.com/:tokenHelper=',
      curl: 'oauth-profile token lab --format curl | curl --config -',
    };
    for (const [tool, text] of Object.entries(expected)) {
      const { stdout, exit } = await fixture.run(`oauth-profile configure ${tool} lab --dry-run`);
      expect([stdout, exit]).toEqual([expect.stringContaining(text), 0]);
    }
    expect(readdirSync(fixture.sandbox.home, { recursive: true })).toEqual(before);
  });

  it('shows no password of the file, whatever its layout, and undoes the change after the profile was removed', async () => {
    mkdirSync(home('.docker'));
    writeFileSync(home('.docker', 'config.json'), '{"auths":{"x.example.com":{"auth":"the-password-of-x"}}}');
    const { stdout, exit } = await fixture.run('oauth-profile configure docker lab --data oauth.json', {});
    expect([stdout, exit]).toEqual(['', 2]);
    const done = await fixture.run('oauth-profile configure docker lab');
    expect(done).toMatchObject({ exit: 0, stdout: expect.not.stringContaining('the-password-of-x') });
    fixture.setProfiles({}, { lab: undefined });
    expect(await fixture.run('oauth-profile configure docker lab --undo')).toMatchObject({ exit: 0 });
    expect(existsSync(home('.local', 'bin', 'docker-credential-oauth-profile-lab'))).toBe(false);
    expect(JSON.parse((await fixture.run('cat ~/.docker/config.json')).stdout)).toEqual({
      auths: { 'x.example.com': { auth: 'the-password-of-x' } },
    });
  });

  it('removes the lines of pnpm, also after the profile was changed', async () => {
    writeFileSync(home('.npmrc'), 'registry=https://npm.example.com/\n');
    expect(await fixture.run('oauth-profile configure pnpm lab')).toMatchObject({ exit: 0 });
    expect((await fixture.run('cat ~/.npmrc')).stdout).toContain('tokenHelper');
    fixture.setProfiles({ origins: ['https://other.example.com'] });
    expect(await fixture.run('oauth-profile configure pnpm lab --undo')).toMatchObject({ exit: 0 });
    expect((await fixture.run('cat ~/.npmrc')).stdout).toBe('registry=https://npm.example.com/\n');
  });

  it('rejects a file that is not a regular one', async () => {
    const { stderr, exit } = await fixture.run(
      'mkdir -p ~/.docker; rm -f ~/.docker/config.json; mkfifo ~/.docker/config.json; oauth-profile configure docker lab',
    );
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining('not a regular file') });
  });

  it('rejects unknown tools, names that are no file names, and profiles without a host', async () => {
    expect(await fixture.run('oauth-profile configure svn lab')).toMatchObject({ exit: 2 });
    fixture.setProfiles({ origins: ['https://*.example.com'] }, { 'a b': { type: 'gitlab' } });
    expect(await fixture.run('oauth-profile configure docker lab')).toMatchObject({
      stderr: expect.stringContaining('lab.options.origins'),
      exit: 2,
    });
    expect(await fixture.run('oauth-profile configure git "a b"')).toMatchObject({ exit: 2 });
  });
});
