import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { profileSchema } from '../../../tools/make-profile-schema.js';
import { runCommand } from '../../../tools/run-command.js';
import { hasTerminals, runInTerminal, Sandbox } from '../../support/cli.ts';

const isValid = new Ajv2020({ strict: false }).compile(profileSchema());

/** Values for every variable that a profile may name. */
const env = Object.fromEntries(
  Object.entries({
    URL: 'https://id.example.com/token',
    AUTHORIZATION_URL: 'https://id.example.com/authorize',
    TENANT_ID: 'acme.onmicrosoft.com',
    CLIENT_ID: 'app',
    CLIENT_SECRET: 'an-example-secret',
    SCOPE: 'https://graph.microsoft.com/.default',
  }).map(([name, value]) => [`MINE_${name}`, value]),
);

describe('init', () => {
  it.each([
    ['microsoft'],
    ['microsoft', '--user'],
    ['google'],
    ['okta'],
    ['okta', '--user'],
    ['gitlab'],
    ['gitlab', '--user'],
    ['twitter'],
    ['custom'],
    ['custom', '--user'],
  ])('--type %s %s writes a valid profile without secrets', async (type, ...flags) => {
    const cwd = mkdtempSync(join(tmpdir(), 'oauth-profile-init-'));
    try {
      const context = { cwd, env: { ...env, HOME: cwd, ...(type === 'okta' && { MINE_TENANT_ID: 'acme' }) } };
      const written = await runCommand(['init', '--type', type, '--name', 'mine', ...flags], context);
      expect(written).toMatchObject({ exit: 0 });
      const text = readFileSync(join(cwd, 'oauth-profiles.yaml'), 'utf8');
      expect(isValid(parse(text)), JSON.stringify(isValid.errors)).toBe(true);
      expect(text).toMatch(/^# yaml-language-server: \$schema=\S+profiles\.schema\.json$/m);
      // A login supplies the refresh token.
      const isForUser = !text.includes('client_credentials');
      const login = isForUser ? ['--set', 'mine.refresh_token=${env:MINE_CLIENT_SECRET}'] : [];
      const { output, exit } = await runCommand(['check', 'mine', '--strict', ...login], context);
      expect({ output, exit }).toMatchObject({ exit: 0 });
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });

  it.each(['microsoft', 'google', 'okta', 'gitlab', 'twitter', 'custom'])(
    '--script --type %s writes a script that passes with --emulate',
    async (type) => {
      const sandbox = createSandbox();
      const { exit } = await sandbox.run(
        `oauth-profile init --script --type ${type} && oauth-profile run first.yaml --emulate`,
      );
      expect(exit).toBe(0);
    },
  );
});

function createSandbox(): Sandbox {
  const sandbox = new Sandbox();
  onTestFinished(() => sandbox.remove());
  return sandbox;
}

describe.skipIf(!hasTerminals)('init in a terminal', () => {
  it('prompts for the provider, the name and the use, until the input is valid', async () => {
    const sandbox = createSandbox();
    const init = runInTerminal(sandbox, 'oauth-profile init');
    await init.waitFor(/Provider \(microsoft, google, okta, gitlab, twitter, oidc, custom, …\): $/);
    init.write('Okta\n');
    await init.waitFor(/Okta\s+Provider .*: $/);
    init.write('okta\n');
    await init.waitFor(/Name of the profile \[okta\]: $/);
    init.write('a.b\n');
    await init.waitFor(/a\.b\s+Name of the profile \[okta\]: $/);
    init.write('staff\n');
    await init.waitFor(/Used by a machine or by a user who logs in \[machine\]: $/);
    init.write('user\n');
    await init.waitFor(/oauth-profile login staff/);
    expect(await init.finished).toMatchObject({ exit: 0 });
    const { staff } = parse(readFileSync(join(sandbox.work, 'oauth-profiles.yaml'), 'utf8'));
    expect(staff).toEqual({ type: 'okta', tenant_id: '${env:STAFF_TENANT_ID}', client_id: '${env:STAFF_CLIENT_ID}' });
  });

  it('does not prompt for what cannot differ, and accepts the defaults', async () => {
    const sandbox = createSandbox();
    const init = runInTerminal(sandbox, 'oauth-profile init --name x');
    await init.waitFor(/Provider .*: $/);
    init.write('twitter\n');
    expect(await init.finished).toMatchObject({ exit: 0 });
    expect(parse(readFileSync(join(sandbox.work, 'oauth-profiles.yaml'), 'utf8'))).toHaveProperty('x.type', 'twitter');
  });

  it('is ended by Ctrl-C with 130 and writes nothing', async () => {
    const sandbox = createSandbox();
    const init = runInTerminal(sandbox, 'oauth-profile init');
    await init.waitFor(/Provider .*: $/);
    init.write('\u0003');
    expect(await init.finished).toMatchObject({ exit: 130 });
    expect((await sandbox.run('ls')).stdout).toBe('');
  });
});
