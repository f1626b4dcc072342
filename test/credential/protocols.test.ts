import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flatten } from '../../src/config/flatten.ts';
import { Variables } from '../../src/config/variables.ts';
import { buildAwsRequest, formatAwsResponse, stsEndpoint } from '../../src/credential/aws.ts';
import { formatBazelResponse, parseBazelRequest } from '../../src/credential/bazel.ts';
import { formatCargoResponse, parseCargoRequest } from '../../src/credential/cargo.ts';
import { formatDockerResponse, parseDockerRequest } from '../../src/credential/docker.ts';
import { findProfileFor } from '../../src/credential/find-profile.ts';
import { formatGitResponse, parseGitRequest } from '../../src/credential/git.ts';
import { formatGoogleError, formatGoogleResponse } from '../../src/credential/google.ts';
import { formatKubernetesResponse, parseKubernetesRequest } from '../../src/credential/kubernetes.ts';
import { parseRequestUrls } from '../../src/credential/request-url.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { matchesOrigin } from '../../src/profile/options/origins.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { createSources } from '../support/variables.ts';

const token = {
  token: 'the-token',
  header: { name: 'Authorization', value: 'Bearer the-token' },
  expiresAt: Date.UTC(2030, 0, 1, 0, 0, 0, 500),
};
const timeless = { ...token, expiresAt: undefined };
const hrefs = (urls: readonly URL[]) => urls.map(({ href }) => href);

/** Requests for other hosts that look like one for `api.example.com`. */
const hostile = [
  '',
  ' ',
  'api.example.com\0',
  'api.example.com\r',
  'api.example.com.',
  'api.example.com:8443',
  'evil.com/api.example.com',
  'evil.com?api.example.com',
  'evil.com#api.example.com',
  'evil.com\\api.example.com',
  'user:password@api.example.com',
  'api.example.com@evil.com',
  'api%2eexample.com',
  'api\u3002example.com',
  '\uff41pi.example.com',
  'xn--pi-7ba.example.com',
  'x'.repeat(100_000),
];

describe('parseRequestUrls()', () => {
  it.each([
    ['api.example.com', ['https://api.example.com/', 'http://api.example.com/']],
    ['localhost:5000', ['https://localhost:5000/', 'http://localhost:5000/']],
    ['HTTPS://API.example.com:443/v2/', ['https://api.example.com/v2/']],
    ['sparse+https://crates.example.com/index/', ['https://crates.example.com/index/']],
    ['grpcs://cache.example.com/a.b/C', ['https://cache.example.com/a.b/C']],
    ['ssh://git@example.com', []],
    ['file:///etc/passwd', []],
  ])('returns the URLs that %s may mean', (text, urls) => {
    expect(hrefs(parseRequestUrls(text))).toEqual(urls);
  });

  it('never finds the origin of a profile in the request for another host', () => {
    for (const text of hostile)
      for (const scheme of ['', 'https://', 'http://']) {
        const urls = parseRequestUrls(scheme + text);
        expect(urls.some((url) => matchesOrigin(['https://api.example.com'], url))).toBe(false);
      }
  });
});

describe('the git protocol', () => {
  const parse = (lines: readonly string[]) => parseGitRequest(lines.map((line) => `${line}\n`).join(''));

  it('parses a request up to an empty line', () => {
    const request = parse(['protocol=https', 'host=API.example.com:8443', 'path=a=b', '', 'host=evil.com']);
    expect(hrefs(request.urls)).toEqual(['https://api.example.com:8443/']);
  });

  it('ignores requests that are malformed or for another protocol', () => {
    for (const host of hostile)
      expect(hrefs(parse(['protocol=https', `host=${host}`]).urls)).not.toContain('https://api.example.com/');
    for (const lines of [
      ['protocol=https', 'host=api.example.com', 'host=evil.com'],
      ['protocol=ssh', 'host=api.example.com'],
      ['protocol=https'],
      ['host=api.example.com'],
      ['protocol=https', 'host=api.example.com', 'path=a\0b'],
    ])
      expect(parse(lines).urls).toEqual([]);
  });

  it('never throws, whatever the request', () => {
    const line = fc.oneof(
      fc.string(),
      fc.tuple(fc.constantFrom('protocol', 'host', 'wwwauth[]'), fc.string()).map((pair) => pair.join('=')),
    );
    fc.assert(fc.property(fc.array(line), (lines) => void formatGitResponse(parse(lines), token, 'oauth2')));
  });

  it('returns the token as a password', () => {
    const request = parse(['protocol=https', 'host=api.example.com']);
    expect(formatGitResponse(request, token, 'oauth2')).toBe(
      `username=oauth2\npassword=the-token\npassword_expiry_utc=${Date.UTC(2030, 0, 1) / 1000}\n`,
    );
    expect(formatGitResponse(request, timeless, 'x-token-auth')).toBe('username=x-token-auth\npassword=the-token\n');
  });

  it('returns the token with its own scheme if git and the server accept it', () => {
    const lines = ['protocol=https', 'host=api.example.com', 'capability[]=authtype'];
    const own = 'capability[]=authtype\nauthtype=Bearer\ncredential=the-token\nephemeral=1\n';
    const respond = (...more: string[]) => formatGitResponse(parse([...lines, ...more]), timeless, 'oauth2');
    expect(respond()).toBe(own);
    expect(respond('wwwauth[]=Basic realm="x"', 'wwwauth[]=bearer realm="x"')).toBe(own);
    expect(respond('wwwauth[]=Basic realm="Bearer"')).toBe('username=oauth2\npassword=the-token\n');
    expect(respond('wwwauth[]=Basic', 'wwwauth[]=')).toBe(own);
    const request = parse([...lines]);
    const other = { ...timeless, header: { name: 'X-Api-Token', value: 'the-token' } };
    expect(formatGitResponse(request, other, 'oauth2')).toBe('username=oauth2\npassword=the-token\n');
  });

  it('reads the rejected token of both forms', () => {
    expect(parse(['password=a']).credential).toBe('a');
    expect(parse(['authtype=Bearer', 'credential=b']).credential).toBe('b');
  });
});

describe('the other protocols', () => {
  it('docker: returns the server as it was requested', () => {
    const { server, urls } = parseDockerRequest(' https://Registry.example.com/v2/\n');
    expect(hrefs(urls)).toEqual(['https://registry.example.com/v2/']);
    expect(JSON.parse(formatDockerResponse(server, token, 'oauth2'))).toEqual({
      ServerURL: 'https://Registry.example.com/v2/',
      Username: 'oauth2',
      Secret: 'the-token',
    });
  });

  it.each([
    'https://evil.org:06443',
    'https://x@evil.org',
    'https://127.1',
    'https://évil.org',
    'ftp://evil.org',
    ' https://a.b',
    '',
    7,
  ])('kubernetes: rejects the server %j, so that it gets no token', (server) => {
    const info = { apiVersion: 'client.authentication.k8s.io/v1', spec: { cluster: { server } } };
    expect(() => parseKubernetesRequest(JSON.stringify(info))).toThrow(OAuthProfileError);
  });

  it('kubernetes: returns the requested version', () => {
    for (const version of ['v1', 'v1beta1']) {
      const apiVersion = `client.authentication.k8s.io/${version}`;
      const request = parseKubernetesRequest(
        JSON.stringify({ apiVersion, spec: { cluster: { server: 'https://k8s.example.com:6443' } } }),
      );
      expect(hrefs(request.urls)).toEqual(['https://k8s.example.com:6443/']);
      expect(JSON.parse(formatKubernetesResponse(request, token))).toEqual({
        apiVersion,
        kind: 'ExecCredential',
        status: { token: 'the-token', expirationTimestamp: '2030-01-01T00:00:00Z' },
      });
    }
    expect(JSON.parse(formatKubernetesResponse(parseKubernetesRequest(undefined), timeless)).status).toEqual({
      token: 'the-token',
    });
    for (const text of ['{', 'null', '{"apiVersion":"client.authentication.k8s.io/v1alpha1"}'])
      expect(() => parseKubernetesRequest(text)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('cargo: supports get only', () => {
    const registry = { 'index-url': 'sparse+https://crates.example.com/index/' };
    const request = parseCargoRequest(
      JSON.stringify({ v: 1, kind: 'get', operation: 'publish', registry, args: ['x'] }),
    );
    expect(request).toMatchObject({ args: ['x'], urls: [{ href: 'https://crates.example.com/index/' }] });
    const kinds = [
      ['{"v":1,"kind":"login"}', 'operation-not-supported'],
      ['{"v":2,"kind":"get"}', 'other'],
      ['null', 'other'],
      ['{', 'other'],
    ];
    for (const [line = '', kind] of kinds)
      expect(JSON.parse(String(parseCargoRequest(line)))).toMatchObject({ Err: { kind } });
    expect(parseCargoRequest('{"v":1,"kind":"get","registry":null}')).toEqual({ urls: [], args: [] });
    expect(JSON.parse(formatCargoResponse(token))).toEqual({
      Ok: {
        kind: 'get',
        token: 'Bearer the-token',
        cache: 'expires',
        expiration: Date.UTC(2030, 0, 1) / 1000,
        operation_independent: true,
      },
    });
    expect(JSON.parse(formatCargoResponse(timeless)).Ok.cache).toBe('session');
  });

  it('google: returns the type of the token', () => {
    expect(JSON.parse(formatGoogleResponse(token, 'id_token'))).toEqual({
      version: 1,
      success: true,
      token_type: 'urn:ietf:params:oauth:token-type:id_token',
      id_token: 'the-token',
      expiration_time: Date.UTC(2030, 0, 1) / 1000,
    });
    expect(JSON.parse(formatGoogleResponse(token, 'access_token')).token_type).toMatch(/:jwt$/);
    expect(JSON.parse(formatGoogleError('login_required', 'log in'))).toMatchObject({ success: false, version: 1 });
  });

  it('bazel: returns no headers for other hosts', () => {
    expect(hrefs(parseBazelRequest('{"uri":"https://cache.example.com/x","more":1}').urls)).toEqual([
      'https://cache.example.com/x',
    ]);
    for (const input of ['', '{', 'null', '[]', '{"uri":1}']) expect(parseBazelRequest(input).urls).toEqual([]);
    expect(JSON.parse(formatBazelResponse(undefined))).toEqual({ headers: {} });
    expect(JSON.parse(formatBazelResponse(token))).toEqual({
      headers: { Authorization: ['Bearer the-token'] },
      expires: '2030-01-01T00:00:00Z',
    });
  });

  it('aws: encodes the request and reads the response of STS', () => {
    expect(stsEndpoint('eu-central-1').href).toBe('https://sts.eu-central-1.amazonaws.com/');
    expect(stsEndpoint('cn-north-1').href).toBe('https://sts.cn-north-1.amazonaws.com.cn/');
    const role = { arn: 'arn:aws:iam::123456789012:role/x', sessionName: 's', endpoint: stsEndpoint(undefined) };
    const { body } = buildAwsRequest(role, new Secret('a+b&c=d'));
    const form = new URLSearchParams(body?.map((part) => (part as Secret).reveal()).join(''));
    expect(form.get('WebIdentityToken')).toBe('a+b&c=d');
    expect(form.get('RoleArn')).toBe(role.arn);
    const respond = (status: number, xml: string) => formatAwsResponse({ status, body: new TextEncoder().encode(xml) });
    const xml =
      '<r><Credentials><AccessKeyId>A</AccessKeyId><SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration></Credentials></r>';
    expect(JSON.parse(respond(200, xml))).toEqual({
      Version: 1,
      AccessKeyId: 'A',
      SecretAccessKey: 'S',
      SessionToken: 'T',
      Expiration: '2030-01-01T00:00:00Z',
    });
    const error = '<r><Error><Code>InvalidIdentityToken</Code><Message>No provider</Message></Error></r>';
    expect(() => respond(400, error)).toThrow(expect.objectContaining({ code: 'provider_rejected' }));
    expect(() => respond(503, error)).toThrow(expect.objectContaining({ code: 'provider_unavailable' }));
    expect(() => respond(200, '<html>')).toThrow(expect.objectContaining({ code: 'response_unreadable' }));
  });
});

describe('findProfileFor()', () => {
  const profile = (origins: string) => ({ type: 'custom', url: 'https://id.example.com/token', options: { origins } });
  const data = {
    one: profile('https://one.example.com'),
    two: profile('https://two.example.com https://both.example.com'),
    any: profile('https://*.example.org https://both.example.com'),
  };
  const variables = new Variables().add(flatten(data, 'data'), { label: 'data', directory: '', trust: 'given' });
  const find = (url: string, name?: string) => findProfileFor([new URL(url)], variables, createSources(), name);

  it('finds the profile by its origins', () => {
    expect(find('https://one.example.com/x')).toBe('one');
    expect(find('https://a.example.org/')).toBe('any');
    expect(find('https://three.example.com/')).toBeUndefined();
  });

  it('rejects two matching profiles and names them', () => {
    expect(() => find('https://both.example.com/')).toThrow(/two and any/);
    expect(find('https://both.example.com/', 'two')).toBe('two');
  });

  it('checks the origins of a named profile too', () => {
    expect(find('https://one.example.com/', 'two')).toBeUndefined();
  });
});
