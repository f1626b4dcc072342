import { beforeAll, describe, expect, it } from 'vitest';
import { buildAuthorizationParameters, buildCodeTokenRequest } from '../../src/oauth/authorization.ts';
import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { catalogue } from '../../src/providers/catalogue/catalogue.ts';
import { catalogueTypes, findProvider, loadCatalogue } from '../../src/providers/registry.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { catalogueProfiles } from '../support/catalogue-profiles.ts';
import { loginProfileOf, parsedProfileOf, profileOf } from '../support/profile-of.ts';
import { decodeRequest, issuesOf } from '../support/read-sample.ts';

/** Values that would change the host or the path of a URL. */
const hostile = [
  'evil.example/',
  'evil.example#',
  'evil.example?',
  'evil.example\\',
  'a@evil.example',
  'a:b@evil.example',
  'evil.example:443/x',
  '../x',
  '..',
  '.',
  '%2e%2e',
  '%65vil.example',
  '127.0.0.1',
  '0x7f.1',
  '[::1]',
  'a b',
  'a\nb',
  'a\0',
  'ｅvil.example',
  '{shop}',
  'https://evil.example',
];

beforeAll(() => loadCatalogue());

describe('the catalogue', () => {
  it('has the types that the registry lists', () => {
    expect(catalogue.map(({ type }) => type)).toEqual(catalogueTypes);
    for (const type of catalogueTypes) expect(findProvider(type)).toBeDefined();
  });

  const hasVariables = (type: string): boolean =>
    Object.values(catalogue.find((one) => one.type === type)?.variables ?? {}).some((one) => one.default === undefined);
  it.each(catalogueProfiles.filter(([type]) => hasVariables(type)))(
    '%s requires the fields of its URL for a login',
    (type, fields) => {
      const required = Object.entries(findProvider(type)?.variables ?? {})
        .filter(([, variable]) => variable.default === undefined)
        .map(([name]) => name);
      const withoutVariables = Object.fromEntries(Object.entries(fields).filter(([name]) => !required.includes(name)));
      const issues = issuesOf(() => loginProfileOf(withoutVariables));
      expect(issues.map(({ variable }) => variable)).toEqual(required.map((name) => `svc.${name}`));
    },
  );

  it.each(catalogueProfiles)('%s has https: endpoints, which a login uses', (_, fields) => {
    const { url, endpoints } = loginProfileOf(fields);
    const urls = [
      url,
      endpoints.authorizationUrl,
      endpoints.revocationUrl,
      ...endpoints.device.map((one) => one.tokenUrl),
    ];
    for (const one of urls) expect(one?.protocol ?? 'https:').toBe('https:');
    expect(endpoints.authorizationUrl).toBeInstanceOf(URL);
    expect(`${url}${endpoints.authorizationUrl}${endpoints.revocationUrl}`).not.toMatch(/[{}]/);
  });

  const variables = catalogueProfiles.flatMap(([type, fields]) =>
    Object.keys(catalogue.find((provider) => provider.type === type)?.variables ?? {}).map(
      (name) => [type, name, fields] as const,
    ),
  );
  it.each(variables)('%s rejects every hostile value of %s, so nothing is sent', (_, name, fields) => {
    for (const value of hostile) {
      const read = () => profileOf({ ...fields, refresh_token: 'r', [name]: value });
      const issues = issuesOf(read);
      expect(issues.map(({ variable }) => variable)).toEqual([`svc.${name}`]);
    }
  });

  it.each(variables)('%s never sends %s', (_, name, fields) => {
    const { form } = decodeRequest(profileOf({ ...fields, refresh_token: 'r' }));
    expect(form.map(([field]) => field)).not.toContain(name);
  });

  it('sends JSON to notion, with the client in a Basic header', () => {
    const fields = { ...Object.fromEntries(catalogueProfiles)['notion'], refresh_token: 'a "quoted" token' };
    const request = buildTokenRequest(profileOf(fields), '1.2.3');
    expect(request.headers).toMatchObject({ 'Content-Type': 'application/json', Authorization: expect.anything() });
    const body = { grant_type: 'refresh_token', scope: 'read write', refresh_token: 'a "quoted" token' };
    expect(JSON.parse(encodeForm(request))).toEqual(body);
  });

  it('refreshes at another URL where the provider has one', () => {
    const parsed = parsedProfileOf('svc', { ...Object.fromEntries(catalogueProfiles)['box'], refresh_token: 'r' });
    const provider = parsed.provider && { ...parsed.provider, refreshUrl: 'refresh' };
    expect(completeProfile({ ...parsed, provider }).url.href).toBe('https://api.box.com/oauth2/refresh');
  });

  it.each([
    ['slack', null],
    ['github', 'challenge'],
  ])('%s gets the code challenge %s', (type, expected) => {
    const login = loginProfileOf(Object.fromEntries(catalogueProfiles)[type] ?? {});
    const request = { redirectUri: 'http://127.0.0.1/', state: 's', challenge: 'challenge' };
    expect(buildAuthorizationParameters(login, request).get('code_challenge')).toBe(expected);
    const exchange = {
      code: new Secret('code-1'),
      redirectUri: 'http://127.0.0.1/',
      verifier: new Secret('verifier-1'),
    };
    const names = buildCodeTokenRequest(login, exchange).fields.map(({ name }) => name);
    expect(names.includes('code_verifier')).toBe(expected !== null);
  });

  it('separates scopes as the provider expects them', () => {
    const scopeOf = (type: string) => loginProfileOf(Object.fromEntries(catalogueProfiles)[type] ?? {}).scope?.value;
    expect(scopeOf('slack')).toBe('read,write');
    expect(scopeOf('github')).toBe('read write');
    expect(scopeOf('x')).toBe('read write offline.access');
  });
});
