import { describe, expect, it } from 'vitest';
import { InvalidProfileError } from '../../src/errors.ts';
import { loginProfileOf } from '../support/login-world.ts';

const graph = { type: 'microsoft', tenant_id: 'contoso.onmicrosoft.com', client_id: 'app', scope: 'user.read' };
const drive = { type: 'google', client_id: 'desk', client_secret: 'GOCSPX-secret', scope: 'email' };
const okta = { type: 'okta', tenant_id: 'acme', client_id: '0oa1', scope: 'openid' };
const lab = { type: 'gitlab', client_id: 'app' };
const custom = {
  type: 'custom',
  url: 'https://id.example.com/token',
  client_id: 'tool',
  options: { authorization_url: 'https://id.example.com/authorize' },
};

const faultsOf = (fields: object): [string, string | undefined][] => {
  try {
    loginProfileOf(fields as Record<string, unknown>);
  } catch (error) {
    if (error instanceof InvalidProfileError) return error.issues.map(({ variable, hint }) => [variable, hint]);
    throw error;
  }
  return [];
};

describe('a profile that a person signs in for', () => {
  it.each(Object.entries({ graph, drive, okta, lab, custom }))(
    '%s needs neither a password nor a refresh token',
    (_, fields) => {
      expect(faultsOf(fields)).toEqual([]);
    },
  );

  it.each([
    ['graph', graph, 'device'],
    ['drive', drive, 'browser'],
    ['okta', okta, 'browser'],
    ['lab', lab, 'browser'],
    ['custom', custom, 'browser'],
    [
      'custom without a page',
      { ...custom, options: { device_authorization_url: 'https://id.example.com/device' } },
      'device',
    ],
  ])('%s prefers its way', (_, fields, prefers) => {
    expect(loginProfileOf(fields).endpoints.prefers).toBe(prefers);
  });

  it.each([
    ['R4.3 microsoft', graph, 'user.read offline_access'],
    ['okta', okta, 'openid offline_access'],
    ['microsoft that has it', { ...graph, scope: 'offline_access user.read' }, 'offline_access user.read'],
    ['microsoft without any', { ...graph, scope: '' }, 'offline_access'],
    ['google', drive, 'email'],
  ])('%s asks for what a refresh token takes', (_, fields, scope) => {
    expect(loginProfileOf(fields).scope?.value).toBe(scope);
  });

  it('asks for no scope where neither the profile nor the provider names one', () => {
    expect(loginProfileOf(lab).scope).toBeUndefined();
  });

  it('R4.3 D23 microsoft asks organizations first, and its own tenant next', () => {
    const base = 'https://login.microsoftonline.com';
    expect(loginProfileOf(graph).endpoints.device.map(({ device, token }) => [device.href, token.href])).toEqual([
      [`${base}/organizations/oauth2/v2.0/devicecode`, `${base}/organizations/oauth2/v2.0/token`],
      [`${base}/contoso.onmicrosoft.com/oauth2/v2.0/devicecode`, `${base}/contoso.onmicrosoft.com/oauth2/v2.0/token`],
    ]);
  });

  it('a url of its own is taken at its word, also for the other addresses', () => {
    const own = { ...graph, url: 'https://login.microsoftonline.us/t/oauth2/v2.0/token' };
    const { device, authorize } = loginProfileOf(own).endpoints;
    expect(device.map((place) => place.device.href)).toEqual([
      'https://login.microsoftonline.us/t/oauth2/v2.0/devicecode',
    ]);
    expect(authorize?.href).toBe('https://login.microsoftonline.us/t/oauth2/v2.0/authorize');
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
  ])('%s has its pages where they are', (_, fields, authorize, revoke) => {
    const { endpoints } = loginProfileOf(fields);
    expect(endpoints.authorize?.href).toBe(authorize);
    expect(endpoints.revoke?.href).toBe(revoke);
  });

  it('sends no refresh token of another server to Google', () => {
    const { endpoints } = loginProfileOf({ ...drive, url: 'https://id.example.com/token' });
    expect(endpoints.revoke).toBeUndefined();
    expect(loginProfileOf({ ...drive, url: 'https://oauth2.googleapis.com/token' }).endpoints.revoke?.href).toBe(
      'https://oauth2.googleapis.com/revoke',
    );
  });

  it('knows the client, and nothing of other grants, among what it sends', () => {
    const login = loginProfileOf({
      ...custom,
      client_secret: 's3cret-value',
      audience: 'https://api.example.com',
      redirect_uri: 'https://elsewhere.example/',
      state: 'mine',
      my_token: 'hidden-value',
      refresh_token: 'pasted-value',
    });
    expect(login.clientParameters.map(({ name }) => name)).toEqual(['client_id', 'client_secret']);
    expect(login.extraParameters.map(({ name }) => name)).toEqual(['audience']);
    expect(login.configuredRefreshToken?.source).toBe('data');
  });
});

describe('a profile that nobody can sign in for', () => {
  it.each([
    ['client_id', { ...graph, client_id: '' }, ['svc.client_id']],
    ['tenant_id', { ...graph, tenant_id: '' }, ['svc.tenant_id']],
    ['a scope at google', { ...drive, scope: '' }, ['svc.scope']],
    ['client_secret at google', { ...drive, client_secret: '' }, ['svc.client_secret']],
    ['an id at gitlab', { type: 'gitlab' }, ['svc.client_id']],
    ['an id at a custom server', { ...custom, client_id: undefined }, ['svc.client_id']],
    ['a url', { ...custom, url: '' }, ['svc.url']],
  ])('lacks %s', (_, fields, variables) => {
    expect(faultsOf(JSON.parse(JSON.stringify(fields))).map(([variable]) => variable)).toEqual(variables);
  });

  it('tells all issues at once', () => {
    expect(
      faultsOf({ type: 'google', options: { authorization_url: 'nowhere' } })
        .map(([name]) => name)
        .sort(),
    ).toEqual(['svc.client_id', 'svc.client_secret', 'svc.options.authorization_url', 'svc.scope']);
  });

  it.each([
    ['names another grant', { ...graph, grant_type: 'password' }, 'svc.grant_type', 'remove it'],
    [
      'has a user, which okta prefers',
      { ...okta, username: 'ada', password: 'pw' },
      'svc.username',
      'svc.grant_type: refresh_token',
    ],
    [
      'is of a provider for applications',
      { type: 'twitter', client_id: 'a', client_secret: 'b' },
      'svc.type',
      'oauth-profile token svc',
    ],
  ])('%s, so that the login would never be used', (_, fields, variable, hint) => {
    expect(faultsOf(fields)).toEqual([[variable, expect.stringContaining(hint)]]);
  });

  it('may name the grant that a login serves', () => {
    expect(faultsOf({ ...okta, username: 'ada', password: 'pw', grant_type: 'refresh_token' })).toEqual([]);
  });
});

describe('a fault of a sign-in says what is wrong and what to do', () => {
  const fault = (fields: object) => {
    try {
      loginProfileOf(fields as Record<string, unknown>);
    } catch (error) {
      if (error instanceof InvalidProfileError) return error.issues;
      throw error;
    }
    return [];
  };

  it.each([
    ['client_id', { type: 'gitlab' }, 'is missing; a login needs it', 'set svc.client_id'],
    ['scope', { ...drive, scope: '' }, 'is missing; a login needs it', 'set svc.scope'],
    [
      'grant_type',
      { ...graph, grant_type: 'password' },
      'is password, so that a login would never be used',
      'set it to refresh_token, or remove it',
    ],
    [
      'username',
      { ...okta, username: 'ada', password: 'pw' },
      'makes the grant password the one that is used, so that a login never would be',
      'set svc.grant_type: refresh_token, or remove svc.username and svc.password',
    ],
    [
      'type',
      { type: 'twitter', client_id: 'a', client_secret: 'b' },
      'makes the grant client_credentials the one that is used, so that a login never would be',
      'twitter signs applications in, not people: run oauth-profile token svc',
    ],
    [
      'scope',
      { ...okta, scope: '${svc.my_token}', my_token: 'hidden' },
      'is made from a secret, but the sign-in page has to show it',
      'take it from a variable whose name does not say secret, password, token or the like',
    ],
  ])('%s of %j', (field, fields, message, hint) => {
    expect(fault(fields)).toMatchObject([{ variable: `svc.${field}`, message, hint }]);
  });

  it('a grant_type that cannot be read is the only fault', () => {
    expect(fault({ ...okta, grant_type: '${env:NOT_SET}' })).toMatchObject([
      { variable: 'svc.grant_type', message: 'environment variable NOT_SET is not set' },
    ]);
  });

  it('a scope that cannot be read is not missing as well', () => {
    expect(fault({ ...drive, scope: '${env:NOT_SET}' })).toMatchObject([{ variable: 'svc.scope' }]);
  });

  it('a Basic pair stands for the client id', () => {
    const { client_id: _, ...rest } = custom;
    const login = loginProfileOf({ ...rest, basic: { user: 'u', password: 'p' } });
    expect([login.clientId, login.clientParameters, login.clientAuth]).toEqual(['u', [], 'client_secret_basic']);
  });

  it('a type that is not known is told, with what else is wrong', () => {
    expect(fault({ type: 'nothing', options: { timeout: 'soon' } }).map(({ variable }) => variable)).toEqual([
      'svc.type',
      'svc.options.timeout',
    ]);
  });
});

describe('where the scope of a sign-in is from', () => {
  it.each([
    [graph, 'data, default of microsoft'],
    [{ ...graph, scope: ' user.read   offline_access ' }, 'data'],
    [{ ...graph, scope: undefined }, 'default of microsoft'],
    [drive, 'data'],
  ])('%j: %s', (fields, source) => {
    expect(loginProfileOf(fields).scope?.source).toBe(source);
  });

  it('is cut at blanks', () => {
    expect(loginProfileOf({ ...graph, scope: ' a\t b\n' }).scope).toMatchObject({ value: 'a b offline_access' });
  });
});

describe('where a server may publish its issuer', () => {
  const metadata = (fields: object) =>
    loginProfileOf(fields as Record<string, unknown>).endpoints.metadata.map(({ href }) => href);

  it.each([
    ['google', drive, ['https://accounts.google.com/.well-known/openid-configuration']],
    [
      'custom, at its page',
      custom,
      [
        'https://id.example.com/.well-known/oauth-authorization-server',
        'https://id.example.com/.well-known/openid-configuration',
      ],
    ],
    [
      'custom without a page, at its token endpoint',
      { ...custom, url: 'https://api.example.com/t', options: { device_authorization_url: 'https://d.example.com/d' } },
      [
        'https://api.example.com/.well-known/oauth-authorization-server',
        'https://api.example.com/.well-known/openid-configuration',
      ],
    ],
    [
      'google with a page elsewhere',
      { ...drive, options: { authorization_url: 'https://id.example.com/authorize' } },
      [
        'https://id.example.com/.well-known/oauth-authorization-server',
        'https://id.example.com/.well-known/openid-configuration',
      ],
    ],
  ])('%s', (_, fields, addresses) => {
    expect(metadata(fields)).toEqual(addresses);
  });
});

describe('where a device code is asked for', () => {
  const places = (fields: object) =>
    loginProfileOf(fields as Record<string, unknown>).endpoints.device.map(({ device, token }) => [
      device.href,
      token.href,
    ]);
  const base = 'https://login.microsoftonline.com';

  it('once, where the tenant is the shared one', () => {
    expect(places({ ...graph, tenant_id: 'organizations' })).toEqual([
      [`${base}/organizations/oauth2/v2.0/devicecode`, `${base}/organizations/oauth2/v2.0/token`],
    ]);
  });

  it('nowhere, where nothing is known of it', () => {
    expect(places(custom)).toEqual([]);
  });

  it.each([`${base}/t/oauth2/token`, 'https://id.example.com/t/oauth2/v2.0/token'])(
    'beside an address that is not built like that of the provider: %s',
    (url) => {
      expect(places({ ...graph, url })).toEqual([[new URL('devicecode', url).href, url]]);
    },
  );

  it('where the option says, and nowhere else', () => {
    const options = { device_authorization_url: 'https://d.example.com/d' };
    expect(places({ ...graph, options })).toEqual([
      ['https://d.example.com/d', `${base}/contoso.onmicrosoft.com/oauth2/v2.0/token`],
    ]);
  });
});

describe('options of a sign-in', () => {
  const withOption = (name: string, value: string) =>
    faultsOf({ ...custom, options: { ...custom.options, [name]: value } });

  it.each([
    'http://id.example.com/authorize',
    'https://user@id.example.com/authorize',
    'https://id.example.com/#x',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'id.example.com/authorize',
  ])('D13 %s is no page to send a person to', (value) => {
    expect(withOption('authorization_url', value).map(([name]) => name)).toEqual(['svc.options.authorization_url']);
    expect(withOption('device_authorization_url', value).map(([name]) => name)).toEqual([
      'svc.options.device_authorization_url',
    ]);
  });

  it.each(['http://127.0.0.1:4000/authorize', 'http://localhost/authorize', 'https://id.example.com/a?b=c'])(
    '%s is one',
    (value) => {
      expect(withOption('authorization_url', value)).toEqual([]);
    },
  );

  it('takes http: beyond this machine where the profile allows it', () => {
    const options = { authorization_url: 'http://id.lan/authorize', allow_http: 'true' };
    expect(faultsOf({ ...custom, options })).toEqual([]);
  });

  it.each(['http://127.0.0.1:8912/callback', 'http://localhost:8912', 'http://[::1]:8912/x', 'http://localhost/'])(
    '%s is a redirect',
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
  ])('RFC 8252 §7.3: %s is none', (value) => {
    expect(withOption('redirect_uri', value).map(([name]) => name)).toEqual(['svc.options.redirect_uri']);
  });
});
