import { describe, expect, it } from 'vitest';
import { findIssuerMismatch, type Issuer, parseMetadata } from '../../src/oauth/metadata.ts';

const authorize = new URL('https://id.example.com/authorize');
const token = new URL('https://api.example.com/token');
const location = new URL('https://id.example.com/.well-known/oauth-authorization-server');
const document = {
  issuer: 'https://id.example.com',
  authorization_endpoint: 'https://id.example.com/authorize',
  token_endpoint: 'https://api.example.com/token',
  authorization_response_iss_parameter_supported: true,
  revocation_endpoint: 'https://id.example.com/revoke',
};
const read = (changes: object) => parseMetadata({ ...document, ...changes }, location, { authorize, token });

describe('what a server publishes', () => {
  it('RFC 8414 is its name, its promise and its addresses', () => {
    expect(read({})).toEqual({
      name: 'https://id.example.com',
      promised: true,
      revoke: new URL('https://id.example.com/revoke'),
    });
  });

  it.each([
    ['is about another server', { authorization_endpoint: 'https://id.example.com/other/authorize' }],
    ['names an issuer elsewhere', { issuer: 'https://evil.example' }],
    ['names no issuer', { issuer: undefined }],
    ['names an issuer that is no address', { issuer: 'id.example.com' }],
  ])('does not count where it %s', (_, changes) => {
    expect(read(changes)).toBeUndefined();
  });

  it.each([null, undefined, 'text', 7, []])('does not count when it is %j', (other) => {
    expect(parseMetadata(other, location, { authorize, token })).toBeUndefined();
  });

  it('gives no address to send a refresh token to that is elsewhere', () => {
    expect(read({ revocation_endpoint: 'https://evil.example/revoke' })).toMatchObject({ revoke: undefined });
    expect(read({ revocation_endpoint: 'http://id.example.com/revoke' })).toMatchObject({ revoke: undefined });
  });

  it('may be recognised by an address with a query, which the other need not have', () => {
    const withQuery = new URL('https://id.example.com/authorize?tenant=a');
    expect(parseMetadata(document, location, { authorize: withQuery, token })).toMatchObject({ promised: true });
    expect(read({ authorization_endpoint: 'https://id.example.com/authorize?x=1#y' })).toMatchObject({
      promised: true,
    });
    expect(read({ authorization_endpoint: 'https://id.example.com/authorizes' })).toBeUndefined();
  });

  it('does not count without TLS, but on this machine', () => {
    const at = (origin: string) =>
      parseMetadata({ issuer: origin, token_endpoint: `${origin}/token` }, new URL(`${origin}/.well-known/x`), {
        authorize: undefined,
        token: new URL(`${origin}/token`),
      });
    expect(at('http://id.example.com')).toBeUndefined();
    expect(at('http://127.0.0.1:8080')).toMatchObject({ name: 'http://127.0.0.1:8080', promised: false });
  });

  it('is recognised by the token endpoint where no page is known', () => {
    expect(parseMetadata(document, location, { authorize: undefined, token })).toMatchObject({ promised: true });
  });
});

describe('the issuer that a redirect names', () => {
  const known: Issuer = { name: 'https://id.example.com', promised: false, revoke: undefined };
  const hosts = [authorize, token];

  it('RFC 9207 §2.4 must be the one that was asked, to the letter', () => {
    expect(findIssuerMismatch('https://id.example.com', known, hosts)).toBeUndefined();
    for (const named of [
      'https://id.example.com/',
      'https://ID.example.com',
      'https://api.example.com',
      'https://evil.example',
      '',
    ]) {
      expect(findIssuerMismatch(named, known, hosts)).toContain('another server');
    }
  });

  it('RFC 9207 §2.4 may be missing, unless the server promises it', () => {
    expect(findIssuerMismatch(undefined, known, hosts)).toBeUndefined();
    expect(findIssuerMismatch(undefined, undefined, hosts)).toBeUndefined();
    expect(findIssuerMismatch(undefined, { ...known, promised: true }, hosts)).toContain('promises');
  });

  it('must be at a host that we ask, where nothing is published', () => {
    expect(findIssuerMismatch('https://id.example.com/realms/x', undefined, hosts)).toBeUndefined();
    expect(findIssuerMismatch('https://api.example.com', undefined, hosts)).toBeUndefined();
    for (const named of ['https://evil.example', 'http://id.example.com', 'https://id.example.com.evil.example', 'x']) {
      expect(findIssuerMismatch(named, undefined, hosts)).toContain('another server');
    }
  });

  it('fits a template of tenants', () => {
    const shared = { ...known, name: 'https://login.microsoftonline.com/{tenantid}/v2.0' };
    const of = (tenant: string) =>
      findIssuerMismatch(`https://login.microsoftonline.com/${tenant}/v2.0`, shared, hosts);
    expect(of('9188040d-6c67-4c5b-b112-36a304b66dad')).toBeUndefined();
    expect(of('9188040d-6c67-4c5b-b112-36a304b66dad/../x')).toContain('another server');
    expect(of('x9188040d-6c67-4c5b-b112-36a304b66dad')).toContain('another server');
    for (const named of [
      'https://login.microsoftonline.org/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
      'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.1',
      'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad',
    ]) {
      expect(findIssuerMismatch(named, shared, hosts)).toContain('another server');
    }
    expect(of('')).toContain('another server');
  });
});
