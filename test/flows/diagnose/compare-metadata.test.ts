import { describe, expect, it } from 'vitest';
import { compareMetadata, compareScopes, isSameEndpoint } from '../../../src/flows/diagnose/compare-metadata.ts';
import type { Diagnostic } from '../../../src/flows/diagnose/finding.ts';
import { LoadedFile, type Profile } from '../../../src/profile/profile.ts';
import { findProvider } from '../../../src/providers/registry.ts';
import { profileOf } from '../../support/profile-of.ts';

const server = 'https://id.example.test';
const machineProfile = { type: 'custom', url: `${server}/token`, grant_type: 'client_credentials', client_id: 'me' };
const secret = { ...machineProfile, client_secret: 'c4n4ry' };
const person = { ...secret, grant_type: 'refresh_token', refresh_token: 'c4n4ry-2' };
const page = { 'options.authorization_url': `${server}/authorize` };
const device = { 'options.device_authorization_url': `${server}/device` };
const withSecret = 'with the secret or key that this takes';
const custom = findProvider('custom') as Profile['provider'];

const compare = (fields: Record<string, unknown>, document: object): readonly Diagnostic[] =>
  compareMetadata(profileOf(fields), { token_endpoint: `${server}/token`, ...document });

describe('a profile beside what its server publishes', () => {
  it.each<[string, Record<string, unknown>, object, Partial<Diagnostic>]>([
    [
      'a grant that is not announced',
      secret,
      { grant_types_supported: ['password', 7, 'refresh_token'] },
      {
        level: 'fault',
        about: 'discovery',
        where: 'svc.grant_type',
        message: 'the server does not announce the grant client_credentials, only password, refresh_token',
        hint: 'the provider does not know this grant: set svc.grant_type',
      },
    ],
    [
      'no grant that is announced',
      person,
      { grant_types_supported: [] },
      {
        level: 'warning',
        message: 'the server does not announce the grant refresh_token, only nothing',
      },
    ],
    [
      'a secret in the body that is not announced',
      secret,
      { token_endpoint_auth_methods_supported: ['client_secret_basic', 'tls_client_auth', 'none'] },
      {
        level: 'fault',
        about: 'discovery',
        where: 'svc.options.client_auth',
        message:
          'the server does not announce the client authentication client_secret_post, only client_secret_basic, tls_client_auth, none',
        hint: `set svc.options.client_auth to basic or none, ${withSecret}`,
      },
    ],
    [
      'a raw Basic header that is not announced',
      { ...secret, 'options.client_auth': 'client_secret_basic_raw' },
      { token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'] },
      {
        message:
          'the server does not announce the client authentication client_secret_basic, only client_secret_post, private_key_jwt',
        hint: `set svc.options.client_auth to body or private_key_jwt, ${withSecret}`,
      },
    ],
    [
      'a client without a secret that is not announced',
      { ...secret, 'options.client_auth': 'none' },
      { token_endpoint_auth_methods_supported: ['tls_client_auth'] },
      {
        message: 'the server does not announce clients without a secret, only tls_client_auth',
        hint: 'ask those who run the server for a client with a secret',
      },
    ],
    [
      'an assertion of the profile that is not announced',
      { ...machineProfile, client_assertion: 'c4n4ry' },
      { token_endpoint_auth_methods_supported: ['none'] },
      {
        message: 'the server does not announce the client authentication private_key_jwt, only none',
        hint: `set svc.options.client_auth to none, ${withSecret}`,
      },
    ],
    [
      'another page',
      { ...person, ...page },
      { authorization_endpoint: 'https://other.test/authorize?x=1' },
      {
        level: 'warning',
        about: 'discovery',
        where: 'svc.options.authorization_url',
        message: `login asks ${server}/authorize, but the server announces https://other.test/authorize?x=1`,
        hint: 'if login fails, set svc.options.authorization_url',
      },
    ],
    [
      'a page that the profile does not name',
      person,
      { device_authorization_endpoint: `${server}/device` },
      {
        level: 'note',
        where: 'svc.options.device_authorization_url',
        message: 'is not set, so that login cannot use it',
        hint: `for oauth-profile login, set it to ${server}/device`,
      },
    ],
    [
      'no S256 for a browser',
      { ...person, ...page },
      { code_challenge_methods_supported: [] },
      {
        level: 'fault',
        where: 'svc.options.authorization_url',
        message: 'login with a browser needs PKCE with S256, but the server announces nothing',
        hint: 'ask those who run the server to allow S256',
      },
    ],
    [
      'no S256 where a device code is possible too',
      { ...person, ...page, ...device },
      { code_challenge_methods_supported: ['plain'] },
      {
        level: 'fault',
        hint: 'run: oauth-profile login svc --device; or ask those who run the server to allow S256',
      },
    ],
    [
      'a scope that is lacking',
      { ...person, scope: 'read' },
      { scopes_supported: ['offline_access', 'openid'] },
      {
        level: 'note',
        about: 'scope',
        where: 'svc.scope',
        message: 'lacks offline_access, without which no new refresh token may come',
        hint: 'add offline_access to svc.scope',
      },
    ],
    [
      'scopes that are not announced',
      { ...secret, scope: ' reed  openid\trite ' },
      { scopes_supported: ['read'] },
      {
        level: 'note',
        about: 'scope',
        where: 'svc.scope',
        message: 'the server does not announce reed, rite',
        hint: 'check the spelling; a server need not announce all that it knows',
      },
    ],
    [
      'another token endpoint',
      { ...secret, scope: 'reed' },
      { token_endpoint: `${server}/v2/token`, grant_types_supported: [], scopes_supported: ['read'] },
      {
        level: 'warning',
        about: 'discovery',
        where: 'svc.url',
        message: `the token endpoint is another one than the server announces: ${server}/v2/token`,
        hint: 'if tokens do not come, set svc.url to that address',
      },
    ],
    [
      'a newer token endpoint than the default',
      { type: 'google', client_id: 'c', client_secret: 's', refresh_token: 'r' },
      { token_endpoint: 'https://oauth2.googleapis.com/token' },
      {
        level: 'note',
        where: 'svc.url',
        message:
          'the default is an older address of the token endpoint; the server announces https://oauth2.googleapis.com/token',
        hint: 'nothing has to be done; to use the new one, set svc.url to it',
      },
    ],
  ])('%s is told', (_, fields, document, expected) => {
    expect(compare(fields, document)).toEqual([expect.objectContaining(expected)]);
  });

  it.each<[string, Record<string, unknown>, object]>([
    ['no grant', { type: 'custom', url: `${server}/token` }, { grant_types_supported: ['password'] }],
    ['pages, without a refresh token', secret, { authorization_endpoint: `${server}/authorize` }],
    ['pages that are no texts', person, { authorization_endpoint: 7, device_authorization_endpoint: null }],
    [
      'a device endpoint, while login has a page',
      { ...person, ...page },
      { device_authorization_endpoint: `${server}/d` },
    ],
    ['a page, while login has device codes', { ...person, ...device }, { authorization_endpoint: `${server}/a` }],
    ['plain PKCE, while login has no page', { ...person, ...device }, { code_challenge_methods_supported: ['plain'] }],
    ['more PKCE than ours', { ...person, ...page }, { code_challenge_methods_supported: ['plain', 'S256'] }],
    [
      'offline_access, which is asked for',
      { ...person, scope: 'offline_access' },
      { scopes_supported: ['offline_access'] },
    ],
    [
      'offline_access, without a refresh token',
      { ...secret, scope: 'openid' },
      { scopes_supported: ['offline_access'] },
    ],
    ['scopes, where none is asked for', { ...person, scope: ' ' }, { scopes_supported: ['offline_access', 'read'] }],
    ['standard scopes, which are asked for', { ...secret, scope: 'profile email' }, { scopes_supported: ['read'] }],
  ])('finds nothing wrong with %s', (_, fields, document) => {
    expect(compare(fields, document)).toEqual([]);
  });

  it('no S256 is only a warning where login prefers device codes', () => {
    const graph = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', refresh_token: 'r' };
    const token_endpoint = 'https://login.microsoftonline.com/contoso.com/oauth2/v2.0/token';
    expect(compare(graph, { token_endpoint, code_challenge_methods_supported: ['plain'] })).toMatchObject([
      { level: 'warning', where: 'svc.options.authorization_url' },
    ]);
  });

  it('a certificate may be all the authentication that is asked for', () => {
    const document = { token_endpoint: `${server}/token`, token_endpoint_auth_methods_supported: ['tls_client_auth'] };
    const plain = profileOf(machineProfile);
    expect(compareMetadata(plain, document)).toHaveLength(1);
    const cert = new LoadedFile('client.pem', '');
    expect(compareMetadata({ ...plain, options: { ...plain.options, cert } }, document)).toEqual([]);
  });

  it('a document of another server says nothing of this one, but for the scopes that its provider needs', () => {
    const graph = {
      type: 'microsoft',
      tenant_id: 'contoso.com',
      client_id: 'c',
      refresh_token: 'r',
      scope: 'user.read',
    };
    expect(compare(graph, { grant_types_supported: [], scopes_supported: ['x'] }).map(({ where }) => where)).toEqual([
      'svc.url',
      'svc.scope',
    ]);
  });

  it('a scope of a provider that is known is lacking without a document too', () => {
    const graph = {
      type: 'microsoft',
      tenant_id: 'contoso.com',
      client_id: 'c',
      refresh_token: 'r',
      scope: 'user.read',
    };
    expect(compareScopes(profileOf(graph))).toEqual([
      {
        level: 'warning',
        about: 'scope',
        where: 'svc.scope',
        message: 'lacks offline_access, without which no new refresh token may come',
        hint: 'add offline_access to svc.scope',
      },
    ]);
  });
});

describe('two addresses', () => {
  const ours = new URL(`${server}/token?api=2`);

  it.each([
    [`${server}/token`, true],
    [`${server}/token?x#y`, true],
    [`${server}/tokens`, false],
    [`${server}:444/token`, false],
    ['token', false],
    [undefined, false],
    [7, false],
  ])('%s is the same as ours: %s', (announced, same) => {
    expect(isSameEndpoint(announced, ours, custom)).toBe(same);
  });
});

it('an assertion that is signed with a key is of one kind alone', () => {
  const profile: Profile = {
    ...profileOf({ ...machineProfile, client_assertion: 'c4n4ry' }),
    clientAuth: 'private_key_jwt',
  };
  const announcing = (...methods: string[]) =>
    compareMetadata(profile, {
      token_endpoint: `${server}/token`,
      token_endpoint_auth_methods_supported: methods,
    }).map(({ message }) => message);
  expect(announcing('private_key_jwt')).toEqual([]);
  expect(announcing('client_secret_jwt')).toEqual([
    'the server does not announce the client authentication private_key_jwt, only client_secret_jwt',
  ]);
});

it.each([[[`${server}/token`]], [`${server}/to/ken`], [new URL(`${server}/token`)]])(
  'what is no text, or has other steps, is another address: %o',
  (announced) => {
    expect(isSameEndpoint(announced, new URL(`${server}/token`), custom)).toBe(false);
  },
);

it('a provider that needs no scope for refresh tokens lacks none', () => {
  const lab = profileOf({ type: 'gitlab', client_id: 'a', client_secret: 'c4n4ry', refresh_token: 'r', scope: 'api' });
  expect(compareScopes(lab)).toEqual([]);
});
