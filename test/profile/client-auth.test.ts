import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { buildTokenRequest } from '../../src/oauth/token-request.ts';
import { decodeRequest, invalidVariables, issuesOf, readAcme, reveal, samples, secrets } from '../support/profiles.ts';
import { createSources } from '../support/variables.ts';

const clients: Record<string, DataObject> = {
  microsoft: samples.microsoftClient,
  google: samples.google,
  okta: samples.oktaRefresh,
  gitlab: samples.gitlabRefresh,
  twitter: samples.twitter,
  custom: samples.custom,
};
const types = Object.keys(clients);
const key = createSources({ 'key.pem': 'a key' });

/** Where a request contains client credentials. */
function findCredentials(fields: DataObject) {
  const { form, basic } = decodeRequest(readAcme(fields, key));
  const has = (name: string) => form.some(([field]) => field === name);
  return {
    basic,
    id: has('client_id'),
    secret: has('client_secret'),
    assertion: has('client_assertion'),
  };
}

const inBody = { basic: undefined, id: true, secret: true, assertion: false };
const idOnly = { basic: undefined, id: true, secret: false, assertion: false };

describe('client authentication', () => {
  it.each([
    ['microsoft', 'client_secret_post'],
    ['google', 'client_secret_post'],
    ['gitlab', 'client_secret_post'],
    ['okta', 'client_secret_basic'],
    ['twitter', 'client_secret_basic'],
    ['custom', 'passthrough'],
  ])('D12 of %s is %s by default', (type, expected) => {
    expect(readAcme({ ...clients[type] }).clientAuth).toBe(expected);
  });

  it.each(types)('D12 of %s can be any method, one at a time', (type) => {
    const id = clients[type]?.['client_id'];
    const withAuth = (client_auth: string, more: object = {}) =>
      findCredentials({ ...clients[type], options: { client_auth, ...more } });
    const inHeader = { basic: [id, secrets.client_secret], id: false, secret: false, assertion: false };
    expect(withAuth('client_secret_post')).toEqual(inBody);
    expect(withAuth('client_secret_basic')).toEqual(inHeader);
    expect(withAuth('none')).toEqual(idOnly);
    expect(withAuth('private_key_jwt', { key_file: 'key.pem' })).toEqual({ ...idOnly, assertion: true });
    for (const method of ['tls_client_auth', 'self_signed_tls_client_auth'])
      expect(withAuth(method, { cert_file: 'key.pem', cert_key_file: 'key.pem' })).toEqual(idOnly);
  });

  it.each(types)('D12 of %s with client_secret_basic_raw is not encoded', (type) => {
    const profile = readAcme({ ...clients[type], options: { client_auth: 'client_secret_basic_raw' } });
    const { headers, form } = buildTokenRequest(profile, '1');
    const header = reveal(headers['Authorization']) ?? '';
    expect(atob(header.replace('Basic ', ''))).toBe(`${clients[type]?.['client_id']}:${secrets.client_secret}`);
    expect(form.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['client_id']));
    expect(form.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['client_secret']));
  });

  it.each(types)('D12 of %s uses basic.user and basic.password instead of client id and secret', (type) => {
    const { client_id: _, client_secret: __, ...rest } = clients[type] ?? {};
    const basic = { user: 'u ser', password: 'p:w' };
    const expected = { basic: ['u ser', 'p:w'], id: false, secret: false, assertion: false };
    expect(findCredentials({ ...rest, basic })).toEqual(expected);
    expect(findCredentials({ ...clients[type], basic })).toEqual(expected);
    expect(findCredentials({ ...rest, basic, options: { client_auth: 'client_secret_basic' } })).toEqual(expected);
    expect(findCredentials({ ...rest, basic: { user: 'u', password: '' } }).basic).toEqual(['u', '']);
  });

  it.each(types)('D12 of %s requires both basic.user and basic.password', (type) => {
    const { client_id: _, client_secret: __, ...rest } = clients[type] ?? {};
    expect(invalidVariables({ ...rest, basic: { user: 'u' } })).toEqual(['acme.basic.password']);
    expect(invalidVariables({ ...rest, basic: { password: 'p' } })).toEqual(['acme.basic.user']);
  });

  it('D16 reports only the Basic credentials if they cannot be resolved', () => {
    const fields = { type: 'twitter', basic: { user: '${env:U}', password: '${env:P}' } };
    expect(invalidVariables(fields)).toEqual(['acme.basic.user', 'acme.basic.password']);
  });

  it('D10 D12 rejects other members of basic', () => {
    const basic = { user: 'u', password: 'p', realm: 'r' };
    expect(invalidVariables({ ...samples.custom, basic })).toEqual(['acme.basic.realm']);
    expect(invalidVariables({ ...samples.custom, basic: { user: 'u', password: 'p', more: { deep: 1 } } })).toEqual([
      'acme.basic.more.deep',
    ]);
  });

  it.each(['client_secret_post', 'none', 'private_key_jwt'])(
    'D12 rejects client_auth %s in addition to Basic credentials',
    (client_auth) => {
      const fields = { ...samples.custom, basic: { user: 'u', password: 'p' }, options: { client_auth } };
      expect(invalidVariables(fields)).toEqual(['acme.options.client_auth']);
    },
  );

  it.each(['okta', 'gitlab', 'microsoft', 'google', 'twitter'])(
    'D12 of %s rejects a client_assertion in addition to a secret',
    (type) => {
      const issues = issuesOf(() => readAcme({ ...clients[type], client_assertion: 'an.assertion' }));
      expect(issues.map(({ variable }) => variable)).toEqual(['acme.client_assertion']);
      expect(issues[0]?.message).toContain('client_secret');
    },
  );

  it('D12 rejects a client_assertion in addition to Basic credentials', () => {
    const fields = { ...samples.custom, client_assertion: 'a.b.c', basic: { user: 'u', password: 'p' } };
    expect(invalidVariables(fields)).toEqual(['acme.client_assertion']);
  });

  it('D12 of custom sends both assertion and secret if both are set', () => {
    const fields = { ...samples.custom, client_assertion: 'a.b.c' };
    expect(findCredentials(fields)).toEqual({ ...inBody, assertion: true });
  });

  it('D12 does not require a secret if client_assertion is set', () => {
    const { client_secret: _, ...rest } = samples.microsoftClient;
    expect(findCredentials({ ...rest, client_assertion: 'a.b.c' })).toEqual({ ...idOnly, assertion: true });
  });

  it('D12 requires a secret only if the method uses it', () => {
    const { client_secret: _, ...rest } = samples.microsoftClient;
    expect(invalidVariables(rest)).toEqual(['acme.client_secret']);
    expect(invalidVariables({ ...rest, options: { client_auth: 'client_secret_basic' } })).toEqual([
      'acme.client_secret',
    ]);
    expect(findCredentials({ ...rest, options: { client_auth: 'none' } })).toEqual(idOnly);
    expect(invalidVariables({ ...rest, options: { client_auth: 'header' } })).toEqual(['acme.options.client_auth']);
  });

  it.each(['okta', 'twitter'])('D12 of %s requires a secret for client_credentials', (type) => {
    const { client_secret: _, refresh_token: __, ...rest } = clients[type] ?? {};
    expect(invalidVariables({ ...rest, grant_type: 'client_credentials' })).toEqual(['acme.client_secret']);
  });

  it('D12 requires id and secret for client_secret_basic and client_secret_basic_raw', () => {
    for (const client_auth of ['client_secret_basic', 'client_secret_basic_raw']) {
      const fields = { type: 'custom', url: 'https://id.example.com/', options: { client_auth } };
      expect(invalidVariables(fields)).toEqual(['acme.client_id', 'acme.client_secret']);
      expect(decodeRequest(readAcme({ ...fields, client_id: 'a', client_secret: '' })).basic).toEqual(['a', '']);
    }
  });

  it('D12 rejects a colon in the username of client_secret_basic_raw', () => {
    const options = { client_auth: 'client_secret_basic_raw' };
    expect(invalidVariables({ ...samples.twitter, client_id: 'a:b', options })).toEqual(['acme.client_id']);
    expect(invalidVariables({ ...samples.twitter, basic: { user: 'a:b', password: 'c' }, options })).toEqual([
      'acme.basic.user',
    ]);
    expect(decodeRequest(readAcme({ ...samples.twitter, client_id: 'a:b' })).basic?.[0]).toBe('a:b');
  });

  it('D12 never uses two methods, whatever the profile contains', () => {
    const maybe = (value: string) => fc.option(fc.constant(value), { nil: undefined });
    fc.assert(
      fc.property(
        fc.constantFrom(...types),
        fc.constantFrom(
          undefined,
          'client_secret_post',
          'client_secret_basic',
          'client_secret_basic_raw',
          'none',
          'private_key_jwt',
        ),
        maybe('an-id'),
        maybe('a-secret'),
        maybe('an.assertion'),
        maybe('basic-user'),
        maybe('basic-password'),
        (type, client_auth, client_id, client_secret, client_assertion, user, password) => {
          const fields = {
            ...clients[type],
            client_id,
            client_secret,
            client_assertion,
            basic: { user, password },
            options: { client_auth, key_file: 'key.pem' },
          };
          let found: ReturnType<typeof findCredentials>;
          try {
            found = findCredentials(fields);
          } catch {
            return;
          }
          const { basic, id, secret, assertion } = found;
          const methods = [basic !== undefined, secret, assertion].filter(Boolean).length;
          if (type !== 'custom' || client_auth !== undefined || user !== undefined)
            expect(methods).toBeLessThanOrEqual(1);
          if (basic !== undefined) expect([id, secret]).toEqual([false, false]);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('private_key_jwt', () => {
  const { client_secret: _, ...client } = samples.microsoftClient;
  const options = { client_auth: 'private_key_jwt', key_file: 'key.pem' };

  it('D12 sends the assertion, its type and the client id, but no secret', () => {
    const request = buildTokenRequest(readAcme({ ...client, client_secret: 'unused', options }, key), '1');
    expect(request.form.map(({ name, value, source }) => [name, String(value), source])).toEqual([
      ['grant_type', 'client_credentials', 'data'],
      ['client_id', client.client_id, 'data'],
      ['scope', client.scope, 'data'],
      ['client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', 'options.client_auth'],
      ['client_assertion', '••••', 'signed with key.pem'],
    ]);
    expect(request.headers).not.toHaveProperty('Authorization');
    expect(request.pending[0]?.spec).toHaveProperty('key.text', 'a key');
    expect(inspect(request, { depth: 9 }) + JSON.stringify(request)).not.toContain('a key');
    expect(request.pending[0]?.spec).toMatchObject({
      clientId: client.client_id,
      audience: 'https://login.microsoftonline.com/contoso.onmicrosoft.com/oauth2/v2.0/token',
      key: { path: 'key.pem' },
      keyId: undefined,
      rsaAlgorithm: 'PS256',
    });
  });

  it('D12 uses audience and key id of the options, and RS256 by default', () => {
    const more = { ...options, audience: 'https://issuer.example', key_id: 'k1' };
    const [field] = buildTokenRequest(readAcme({ ...samples.twitter, options: more }, key), '1').pending;
    expect(field?.spec).toMatchObject({ audience: 'https://issuer.example', keyId: 'k1', rsaAlgorithm: 'RS256' });
  });

  it('D14 replaces an assertion in the profile', () => {
    const fields = { ...client, client_assertion: 'old', client_assertion_type: 'old', options };
    const names = buildTokenRequest(readAcme(fields, key), '1').form.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('client_assertion'))).toEqual([
      'client_assertion_type',
      'client_assertion',
    ]);
  });

  it.each([
    ['no key_file', { client_auth: 'private_key_jwt' }],
    ['an empty key_file', { client_auth: 'private_key_jwt', key_file: '' }],
    ['a key_file that does not exist', { client_auth: 'private_key_jwt', key_file: 'none.pem' }],
  ])('D12 rejects a profile with %s', (_, options) => {
    expect(invalidVariables({ ...client, options }, key)).toEqual(['acme.options.key_file']);
  });

  it('D12 requires the client id', () => {
    expect(invalidVariables({ type: 'custom', url: 'https://id.example.com/', options }, key)).toEqual([
      'acme.client_id',
    ]);
  });
});

describe('client_secret_jwt', () => {
  const client = samples.microsoftClient;
  const options = { client_auth: 'client_secret_jwt' };

  it('D12 sends an assertion that is signed with the secret, but not the secret itself', () => {
    const { form, headers, pending } = buildTokenRequest(readAcme({ ...client, options }), '1');
    expect(form.map(({ name, source }) => [name, source]).slice(-2)).toEqual([
      ['client_assertion_type', 'options.client_auth'],
      ['client_assertion', 'signed with client_secret'],
    ]);
    expect(form.map(({ name }) => name)).not.toContain('client_secret');
    expect(headers).not.toHaveProperty('Authorization');
    expect(pending[0]?.spec).toHaveProperty('key.length', client.client_secret.length);
    expect(inspect(pending, { depth: 9 })).not.toContain(client.client_secret);
  });

  it.each(['client_id', 'client_secret'])('D12 requires %s', (field) => {
    expect(invalidVariables({ ...client, [field]: '', options })).toEqual([`acme.${field}`]);
  });

  it('D14 rejects an assertion in the profile', () => {
    expect(invalidVariables({ ...client, client_assertion: 'old', options })).toEqual(['acme.client_assertion']);
  });
});
