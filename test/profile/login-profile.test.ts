import { describe, expect, it } from 'vitest';
import type { DeviceEndpoints } from '../../src/profile/endpoints.ts';
import { issuesOf, loginProfileOf } from '../support/profiles.ts';

const graph = { type: 'microsoft', tenant_id: 'contoso.onmicrosoft.com', client_id: 'app', scope: 'user.read' };
const drive = { type: 'google', client_id: 'desktop', client_secret: 'GOCSPX-secret', scope: 'email' };
const okta = { type: 'okta', tenant_id: 'acme', client_id: '0oa1', scope: 'openid' };
const lab = { type: 'gitlab', client_id: 'app' };
const custom = {
  type: 'custom',
  url: 'https://id.example.com/token',
  client_id: 'tool',
  options: { authorization_url: 'https://id.example.com/authorize' },
};

const toHrefs = ({ deviceAuthorizationUrl, tokenUrl }: DeviceEndpoints): string[] => [
  deviceAuthorizationUrl.href,
  tokenUrl.href,
];
const invalid = (fields: object): [variable: string, hint: string | undefined][] =>
  issuesOf(() => loginProfileOf(fields as Record<string, unknown>)).map(({ variable, hint }) => [variable, hint]);
const valid = (fields: object): void => {
  expect(() => loginProfileOf(fields as Record<string, unknown>)).not.toThrow();
};

describe('toLoginProfile()', () => {
  it.each(Object.entries({ graph, drive, okta, lab, custom }))(
    'requires neither a password nor a refresh token: %s',
    (_, fields) => {
      valid(fields);
    },
  );

  it.each([
    ['graph', graph, 'device'],
    ['drive', drive, 'browser'],
    ['okta', okta, 'browser'],
    ['lab', lab, 'browser'],
    ['custom', custom, 'browser'],
    [
      'custom without an authorization URL',
      { ...custom, options: { device_authorization_url: 'https://id.example.com/device' } },
      'device',
    ],
  ])('returns the preferred flow of %s', (_, fields, preferredFlow) => {
    expect(loginProfileOf(fields).endpoints.preferredFlow).toBe(preferredFlow);
  });

  it.each([
    ['R4.3 microsoft', graph, 'user.read offline_access'],
    ['okta', okta, 'openid offline_access'],
    ['microsoft with offline_access', { ...graph, scope: 'offline_access user.read' }, 'offline_access user.read'],
    ['microsoft without a scope', { ...graph, scope: '' }, 'offline_access'],
    ['google', drive, 'email'],
  ])('adds the scopes that a refresh token requires: %s', (_, fields, scope) => {
    expect(loginProfileOf(fields).scope?.value).toBe(scope);
  });

  it('returns no scope if neither the profile nor the provider has one', () => {
    expect(loginProfileOf(lab).scope).toBeUndefined();
  });

  it('R4.3 D23 returns the device endpoints of organizations before those of the tenant', () => {
    const base = 'https://login.microsoftonline.com';
    expect(loginProfileOf(graph).endpoints.device.map(toHrefs)).toEqual([
      [`${base}/organizations/oauth2/v2.0/devicecode`, `${base}/organizations/oauth2/v2.0/token`],
      [`${base}/contoso.onmicrosoft.com/oauth2/v2.0/devicecode`, `${base}/contoso.onmicrosoft.com/oauth2/v2.0/token`],
    ]);
  });

  it('D8 derives the endpoints from the url of the profile', () => {
    const own = { ...graph, url: 'https://login.microsoftonline.us/t/oauth2/v2.0/token' };
    const { device, authorizationUrl } = loginProfileOf(own).endpoints;
    expect(device.map(({ deviceAuthorizationUrl }) => deviceAuthorizationUrl.href)).toEqual([
      'https://login.microsoftonline.us/t/oauth2/v2.0/devicecode',
    ]);
    expect(authorizationUrl?.href).toBe('https://login.microsoftonline.us/t/oauth2/v2.0/authorize');
  });

  it.each([
    ['google', drive, 'https://accounts.google.com/o/oauth2/v2/auth', 'https://oauth2.googleapis.com/revoke'],
    [
      'okta',
      okta,
      'https://acme.okta.com/oauth2/default/v1/authorize',
      'https://acme.okta.com/oauth2/default/v1/revoke',
    ],
    ['gitlab', lab, 'https://gitlab.com/oauth/authorize', 'https://gitlab.com/oauth/revoke'],
    [
      'gitlab below a path',
      { ...lab, url: 'https://x.example/git/oauth/token' },
      'https://x.example/git/oauth/authorize',
      'https://x.example/git/oauth/revoke',
    ],
    ['custom', custom, 'https://id.example.com/authorize', undefined],
  ])('returns the authorization and revocation URLs of %s', (_, fields, authorizationUrl, revocationUrl) => {
    const { endpoints } = loginProfileOf(fields);
    expect(endpoints.authorizationUrl?.href).toBe(authorizationUrl);
    expect(endpoints.revocationUrl?.href).toBe(revocationUrl);
  });

  it('returns no revocation URL of Google for the url of another server', () => {
    const { endpoints } = loginProfileOf({ ...drive, url: 'https://id.example.com/token' });
    expect(endpoints.revocationUrl).toBeUndefined();
    expect(loginProfileOf({ ...drive, url: 'https://oauth2.googleapis.com/token' }).endpoints.revocationUrl?.href).toBe(
      'https://oauth2.googleapis.com/revoke',
    );
  });

  it('returns client parameters and extra parameters of the login page and the token requests, but no fields of other grants', () => {
    const login = loginProfileOf({
      ...custom,
      client_secret: 's3cret-value',
      audience: 'https://api.example.com',
      redirect_uri: 'https://elsewhere.example/',
      state: 'mine',
      my_token: 'hidden-value',
      prompt: 'consent',
      refresh_token: 'configured-value',
    });
    expect(login.clientParameters.map(({ name }) => name)).toEqual(['client_id', 'client_secret']);
    expect(login.extraParameters.map(({ name }) => name)).toEqual(['audience', 'prompt']);
    expect(login.tokenParameters.map(({ name }) => name)).toEqual(['audience', 'my_token']);
    expect(login.configuredRefreshToken?.source).toBe('data');
  });
});

describe('an invalid login profile', () => {
  it.each([
    ['client_id', { ...graph, client_id: '' }, ['svc.client_id']],
    ['tenant_id', { ...graph, tenant_id: '' }, ['svc.tenant_id']],
    ['a scope at google', { ...drive, scope: '' }, ['svc.scope']],
    ['client_secret at google', { ...drive, client_secret: '' }, ['svc.client_secret']],
    ['an id at gitlab', { type: 'gitlab' }, ['svc.client_id']],
    ['an id at a custom server', { ...custom, client_id: undefined }, ['svc.client_id']],
    ['a url', { ...custom, url: '' }, ['svc.url']],
  ])('lacks %s', (_, fields, variables) => {
    expect(invalid(JSON.parse(JSON.stringify(fields))).map(([variable]) => variable)).toEqual(variables);
  });

  it('reports all issues at once', () => {
    expect(
      invalid({ type: 'google', options: { authorization_url: 'nowhere' } })
        .map(([name]) => name)
        .sort(),
    ).toEqual(['svc.client_id', 'svc.client_secret', 'svc.options.authorization_url', 'svc.scope']);
  });

  it.each([
    ['sets another grant', { ...graph, grant_type: 'password' }, 'svc.grant_type', 'remove it'],
    [
      'has username and password, which okta prefers',
      { ...okta, username: 'ada', password: 'pw' },
      'svc.username',
      'svc.grant_type: refresh_token',
    ],
    [
      'has a provider without logins',
      { type: 'twitter', client_id: 'a', client_secret: 'b' },
      'svc.type',
      'oauth-profile token svc',
    ],
  ])('%s, so the login would not be used', (_, fields, variable, hint) => {
    expect(invalid(fields)).toEqual([[variable, expect.stringContaining(hint)]]);
  });

  it('is valid with the grant refresh_token', () => {
    valid({ ...okta, username: 'ada', password: 'pw', grant_type: 'refresh_token' });
  });
});

describe('an issue of a login profile', () => {
  const variables = (fields: object): string[] => invalid(fields).map(([variable]) => variable);

  it.each<[string, object, RegExp, RegExp]>([
    ['client_id', { type: 'gitlab' }, /^is missing.*login/, /^set svc\.client_id$/],
    ['scope', { ...drive, scope: '' }, /^is missing.*login/, /^set svc\.scope$/],
    ['grant_type', { ...graph, grant_type: 'password' }, /^is password/, /svc\.grant_type to refresh_token/],
    [
      'username',
      { ...okta, username: 'ada', password: 'pw' },
      /grant password/,
      /svc\.grant_type: refresh_token.*remove svc\.username and svc\.password$/,
    ],
    [
      'type',
      { type: 'twitter', client_id: 'a', client_secret: 'b' },
      /grant client_credentials/,
      /oauth-profile token svc$/,
    ],
    ['scope', { ...okta, scope: '${svc.my_token}', my_token: 'hidden' }, /secret/, /variable/],
  ])('of %s has a message and a hint: %j', (field, fields, message, hint) => {
    expect(issuesOf(() => loginProfileOf(fields as Record<string, unknown>))).toMatchObject([
      {
        variable: `svc.${field}`,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      },
    ]);
  });

  it('is the only one if grant_type cannot be resolved', () => {
    expect(variables({ ...okta, grant_type: '${env:NOT_SET}' })).toEqual(['svc.grant_type']);
  });

  it('is the only one if the scope cannot be resolved', () => {
    expect(variables({ ...drive, scope: '${env:NOT_SET}' })).toEqual(['svc.scope']);
  });

  it('is not added for client_id if Basic credentials are set', () => {
    const { client_id: _, ...rest } = custom;
    const login = loginProfileOf({ ...rest, basic: { user: 'u', password: 'p' } });
    expect([login.clientId, login.clientParameters, login.clientAuth]).toEqual(['u', [], 'client_secret_basic']);
  });

  it('is added for an unknown type together with other issues', () => {
    expect(variables({ type: 'nothing', options: { timeout: 'soon' } })).toEqual(['svc.type', 'svc.options.timeout']);
  });
});

describe('the scope of a login', () => {
  it.each([
    [graph, 'data, default of microsoft'],
    [{ ...graph, scope: ' user.read   offline_access ' }, 'data'],
    [{ ...graph, scope: undefined }, 'default of microsoft'],
    [drive, 'data'],
  ])('of %j has the source %s', (fields, source) => {
    expect(loginProfileOf(fields).scope?.source).toBe(source);
  });

  it('is split at whitespace', () => {
    expect(loginProfileOf({ ...graph, scope: ' a\t b\n' }).scope).toMatchObject({ value: 'a b offline_access' });
  });
});

describe('the device endpoints', () => {
  const endpoints = (fields: object) => loginProfileOf(fields as Record<string, unknown>).endpoints.device.map(toHrefs);
  const base = 'https://login.microsoftonline.com';

  it('are those of organizations only if it is the tenant', () => {
    expect(endpoints({ ...graph, tenant_id: 'organizations' })).toEqual([
      [`${base}/organizations/oauth2/v2.0/devicecode`, `${base}/organizations/oauth2/v2.0/token`],
    ]);
  });

  it('are missing for a custom profile without the option', () => {
    expect(endpoints(custom)).toEqual([]);
  });

  it.each([`${base}/t/oauth2/token`, 'https://id.example.com/t/oauth2/v2.0/token'])(
    'are derived from a url that differs from the template of the provider: %s',
    (url) => {
      expect(endpoints({ ...graph, url })).toEqual([[new URL('devicecode', url).href, url]]);
    },
  );

  it('are those of options.device_authorization_url if it is set', () => {
    const options = { device_authorization_url: 'https://d.example.com/d' };
    expect(endpoints({ ...graph, options })).toEqual([
      ['https://d.example.com/d', `${base}/contoso.onmicrosoft.com/oauth2/v2.0/token`],
    ]);
  });
});

describe('the login options', () => {
  const withOption = (name: string, value: string) =>
    invalid({ ...custom, options: { ...custom.options, [name]: value } });

  it.each([
    'http://id.example.com/authorize',
    'https://user@id.example.com/authorize',
    'https://id.example.com/#x',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'id.example.com/authorize',
  ])('D13 cannot have the endpoint %s', (value) => {
    expect(withOption('authorization_url', value).map(([name]) => name)).toEqual(['svc.options.authorization_url']);
    expect(withOption('device_authorization_url', value).map(([name]) => name)).toEqual([
      'svc.options.device_authorization_url',
    ]);
  });

  it.each(['http://127.0.0.1:4000/authorize', 'http://localhost/authorize', 'https://id.example.com/a?b=c'])(
    'can have the authorization_url %s',
    (value) => {
      valid({ ...custom, options: { authorization_url: value } });
    },
  );

  it('D13 can have an http: endpoint with allow_http', () => {
    const options = { authorization_url: 'http://id.lan/authorize', allow_http: 'true' };
    valid({ ...custom, options });
  });

  it.each(['http://127.0.0.1:8912/callback', 'http://localhost:8912', 'http://[::1]:8912/x', 'http://localhost/'])(
    'can have the redirect_uri %s',
    (value) => {
      expect(loginProfileOf({ ...custom, options: { redirect_uri: value } }).options.redirectUri).toBe(value);
    },
  );

  it.each([
    'https://127.0.0.1:8912/callback',
    'http://example.com/callback',
    'http://127.0.0.1.example.com/callback',
    'http://0.0.0.0:8912/callback',
    'http://192.168.1.2:8912/callback',
    'http://127.1/callback',
    'http://127.0.0.1:8912/callback?x=1',
    'http://127.0.0.1:8912/callback#x',
    'http://user@127.0.0.1/callback',
    'urn:ietf:wg:oauth:2.0:oob',
    'myapp://callback',
  ])('RFC 8252 §7.3 cannot have the redirect_uri %s', (value) => {
    expect(withOption('redirect_uri', value).map(([name]) => name)).toEqual(['svc.options.redirect_uri']);
  });
});
