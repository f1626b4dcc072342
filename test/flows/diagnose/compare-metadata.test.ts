import { describe, expect, it } from 'vitest';
import { compareMetadata, compareScopes } from '../../../src/flows/diagnose/compare-metadata.ts';
import type { Diagnostic } from '../../../src/flows/diagnose/diagnostic.ts';
import { isSameEndpoint } from '../../../src/oauth/metadata.ts';
import { LoadedFile, type Profile } from '../../../src/profile/profile.ts';
import { findProvider } from '../../../src/providers/registry.ts';
import { profileOf } from '../../support/profiles.ts';

type Fields = Record<string, unknown>;

const server = 'https://id.example.test';
const publicClient = { type: 'custom', url: `${server}/token`, grant_type: 'client_credentials', client_id: 'me' };
const client = { ...publicClient, client_secret: 'c4n4ry' };
const refreshing = { ...client, grant_type: 'refresh_token', refresh_token: 'c4n4ry-2' };
const microsoft = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', refresh_token: 'r' };
const page = { 'options.authorization_url': `${server}/authorize` };
const device = { 'options.device_authorization_url': `${server}/device` };
const methods = (...list: string[]) => ({ token_endpoint_auth_methods_supported: list });

const compare = (fields: Fields, document: object): readonly Diagnostic[] =>
  compareMetadata(profileOf(fields), { token_endpoint: `${server}/token`, ...document });

describe('a profile that differs from the metadata', () => {
  it.each<[string, Fields, object, Diagnostic['level'], string, RegExp, RegExp]>([
    [
      'the grant',
      client,
      { grant_types_supported: ['password', 7, 'refresh_token'] },
      'error',
      'svc.grant_type',
      /client_credentials.*password, refresh_token$/,
      /svc\.grant_type/,
    ],
    [
      'the refresh grant, which many servers do not list',
      refreshing,
      { grant_types_supported: [] },
      'warning',
      'svc.grant_type',
      /refresh_token.*nothing$/,
      /svc\.grant_type/,
    ],
    [
      'a secret in the body',
      client,
      methods('client_secret_basic', 'tls_client_auth', 'none'),
      'error',
      'svc.options.client_auth',
      /client_secret_post.*client_secret_basic, tls_client_auth, none$/,
      /svc\.options\.client_auth to client_secret_basic or tls_client_auth or none,/,
    ],
    [
      'a Basic header',
      { ...client, 'options.client_auth': 'client_secret_basic' },
      methods('client_secret_post'),
      'error',
      'svc.options.client_auth',
      /client_secret_basic.*client_secret_post$/,
      /to client_secret_post,/,
    ],
    [
      'a raw Basic header',
      { ...client, 'options.client_auth': 'client_secret_basic_raw' },
      methods('client_secret_post', 'private_key_jwt'),
      'error',
      'svc.options.client_auth',
      /client_secret_basic,.*client_secret_post, private_key_jwt$/,
      /to client_secret_post or private_key_jwt,/,
    ],
    [
      'a client without a secret',
      publicClient,
      methods('client_secret_post'),
      'error',
      'svc.options.client_auth',
      /without a secret/,
      /to client_secret_post,/,
    ],
    [
      'a public client that logs users in, which many servers do not list',
      { ...publicClient, grant_type: 'refresh_token', refresh_token: 'c4n4ry', ...page },
      methods('client_secret_post', 'client_secret_basic'),
      'note',
      'svc.options.client_auth',
      /without a secret.*client_secret_post, client_secret_basic$/,
      /no action needed.*svc\.client_secret$/,
    ],
    [
      'client_auth: none',
      { ...client, 'options.client_auth': 'none' },
      methods('tls_client_auth'),
      'error',
      'svc.options.client_auth',
      /without a secret.*tls_client_auth$/,
      /client_auth to tls_client_auth, .*certificate/,
    ],
    [
      'client authentication for which no supported method is listed',
      client,
      methods('attest_jwt_client_auth'),
      'error',
      'svc.options.client_auth',
      /attest_jwt_client_auth$/,
      /administrator/,
    ],
    [
      'a configured assertion',
      { ...publicClient, client_assertion: 'c4n4ry' },
      methods('none'),
      'error',
      'svc.options.client_auth',
      /private_key_jwt.*none$/,
      /to none,/,
    ],
    [
      'the login page',
      { ...refreshing, ...page },
      { authorization_endpoint: 'https://other.test/authorize?x=1' },
      'warning',
      'svc.options.authorization_url',
      /id\.example\.test\/authorize.*https:\/\/other\.test\/authorize\?x=1$/,
      /svc\.options\.authorization_url/,
    ],
    [
      'the device authorization URL',
      { ...refreshing, ...device },
      { device_authorization_endpoint: `${server}/devices` },
      'warning',
      'svc.options.device_authorization_url',
      /\/device,.*\/devices$/,
      /svc\.options\.device_authorization_url/,
    ],
    [
      'a login page that the profile does not name',
      refreshing,
      { authorization_endpoint: `${server}/authorize` },
      'note',
      'svc.options.authorization_url',
      /login/,
      /id\.example\.test\/authorize$/,
    ],
    [
      'a device authorization URL that the profile does not name',
      refreshing,
      { device_authorization_endpoint: `${server}/device` },
      'note',
      'svc.options.device_authorization_url',
      /login/,
      /id\.example\.test\/device$/,
    ],
    [
      'PKCE with S256',
      { ...refreshing, ...page },
      { code_challenge_methods_supported: [] },
      'error',
      'svc.options.authorization_url',
      /S256.*nothing$/,
      /^[^-]*S256$/,
    ],
    [
      'PKCE with S256, if a device code is possible',
      { ...refreshing, ...page, ...device },
      { code_challenge_methods_supported: ['plain'] },
      'error',
      'svc.options.authorization_url',
      /S256.*plain$/,
      /oauth-profile login svc --device/,
    ],
    [
      'PKCE with S256, if login prefers a device code',
      microsoft,
      {
        token_endpoint: 'https://login.microsoftonline.com/contoso.com/oauth2/v2.0/token',
        code_challenge_methods_supported: ['plain'],
      },
      'warning',
      'svc.options.authorization_url',
      /S256/,
      /--device/,
    ],
    [
      'the signature algorithm of proofs (RFC 9449)',
      { ...client, 'options.dpop': 'true' },
      { dpop_signing_alg_values_supported: ['RS256'] },
      'error',
      'svc.options.dpop',
      /ES256.*RS256$/,
      /administrator/,
    ],
    [
      'signed authorization requests (RFC 9101)',
      { ...refreshing, ...page },
      { require_signed_request_object: true },
      'error',
      'svc.options.authorization_url',
      /RFC 9101/,
      /^[^-]*administrator/,
    ],
    [
      'signed authorization requests (RFC 9101), if a device code is possible',
      { ...refreshing, ...page, ...device },
      { require_signed_request_object: true },
      'error',
      'svc.options.authorization_url',
      /RFC 9101/,
      /oauth-profile login svc --device/,
    ],
    [
      'a login page that a profile without a grant does not name',
      { type: 'custom', url: `${server}/token`, client_id: 'me' },
      { authorization_endpoint: `${server}/authorize` },
      'note',
      'svc.options.authorization_url',
      /login/,
      /id\.example\.test\/authorize$/,
    ],
    [
      'a scope that refresh tokens need',
      { ...refreshing, scope: 'read' },
      { scopes_supported: ['offline_access', 'openid'] },
      'note',
      'svc.scope',
      /offline_access/,
      /add offline_access to svc\.scope/,
    ],
    [
      'scopes',
      { ...client, scope: ' reed  openid\trite ' },
      { scopes_supported: ['read'] },
      'note',
      'svc.scope',
      /reed, rite$/,
      /spelling/,
    ],
    [
      'the token URL, and nothing else is compared',
      { ...client, scope: 'reed' },
      { token_endpoint: `${server}/v2/token`, grant_types_supported: [], scopes_supported: ['read'] },
      'warning',
      'svc.url',
      /id\.example\.test\/v2\/token$/,
      /svc\.url/,
    ],
    ['an invalid token URL', client, { token_endpoint: 7 }, 'warning', 'svc.url', /none$/, /svc\.url/],
    [
      'a default token URL that is older',
      { type: 'google', client_id: 'c', client_secret: 's', refresh_token: 'r' },
      { token_endpoint: 'https://oauth2.googleapis.com/token' },
      'note',
      'svc.url',
      /https:\/\/oauth2\.googleapis\.com\/token$/,
      /svc\.url/,
    ],
  ])('in %s has one result', (_, fields, document, level, where, message, hint) => {
    const about = where === 'svc.scope' ? 'scope' : 'discovery';
    expect(compare(fields, document)).toEqual([
      { level, about, where, message: expect.stringMatching(message), hint: expect.stringMatching(hint) },
    ]);
  });

  it('of another server is only compared with the scopes that its provider needs', () => {
    const results = compare(
      { ...microsoft, scope: 'user.read' },
      { grant_types_supported: [], scopes_supported: ['x'] },
    );
    expect(results.map(({ where }) => where)).toEqual(['svc.url', 'svc.scope']);
  });
});

describe('a profile agrees with the metadata', () => {
  it.each<[string, Fields, object]>([
    ['without a grant', { type: 'custom', url: `${server}/token` }, { grant_types_supported: ['password'] }],
    [
      'whose lists are invalid',
      { ...refreshing, ...page },
      { grant_types_supported: 'all', scopes_supported: null, code_challenge_methods_supported: {} },
    ],
    ['whose login URLs are invalid', refreshing, { authorization_endpoint: 7, device_authorization_endpoint: null }],
    ['with a login page, without a refresh token', client, { authorization_endpoint: `${server}/authorize` }],
    [
      'with a device authorization URL, if the profile has a login page',
      { ...refreshing, ...page },
      { device_authorization_endpoint: `${server}/d` },
    ],
    [
      'with a login page, if the profile has a device authorization URL',
      { ...refreshing, ...device },
      { authorization_endpoint: `${server}/a` },
    ],
    [
      'with plain PKCE, if the profile has no login page',
      { ...refreshing, ...device },
      { code_challenge_methods_supported: ['plain'] },
    ],
    [
      'that requires pushed authorization requests, if the profile has no login page',
      { ...refreshing, ...device },
      { require_signed_request_object: true },
    ],
    [
      'that does not require pushed authorization requests',
      { ...refreshing, ...page },
      { require_pushed_authorization_requests: false, pushed_authorization_request_endpoint: `${server}/par` },
    ],
    ['with S256 among others', { ...refreshing, ...page }, { code_challenge_methods_supported: ['plain', 'S256'] }],
    [
      'with offline_access in both',
      { ...refreshing, scope: 'offline_access' },
      { scopes_supported: ['offline_access'] },
    ],
    [
      'with offline_access, without a refresh token',
      { ...client, scope: 'openid' },
      { scopes_supported: ['offline_access'] },
    ],
    [
      'with scopes, if the profile has none',
      { ...refreshing, scope: ' ' },
      { scopes_supported: ['offline_access', 'a'] },
    ],
    ['with standard scopes in the profile', { ...client, scope: 'profile email' }, { scopes_supported: ['read'] }],
    ['with standard scopes only', { ...client, scope: 'reed' }, { scopes_supported: ['openid'] }],
    ['and a token URL with a query', { ...client, url: `${server}/token?api=2` }, {}],
    [
      'with an alias of the token URL for client certificates',
      client,
      { token_endpoint: `${server}/x`, mtls_endpoint_aliases: { token_endpoint: `${server}/token` } },
    ],
    ['with client_secret_jwt', { ...client, 'options.client_auth': 'client_secret_jwt' }, methods('client_secret_jwt')],
    [
      'with any kind of assertion, if the profile has one',
      { ...publicClient, client_assertion: 'c4n4ry', client_assertion_type: 'x' },
      methods('client_secret_jwt'),
    ],
  ])('%s', (_, fields, document) => {
    expect(compare(fields, document)).toEqual([]);
  });

  it('with tls_client_auth, if it has a client certificate', () => {
    const document = { token_endpoint: `${server}/token`, ...methods('tls_client_auth') };
    const plain = profileOf(publicClient);
    expect(compareMetadata(plain, document)).toHaveLength(1);
    const cert = new LoadedFile('client.pem', '');
    expect(compareMetadata({ ...plain, options: { ...plain.options, cert } }, document)).toEqual([]);
  });

  it.each([
    ['private_key_jwt', 0],
    ['client_secret_jwt', 1],
  ])('with %s, if it signs assertions with a key: %i differences', (method, differences) => {
    const profile: Profile = {
      ...profileOf({ ...publicClient, client_assertion: 'c4n4ry' }),
      clientAuth: 'private_key_jwt',
    };
    const document = { token_endpoint: `${server}/token`, ...methods(method) };
    expect(compareMetadata(profile, document)).toHaveLength(differences);
  });
});

describe('the scopes of a built-in provider', () => {
  it('are compared without metadata', () => {
    expect(compareScopes(profileOf({ ...microsoft, scope: 'user.read' }))).toEqual([
      {
        level: 'warning',
        about: 'scope',
        where: 'svc.scope',
        message: expect.stringContaining('offline_access'),
        hint: expect.stringContaining('svc.scope'),
      },
    ]);
  });

  it('are complete if the provider needs none for refresh tokens', () => {
    const gitlab = { type: 'gitlab', client_id: 'a', client_secret: 'c4n4ry', refresh_token: 'r', scope: 'api' };
    expect(compareScopes(profileOf(gitlab))).toEqual([]);
  });
});

describe('an endpoint', () => {
  const custom = findProvider('custom') as Profile['provider'];

  it.each([
    [`${server}/token`, true],
    [`${server}/token?x#y`, true],
    [`${server}/tokens`, false],
    [`${server}/to/ken`, false],
    [`${server}:444/token`, false],
    ['token', false],
    [undefined, false],
    [7, false],
    [[`${server}/token`], false],
    [new URL(`${server}/token`), false],
  ])('%o is the same as the token URL: %s', (announced, isSame) => {
    expect(isSameEndpoint(announced, new URL(`${server}/token?api=2`), custom)).toBe(isSame);
  });
});
