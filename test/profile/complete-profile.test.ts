import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { InvalidProfileError, OAuthProfileError } from '../../src/errors.ts';
import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { anyUnits } from '../support/arbitraries.ts';
import { invalidProfileError, issuesOf, readAcme, samples, secrets, variablesWith } from '../support/profiles.ts';
import { createSources } from '../support/variables.ts';
import { readFromYaml } from './read-from-yaml.ts';

describe('completeProfile()', () => {
  it('D16 reports all issues at once, each with its variable and its location', () => {
    const text = [
      'graph.type: Okta',
      'graph.tenant_id: evil.com/',
      'graph.clientid: c',
      'graph.url:',
      'graph.scope: {a: 1}',
      'graph.audience: [[a]]',
      'graph.resource: ${nothing}',
      'graph.options.timout: 5',
      'graph.options.refresh_token_reuse: perhaps',
      'graph.basic.password: x',
    ].join('\n');
    const issues = issuesOf(() => readFromYaml('graph', text));
    expect(issues.map(({ variable, where }) => [variable, where])).toEqual([
      ['graph.scope', 'profiles.yaml:5'],
      ['graph.audience', 'profiles.yaml:6'],
      ['graph.resource', 'profiles.yaml:7'],
      ['graph.type', 'profiles.yaml:1'],
      ['graph.options.timout', 'profiles.yaml:8'],
      ['graph.options.refresh_token_reuse', 'profiles.yaml:9'],
      ['graph.basic.user', undefined],
      ['graph.tenant_id', 'profiles.yaml:2'],
      ['graph.refresh_token', undefined],
    ]);
  });

  it('D16 throws one error with a code and the number of issues', () => {
    expect(() => readAcme({ type: 'google' })).toThrow(
      expect.objectContaining({
        code: 'profile_invalid',
        message: expect.stringMatching(/^profile acme has 3 issues: acme\.\S+ .+; acme\.\S+ .+; acme\.\S+ /),
        hint: expect.stringMatching(/^acme\.\S+: .+\nacme\./),
      }),
    );
    expect(() => readAcme({ type: 'custom' })).toThrow(/^profile acme is invalid: acme\.url /);
  });

  it.each(Object.entries(samples))('does not reveal the secrets of %s when it is printed', (_, sample) => {
    const profile = readAcme({ ...sample, basic: { user: 'u', password: 'the-basic-password' } });
    const request = buildTokenRequest(profile, '1');
    for (const text of [
      inspect(profile, { depth: 9 }),
      JSON.stringify(profile),
      inspect(request, { depth: 9 }),
      JSON.stringify(request),
    ]) {
      for (const secret of [...Object.values(secrets), 'the-basic-password']) expect(text).not.toContain(secret);
      expect(text).not.toContain(btoa('u:the-basic-password'));
    }
  });

  it('does not reveal secrets in its issues', () => {
    const fields = {
      type: 'microsoft',
      client_secret: ['a-secret-in-a-list'],
      password: 'a-secret\ud800',
      refresh_token: '${a-secret-with-braces',
      basic: { password: 'another-secret' },
    };
    try {
      readAcme(fields);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidProfileError);
      expect(JSON.stringify(error) + inspect(error, { depth: 9 })).not.toMatch(/a-secret|another-secret/);
    }
  });

  it('D16 returns a profile whose request can be built, or throws its issues, whatever the fields', () => {
    const names = fc.constantFrom(
      ...['type', 'url', 'tenant_id', 'grant_type', 'client_id', 'client_secret', 'username', 'password', 'scope'],
      ...['refresh_token', 'options', 'options.timeout', 'options.client_auth', 'options.key_file', 'basic.user'],
      ...['basic.password', 'client_assertion', 'options.token_path', 'code', 'x.y', '__proto__'],
    );
    const values = fc.oneof(
      fc.constantFrom(
        'microsoft',
        'okta',
        'gitlab',
        'custom',
        'google',
        'twitter',
        'https://a.example/',
        'client_secret_basic_raw',
      ),
      fc.constantFrom('private_key_jwt', 'key', 'acme', 'constructor', '${env:X}', '${acme.type}', '${', 'a:b', ''),
      fc.constantFrom(7, true, null, ['a'], [['b']], []),
      anyUnits,
    );
    const sources = {
      env: () => undefined,
      readFileInside: (path: string) => (path === 'key' ? 'KEY' : undefined),
    };
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(samples)),
        fc.dictionary(names, values, { maxKeys: 6 }),
        (sample, more) => {
          try {
            const request = buildTokenRequest(readAcme({ ...sample, ...more }, sources), '1');
            expect(encodeForm(request).match(/(?:^|&)grant_type=/g)?.length ?? 0).toBeLessThanOrEqual(1);
          } catch (error) {
            expect(error).toBeInstanceOf(OAuthProfileError);
            if (error instanceof InvalidProfileError) expect(error.issues).not.toEqual([]);
          }
        },
      ),
      { numRuns: 1500 },
    );
  });
});

describe('an issue', () => {
  const { custom, google, microsoftPassword, microsoftRefresh, microsoftClient, oktaRefresh, twitter } = samples;
  const basic = { user: 'u', password: 'p' };
  const files = createSources({ 'cert.pem': 'CERT', 'key.pem': 'KEY' }, { MY_SECRET: 'hidden' });
  const without = (sample: DataObject, ...names: string[]): DataObject =>
    Object.fromEntries(Object.entries(sample).filter(([name]) => !names.includes(name)));

  it.each<[variable: string, fields: DataObject, message: RegExp, hint: RegExp]>([
    ['client_id', without(google, 'client_id'), /^is missing.*refresh_token/, /set acme\.client_id$/],
    [
      'refresh_token',
      without(google, 'refresh_token'),
      /^is missing.*refresh_token/,
      /acme\.refresh_token.*acme\.scope.*oauth-profile login acme$/,
    ],
    ['password', without(microsoftPassword, 'password'), /^is missing.*password/, /^set acme\.password$/],
    ['tenant_id', without(oktaRefresh, 'tenant_id'), /^is missing/, /acme\.tenant_id.*trial-1234567/],
    ['tenant_id', { ...oktaRefresh, tenant_id: 'a.b' }, /^is "a\.b".*token URL/, /acme\.tenant_id.*trial-1234567/],
    ['tenant_id', { ...oktaRefresh, tenant_id: 'xn--0' }, /^is "xn--0".*token URL/, /acme\.tenant_id.*trial-1234567/],
    ['tenant_id', { ...microsoftPassword, tenant_id: 'common' }, /common.*password/, /acme\.tenant_id/],
    ['url', { type: 'custom' }, /^is missing/, /acme\.url/],
    ['url', { ...custom, url: 'id.example.com' }, /complete https/, /acme\.url.*https:/],
    ['url', { ...custom, url: 'http://id.example.com/' }, /http:/, /acme\.options\.allow_http: true/],
    ['url', { ...custom, url: '${env:MY_SECRET}' }, /secret/, /variable/],
    ['type', { ...custom, type: '${env:MY_SECRET}' }, /secret/, /variable/],
    ['grant_type', { ...custom, grant_type: '${env:MY_SECRET}' }, /secret/, /variable/],
    ['tenant_id', { ...microsoftRefresh, tenant_id: '${env:MY_SECRET}' }, /secret/, /variable/],
    ['client_id', { ...custom, client_id: 'a\ud800' }, /Unicode/, /UTF-8/],
    ['scope', { ...custom, scope: [['a']] }, /list/, /strings/],
    ['audience', { ...custom, audience: [['a']] }, /list/, /plain strings/],
    ['claims', { ...custom, claims: ['a'] }, /list/, /single value/],
    ['options', { ...custom, options: 'x' }, /value/, /options\.timeout/],
    ['basic', { ...custom, basic: 'x' }, /value/, /basic\.user/],
    ['basic.realm', { ...custom, basic: { ...basic, realm: 'r' } }, /unknown/, /basic\.user and basic\.password/],
    ['basic.user', { ...custom, basic: { password: 'p' } }, /basic\.password/, /acme\.basic\.user/],
    ['basic.password', { ...custom, basic: { user: 'u' } }, /basic\.user/, /acme\.basic\.password.*empty/],
    [
      'options.client_auth',
      { ...custom, basic, options: { client_auth: 'client_secret_post' } },
      /client_secret_post.*basic\.user/,
      /RFC 6749 §2\.3/,
    ],
    ['client_assertion', { ...twitter, client_assertion: 'a' }, /client_secret/, /RFC 6749 §2\.3/],
    [
      'client_assertion',
      { ...without(twitter, 'client_secret'), client_assertion: 'a', basic },
      /basic\.user/,
      /RFC 6749 §2\.3/,
    ],
    [
      'client_id',
      { ...twitter, client_id: 'a:b', options: { client_auth: 'client_secret_basic_raw' } },
      /colon/,
      /acme\.options\.client_auth: client_secret_basic,/,
    ],
    [
      'options.key_file',
      { ...microsoftClient, options: { client_auth: 'private_key_jwt' } },
      /^is missing/,
      /acme\.options\.key_file/,
    ],
    [
      'options.key_file',
      { ...microsoftClient, options: { client_auth: 'private_key_jwt', key_file: 'none.pem' } },
      /readable file/,
      /acme\.options\.key_file to .*readable file/,
    ],
    ['options.ca_file', { ...custom, options: { ca_file: 'none.pem' } }, /file/, /acme\.options\.ca_file to .*file/],
    [
      'options.cert_key_file',
      { ...custom, options: { cert_key_file: 'key.pem' } },
      /cert_file/,
      /acme\.options\.cert_file/,
    ],
    [
      'options.cert_file',
      { ...custom, options: { cert_file: 'cert.pem' } },
      /private key/,
      /acme\.options\.cert_key_file/,
    ],
    ['options.timeout', { ...custom, options: { timeout: 'soon' } }, /30s/, /acme\.options\.timeout to .*30s/],
    ['options.token_path', { ...custom, options: { token_path: 'a b' } }, /data\.token/, /data\.token/],
    ['options.audience', { ...custom, options: { audience: ['a'] } }, /string/, /string/],
    ['options.reuse', { ...custom, options: { reuse: 'no' } }, /true, false/, /true, false/],
    [
      'options.refresh_token_reuse',
      { ...custom, options: { refresh_token_reuse: 'no' } },
      /allowed, grace, rejected, revokes_family/,
      /allowed, grace, rejected, revokes_family/,
    ],
    ['options.authorize_origin', { ...custom, options: { authorize_origin: 'x' } }, /origin/, /https:/],
    ['options.authorization_url', { ...custom, options: { authorization_url: 'x' } }, /https:/, /https:/],
    ['options.redirect_uri', { ...custom, options: { redirect_uri: 'x' } }, /127\.0\.0\.1/, /127\.0\.0\.1/],
  ])('D16 of %s has a message and a hint: %j', (field, fields, message, hint) => {
    expect(issuesOf(() => readAcme(fields, files))).toMatchObject([
      {
        variable: `acme.${field}`,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      },
    ]);
  });
});

describe('a profile that lacks only a login', () => {
  const error = (fields: DataObject) => invalidProfileError(() => readAcme(fields));
  const microsoft = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c' };
  const custom = { type: 'custom', url: 'https://id.example.com/token', client_id: 'c' };
  const options = { authorization_url: 'https://id.example.com/authorize' };

  it.each<[string, DataObject]>([
    ['microsoft', { ...microsoft, scope: 'user.read' }],
    ['google', { type: 'google', client_id: 'c', client_secret: 's', scope: 'openid' }],
    ['okta', { type: 'okta', url: 'https://id.acme.com/oauth2/v1/token', client_id: 'c' }],
    ['gitlab', { type: 'gitlab', client_id: 'c' }],
    ['gitlab with the grant refresh_token', { type: 'gitlab', client_id: 'c', grant_type: 'refresh_token' }],
    ['custom with an authorization URL', { ...custom, options }],
    [
      'custom with a device authorization URL',
      { ...custom, options: { device_authorization_url: 'https://id.example.com/device' } },
    ],
    ['custom with the grant refresh_token', { ...custom, grant_type: 'refresh_token', options }],
    ['custom with an empty refresh token', { ...custom, refresh_token: '', options }],
  ])('has the code login_required and the login command as hint: %s', (_, fields) => {
    expect(error(fields)).toMatchObject({
      code: 'login_required',
      hint: 'run: oauth-profile login acme',
      issues: [{ variable: 'acme.refresh_token', message: expect.stringMatching(/^is missing/) }],
    });
  });

  it('has a summary and JSON that mention the login', () => {
    const found = error({ ...custom, options });
    expect(found.summary).toMatch(/acme .*login/);
    expect(JSON.parse(JSON.stringify(found))).toMatchObject({ code: 'login_required', message: found.summary });
  });

  it('D6 also has the hint client_credentials if it has a client secret', () => {
    const found = error({ ...microsoft, client_secret: 's' });
    expect(found.code).toBe('login_required');
    expect(found.hint).toMatch(/acme\.grant_type: client_credentials.*run: oauth-profile login acme$/);
  });

  it.each<[string, DataObject]>([
    ['another issue', { ...microsoft, options: { timeout: 'soon' } }],
    ['a misspelled secret', { ...microsoft, client_secrt: 's' }],
    ['a missing tenant_id', { type: 'microsoft', client_id: 'c' }],
    ['an invalid url', { ...custom, url: 'id.example.com', options }],
    ['a refresh token that cannot be resolved', { ...custom, refresh_token: '${env:NONE}', options }],
    ['a grant that cannot be resolved', { ...custom, grant_type: '${env:NONE}', options }],
    [
      'no client secret for client_secret_basic',
      { ...custom, options: { ...options, client_auth: 'client_secret_basic' } },
    ],
    ['an invalid login endpoint', { ...custom, options: { authorization_url: 'nowhere' } }],
  ])('has the code profile_invalid if it has %s', (_, fields) => {
    expect(error(fields).code).toBe('profile_invalid');
  });

  it.each<[string, DataObject]>([
    ['grant_type', { ...custom, grant_type: '${env:NONE}', options }],
    ['refresh_token', { ...custom, refresh_token: '${env:NONE}', options }],
  ])('has only the issue of %s if that cannot be resolved', (field, fields) => {
    expect(error(fields).issues.map(({ variable }) => variable)).toEqual([`acme.${field}`]);
  });

  it('D16 reports the other missing fields too', () => {
    const fields = { ...custom, options: { ...options, client_auth: 'client_secret_basic' } };
    expect(error(fields).issues.map(({ variable }) => variable)).toEqual(['acme.refresh_token', 'acme.client_secret']);
  });

  it.each<[string, DataObject]>([
    ['no login endpoint', custom],
    ['another grant', { ...custom, grant_type: 'client_credentials', options }],
    ['a refresh token', { ...custom, refresh_token: 'r', options }],
  ])('is complete if it is custom and has %s', (_, fields) => {
    expect(() => readAcme(fields)).not.toThrow();
  });

  it('is completed with a stored login', () => {
    const variables = variablesWith('acme', { ...custom, options });
    const stored = { refreshToken: new Secret('stored'), family: 'f' };
    const profile = completeProfile(parseProfile('acme', variables, createSources()), stored);
    expect(profile).toMatchObject({ grant: 'refresh_token', family: 'f' });
    expect(profile.fields.map(({ name, source }) => [name, source])).toEqual([
      ['grant_type', 'stored login'],
      ['client_id', 'data'],
      ['refresh_token', 'vault'],
    ]);
  });
});
