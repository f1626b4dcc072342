import { describe, expect, it } from 'vitest';
import { InvalidProfileError, TransportError } from '../../src/errors.ts';
import { createReadAssertion } from '../../src/http/assertion-source.ts';
import { proxyFor } from '../../src/http/proxy.ts';
import type { ApiRequest, ApiResponse } from '../../src/ports.ts';
import type { AssertionSource } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { errorOf } from '../support/errors.ts';
import { bounds } from '../support/ports.ts';

const location = { label: 'data', directory: '', trust: 'given' as const };
const actions = {
  ACTIONS_ID_TOKEN_REQUEST_URL: 'https://pipelines.example/token?api-version=2.0',
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'request-token-of-the-job',
};

/** A reader whose requests get `response`, and the requests that it sent. */
function fixture(
  response: Partial<Omit<ApiResponse, 'body'>> & { body?: string } = {},
  env: Record<string, string> = actions,
  local?: string,
) {
  const requests: ApiRequest[] = [];
  const read = createReadAssertion({
    env,
    readLocal: () => local,
    async callApi(request) {
      requests.push(request);
      const { body = '', ...others } = response;
      return { status: 200, statusText: '', headers: {}, ...others, body: new TextEncoder().encode(body) };
    },
  });
  return {
    requests,
    read: (source: Partial<AssertionSource> & Pick<AssertionSource, 'kind'>, audience = 'api://aud') =>
      read({ source: { value: '', location, ...source }, audience }, 'svc', bounds()),
    header: (name: string) => {
      const [, value] = requests[0]?.headers.find(([one]) => one === name) ?? [];
      return value instanceof Secret ? value.reveal() : value;
    },
  };
}

describe('the source azure-imds in an App Service', () => {
  const env = { IDENTITY_ENDPOINT: 'http://169.254.255.2:8081/msi/token', IDENTITY_HEADER: 'secret-of-the-service' };

  it('uses the endpoint and the header of the environment', async () => {
    const { read, requests, header } = fixture({ body: '{"access_token":"identity"}' }, env);
    expect((await read({ kind: 'azure-imds', value: 'user-assigned' })).reveal()).toBe('identity');
    expect(requests[0]?.url.href).toBe(
      'http://169.254.255.2:8081/msi/token?api-version=2019-08-01&resource=api%3A%2F%2Faud&client_id=user-assigned',
    );
    expect(header('X-IDENTITY-HEADER')).toBe('secret-of-the-service');
  });

  it.each([
    { ...env, IDENTITY_HEADER: '' },
    { ...env, IDENTITY_ENDPOINT: 'http://example.com/token' },
  ])('uses the metadata service with %j', async (other) => {
    const { read, requests } = fixture({ body: '{"access_token":"identity"}' }, other);
    await read({ kind: 'azure-imds' });
    expect(requests[0]?.url.host).toBe('169.254.169.254');
  });
});

describe('the source github-actions', () => {
  it('requests an ID token for the audience with the token of the job', async () => {
    const { read, requests, header } = fixture({ body: '{"value":"id.of.job","count":1}' });
    expect((await read({ kind: 'github-actions' }, 'api://a b&c')).reveal()).toBe('id.of.job');
    expect(requests[0]?.method).toBe('GET');
    expect(requests[0]?.url.href).toBe('https://pipelines.example/token?api-version=2.0&audience=api%3A%2F%2Fa+b%26c');
    expect(header('Authorization')).toBe('Bearer request-token-of-the-job');
  });

  it.each([
    ['no variable', {}],
    ['no URL', { ACTIONS_ID_TOKEN_REQUEST_TOKEN: 't' }],
    ['no token', { ACTIONS_ID_TOKEN_REQUEST_URL: 'https://pipelines.example/?a=b' }],
    ['a URL without TLS', { ...actions, ACTIONS_ID_TOKEN_REQUEST_URL: 'http://pipelines.example/?a=b' }],
  ])('names the permission with %s', async (_what, env) => {
    const { read, requests } = fixture({}, env);
    const error = (await errorOf(read({ kind: 'github-actions' }))) as InvalidProfileError;
    expect(error.issues).toMatchObject([
      { variable: 'svc.options.assertion_source', hint: expect.stringContaining('permissions: id-token: write') },
    ]);
    expect(requests).toEqual([]);
  });

  it.each(['{"count":1}', '', '[]', '{"value":7}'])('reports a response without a token: %j', async (body) => {
    expect(await errorOf(fixture({ body }).read({ kind: 'github-actions' }))).toBeInstanceOf(InvalidProfileError);
  });

  it.each([400, 401, 403, 404, 302])('reports HTTP %i, which another attempt would not change', async (status) => {
    const error = await errorOf(fixture({ status, body: 'the-body-may-be-a-token' }).read({ kind: 'github-actions' }));
    expect(error).toBeInstanceOf(InvalidProfileError);
    expect(JSON.stringify(error)).not.toContain('the-body');
  });

  it.each([429, 500, 503])('reports HTTP %i as a failure before sending, so that it is tried again', async (status) => {
    const error = await errorOf(fixture({ status }).read({ kind: 'github-actions' }));
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
    expect(error).toBeInstanceOf(TransportError);
  });
});

describe('metadata services', () => {
  it('supply an ID token of a Google machine, if the response has their header', async () => {
    const { read, requests, header } = fixture({ body: 'id.of.vm\n', headers: { 'metadata-flavor': 'Google' } });
    expect((await read({ kind: 'google-metadata' }, 'https://a.example')).reveal()).toBe('id.of.vm');
    expect(requests[0]?.url.href).toBe(
      'http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/identity?audience=https%3A%2F%2Fa.example&format=full',
    );
    expect(header('Metadata-Flavor')).toBe('Google');
    const other = await errorOf(fixture({ body: 'not.the.service' }).read({ kind: 'google-metadata' }));
    expect(other).toBeInstanceOf(InvalidProfileError);
  });

  it('supply an access token of an Azure machine, also of one of several identities', async () => {
    const { read, requests, header } = fixture({ body: '{"access_token":"of.the.vm","expires_on":"1"}' });
    expect((await read({ kind: 'azure-imds' }, 'api://AzureADTokenExchange')).reveal()).toBe('of.the.vm');
    expect(header('Metadata')).toBe('true');
    await read({ kind: 'azure-imds', value: 'id-1' }, 'api://x');
    expect(requests.map(({ url }) => url.href)).toEqual([
      'http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=api%3A%2F%2FAzureADTokenExchange',
      'http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=api%3A%2F%2Fx&client_id=id-1',
    ]);
  });

  it('are never reached through a proxy', () => {
    const env = { HTTP_PROXY: 'http://proxy.example', ALL_PROXY: 'http://proxy.example' };
    expect(proxyFor(new URL('http://169.254.169.254/metadata'), env)).toBeUndefined();
    expect(proxyFor(new URL('http://169.254.1.1/metadata'), env)).toBeDefined();
  });
});

describe('environment variables, files and URLs', () => {
  it('supply the assertion without line ends', async () => {
    expect((await fixture({}, {}, 'a.b.c\r\n').read({ kind: 'env', value: 'ID_TOKEN' })).reveal()).toBe('a.b.c');
    const json = '{"token":"a.b.c"}';
    expect((await fixture({}, {}, json).read({ kind: 'file', value: 'x', member: 'token' })).reveal()).toBe('a.b.c');
  });

  it('are requested with their headers', async () => {
    const { read, requests, header } = fixture({ body: '{"value":"a.b.c"}' });
    const headers = { Authorization: new Secret('Bearer of-the-file') };
    const source = { kind: 'url', value: 'https://issuer.example/token', member: 'value', headers } as const;
    expect((await read(source)).reveal()).toBe('a.b.c');
    expect(requests[0]?.url.href).toBe('https://issuer.example/token');
    expect(header('Authorization')).toBe('Bearer of-the-file');
  });

  it.each([
    ['an unset variable', 'env', {}, 'set CI_TOKEN'],
    ['an unset variable in GitLab', 'env', { GITLAB_CI: 'true' }, 'id_tokens: CI_TOKEN: aud: api://aud'],
    ['a missing file', 'file', {}, ''],
  ] as const)('are reported if they supply nothing: %s', async (_what, kind, env, hint) => {
    const error = (await errorOf(fixture({}, env).read({ kind, value: 'CI_TOKEN' }))) as InvalidProfileError;
    expect(error.issues).toMatchObject([{ hint: expect.stringContaining(hint) }]);
  });
});
