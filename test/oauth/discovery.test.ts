import { describe, expect, it } from 'vitest';
import { issuerLocations, metadataLifetimeMs, parseIssuerEndpoints } from '../../src/oauth/discovery.ts';

const issuer = 'https://id.example.com/realms/a';
const document = {
  issuer,
  token_endpoint: 'https://tokens.example.net/token',
  authorization_endpoint: 'https://id.example.com/realms/a/auth',
  token_endpoint_auth_methods_supported: ['client_secret_post', 7],
};

describe('the metadata of an issuer', () => {
  it.each([
    ['https://id.example.com', '', ''],
    ['https://id.example.com/', '', ''],
    ['https://id.example.com/realms/a', '/realms/a', '/realms/a'],
    ['https://id.example.com/realms/a/', '/realms/a', '/realms/a'],
  ])('of %s is at the locations of OpenID Connect Discovery and RFC 8414', (one, before, after) => {
    expect(issuerLocations(one).map(({ href }) => href)).toEqual([
      `https://id.example.com${before}/.well-known/openid-configuration`,
      `https://id.example.com/.well-known/oauth-authorization-server${after}`,
    ]);
  });

  it('names the endpoints, also of another host', () => {
    expect(parseIssuerEndpoints(document, issuer, false)).toEqual({
      tokenUrl: document.token_endpoint,
      authorizationUrl: document.authorization_endpoint,
      deviceAuthorizationUrl: undefined,
      revocationUrl: undefined,
      authMethods: ['client_secret_post'],
    });
    expect(parseIssuerEndpoints({ ...document, issuer: `${issuer}/` }, issuer, false)).toBeTypeOf('object');
  });

  it('names other endpoints for clients with a certificate (RFC 8705 §5)', () => {
    const mtls_endpoint_aliases = {
      token_endpoint: 'https://mtls.example.com/token',
      revocation_endpoint: 'https://mtls.example.com/revoke',
      userinfo_endpoint: 'https://mtls.example.com/me',
    };
    expect(parseIssuerEndpoints({ ...document, mtls_endpoint_aliases }, issuer, false)).toMatchObject({
      tokenUrl: document.token_endpoint,
      mtls: { tokenUrl: 'https://mtls.example.com/token', revocationUrl: 'https://mtls.example.com/revoke' },
    });
  });

  it.each([
    ['an alias without TLS', { mtls_endpoint_aliases: { token_endpoint: 'http://mtls.example.com/token' } }],
    ['another issuer', { issuer: 'https://evil.example/realms/a' }],
    ['an issuer with another path', { issuer: 'https://id.example.com/realms/b' }],
    ['an issuer that starts with ours', { issuer: `${issuer}.evil.example` }],
    ['no issuer', { issuer: undefined }],
    ['an issuer that is not a string', { issuer: [issuer] }],
    ['no token endpoint', { token_endpoint: undefined }],
    ['a token endpoint without TLS', { token_endpoint: 'http://id.example.com/token' }],
    ['a token endpoint on this machine', { token_endpoint: 'http://127.0.0.1:8080/token' }],
    ['a token endpoint with user info', { token_endpoint: 'https://id.example.com@evil.example/token' }],
    ['a token endpoint with another scheme', { token_endpoint: 'file:///etc/passwd' }],
    ['a token endpoint that is a list', { token_endpoint: ['https://id.example.com/token'] }],
    ['an authorization endpoint with a script', { authorization_endpoint: 'javascript:alert(1)' }],
    ['a device endpoint without TLS', { device_authorization_endpoint: 'http://id.example.com/device' }],
    ['a revocation endpoint without TLS', { revocation_endpoint: 'http://id.example.com/revoke' }],
  ])('is rejected with %s', (_, change) => {
    expect(parseIssuerEndpoints({ ...document, ...change }, issuer, false)).toBeTypeOf('string');
  });

  it('may name endpoints without TLS if the issuer is this machine, or with allow_http', () => {
    const local = { issuer: 'http://127.0.0.1:8080', token_endpoint: 'http://127.0.0.1:8080/token' };
    expect(parseIssuerEndpoints(local, local.issuer, false)).toMatchObject({ tokenUrl: local.token_endpoint });
    const plain = { ...document, token_endpoint: 'http://id.example.com/token' };
    expect(parseIssuerEndpoints(plain, issuer, true)).toMatchObject({ tokenUrl: plain.token_endpoint });
  });

  it.each([
    [undefined, 3600],
    ['public, max-age=600', 600],
    ['max-age=1', 300],
    ['max-age=9999999', 86_400],
    ['no-store, max-age=600', 300],
    ['no-cache', 300],
    ['max-age=x', 3600],
  ])('with Cache-Control: %s is cached for %i s', (value, seconds) => {
    expect(metadataLifetimeMs(value)).toBe(seconds * 1000);
  });
});
