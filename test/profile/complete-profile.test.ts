import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { InvalidProfileError, OAuthProfileError } from '../../src/errors.ts';
import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import { findProvider } from '../../src/providers/registry.ts';
import { anyUnits } from '../support/any-text.ts';
import { faultsOf, outsideWith, readAcme, readFromYaml } from '../support/read-sample.ts';
import { samples, secrets } from '../support/sample-profiles.ts';

describe('reading a profile', () => {
  it('D16 tells all issues at once, each with its variable, its place and what to do', () => {
    const text = [
      'graph.type: Okta',
      'graph.tenant_id: evil.com/',
      'graph.clientid: c',
      'graph.url:',
      'graph.scope: {a: 1}',
      'graph.audience: [a]',
      'graph.resource: ${nothing}',
      'graph.options.timout: 5',
      'graph.options.refresh_token_reuse: perhaps',
      'graph.basic.password: x',
    ].join('\n');
    const issues = faultsOf(() => readFromYaml('graph', text));
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
    for (const { hint } of issues) expect(hint).toBeTruthy();
  });

  it('D16 is one error with a stable code and a count', () => {
    expect(() => readAcme({ type: 'google' })).toThrow(
      expect.objectContaining({
        code: 'profile_invalid',
        message: expect.stringMatching(/^profile acme has 3 issues: acme\.\S+ .+; acme\.\S+ .+; acme\.\S+ /),
        hint: expect.stringMatching(/^acme\.\S+: .+\nacme\./),
      }),
    );
    expect(() => readAcme({ type: 'custom' })).toThrow('profile acme has a fault');
  });

  it.each(Object.entries(samples))('hides the secrets of %s from everything that prints', (_, sample) => {
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

  it('shows no secret in its issues', () => {
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

  it('D16 whatever the fields, a profile is read and its request made, or the issues are told', () => {
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
    const outside = {
      env: () => undefined,
      readFileInside: () => undefined,
      readOptionFile: (path: string) => (path === 'key' ? 'KEY' : undefined),
    };
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(samples)),
        fc.dictionary(names, values, { maxKeys: 6 }),
        (sample, more) => {
          try {
            const request = buildTokenRequest(readAcme({ ...sample, ...more }, outside), '1');
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

describe('a fault says what is wrong and what to do', () => {
  const { custom, google, microsoftPassword, microsoftRefresh, microsoftClient, oktaRefresh, twitter } = samples;
  const basic = { user: 'u', password: 'p' };
  const files = outsideWith({ 'cert.pem': 'CERT', 'key.pem': 'KEY' }, { MY_SECRET: 'hidden' });
  const oneWay = 'remove one of the two: a client authenticates in one way';
  const ownName = 'take it from a variable whose name does not say secret, password, token or the like';
  const without = (sample: DataObject, ...names: string[]): DataObject =>
    Object.fromEntries(Object.entries(sample).filter(([name]) => !names.includes(name)));

  it.each<[variable: string, fields: DataObject, message: string, hint: string]>([
    ['client_id', without(google, 'client_id'), 'is missing; the grant refresh_token needs it', 'set acme.client_id'],
    [
      'refresh_token',
      without(google, 'refresh_token'),
      'is missing; the grant refresh_token needs it',
      'set acme.refresh_token, or set acme.scope and sign in once: oauth-profile login acme',
    ],
    [
      'refresh_token',
      { ...without(google, 'refresh_token'), scope: 'email' },
      'is missing: nobody has signed in for acme yet',
      'run: oauth-profile login acme; or set acme.refresh_token',
    ],
    [
      'password',
      without(microsoftPassword, 'password'),
      'is missing; the grant password needs it',
      'set acme.password',
    ],
    ['tenant_id', without(oktaRefresh, 'tenant_id'), 'is missing', `set acme.tenant_id to ${tenantForm('okta')}`],
    [
      'tenant_id',
      { ...oktaRefresh, tenant_id: 'a.b' },
      'cannot be part of the token URL',
      `set it to ${tenantForm('okta')}`,
    ],
    [
      'tenant_id',
      { ...oktaRefresh, tenant_id: 'xn--0' },
      'cannot be part of the token URL',
      `set it to ${tenantForm('okta')}`,
    ],
    [
      'tenant_id',
      { ...microsoftPassword, tenant_id: 'common' },
      'is common, which does not serve the grant password',
      'set it to your own tenant',
    ],
    ['url', { type: 'custom' }, 'is missing', 'set acme.url to the address of the token endpoint'],
    ['url', { ...custom, url: 'id.example.com' }, 'must be a complete https:// address', 'write https://host/path'],
    [
      'url',
      { ...custom, url: 'http://id.example.com/' },
      'is an http: address, so secrets would travel unencrypted',
      'use https:, or set acme.options.allow_http: true if the network is yours',
    ],
    ['url', { ...custom, url: '${env:MY_SECRET}' }, 'is made from a secret, but messages have to show it', ownName],
    ['type', { ...custom, type: '${env:MY_SECRET}' }, 'is made from a secret, but messages have to show it', ownName],
    [
      'grant_type',
      { ...custom, grant_type: '${env:MY_SECRET}' },
      'is made from a secret, but messages have to show it',
      ownName,
    ],
    [
      'tenant_id',
      { ...microsoftRefresh, tenant_id: '${env:MY_SECRET}' },
      'is made from a secret, but messages have to show it',
      ownName,
    ],
    ['client_id', { ...custom, client_id: 'a\ud800' }, 'is not well-formed Unicode', 'write it as UTF-8 text'],
    ['scope', { ...custom, scope: [['a']] }, 'is a list', 'list plain texts'],
    ['options', { ...custom, options: 'x' }, 'has a value of its own', 'give its parts, such as options.timeout'],
    ['client_secret_basic', { ...custom, basic: 'x' }, 'has a value of its own', 'give its parts, such as basic.user'],
    [
      'basic.realm',
      { ...custom, basic: { ...basic, realm: 'r' } },
      'is not known',
      'a Basic header takes basic.user and basic.password',
    ],
    ['basic.user', { ...custom, basic: { password: 'p' } }, 'is missing beside basic.password', 'set acme.basic.user'],
    [
      'basic.password',
      { ...custom, basic: { user: 'u' } },
      'is missing beside basic.user',
      'set acme.basic.password; it may be empty',
    ],
    [
      'options.client_auth',
      { ...custom, basic, options: { client_auth: 'client_secret_post' } },
      'is body, while basic.user asks for a Basic header',
      oneWay,
    ],
    [
      'client_assertion',
      { ...twitter, client_assertion: 'a' },
      'is a second client authentication beside client_secret',
      oneWay,
    ],
    [
      'client_assertion',
      { ...without(twitter, 'client_secret'), client_assertion: 'a', basic },
      'is a second client authentication beside basic.user',
      oneWay,
    ],
    [
      'client_id',
      { ...twitter, client_id: 'a:b', options: { client_auth: 'client_secret_basic_raw' } },
      'has a colon in it, which a Basic header cannot carry as it is',
      'set acme.options.client_auth: client_secret_basic, which encodes it',
    ],
    [
      'options.key_file',
      { ...microsoftClient, options: { client_auth: 'private_key_jwt' } },
      'is missing',
      'set it to a private key file (PEM or JWK)',
    ],
    [
      'options.key_file',
      { ...microsoftClient, options: { client_auth: 'private_key_jwt', key_file: 'none.pem' } },
      'is not a key file that can be read',
      'set it to a key file that can be read, or remove it',
    ],
    [
      'options.ca_file',
      { ...custom, options: { ca_file: 'none.pem' } },
      'is not a file that can be read',
      'set it to a file that can be read, or remove it',
    ],
    [
      'options.cert_key_file',
      { ...custom, options: { cert_key_file: 'key.pem' } },
      'has no certificate beside it',
      'set acme.options.cert_file too',
    ],
    [
      'options.cert_file',
      { ...custom, options: { cert_file: 'cert.pem' } },
      'has no private key in it',
      'set acme.options.cert_key_file too',
    ],
    [
      'options.timeout',
      { ...custom, options: { timeout: 'soon' } },
      'is not a time such as 30s, 500ms or 2m',
      'set it to a time such as 30s, 500ms or 2m, or remove it',
    ],
    [
      'options.token_path',
      { ...custom, options: { token_path: 'a b' } },
      'is not a path such as data.token',
      'set it to a path such as data.token, or remove it',
    ],
    [
      'options.audience',
      { ...custom, options: { audience: ['a'] } },
      'is not a text',
      'set it to a text, or remove it',
    ],
    [
      'options.reuse',
      { ...custom, options: { reuse: 'no' } },
      'is not one of true, false',
      'set it to one of true, false, or remove it',
    ],
    [
      'options.refresh_token_reuse',
      { ...custom, options: { refresh_token_reuse: 'no' } },
      'is not one of safe, grace, refused, revokes',
      'set it to one of safe, grace, refused, revokes, or remove it',
    ],
    [
      'options.authorize_origin',
      { ...custom, options: { authorize_origin: 'x' } },
      'is not the origin of an API such as https://graph.microsoft.com',
      'set it to the origin of an API such as https://graph.microsoft.com, or remove it',
    ],
    [
      'options.authorization_url',
      { ...custom, options: { authorization_url: 'x' } },
      'is not a complete https:// address',
      'set it to a complete https:// address, or remove it',
    ],
    [
      'options.redirect_uri',
      { ...custom, options: { redirect_uri: 'x' } },
      'is not an http:// address of this machine without a query, such as http://127.0.0.1:8912/callback',
      'set it to an http:// address of this machine without a query, such as http://127.0.0.1:8912/callback, or remove it',
    ],
  ])('D16 %s of %j', (field, fields, message, hint) => {
    expect(faultsOf(() => readAcme(fields, files))).toMatchObject([{ variable: `acme.${field}`, message, hint }]);
  });
});

function tenantForm(type: string): string | undefined {
  return findProvider(type)?.tenant?.form;
}
