import { describe, expect, it } from 'vitest';
import { findIssuerMismatch, metadataLocations, parseMetadata, type ServerMetadata } from '../../src/oauth/metadata.ts';
import { LoadedFile } from '../../src/profile/profile.ts';
import { loginProfileOf } from '../support/profiles.ts';

const authorizationUrl = new URL('https://id.example.com/authorize');
const tokenUrl = new URL('https://api.example.com/token');
const custom = { type: 'custom', url: tokenUrl.href, client_id: 'app' };
const withPage = (url: string) => loginProfileOf({ ...custom, options: { authorization_url: url } });
const server = withPage(authorizationUrl.href);
const location = new URL('https://id.example.com/.well-known/oauth-authorization-server');
const document = {
  issuer: 'https://id.example.com',
  authorization_endpoint: 'https://id.example.com/authorize',
  token_endpoint: 'https://api.example.com/v2/token',
  authorization_response_iss_parameter_supported: true,
  revocation_endpoint: 'https://id.example.com/revoke',
};
const parse = (changes: object) => parseMetadata({ ...document, ...changes }, location, server);

describe('metadataLocations()', () => {
  const drive = { type: 'google', client_id: 'c', client_secret: 's', scope: 'email' };
  const roots = (origin: string) => [
    `${origin}/.well-known/oauth-authorization-server`,
    `${origin}/.well-known/openid-configuration`,
  ];

  it.each([
    [
      'the documented URL of a provider, then the root of its host',
      drive,
      roots('https://accounts.google.com').toReversed(),
    ],
    [
      'the root of the host of another authorization URL',
      { ...drive, options: { authorization_url: 'https://id.example.com/authorize' } },
      roots('https://id.example.com'),
    ],
    [
      'the host of the token URL, if there is no authorization URL',
      { ...custom, options: { device_authorization_url: 'https://d.example.com/d' } },
      roots('https://api.example.com'),
    ],
    [
      'the root of an Okta host for its org authorization server, after the path of a custom one',
      { type: 'okta', url: 'https://acme.okta.com/oauth2/v1/token', client_id: 'c' },
      ['https://acme.okta.com/oauth2/.well-known/oauth-authorization-server', ...roots('https://acme.okta.com')],
    ],
    [
      'the host of a provider at the emulator',
      { ...drive, url: 'http://127.0.0.1:8400/accounts.google.com/o/oauth2/token' },
      ['http://127.0.0.1:8400/accounts.google.com/.well-known/openid-configuration', ...roots('http://127.0.0.1:8400')],
    ],
    [
      'RFC 8414 §3.1: the issuers that an endpoint may belong to, with the path inserted and appended',
      { ...custom, url: 'https://api.example.com/a/b/token' },
      [
        ...roots('https://api.example.com'),
        'https://api.example.com/.well-known/oauth-authorization-server/a/b',
        'https://api.example.com/a/b/.well-known/openid-configuration',
        'https://api.example.com/.well-known/oauth-authorization-server/a',
        'https://api.example.com/a/.well-known/openid-configuration',
      ],
    ],
  ])('returns %s', (_, fields, urls) => {
    expect(metadataLocations(loginProfileOf(fields)).map(({ href }) => href)).toEqual(urls);
  });
});

describe('parseMetadata()', () => {
  const push = (pushed: unknown, more: object = {}) =>
    parse({ pushed_authorization_request_endpoint: pushed, ...more })?.pushedRequestUrl?.href;

  it('RFC 9126 §5 returns the endpoint for pushed requests, if it is at the origin of the metadata or of the token endpoint', () => {
    expect(push('https://id.example.com/par')).toBe('https://id.example.com/par');
    expect(push(new URL('/par', tokenUrl).href)).toBe(new URL('/par', tokenUrl).href);
    for (const other of [
      'https://evil.example/par',
      'http://id.example.com/par',
      'par',
      ['https://id.example.com/par'],
    ])
      expect(push(other)).toBeUndefined();
    const required = { require_pushed_authorization_requests: true, require_signed_request_object: true };
    expect(parse(required)).toMatchObject({ requiresPushedRequest: true, requiresSignedRequest: true });
  });

  it('RFC 8705 §5 prefers the endpoint for clients with a certificate, if the profile has one', () => {
    const own = 'https://id.example.com/mtls/par';
    const mtls_endpoint_aliases = { pushed_authorization_request_endpoint: own };
    const pushed_authorization_request_endpoint = 'https://id.example.com/par';
    const members = { ...document, pushed_authorization_request_endpoint, mtls_endpoint_aliases };
    const options = { ...server.options, cert: new LoadedFile('client.pem', '') };
    expect(parseMetadata(members, location, server)?.pushedRequestUrl?.pathname).toBe('/par');
    expect(parseMetadata(members, location, { ...server, options })?.pushedRequestUrl?.pathname).toBe('/mtls/par');
  });

  it('RFC 8414 §2 returns issuer, iss support, revocation URL and support of prompt=consent', () => {
    expect(parse({})).toEqual({
      issuer: 'https://id.example.com',
      issParameterSupported: true,
      revocationUrl: new URL('https://id.example.com/revoke'),
      consentPromptSupported: false,
      pushedRequestUrl: undefined,
      requiresPushedRequest: false,
      requiresSignedRequest: false,
    });
    expect(parse({ prompt_values_supported: ['none', 'consent'] })).toMatchObject({ consentPromptSupported: true });
    expect(parse({ prompt_values_supported: 'consent' })).toMatchObject({ consentPromptSupported: false });
  });

  it.each([
    ['describes another server', { authorization_endpoint: 'https://id.example.com/other/authorize' }],
    ['has an issuer at another origin', { issuer: 'https://evil.example' }],
    ['has an issuer with another path (RFC 8414 §3.3)', { issuer: 'https://id.example.com/realms/evil' }],
    ['has an issuer with a query (RFC 8414 §2)', { issuer: 'https://id.example.com?realm=evil' }],
    ['has no issuer', { issuer: undefined }],
    ['has an issuer that is not a URL', { issuer: 'id.example.com' }],
  ])('ignores a document that %s', (_, changes) => {
    expect(parse(changes)).toBeUndefined();
  });

  it.each([
    ['https://id.example.com/realms/demo', '/realms/demo/.well-known/openid-configuration', true],
    ['https://id.example.com/realms/demo', '/.well-known/oauth-authorization-server/realms/demo', true],
    ['https://id.example.com/realms/demo/', '/realms/demo/.well-known/openid-configuration', true],
    ['https://id.example.com/', '/.well-known/openid-configuration', true],
    ['https://id.example.com/realms/demo', '/.well-known/openid-configuration', false],
    ['https://id.example.com/realms/evil', '/realms/demo/.well-known/openid-configuration', false],
    ['https://id.example.com', '/realms/demo/.well-known/openid-configuration', false],
  ])('RFC 8414 §3.3 compares the issuer %s with the location %s', (issuer, path, isSame) => {
    expect(parseMetadata({ ...document, issuer }, new URL(path, location), server)?.issuer).toBe(
      isSame ? issuer : undefined,
    );
  });

  it.each([null, undefined, 'text', 7, []])('ignores the document %j', (other) => {
    expect(parseMetadata(other, location, server)).toBeUndefined();
  });

  it.each(['https://evil.example/revoke', 'http://id.example.com/revoke', 'revoke', 7, undefined])(
    'ignores the revocation endpoint %s',
    (revocation_endpoint) => {
      expect(parse({ revocation_endpoint })).toMatchObject({ revocationUrl: undefined });
    },
  );

  it('compares endpoints without their queries', () => {
    expect(parseMetadata(document, location, withPage('https://id.example.com/authorize?tenant=a'))).toBeDefined();
    expect(parse({ authorization_endpoint: 'https://id.example.com/authorize?x=1#y' })).toBeDefined();
    expect(parse({ authorization_endpoint: 'https://id.example.com/authorize#y\n?z' })).toBeDefined();
    expect(parse({ authorization_endpoint: 'https://id.example.com/authorizes' })).toBeUndefined();
  });

  it('accepts http: for loopback only', () => {
    const at = (origin: string) =>
      parseMetadata(
        { issuer: origin, token_endpoint: `${origin}/token` },
        new URL(`${origin}/.well-known/openid-configuration`),
        loginProfileOf({ ...custom, url: `${origin}/token`, options: { allow_http: true } }),
      );
    expect(at('http://id.example.com')).toBeUndefined();
    expect(at('http://127.0.0.1:8080')).toMatchObject({
      issuer: 'http://127.0.0.1:8080',
      issParameterSupported: false,
    });
  });

  it('accepts a document that names only the token endpoint', () => {
    const own = { issuer: 'https://api.example.com', token_endpoint: tokenUrl.href };
    const root = new URL('https://api.example.com/.well-known/openid-configuration');
    expect(parseMetadata(own, root, loginProfileOf(custom))).toBeDefined();
    expect(parseMetadata({ ...own, token_endpoint: `${tokenUrl}s` }, root, loginProfileOf(custom))).toBeUndefined();
  });
});

describe('findIssuerMismatch()', () => {
  const metadata: ServerMetadata = {
    issuer: 'https://id.example.com',
    issParameterSupported: false,
    revocationUrl: undefined,
    introspectionUrl: undefined,
    userinfoUrl: undefined,
    consentPromptSupported: false,
    pushedRequestUrl: undefined,
    requiresPushedRequest: false,
    requiresSignedRequest: false,
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
