import { beforeAll, describe, expect, it } from 'vitest';
import { buildTokenRequest, encodeForm } from '../../src/oauth/token-request.ts';
import { catalogue } from '../../src/providers/catalogue/catalogue.ts';
import { microsoft } from '../../src/providers/microsoft.ts';
import { okta } from '../../src/providers/okta.ts';
import { catalogueTypes, findProvider, loadCatalogue } from '../../src/providers/registry.ts';
import { catalogueProfiles, decodeRequest, issuesOf, loginProfileOf, profileOf } from '../support/profiles.ts';

/** Parts of values that would change the host or the path of a URL. */
const hostile = [
  ...'/\\@?#:[]{}%&;,"\'<> \t\r\n\0'.split(''),
  '..',
  '%2f',
  '%2e%2e',
  '\u3002',
  '\uff0e',
  '\uff45',
  '\u200b',
  '@evil.example/',
  'a'.repeat(300),
];
const ipAddresses = ['127.0.0.1', '0x7f.1', '[::1]'];

/** A profile for a login of each type that has variables in its URL. */
const withVariables = [
  ['microsoft', { type: 'microsoft', client_id: 'app', tenant_id: 'contoso.onmicrosoft.com' }],
  ['okta', { type: 'okta', client_id: 'app', tenant_id: 'acme' }],
  ...catalogueProfiles,
] as const;

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

  const variables = withVariables.flatMap(([type, fields]) => {
    const { tokenUrl = '', variables = {} } = [microsoft, okta, ...catalogue].find((one) => one.type === type) ?? {};
    return Object.entries(variables).map(([name, { example }]) => {
      const isInHost = tokenUrl.split('/')[2]?.includes(`{${name}}`) === true;
      return [type, name, { fields, example, isInHost }] as const;
    });
  });
  it.each(variables)(
    '%s rejects hostile values of %s, so nothing is sent',
    (_, name, { fields, example, isInHost }) => {
      const expectRejected = (value: string): void => {
        for (const read of [profileOf, loginProfileOf]) {
          const issues = issuesOf(() => read({ ...fields, refresh_token: 'r', [name]: value }));
          expect(issues.map(({ variable }) => variable)).toEqual([`svc.${name}`]);
        }
      };
      for (const part of hostile)
        for (let index = 0; index <= example.length; index++)
          expectRejected(`${example.slice(0, index)}${part}${example.slice(index)}`);
      for (const value of ['https://evil.example', '.', '..', ...(isInHost ? ipAddresses : [])]) expectRejected(value);
    },
  );

  it.each(variables)(
    '%s accepts an uppercase or empty %s only if the host stays the same',
    (_, name, { fields, example }) => {
      const urlWith = (values: Readonly<Record<string, string>>): string | undefined => {
        try {
          return profileOf({ ...values, refresh_token: 'r' }).url.href;
        } catch {
          return undefined;
        }
      };
      const url = urlWith({ ...fields, [name]: example })?.toLowerCase();
      const withUppercase = urlWith({ ...fields, [name]: example.toUpperCase() })?.toLowerCase();
      expect([undefined, url]).toContain(withUppercase);
      const withoutField = Object.fromEntries(Object.entries(fields).filter(([field]) => field !== name));
      expect(urlWith({ ...fields, [name]: '' })).toBe(urlWith(withoutField));
    },
  );

  it.each(variables)('%s never sends %s', (_, name, { fields }) => {
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

  it('separates scopes as the provider expects them', () => {
    const scopeOf = (type: string) => loginProfileOf(Object.fromEntries(catalogueProfiles)[type] ?? {}).scope?.value;
    expect(scopeOf('slack')).toBe('read,write');
    expect(scopeOf('github')).toBe('read write');
    expect(scopeOf('x')).toBe('read write offline.access');
  });

  it('knows the API of github.com, but not that of another server', () => {
    const fields = { ...Object.fromEntries(catalogueProfiles)['github'], refresh_token: 'r' };
    expect(profileOf(fields).options.origins).toContain('https://api.github.com');
    expect(profileOf({ ...fields, host: 'github.com' }).options.origins).toContain('https://api.github.com');
    expect(profileOf({ ...fields, host: 'github.example.com' }).options.origins).toEqual([]);
  });
});
