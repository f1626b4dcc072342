import { describe, expect, it } from 'vitest';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { withIssuerEndpoints, withoutIssuerEndpoints } from '../../src/profile/issuer-endpoints.ts';
import { toLoginProfile } from '../../src/profile/login-profile.ts';
import type { ParsedProfile } from '../../src/profile/parse-profile.ts';
import { LoadedFile } from '../../src/profile/profile.ts';
import { decodeRequest, issuesOf, parsedProfileOf } from '../support/profiles.ts';

const issuer = 'https://id.example.com/realms/a';
const robot = { type: 'oidc', issuer, client_id: 'app', client_secret: 's3cret-1', grant_type: 'client_credentials' };
const endpoints = {
  tokenUrl: `${issuer}/token`,
  authorizationUrl: `${issuer}/auth`,
  revocationUrl: `${issuer}/revoke`,
};

describe('a profile with an issuer', () => {
  it('sends its fields to the token endpoint of the metadata, but not the issuer', () => {
    const profile = completeProfile(withIssuerEndpoints(parsedProfileOf('svc', robot), endpoints));
    expect(decodeRequest(profile)).toEqual({
      url: `${issuer}/token`,
      form: [['grant_type', 'client_credentials']],
      basic: ['app', 's3cret-1'],
    });
  });

  it.each([
    [['client_secret_post'], undefined, 'client_secret_post'],
    [['client_secret_post', 'client_secret_basic'], undefined, 'client_secret_basic'],
    [['private_key_jwt'], undefined, 'client_secret_basic'],
    [undefined, undefined, 'client_secret_basic'],
    [['client_secret_post'], 'client_secret_basic', 'client_secret_basic'],
  ])('whose metadata lists %j and that configures %s authenticates with %s', (authMethods, client_auth, expected) => {
    const parsed = parsedProfileOf('svc', { ...robot, options: { client_auth } });
    expect(completeProfile(withIssuerEndpoints(parsed, { ...endpoints, authMethods })).clientAuth).toBe(expected);
  });

  it('uses the endpoints for clients with a certificate if it has one', () => {
    const mtls = { tokenUrl: 'https://mtls.example.com/token' };
    const parsed = parsedProfileOf('svc', robot);
    const certified = { ...parsed, options: { ...parsed.options, cert: new LoadedFile('client.pem', '') } };
    const urlOf = (one: ParsedProfile) => completeProfile(withIssuerEndpoints(one, { ...endpoints, mtls })).url.href;
    expect([urlOf(parsed), urlOf(certified)]).toEqual([endpoints.tokenUrl, mtls.tokenUrl]);
  });

  it('prefers the URLs that it sets itself', () => {
    const fields = { type: 'oidc', issuer, client_id: 'app', url: 'https://other.example.com/token' };
    const parsed = parsedProfileOf('svc', {
      ...fields,
      options: { revocation_url: 'https://other.example.com/revoke' },
    });
    const login = toLoginProfile(withIssuerEndpoints(parsed, endpoints));
    expect(login.url.href).toBe('https://other.example.com/token');
    expect(login.endpoints.revocationUrl?.href).toBe('https://other.example.com/revoke');
    expect(login.endpoints.authorizationUrl?.href).toBe(`${issuer}/auth`);
  });

  it('binds a login to the origin of the token endpoint, not of the issuer', () => {
    const { client_secret: _, grant_type: __, ...user } = robot;
    const parsed = parsedProfileOf('svc', user);
    expect(parsed.binding).toBeUndefined();
    const tokenUrl = 'https://tokens.example.net/token';
    expect(withIssuerEndpoints(parsed, { tokenUrl }).binding?.origin).toBe('https://tokens.example.net');
  });

  it('can be validated without its metadata', () => {
    const { url, notes } = completeProfile(withoutIssuerEndpoints(parsedProfileOf('svc', robot)));
    expect(url.href).toBe(issuer);
    expect(notes).toEqual([expect.stringContaining('--online')]);
  });

  it.each([
    ['', 'is missing'],
    ['http://id.example.com', 'http:'],
    ['https://id.example.com?tenant=a', 'query'],
    ['https://id.example.com#a', 'fragment'],
    ['https://id.example.com@evil.example', 'username'],
    ['id.example.com', 'https://'],
    ['file:///etc/passwd', 'https://'],
    ['https://%65vil.example', 'host'],
  ])('cannot have the issuer %j', (value, message) => {
    for (const [fields, variable] of [
      [{ ...robot, issuer: value }, 'svc.issuer'],
      [{ type: 'custom', options: { issuer: value } }, value === '' ? 'svc.url' : 'svc.options.issuer'],
    ] as const) {
      const issues = issuesOf(() => completeProfile(parsedProfileOf('svc', fields)));
      expect(issues).toContainEqual(expect.objectContaining({ variable, message: expect.stringContaining(message) }));
    }
  });

  it('needs a grant if the server has no login', () => {
    const { grant_type: _, ...fields } = robot;
    const parsed = withIssuerEndpoints(parsedProfileOf('svc', fields), { tokenUrl: `${issuer}/token` });
    expect(issuesOf(() => completeProfile(parsed))).toMatchObject([{ variable: 'svc.grant_type' }]);
  });
});
