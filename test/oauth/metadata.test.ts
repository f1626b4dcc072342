import { describe, expect, it } from 'vitest';
import { findIssuerMismatch, parseMetadata, type ServerMetadata } from '../../src/oauth/metadata.ts';

const authorizationUrl = new URL('https://id.example.com/authorize');
const tokenUrl = new URL('https://api.example.com/token');
const location = new URL('https://id.example.com/.well-known/oauth-authorization-server');
const document = {
  issuer: 'https://id.example.com',
  authorization_endpoint: 'https://id.example.com/authorize',
  token_endpoint: 'https://api.example.com/token',
  authorization_response_iss_parameter_supported: true,
  revocation_endpoint: 'https://id.example.com/revoke',
};
const parse = (changes: object) => parseMetadata({ ...document, ...changes }, location, { authorizationUrl, tokenUrl });

describe('parseMetadata()', () => {
  it('RFC 8414 §2 returns issuer, iss support and revocation URL', () => {
    expect(parse({})).toEqual({
      issuer: 'https://id.example.com',
      issParameterSupported: true,
      revocationUrl: new URL('https://id.example.com/revoke'),
    });
  });

  it.each([
    ['describes another server', { authorization_endpoint: 'https://id.example.com/other/authorize' }],
    ['has an issuer at another origin', { issuer: 'https://evil.example' }],
    ['has no issuer', { issuer: undefined }],
    ['has an issuer that is not a URL', { issuer: 'id.example.com' }],
  ])('ignores a document that %s', (_, changes) => {
    expect(parse(changes)).toBeUndefined();
  });

  it.each([null, undefined, 'text', 7, []])('ignores the document %j', (other) => {
    expect(parseMetadata(other, location, { authorizationUrl, tokenUrl })).toBeUndefined();
  });

  it.each(['https://evil.example/revoke', 'http://id.example.com/revoke', 'revoke', 7, undefined])(
    'ignores the revocation endpoint %s',
    (revocation_endpoint) => {
      expect(parse({ revocation_endpoint })).toMatchObject({ revocationUrl: undefined });
    },
  );

  it('compares endpoints without their queries', () => {
    const withQuery = new URL('https://id.example.com/authorize?tenant=a');
    expect(parseMetadata(document, location, { authorizationUrl: withQuery, tokenUrl })).toBeDefined();
    expect(parse({ authorization_endpoint: 'https://id.example.com/authorize?x=1#y' })).toBeDefined();
    expect(parse({ authorization_endpoint: 'https://id.example.com/authorize#y\n?z' })).toBeDefined();
    expect(parse({ authorization_endpoint: 'https://id.example.com/authorizes' })).toBeUndefined();
  });

  it('accepts http: for loopback only', () => {
    const at = (origin: string) =>
      parseMetadata({ issuer: origin, token_endpoint: `${origin}/token` }, new URL(`${origin}/.well-known/x`), {
        authorizationUrl: undefined,
        tokenUrl: new URL(`${origin}/token`),
      });
    expect(at('http://id.example.com')).toBeUndefined();
    expect(at('http://127.0.0.1:8080')).toMatchObject({
      issuer: 'http://127.0.0.1:8080',
      issParameterSupported: false,
    });
  });

  it('compares the token endpoint if there is no authorization URL', () => {
    expect(parseMetadata(document, location, { authorizationUrl: undefined, tokenUrl })).toBeDefined();
    expect(parseMetadata(document, location, { authorizationUrl: undefined, tokenUrl: location })).toBeUndefined();
  });
});

describe('findIssuerMismatch()', () => {
  const metadata: ServerMetadata = {
    issuer: 'https://id.example.com',
    issParameterSupported: false,
    revocationUrl: undefined,
  };
  const endpoints = [authorizationUrl, tokenUrl];

  it('RFC 9207 §2.4 accepts only the exact issuer', () => {
    expect(findIssuerMismatch('https://id.example.com', metadata, endpoints)).toBeUndefined();
    for (const iss of [
      'https://id.example.com/',
      'https://ID.example.com',
      'https://api.example.com',
      'https://evil.example',
      '',
    ]) {
      expect(findIssuerMismatch(iss, metadata, endpoints)).toContain('another authorization server');
    }
  });

  it('RFC 9207 §2.4 accepts a missing iss unless the metadata announces it', () => {
    expect(findIssuerMismatch(undefined, metadata, endpoints)).toBeUndefined();
    expect(findIssuerMismatch(undefined, undefined, endpoints)).toBeUndefined();
    expect(findIssuerMismatch(undefined, { ...metadata, issParameterSupported: true }, endpoints)).toContain('iss');
  });

  it('accepts the origin of any endpoint without metadata', () => {
    expect(findIssuerMismatch('https://id.example.com/realms/x', undefined, endpoints)).toBeUndefined();
    expect(findIssuerMismatch('https://api.example.com', undefined, endpoints)).toBeUndefined();
    for (const iss of ['https://evil.example', 'http://id.example.com', 'https://id.example.com.evil.example', 'x']) {
      expect(findIssuerMismatch(iss, undefined, endpoints)).toContain('another authorization server');
    }
  });

  it("accepts any GUID in the place of {tenantid} in Microsoft's issuer", () => {
    const shared = { ...metadata, issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0' };
    const mismatch = (tenant: string) =>
      findIssuerMismatch(`https://login.microsoftonline.com/${tenant}/v2.0`, shared, endpoints);
    expect(mismatch('9188040d-6c67-4c5b-b112-36a304b66dad')).toBeUndefined();
    expect(mismatch('9188040D-6C67-4C5B-B112-36A304B66DAD')).toBeUndefined();
    expect(mismatch('9188040d-6c67-4c5b-b112-36a304b66dad/../x')).toBeDefined();
    expect(mismatch('x9188040d-6c67-4c5b-b112-36a304b66dad')).toBeDefined();
    expect(mismatch('')).toBeDefined();
    for (const iss of [
      'https://login.microsoftonline.org/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
      'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.1',
      'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad',
    ]) {
      expect(findIssuerMismatch(iss, shared, endpoints)).toBeDefined();
    }
  });
});
