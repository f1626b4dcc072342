import { describe, expect, it } from 'vitest';
import { optionNames, parseDuration } from '../../src/profile/options.ts';
import { tlsFiles } from '../../src/profile/profile.ts';
import { faultsOf, faultyIn, outsideWith, readAcme } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const { custom, oktaRefresh } = samples;
const files = outsideWith({
  'ca.pem': 'CA',
  'cert.pem': 'CERT',
  'cert-key.pem': 'KEY',
  'both.pem': 'CERT\n-----BEGIN PRIVATE KEY-----\n',
});

describe('options', () => {
  it('have defaults', () => {
    expect(readAcme(custom).options).toEqual({
      timeoutMs: 30_000,
      tokenPath: undefined,
      refreshTokenReuse: 'revokes_family',
      graceMs: 30_000,
      reuse: undefined,
      minTtlMs: 60_000,
      defaultTtlMs: undefined,
      authorizeOrigin: undefined,
      audience: undefined,
      keyId: undefined,
      key: undefined,
      ca: undefined,
      cert: undefined,
      certKey: undefined,
    });
  });

  it('that are empty count as absent', () => {
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
    ['__proto__', expect.stringContaining('options are timeout, client_auth')],
    ['constructor', expect.stringContaining('options are timeout, client_auth')],
    ['frobnicate', expect.stringContaining('options are timeout, client_auth')],
  ])('D10 an unknown option %s is a fault', (name, hint) => {
    for (const sample of [custom, oktaRefresh]) {
      const issues = faultsOf(() => readAcme({ ...sample, [`options.${name}`]: 'x' }));
      expect(issues).toMatchObject([{ variable: `acme.options.${name}`, message: 'is not an option', hint }]);
    }
  });

  it.each([
    ['timeout', ['0', '-1', 'soon', '5 s', '1e3', '0.0001ms', '99999h', ['5s']]],
    ['grace', ['x', '30 s']],
    ['client_auth', ['Basic', 'post', 'client_secret_basic', true]],
    ['allow_http', ['yes', 'TRUE', 1]],
    ['refresh_token_reuse', ['never', 'Safe']],
    ['token_path', ['a..b', '[', 'a[x]', 'a b', '.a']],
    ['audience', [['a']]],
    ['key_file', ['nowhere.pem']],
    ['ca_file', ['nowhere.pem']],
    ['cert_file', ['nowhere.pem']],
  ])('D16 %s with a wrong value is a fault that names it', (name, values) => {
    for (const value of values) {
      const [fault, ...others] = faultsOf(() => readAcme({ ...custom, options: { [name]: value } }, files));
      expect(fault).toMatchObject({ variable: `acme.options.${name}`, message: expect.stringMatching(/^is not /) });
      expect(others).toEqual([]);
    }
  });

  it('an option is never made from a secret', () => {
    const outside = outsideWith({}, { MY_SECRET: '5s' });
    const issues = faultsOf(() => readAcme({ ...custom, options: { timeout: '${env:MY_SECRET}' } }, outside));
    expect(issues).toMatchObject([{ variable: 'acme.options.timeout' }]);
  });

  it('D17 the total time is 30 s unless the profile says otherwise', () => {
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
  ])('a time of %j is %j ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    ['token', ['token']],
    ['data.token', ['data', 'token']],
    ['data.tokens[0].value', ['data', 'tokens', 0, 'value']],
    ['data["odd key"]', ['data', 'odd key']],
    ['__proto__.x', ['__proto__', 'x']],
  ])('token_path %s is a path', (token_path, path) => {
    expect(readAcme({ ...custom, options: { token_path } }).options.tokenPath).toEqual(path);
  });

  it.each([
    ['https://graph.microsoft.com', 'https://graph.microsoft.com'],
    ['https://graph.microsoft.com/', 'https://graph.microsoft.com'],
    ['https://API.example.com:443', 'https://api.example.com'],
    ['https://api.example.com:8443', 'https://api.example.com:8443'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ])('D20 authorize_origin %s is the origin %s', (authorize_origin, origin) => {
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
  ])('D20 authorize_origin cannot be %s', (authorize_origin) => {
    expect(faultyIn({ ...custom, options: { authorize_origin } })).toEqual(['acme.options.authorize_origin']);
  });

  it('D19 reads the files of a private CA and of mutual TLS', () => {
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

  it('D19 a certificate and its key come together', () => {
    const faulty = (options: object) => faultyIn({ ...custom, options }, files);
    expect(faulty({ cert_file: 'cert.pem' })).toEqual(['acme.options.cert_file']);
    expect(faulty({ cert_file: 'cert.pem', cert_key_file: '' })).toEqual(['acme.options.cert_file']);
    expect(faulty({ cert_key_file: 'cert-key.pem' })).toEqual(['acme.options.cert_key_file']);
    expect(faulty({ cert_key_file: 'cert-key.pem', cert_file: '' })).toEqual(['acme.options.cert_key_file']);
  });
});
