import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { profileSchema } from '../../../tools/make-profile-schema.js';
import { runCommand } from '../../../tools/run-command.js';

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
});
