import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DataObject, flatten } from '../../../src/config/flatten.ts';
import { Variables } from '../../../src/config/variables.ts';
import { OAuthProfileError } from '../../../src/errors.ts';
import { optionNames, parseDuration } from '../../../src/profile/options/options.ts';
import { tlsFiles } from '../../../src/profile/profile.ts';
import { invalidVariables, issuesOf, readAcme, readProfile, samples } from '../../support/profiles.ts';
import { createSources } from '../../support/variables.ts';

const { custom, oktaRefresh } = samples;
const files = createSources({
  'ca.pem': 'CA',
  'cert.pem': 'CERT',
  'cert-key.pem': 'KEY',
  'both.pem': 'CERT\n-----BEGIN PRIVATE KEY-----\n',
});

describe('parseOptions()', () => {
  it.each(['robot.pfx', 'ROBOT.P12'])('reads a key in PKCS #12 as base64, with its passphrase: %s', (key_file) => {
    const sources = {
      env: () => 'env-pass',
      readFileInside: (_path: string, _source: unknown, encoding?: string) => encoding,
    };
    const key_passphrase = '${env:ANY_NAME}';
    const { key } = readAcme({ ...custom, options: { key_file, key_passphrase } }, sources).options;
    expect([key?.path, key?.text, key?.passphrase?.reveal()]).toEqual([key_file, 'base64', 'env-pass']);
    expect(inspect(key)).not.toContain('env-pass');
    const without = readAcme({ ...custom, options: { key_file, key_passphrase: '' } }, sources).options;
    expect(without.key?.passphrase).toBeUndefined();
  });

  it('rejects a PKCS #12 file for connections, and a passphrase that is a list or belongs to no PKCS #12 file', () => {
    const invalid = (options: DataObject) => invalidVariables({ ...custom, options }, files);
    expect(invalid({ cert_file: 'robot.pfx' })).toEqual(['acme.options.cert_file']);
    expect(invalid({ key_file: 'cert-key.pem', key_passphrase: 'p' })).toEqual(['acme.options.key_passphrase']);
    expect(invalid({ key_file: 'key.pfx', key_passphrase: ['p'] })).toContain('acme.options.key_passphrase');
    expect(invalid({ key_passphrase: 'p' })).toEqual(['acme.options.key_passphrase']);
  });

  it('returns defaults', () => {
    expect(readAcme(custom).options).toEqual({
      allowHttp: false,
      assertion: { claims: [], lifetimeMs: undefined },
      sendsCertificate: false,
      dpop: false,
      signsRequest: false,
      assertionSource: undefined,
      timeoutMs: 30_000,
      tokenPath: undefined,
      refreshTokenReuse: 'revokes_family',
      graceMs: 30_000,
      reuse: undefined,
      minTtlMs: 60_000,
      defaultTtlMs: undefined,
      authorizeOrigin: undefined,
      refreshUrl: undefined,
      requestFormat: 'form',
      scopeSeparator: 'space',
      usesPkce: true,
      redirectMembers: [],
      origins: [],
      apiHeader: 'Authorization',
      apiScheme: undefined,
      gitUsername: 'oauth2',
      dockerUsername: 'oauth2',
      awsRoleArn: undefined,
      awsRegion: undefined,
      audience: undefined,
      keyId: undefined,
      key: undefined,
      ca: undefined,
      cert: undefined,
      certKey: undefined,
    });
  });

  it('ignores empty options', () => {
    const options = Object.fromEntries(Object.keys(optionNames).map((name) => [name, '']));
    expect(readAcme({ ...custom, options })).toEqual(readAcme(custom));
  });

  it.each([
    ['timout', 'did you mean acme.options.timeout?'],
    ['Client_Auth', 'did you mean acme.options.client_auth?'],
    ['clientAuth', 'did you mean acme.options.client_auth?'],
    ['tokenpath', 'did you mean acme.options.token_path?'],
    ['allow-http', 'did you mean acme.options.allow_http?'],
    ['keyfile', 'did you mean acme.options.key_file?'],
    ['__proto__', expect.stringContaining('timeout, client_auth')],
    ['constructor', expect.stringContaining('timeout, client_auth')],
    ['frobnicate', expect.stringContaining('timeout, client_auth')],
  ])('D10 rejects the unknown option %s', (name, hint) => {
    for (const sample of [custom, oktaRefresh]) {
      const issues = issuesOf(() => readAcme({ ...sample, [`options.${name}`]: 'x' }));
      expect(issues).toMatchObject([{ variable: `acme.options.${name}`, hint }]);
    }
  });

  it.each([
    ['timeout', ['0', '-1', 'soon', '5 s', '1e3', '0.0001ms', '99999h', ['5s']]],
    ['grace', ['x', '30 s']],
    ['client_auth', ['Basic', 'post', 'passthrough', true]],
    ['allow_http', ['yes', 'TRUE', 1]],
    ['refresh_token_reuse', ['never', 'Allowed']],
    ['token_path', ['a..b', '[', 'a[x]', 'a b', '.a']],
    ['audience', [['a']]],
    ['refresh_url', ['http://login.example.com/refresh', '/refresh', 'https://user@login.example.com/']],
    ['request_format', ['JSON', 'xml']],
    ['scope_separator', [';', 'Comma']],
    ['pkce', ['S256', 'no']],
    ['redirect_members', ['realm id?', '__proto__ a=b']],
    ['key_file', ['nowhere.pem']],
    ['ca_file', ['nowhere.pem']],
    ['cert_file', ['nowhere.pem']],
  ])('D16 rejects invalid values of %s', (name, values) => {
    for (const value of values) {
      expect(invalidVariables({ ...custom, options: { [name]: value } }, files)).toEqual([`acme.options.${name}`]);
    }
  });

  it('rejects an option that comes from a secret', () => {
    const sources = createSources({}, { MY_SECRET: '5s' });
    const options = { timeout: '${env:MY_SECRET}' };
    expect(invalidVariables({ ...custom, options }, sources)).toEqual(['acme.options.timeout']);
  });

  it('D17 parses the total time', () => {
    expect(readAcme({ ...custom, options: { timeout: 5 } }).options.timeoutMs).toBe(5000);
    expect(readAcme({ ...custom, options: { timeout: '2m' } }).options.timeoutMs).toBe(120_000);
  });

  it.each([
    ['30', 30_000],
    ['30s', 30_000],
    ['500ms', 500],
    ['1.5s', 1500],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['0.001', 1],
    ['596h', 596 * 3_600_000],
    ['597h', undefined],
    ['0', undefined],
    ['0.5ms', undefined],
    ['-1s', undefined],
    ['+1s', undefined],
    ['1 s', undefined],
    ['1s ', undefined],
    ['1S', undefined],
    ['1e3', undefined],
    ['Infinity', undefined],
    ['.5', undefined],
    ['', undefined],
    ['5d', undefined],
  ])('parses the duration %j as %j ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    ['token', ['token']],
    ['data.token', ['data', 'token']],
    ['data.tokens[0].value', ['data', 'tokens', 0, 'value']],
    ['data["odd key"]', ['data', 'odd key']],
    ['__proto__.x', ['__proto__', 'x']],
  ])('parses the token_path %s', (token_path, path) => {
    expect(readAcme({ ...custom, options: { token_path } }).options.tokenPath).toEqual(path);
  });

  it.each([
    ['https://graph.microsoft.com', 'https://graph.microsoft.com'],
    ['https://graph.microsoft.com/', 'https://graph.microsoft.com'],
    ['https://API.example.com:443', 'https://api.example.com'],
    ['https://api.example.com:8443', 'https://api.example.com:8443'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ])('D20 parses the authorize_origin %s as %s', (authorize_origin, origin) => {
    expect(readAcme({ ...custom, options: { authorize_origin } }).options.authorizeOrigin).toBe(origin);
  });

  it.each([
    'http://api.example.com',
    'https://api.example.com/v1',
    'https://api.example.com/?x=1',
    'https://api.example.com/#x',
    'https://user@api.example.com',
    'https://ex\u{e4}mple.com',
    'https://%65vil.com',
    'api.example.com',
    'true',
    '*',
  ])('D20 rejects the authorize_origin %s', (authorize_origin) => {
    expect(invalidVariables({ ...custom, options: { authorize_origin } })).toEqual(['acme.options.authorize_origin']);
  });

  it('D19 reads the files for a private CA and for mutual TLS', () => {
    const options = { ca_file: 'ca.pem', cert_file: 'cert.pem', cert_key_file: 'cert-key.pem' };
    const read = readAcme({ ...custom, options }, files).options;
    expect(read).toMatchObject({
      ca: { path: 'ca.pem', text: 'CA' },
      cert: { path: 'cert.pem', text: 'CERT' },
      certKey: { path: 'cert-key.pem', text: 'KEY' },
    });
    expect(tlsFiles(read)).toEqual({ ca: 'CA', cert: 'CERT', certKey: 'KEY' });
    expect(tlsFiles(readAcme(custom).options)).toEqual({ ca: undefined, cert: undefined, certKey: undefined });
    expect(readAcme({ ...custom, options: { cert_file: 'both.pem' } }, files).options.certKey).toBeUndefined();
  });

  it('D19 requires a certificate and its key', () => {
    const invalid = (options: DataObject) => invalidVariables({ ...custom, options }, files);
    expect(invalid({ cert_file: 'cert.pem' })).toEqual(['acme.options.cert_file']);
    expect(invalid({ cert_file: 'cert.pem', cert_key_file: '' })).toEqual(['acme.options.cert_file']);
    expect(invalid({ cert_key_file: 'cert-key.pem' })).toEqual(['acme.options.cert_key_file']);
    expect(invalid({ cert_key_file: 'cert-key.pem', cert_file: '' })).toEqual(['acme.options.cert_key_file']);
  });
});

it.each(['allowed', 'grace', 'rejected', 'revokes_family'])(
  'options.refresh_token_reuse: %s is not treated as a secret',
  (refresh_token_reuse) => {
    const { options } = readAcme({ ...custom, options: { refresh_token_reuse } });
    expect(options.refreshTokenReuse).toBe(refresh_token_reuse);
  },
);

it('parseDuration() parses any whole number of each unit', () => {
  const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, '': 1000 };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.constantFrom(...Object.entries(units)), (count, [unit, ms]) => {
      expect(parseDuration(`${count}${unit}`)).toBe(count * ms);
    }),
  );
});

describe('the key file of private_key_jwt', () => {
  const { client_secret: _, ...client } = samples.microsoftClient;
  const warningsFor = (text: string, type: string = client.type) =>
    readAcme(
      { ...client, type, options: { client_auth: 'private_key_jwt', key_file: 'key.pem' } },
      createSources({ 'key.pem': text }),
    ).warnings;

  it('should contain the certificate for microsoft, which finds the key by it', () => {
    expect(warningsFor('-----BEGIN PRIVATE KEY-----')).toEqual([expect.stringContaining('acme.options.key_file')]);
    expect(warningsFor('-----BEGIN PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----')).toEqual([]);
    expect(warningsFor('{"kty":"RSA","x5t#S256":"abc"}')).toEqual([]);
  });

  it('needs no certificate for other providers', () => {
    expect(warningsFor('-----BEGIN PRIVATE KEY-----', 'gitlab')).toEqual([]);
  });
});

it.each(['ca_file', 'cert_file', 'key_file'])('options.%s of the working directory must be inside it', (option) => {
  const directory = { label: 'p.yaml', directory: '/work', trust: 'directory' } as const;
  const fields = { ...samples.twitter, options: { [option]: '../key.pem' } };
  const variables = new Variables().define(flatten({ acme: fields }, 'p.yaml'), directory);
  const sources = {
    ...createSources({ '../key.pem': 'KEY' }),
    readFileInside: () => {
      throw new OAuthProfileError('data_invalid', 'outside the directory');
    },
  };
  const issues = issuesOf(() => readProfile('acme', variables, sources));
  expect(issues).toMatchObject([
    { variable: `acme.options.${option}`, message: expect.stringContaining('inside the directory') },
  ]);
});
