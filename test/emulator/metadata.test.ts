import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import { sendRequest } from './fixture.ts';

const guid = '11111111-2222-3333-4444-555555555555';
const profiles = {
  graph: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'ms' },
  byId: { type: 'microsoft', tenant_id: guid, client_id: 'ms' },
  drive: { type: 'google', client_id: 'g', client_secret: 's' },
  org: { type: 'okta', tenant_id: 'acme', client_id: 'o', client_secret: 's', username: 'bob', password: 'pw' },
  own: { type: 'okta', url: 'https://login.acme.test/oauth2/aus123/v1/token', client_id: 'o' },
  lab: { type: 'gitlab', client_id: 'l', client_secret: 's' },
  labs: { type: 'gitlab', url: 'https://git.example.test/labs/oauth/token', client_id: 'l' },
  acme: { type: 'custom', url: 'https://login.example.test/oauth2/token?v=2', client_id: 'c', client_secret: 's' },
  plain: { type: 'custom', url: 'http://login.example.test:8080/token', client_id: 'c', client_secret: 's' },
  x: { type: 'twitter', client_id: 'x', client_secret: 's' },
};

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ profiles });
});
afterAll(() => emulator.close());

const get = (url: string) => sendRequest(emulator, url);

describe('the metadata document', () => {
  const ms = 'https://login.microsoftonline.com';
  it.each([
    ['microsoft', `${ms}/${guid}/v2.0/.well-known/openid-configuration`, `${ms}/${guid}/v2.0`],
    ['microsoft, common', `${ms}/common/v2.0/.well-known/openid-configuration`, `${ms}/{tenantid}/v2.0`],
    [
      'microsoft, consumers',
      `${ms}/consumers/v2.0/.well-known/openid-configuration`,
      `${ms}/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0`,
    ],
    ['google', 'https://accounts.google.com/.well-known/openid-configuration', 'https://accounts.google.com'],
    [
      'google, RFC 8414',
      'https://accounts.google.com/.well-known/oauth-authorization-server',
      'https://accounts.google.com',
    ],
    [
      'okta',
      'https://acme.okta.com/oauth2/default/.well-known/oauth-authorization-server',
      'https://acme.okta.com/oauth2/default',
    ],
    [
      'okta, OpenID',
      'https://acme.okta.com/oauth2/default/.well-known/openid-configuration',
      'https://acme.okta.com/oauth2/default',
    ],
    ['okta, the org', 'https://acme.okta.com/.well-known/openid-configuration', 'https://acme.okta.com'],
    [
      'okta, a custom domain',
      'https://login.acme.test/oauth2/aus123/.well-known/oauth-authorization-server',
      'https://login.acme.test/oauth2/aus123',
    ],
    ['gitlab', 'https://gitlab.com/.well-known/openid-configuration', 'https://gitlab.com'],
    [
      'gitlab, self-managed below a path',
      'https://git.example.test/labs/.well-known/openid-configuration',
      'https://git.example.test/labs',
    ],
    ['custom', 'https://login.example.test/.well-known/oauth-authorization-server', 'https://login.example.test'],
    [
      'custom without TLS',
      'http://login.example.test:8080/.well-known/oauth-authorization-server',
      'http://login.example.test:8080',
    ],
  ])('lists the issuer and endpoints that respond: %s', async (_, url, issuer) => {
    const { status, headers, json } = await get(url);
    expect([status, json.issuer]).toEqual([200, issuer]);
    expect(headers['content-type']).toMatch(/^application\/json/);
    const lists = Object.entries(json).filter(([name]) => /_supported$/.test(name));
    for (const [, list] of lists) expect(Array.isArray(list) || typeof list === 'boolean').toBe(true);
    expect(json.token_endpoint_auth_methods_supported).toContain('client_secret_post');
    expect(json.response_types_supported).toContain('code');
    expect((await get(json.jwks_uri)).json).toEqual({
      keys: [{ kty: 'RSA', n: expect.any(String), e: 'AQAB', use: 'sig', alg: 'RS256', kid: expect.any(String) }],
    });
    expect((await get(json.authorization_endpoint)).text).toContain('Invalid request');
    for (const name of ['token_endpoint', 'device_authorization_endpoint', 'revocation_endpoint']) {
      if (json[name] === undefined) continue;
      const response = await sendRequest(emulator, json[name], { form: { nothing: '' } });
      expect([name, response.status >= 400 && response.status !== 404, response.json]).toEqual([
        name,
        true,
        expect.anything(),
      ]);
    }
  });

  it('has the members that each provider documents, and no others', async () => {
    const members = async (url: string) => Object.keys((await get(url)).json);
    const google = await members('https://accounts.google.com/.well-known/openid-configuration');
    expect(google).toEqual(
      expect.arrayContaining([
        'device_authorization_endpoint',
        'revocation_endpoint',
        'grant_types_supported',
        'code_challenge_methods_supported',
        'scopes_supported',
      ]),
    );
    expect(google).not.toContain('authorization_response_iss_parameter_supported');
    const microsoft = await members(`${ms}/organizations/v2.0/.well-known/openid-configuration`);
    expect(microsoft).toContain('device_authorization_endpoint');
    for (const name of ['revocation_endpoint', 'grant_types_supported', 'code_challenge_methods_supported'])
      expect(microsoft).not.toContain(name);
    expect(await members('https://gitlab.com/.well-known/openid-configuration')).not.toContain(
      'device_authorization_endpoint',
    );
    const custom = await get('https://login.example.test/.well-known/oauth-authorization-server');
    expect(custom.json).toMatchObject({
      token_endpoint: 'https://login.example.test/oauth2/token?v=2',
      authorization_endpoint: 'https://login.example.test/oauth2/authorize',
      authorization_response_iss_parameter_supported: true,
    });
  });

  it.each([
    ['microsoft', `login.microsoftonline.com/${guid}/v2.0`],
    ['google', 'accounts.google.com'],
    ['okta', 'acme.okta.com/oauth2/default'],
    ['okta, the org', 'acme.okta.com'],
    ['gitlab', 'gitlab.com'],
    ['gitlab, self-managed below a path', 'git.example.test/labs'],
    ['custom', 'login.example.test'],
    ['custom without TLS', 'login.example.test:8080'],
  ])('has the loopback URLs of the issuer and the endpoints if it is read there: %s', async (_, issuer) => {
    for (const origin of [emulator.url, `http://localhost:${emulator.port}`]) {
      const { json } = await get(`${origin}/${issuer}/.well-known/openid-configuration`);
      expect(json.issuer).toBe(`${origin}/${issuer}`);
      const urls = Object.entries(json).filter(([name]) => /_(?:endpoint|uri)$/.test(name));
      expect(urls.length).toBeGreaterThanOrEqual(4);
      for (const [, url] of urls) expect(url).toMatch(new RegExp(`^${origin}/[a-z]`));
      expect((await get(json.jwks_uri)).json.keys).toHaveLength(1);
    }
  });

  it('identifies a tenant with a domain name by a constant GUID', async () => {
    const url = `${ms}/contoso.com/v2.0/.well-known/openid-configuration`;
    const { json } = await get(url);
    expect(json.issuer).toMatch(
      /^https:\/\/login\.microsoftonline\.com\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/v2\.0$/,
    );
    expect(json.token_endpoint).toBe(`${ms}/contoso.com/oauth2/v2.0/token`);
    expect((await get(url)).json).toEqual(json);
  });

  it.each([
    ['an unknown tenant', `${ms}/unknown.example/v2.0/.well-known/openid-configuration`, 400],
    ['an unknown org', 'https://unknown.okta.com/oauth2/default/.well-known/openid-configuration', 404],
    ['an API host', 'https://oauth2.googleapis.com/.well-known/openid-configuration', 404],
    ['another API host', 'https://graph.microsoft.com/common/v2.0/.well-known/openid-configuration', 404],
    ['a provider without one', 'https://api.twitter.com/.well-known/openid-configuration', 404],
    ['another issuer of custom', 'https://login.example.test/other/.well-known/openid-configuration', 404],
  ])('does not exist for %s', async (_, url, status) => {
    expect((await get(url)).status).toBe(status);
  });

  it('is rejected for an unknown tenant as Microsoft does', async () => {
    const { json } = await get(`${ms}/unknown.example/v2.0/.well-known/openid-configuration`);
    expect(json).toMatchObject({ error: 'invalid_tenant', error_codes: [90002] });
  });
});
