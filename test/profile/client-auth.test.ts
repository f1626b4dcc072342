import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { buildTokenRequest } from '../../src/oauth/token-request.ts';
import { clear, faultsOf, faultyIn, outsideWith, readAcme, seen } from '../support/read-sample.ts';
import { samples, secrets } from '../support/sample-profiles.ts';

const clients: Record<string, DataObject> = {
  microsoft: samples.microsoftClient,
  google: samples.google,
  okta: samples.oktaRefresh,
  gitlab: samples.gitlabRefresh,
  twitter: samples.twitter,
  custom: samples.custom,
};
const types = Object.keys(clients);
const key = outsideWith({ 'key.pem': 'a key' });

/** Where a request shows who the client is. */
function placesOf(fields: DataObject) {
  const { form, basic } = seen(readAcme(fields, key));
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

describe('how the client authenticates', () => {
  it.each([
    ['microsoft', 'client_secret_post'],
    ['google', 'client_secret_post'],
    ['gitlab', 'client_secret_post'],
    ['okta', 'client_secret_basic'],
    ['twitter', 'client_secret_basic'],
    ['custom', 'as_given'],
  ])('D12 by default %s: %s', (type, expected) => {
    expect(readAcme({ ...clients[type] }).clientAuth).toBe(expected);
  });

  it.each(types)('D12 %s can be told each way, and takes one at a time', (type) => {
    const id = clients[type]?.['client_id'];
    const withAuth = (client_auth: string, more: object = {}) =>
      placesOf({ ...clients[type], options: { client_auth, ...more } });
    const inHeader = { basic: [id, secrets.client_secret], id: false, secret: false, assertion: false };
    expect(withAuth('client_secret_post')).toEqual(inBody);
    expect(withAuth('client_secret_basic')).toEqual(inHeader);
    expect(withAuth('none')).toEqual(idOnly);
    expect(withAuth('private_key_jwt', { key_file: 'key.pem' })).toEqual({ ...idOnly, assertion: true });
  });

  it.each(types)('D12 %s: basic_raw is not encoded', (type) => {
    const profile = readAcme({ ...clients[type], options: { client_auth: 'client_secret_basic_raw' } });
    const { headers, form } = buildTokenRequest(profile, '1');
    const header = clear(headers['Authorization']) ?? '';
    expect(atob(header.replace('Basic ', ''))).toBe(`${clients[type]?.['client_id']}:${secrets.client_secret}`);
    expect(form.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['client_id']));
    expect(form.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['client_secret']));
  });

  it.each(types)('D12 %s: basic.user and basic.password force a Basic header and stand for id and secret', (type) => {
    const { client_id: _, client_secret: __, ...rest } = clients[type] ?? {};
    const basic = { user: 'u ser', password: 'p:w' };
    const expected = { basic: ['u ser', 'p:w'], id: false, secret: false, assertion: false };
    expect(placesOf({ ...rest, basic })).toEqual(expected);
    expect(placesOf({ ...clients[type], basic })).toEqual(expected);
    expect(placesOf({ ...rest, basic, options: { client_auth: 'client_secret_basic' } })).toEqual(expected);
    expect(placesOf({ ...rest, basic: { user: 'u', password: '' } }).basic).toEqual(['u', '']);
  });

  it.each(types)('D12 %s: half a Basic pair is the only fault', (type) => {
    const { client_id: _, client_secret: __, ...rest } = clients[type] ?? {};
    expect(faultyIn({ ...rest, basic: { user: 'u' } })).toEqual(['acme.basic.password']);
    expect(faultyIn({ ...rest, basic: { password: 'p' } })).toEqual(['acme.basic.user']);
  });

  it('D16 a Basic pair that cannot be read is the only fault', () => {
    const fields = { type: 'twitter', basic: { user: '${env:U}', password: '${env:P}' } };
    expect(faultyIn(fields)).toEqual(['acme.basic.user', 'acme.basic.password']);
  });

  it('D10 D12 a Basic pair has no further parts', () => {
    const basic = { user: 'u', password: 'p', realm: 'r' };
    expect(faultyIn({ ...samples.custom, basic })).toEqual(['acme.basic.realm']);
    expect(faultyIn({ ...samples.custom, basic: { user: 'u', password: 'p', more: { deep: 1 } } })).toEqual([
      'acme.basic.more.deep',
    ]);
  });

  it.each(['client_secret_post', 'none', 'private_key_jwt'])(
    'D12 a Basic pair beside client_auth %s is two ways at once',
    (client_auth) => {
      const fields = { ...samples.custom, basic: { user: 'u', password: 'p' }, options: { client_auth } };
      expect(faultyIn(fields)).toEqual(['acme.options.client_auth']);
    },
  );

  it.each(['okta', 'gitlab', 'microsoft', 'google', 'twitter'])(
    'D12 %s refuses an assertion of the profile beside a secret',
    (type) => {
      const [fault, ...others] = faultsOf(() => readAcme({ ...clients[type], client_assertion: 'an.assertion' }));
      expect(fault).toMatchObject({ variable: 'acme.client_assertion', message: expect.stringContaining('second') });
      expect(others).toEqual([]);
    },
  );

  it('D12 refuses an assertion of the profile beside a Basic pair', () => {
    const fields = { ...samples.custom, client_assertion: 'a.b.c', basic: { user: 'u', password: 'p' } };
    expect(faultyIn(fields)).toEqual(['acme.client_assertion']);
  });

  it('D12 custom sends an assertion and a secret side by side when given both', () => {
    const fields = { ...samples.custom, client_assertion: 'a.b.c' };
    expect(placesOf(fields)).toEqual({ ...inBody, assertion: true });
  });

  it('D12 an assertion of the profile stands for the secret', () => {
    const { client_secret: _, ...rest } = samples.microsoftClient;
    expect(placesOf({ ...rest, client_assertion: 'a.b.c' })).toEqual({ ...idOnly, assertion: true });
  });

  it('D12 a secret is only missing where the way asked for needs it', () => {
    const { client_secret: _, ...rest } = samples.microsoftClient;
    expect(faultyIn(rest)).toEqual(['acme.client_secret']);
    expect(faultyIn({ ...rest, options: { client_auth: 'client_secret_basic' } })).toEqual(['acme.client_secret']);
    expect(placesOf({ ...rest, options: { client_auth: 'none' } })).toEqual(idOnly);
    expect(faultyIn({ ...rest, options: { client_auth: 'header' } })).toEqual(['acme.options.client_auth']);
  });

  it.each(['okta', 'twitter'])(
    'D12 %s: without a secret client_credentials is a fault, not a public client',
    (type) => {
      const { client_secret: _, refresh_token: __, ...rest } = clients[type] ?? {};
      expect(faultyIn({ ...rest, grant_type: 'client_credentials' })).toEqual(['acme.client_secret']);
    },
  );

  it('D12 basic and basic_raw cannot do without id and secret, whatever the type', () => {
    for (const client_auth of ['client_secret_basic', 'client_secret_basic_raw']) {
      const fields = { type: 'custom', url: 'https://id.example.com/', options: { client_auth } };
      expect(faultyIn(fields)).toEqual(['acme.client_id', 'acme.client_secret']);
      expect(seen(readAcme({ ...fields, client_id: 'a', client_secret: '' })).basic).toEqual(['a', '']);
    }
  });

  it('D12 basic_raw refuses a colon in the user name, which would end it', () => {
    const options = { client_auth: 'client_secret_basic_raw' };
    expect(faultyIn({ ...samples.twitter, client_id: 'a:b', options })).toEqual(['acme.client_id']);
    expect(faultyIn({ ...samples.twitter, basic: { user: 'a:b', password: 'c' }, options })).toEqual([
      'acme.basic.user',
    ]);
    expect(seen(readAcme({ ...samples.twitter, client_id: 'a:b' })).basic?.[0]).toBe('a:b');
  });

  it('D12 never shows the client twice, whatever is in the profile', () => {
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
          let places: ReturnType<typeof placesOf>;
          try {
            places = placesOf(fields);
          } catch {
            return;
          }
          const { basic, id, secret, assertion } = places;
          const ways = [basic !== undefined, secret, assertion].filter(Boolean).length;
          if (type !== 'custom' || client_auth !== undefined || user !== undefined) expect(ways).toBeLessThanOrEqual(1);
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

  it('D12 sends the assertion and its type, and the id, but no secret', () => {
    const request = buildTokenRequest(readAcme({ ...client, client_secret: 'unused', options }, key), '1');
    expect(request.form.map(({ name, value, source }) => [name, String(value), source])).toEqual([
      ['grant_type', 'client_credentials', 'data'],
      ['client_id', client.client_id, 'data'],
      ['scope', client.scope, 'data'],
      ['client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer', 'options.client_auth'],
      ['client_assertion', '••••', 'signed with key.pem'],
    ]);
    expect(request.headers).not.toHaveProperty('Authorization');
    expect(request.assertion?.key.text).toBe('a key');
    expect(inspect(request, { depth: 9 }) + JSON.stringify(request)).not.toContain('a key');
    expect(request.assertion).toMatchObject({
      clientId: client.client_id,
      audience: 'https://login.microsoftonline.com/contoso.onmicrosoft.com/oauth2/v2.0/token',
      key: { path: 'key.pem' },
      keyId: undefined,
      rsaAlgorithm: 'PS256',
    });
  });

  it('D12 takes audience and key id from the options, and RS256 beyond microsoft', () => {
    const more = { ...options, audience: 'https://issuer.example', key_id: 'k1' };
    const { assertion } = buildTokenRequest(readAcme({ ...samples.twitter, options: more }, key), '1');
    expect(assertion).toMatchObject({ audience: 'https://issuer.example', keyId: 'k1', rsaAlgorithm: 'RS256' });
  });

  it('D14 an assertion in the profile is replaced, not doubled', () => {
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
    ['a key_file that is not there', { client_auth: 'private_key_jwt', key_file: 'none.pem' }],
  ])('D12 with %s is a fault', (_, options) => {
    expect(faultyIn({ ...client, options }, key)).toEqual(['acme.options.key_file']);
  });

  it('D12 cannot do without the id', () => {
    expect(faultyIn({ type: 'custom', url: 'https://id.example.com/', options }, key)).toEqual(['acme.client_id']);
  });
});
