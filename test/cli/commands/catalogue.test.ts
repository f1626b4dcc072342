import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { recipes } from '../../../src/providers/catalogue/recipes.ts';
import { profileSchema } from '../../../tools/make-profile-schema.js';
import { runCommand } from '../../../tools/run-command.js';
import { catalogueProfiles } from '../../support/profiles.ts';

const isValid = new Ajv2020({ strict: false }).compile(profileSchema());
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'oauth-profile-catalogue-'));
  const profiles = catalogueProfiles.map(([type, fields]) => [type, { ...fields, refresh_token: 'a-refresh-token' }]);
  writeFileSync(join(directory, 'oauth-profiles.json'), JSON.stringify(Object.fromEntries(profiles)));
});
afterAll(() => rmSync(directory, { recursive: true }));

const run = (args: string[], cwd = directory, env = {}) => runCommand(args, { cwd, env: { ...env, HOME: directory } });

describe('with the types of the catalogue,', () => {
  it('check --strict reports no issues', async () => {
    expect(await run(['check', '--strict'])).toMatchObject({ exit: 0 });
  });

  it.each(catalogueProfiles)('explain %s shows a request without secrets', async (type) => {
    const { exit, output } = await run(['explain', type, '--json']);
    expect({ exit, url: JSON.parse(output).url }).toEqual({ exit: 0, url: expect.stringMatching(/^https:/) });
    expect(output).not.toMatch(/app-secret-1|a-refresh-token/);
  });
});

it.each(catalogueProfiles)('init %s writes a valid profile', async (type, fields) => {
  const cwd = mkdtempSync(join(directory, 'init-'));
  expect(await run(['init', type, '--name', 'mine', '--user'], cwd)).toMatchObject({ exit: 0 });
  expect(isValid(parse(readFileSync(join(cwd, 'oauth-profiles.yaml'), 'utf8')))).toBe(true);
  const env = Object.fromEntries(Object.entries(fields).map(([name, value]) => [`MINE_${name.toUpperCase()}`, value]));
  const login = ['--set', 'mine.refresh_token=a-refresh-token'];
  expect(await run(['check', 'mine', '--strict', ...login], cwd, env)).toMatchObject({ exit: 0 });
});

it.each(recipes.map((recipe) => [recipe.name, recipe] as const))(
  'init %s writes a valid profile that marks what is not confirmed',
  async (name, { options, unconfirmed = {} }) => {
    const cwd = mkdtempSync(join(directory, 'init-'));
    expect(await run(['init', name, '--name', 'mine'], cwd)).toMatchObject({ exit: 0 });
    const text = readFileSync(join(cwd, 'oauth-profiles.yaml'), 'utf8');
    expect(isValid(parse(text)), JSON.stringify(isValid.errors)).toBe(true);
    for (const key of Object.keys(unconfirmed)) expect(text).toMatch(new RegExp(`# not confirmed: .*\n +${key}: `));
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(join(cwd, 'okta-key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const env = { MINE_CLIENT_ID: 'app', MINE_CLIENT_SECRET: 'an-example-secret' };
    const login = ['--set', 'mine.refresh_token=a-refresh-token', '--set', 'mine.grant_type=refresh_token'];
    const flags = options['authorization_url'] === undefined ? [] : login;
    expect(await run(['check', 'mine', '--strict', ...flags], cwd, env)).toMatchObject({ exit: 0 });
  },
);
