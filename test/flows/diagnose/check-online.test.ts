import { describe, expect, it } from 'vitest';
import { OAuthProfileError, TransportError } from '../../../src/errors.ts';
import { checkOnline, type OnlinePorts } from '../../../src/flows/diagnose/check-online.ts';
import type { Diagnostic } from '../../../src/flows/diagnose/diagnostic.ts';
import type { ApiRequest, ApiResponse, LoginPorts } from '../../../src/ports.ts';
import { LoadedFile, type Profile } from '../../../src/profile/profile.ts';
import { FakeClock } from '../../support/ports.ts';
import { profileOf } from '../../support/profiles.ts';

const NOW = new FakeClock().time;
const server = 'https://login.example.test';
const machine = {
  type: 'custom',
  url: `${server}/oauth/token`,
  grant_type: 'client_credentials',
  client_id: 'me',
  client_secret: 'c4n4ry-secret',
};
const user = {
  ...machine,
  grant_type: 'refresh_token',
  refresh_token: 'c4n4ry-refresh',
  'options.authorization_url': `${server}/oauth/authorize`,
};
const metadata = {
  issuer: server,
  token_endpoint: `${server}/oauth/token`,
  authorization_endpoint: `${server}/oauth/authorize`,
  grant_types_supported: ['client_credentials', 'refresh_token', 'authorization_code'],
  token_endpoint_auth_methods_supported: ['client_secret_post'],
  code_challenge_methods_supported: ['S256'],
};
const trusted = { issuer: 'Some CA', expiresAt: NOW + 90 * 86_400_000, failure: undefined, proxy: undefined };

type Published = Partial<Omit<ApiResponse, 'body'>> & { readonly body?: unknown };

function responseOf({ status = 200, headers = {}, body = '' }: Published): ApiResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, statusText: '', headers, body: new TextEncoder().encode(text) };
}

interface CheckSettings extends Partial<Pick<OnlinePorts, 'callApi' | 'inspectCertificate'>> {
  /** Responses by path. Default: 404. */
  readonly paths?: Readonly<Record<string, Published>>;
  readonly listen?: LoginPorts['listen'];
  readonly clock?: FakeClock;
}

/** Checks a profile. `problems` are the results with a level other than `ok`. */
async function check(
  fields: Record<string, unknown> | Profile,
  { paths = {}, clock = new FakeClock(), listen = listenAnywhere, ...changes }: CheckSettings = {},
) {
  const requests: ApiRequest[] = [];
  const ports: OnlinePorts = {
    ports: { clock, version: '1.2.3' },
    callApi: async (request) => {
      requests.push(request);
      return responseOf(paths[request.url.pathname] ?? { status: 404 });
    },
    inspectCertificate: async () => trusted,
    ...changes,
  };
  const profile = fields['url'] instanceof URL ? (fields as Profile) : profileOf(fields as Record<string, unknown>);
  const results = (await checkOnline([profile], ports, { listen }, undefined)).get(profile) ?? [];
  return { results, requests, problems: results.filter(({ level }) => level !== 'ok') };
}

const listenAnywhere: LoginPorts['listen'] = async ({ port }) => ({
  port,
  redirect: new Promise(() => {}),
  close: async () => {},
});
const publish = (body: unknown): CheckSettings => ({ paths: { '/.well-known/oauth-authorization-server': { body } } });
const levels = (results: readonly Diagnostic[]) => results.map(({ level, about }) => `${level} ${about}`);

describe('the metadata of a server', () => {
  it.each([machine, user])('agrees with a profile: $grant_type', async (fields) => {
    const { results } = await check(fields, publish(metadata));
    expect(levels(results)).toEqual(['ok certificate', 'ok discovery']);
    expect(results[1]?.where).toBe(`${server}/.well-known/oauth-authorization-server`);
  });

  it.each([
    ['disagrees', 'an endpoint', { token_endpoint: `${server}/v2/token` }, machine, ['warning discovery']],
    [
      'agrees',
      'a scope',
      { scopes_supported: ['offline_access'] },
      { ...user, scope: 'read' },
      ['ok discovery', 'note scope'],
    ],
    ['agrees', 'a member that is missing', { grant_types_supported: undefined }, user, ['ok discovery']],
  ])('%s if the only difference is %s', async (_, _difference, changes, fields, expected) => {
    const { results } = await check(fields, publish({ ...metadata, ...changes }));
    expect(levels(results)).toEqual(['ok certificate', ...expected]);
  });

  it('of the Okta org authorization server is at the root of its host', async () => {
    const origin = 'https://acme.okta.com';
    const org = { type: 'okta', url: `${origin}/oauth2/v1/token`, client_id: 'c', refresh_token: 'c4n4ry' };
    const body = {
      issuer: origin,
      token_endpoint: `${origin}/oauth2/v1/token`,
      authorization_endpoint: `${origin}/oauth2/v1/authorize`,
      device_authorization_endpoint: `${origin}/oauth2/v1/device/authorize`,
    };
    const { results } = await check(org, { paths: { '/.well-known/openid-configuration': { body } } });
    expect(levels(results)).toEqual(['ok certificate', 'ok discovery']);
    expect(results[1]?.where).toBe(`${origin}/.well-known/openid-configuration`);
  });

  it('is used only with status 200', async () => {
    const paths = { '/.well-known/oauth-authorization-server': { status: 203, body: metadata } };
    const { problems } = await check(machine, { paths });
    expect(problems).toMatchObject([
      {
        level: 'note',
        where: `${server}/.well-known/oauth-authorization-server`,
        message: expect.stringContaining('203'),
      },
    ]);
  });

  it('is requested for the host and for the three longest paths', async () => {
    const { requests } = await check({ ...machine, url: `${server}/a/b/c/d/token` });
    expect(requests.map(({ url }) => url.pathname)).toEqual([
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/a/b/c/d',
      '/a/b/c/d/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/a/b/c',
      '/a/b/c/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/a/b',
      '/a/b/.well-known/openid-configuration',
    ]);
  });

  it('is that of the issuer which the token endpoint belongs to', async () => {
    const url = `${server}/realms/x/protocol/openid-connect/token`;
    const path = '/realms/x/.well-known/openid-configuration';
    const other = { ...metadata, token_endpoint: `${server}/realms/master/token` };
    const own = { ...metadata, issuer: `${server}/realms/x`, token_endpoint: url, grant_types_supported: [] };
    const { problems, requests } = await check(
      { ...machine, url },
      { paths: { '/.well-known/openid-configuration': { body: other }, [path]: { body: own } } },
    );
    expect(problems.map(({ where }) => where)).toEqual(['svc.grant_type']);
    expect(requests.at(-1)?.url.pathname).toBe(path);
    expect(requests.length).toBeLessThanOrEqual(8);
  });

  it.each<[string, Published]>([
    ['404', { status: 404 }],
    ['HTML', { status: 200, body: '<html><title>Welcome</title>' }],
    ['invalid JSON', { status: 200, body: '{"issuer":' }],
    ['another JSON object', { status: 200, body: { hello: 'there' } }],
    ['a list', { status: 200, body: [1] }],
    ['a redirect', { status: 302, headers: { location: 'https://evil.test/' } }],
    ['an error response', { status: 400, body: { error: 'invalid_request' } }],
    ['HTTP 503', { status: 503, body: 'busy' }],
  ])('is optional: a server that responds with %s causes a note', async (_, response) => {
    const paths = Object.fromEntries(
      ['', '/oauth'].flatMap((issuer) => [
        [`${issuer}/.well-known/openid-configuration`, response],
        [`/.well-known/oauth-authorization-server${issuer}`, response],
      ]),
    );
    const { problems, requests } = await check(machine, { paths });
    expect(levels(problems)).toEqual(['note discovery']);
    expect(requests.every(({ url }) => url.origin === server)).toBe(true);
  });

  it('is requested with GET and without any value of the profile', async () => {
    const { requests } = await check({ ...user, url: `${server}/oauth/token?key=c4n4ry-query` });
    expect(requests.length).toBeGreaterThan(1);
    for (const { method, headers, body, url } of requests) {
      expect([method, body]).toEqual(['GET', undefined]);
      expect(headers.map(([name]) => name)).toEqual(['Accept', 'User-Agent']);
      expect(url.href + JSON.stringify(headers)).not.toContain('c4n4ry');
    }
  });
});

describe('the metadata of microsoft', () => {
  const microsoft = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', refresh_token: 'c4n4ry-refresh' };
  const origin = 'https://login.microsoftonline.com';
  const path = '/contoso.com/v2.0/.well-known/openid-configuration';
  const id = '11111111-2222-3333-4444-555555555555';
  const published = {
    issuer: `${origin}/${id}/v2.0`,
    token_endpoint: `${origin}/${id}/oauth2/v2.0/token`,
    authorization_endpoint: `${origin}/${id}/oauth2/v2.0/authorize`,
    device_authorization_endpoint: `${origin}/${id}/oauth2/v2.0/devicecode`,
    token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'],
    scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
  };

  it('agrees although it contains the tenant as an id, and neither public clients nor all scopes', async () => {
    const { problems, requests } = await check(
      { ...microsoft, scope: 'user.read offline_access' },
      { paths: { [path]: { body: published } } },
    );
    expect(problems).toEqual([]);
    expect(requests).toHaveLength(1);
  });

  it('disagrees if the path after the tenant differs', async () => {
    const token_endpoint = `${origin}/${id}/oauth2/token`;
    const { problems } = await check(microsoft, { paths: { [path]: { body: { ...published, token_endpoint } } } });
    expect(problems).toMatchObject([{ level: 'warning', where: 'svc.url' }]);
  });

  it.each<[string, Published, string]>([
    ['agrees', { body: published }, 'ok discovery'],
    ['is missing', { status: 500 }, 'note discovery'],
  ])('%s, and the missing scope offline_access causes a warning', async (_, response, discovery) => {
    const { results } = await check({ ...microsoft, scope: 'user.read' }, { paths: { [path]: response } });
    expect(levels(results)).toEqual(['ok certificate', discovery, 'warning scope']);
  });

  it('is an error if the tenant does not exist, with the hint for the provider’s code', async () => {
    const body = { error: 'invalid_tenant', error_description: "AADSTS90002: Tenant 'x' not found.\r\nTrace ID: 1" };
    const { problems } = await check(microsoft, { paths: { [path]: { status: 400, body } } });
    expect(problems).toMatchObject([
      {
        level: 'error',
        about: 'discovery',
        message: expect.stringMatching(/^HTTP 400, invalid_tenant: AADSTS90002[^\r\n]*$/),
        hint: expect.stringContaining('svc.tenant_id'),
      },
    ]);
  });

  it.each<[string, Published]>([
    ['HTTP 500', { status: 500, body: { error: 'server_error' } }],
    ['an empty 404', { status: 404 }],
    ['a 404 without an error', { status: 404, body: { hello: 'there' } }],
  ])('is optional: %s causes a note', async (_, response) => {
    const { problems } = await check({ ...microsoft, scope: 'offline_access' }, { paths: { [path]: response } });
    expect(problems).toMatchObject([
      { level: 'note', where: origin + path, message: expect.stringContaining(`HTTP ${response.status}`) },
    ]);
  });

  it('is requested from the host of options.authorization_url', async () => {
    const { requests } = await check({
      ...microsoft,
      'options.authorization_url': 'https://sso.example.test/authorize',
    });
    expect(requests.map(({ url }) => url.href)).toEqual([
      'https://sso.example.test/.well-known/oauth-authorization-server',
      'https://sso.example.test/.well-known/openid-configuration',
    ]);
  });

  it.each([
    ['microsoft', microsoft, path, ['svc.tenant_id', 'svc.url']],
    ['gitlab', { type: 'gitlab', username: 'u', password: 'c4n4ry' }, '/.well-known/openid-configuration', ['svc.url']],
  ])('and of other providers is an error if it is a 404 with an error: %s', async (_, fields, at, variables) => {
    const { problems } = await check(fields, { paths: { [at]: { status: 404, body: { error: 'not_here' } } } });
    expect(problems[0]).toMatchObject({ level: 'error', message: expect.stringContaining('not_here') });
    for (const variable of variables) expect(problems[0]?.hint).toContain(variable);
  });
});

describe('the metadata of', () => {
  it('google has a newer token URL, which causes a note, and is compared all the same', async () => {
    const google = { type: 'google', client_id: 'c', client_secret: 'c4n4ry', refresh_token: 'c4n4ry' };
    const body = {
      issuer: 'https://accounts.google.com',
      token_endpoint: 'https://oauth2.googleapis.com/token',
      grant_types_supported: ['authorization_code', 'refresh_token'],
    };
    const paths = { '/.well-known/openid-configuration': { body } };
    const { results } = await check(google, { paths });
    expect(levels(results)).toEqual(['ok certificate', 'ok discovery', 'note discovery']);
    expect(results[2]).toMatchObject({ where: 'svc.url', message: expect.stringContaining(body.token_endpoint) });
    const own = await check({ ...google, url: body.token_endpoint }, { paths });
    expect(own.problems.filter(({ where }) => where === 'svc.url')).toEqual([]);
    const other = await check({ ...google, grant_type: 'client_credentials' }, { paths });
    expect(other.problems.at(-1)).toMatchObject({ level: 'error', where: 'svc.grant_type' });
  });

  it('twitter does not exist, and one request compares the clocks', async () => {
    const { problems, requests } = await check({ type: 'twitter', client_id: 'c', client_secret: 'c4n4ry' });
    expect(levels(problems)).toEqual(['note discovery']);
    expect(requests).toHaveLength(1);
  });
});

describe('the connection to a server', () => {
  const failure = (code: 'tls_failed' | 'connection_failed' | 'timeout', sent: boolean) =>
    new TransportError(code, 'it failed', { sent, hint: 'the hint', cause: { code: 'SELF_SIGNED_CERT_IN_CHAIN' } });

  it('is not used further if the certificate is not trusted', async () => {
    const { results, requests } = await check(machine, {
      inspectCertificate: async () => ({ ...trusted, failure: failure('tls_failed', false) }),
    });
    expect(results).toMatchObject([{ level: 'error', about: 'certificate' }]);
    expect(requests).toEqual([]);
  });

  it('is reported with its proxy', async () => {
    const { results } = await check(machine, {
      inspectCertificate: async () => ({ ...trusted, proxy: 'proxy.corp:3128' }),
    });
    expect(levels(results).slice(0, 2)).toEqual(['ok connection', 'ok certificate']);
    expect(results[0]?.message).toContain('proxy.corp:3128');
  });

  it('has no certificate without TLS', async () => {
    const { results } = await check(
      { ...machine, url: 'http://127.0.0.1:8080/oauth/token' },
      { inspectCertificate: () => expect.fail('not needed') },
    );
    expect(levels(results)).toEqual(['note discovery']);
  });

  it('provides the time of the server', async () => {
    const headers = { date: new Date(NOW - 61_000).toUTCString() };
    const paths = { '/.well-known/oauth-authorization-server': { body: metadata, headers } };
    const { results } = await check(machine, { paths });
    expect(levels(results)).toEqual(['ok certificate', 'warning clock', 'ok discovery']);
  });

  it.each([
    ['cannot be made', failure('connection_failed', false), 'error'],
    ['is too slow', failure('timeout', true), 'warning'],
  ])('that %s is reported', async (_, error, level) => {
    const { problems } = await check(machine, { callApi: () => Promise.reject(error) });
    expect(problems).toMatchObject([{ level, about: 'connection', where: 'login.example.test' }]);
  });

  it.each([
    ['has', true, 'tls_failed', ['note discovery']],
    ['has no', false, 'tls_failed', ['error connection']],
    ['has', true, 'connection_failed', ['error connection']],
  ] as const)(
    'may require a client certificate, which the profile %s (%s): the check ends with %s',
    async (_, hasCertificate, code, expected) => {
      const plain = profileOf(machine);
      const cert = hasCertificate ? new LoadedFile('client.pem', '') : undefined;
      const { results } = await check(
        { ...plain, options: { ...plain.options, cert } },
        { inspectCertificate: () => Promise.reject(failure(code, false)) },
      );
      expect(levels(results)).toEqual(expected);
    },
  );

  it('may fail after the first response', async () => {
    let requests = 0;
    const { problems } = await check(machine, {
      callApi: async () => {
        if (requests++ > 0) throw failure('connection_failed', true);
        return responseOf({ status: 404 });
      },
    });
    expect(levels(problems)).toEqual(['note discovery']);
  });

  it('does not hide a bug after the first response', async () => {
    const bug = new TypeError('a bug');
    let requests = 0;
    const checked = check(machine, {
      callApi: async () => {
        if (requests++ > 0) throw bug;
        return responseOf({ status: 404 });
      },
    });
    await expect(checked).rejects.toBe(bug);
  });

  it('can be aborted', async () => {
    const aborted = new OAuthProfileError('aborted', 'stop');
    await expect(check(machine, { callApi: () => Promise.reject(aborted) })).rejects.toBe(aborted);
  });

  it.each([
    [4_000, [10_000, 6_000, 2_000]],
    [5_000, [10_000, 5_000]],
  ])('has ten seconds for all requests: %i ms each', async (ms, expected) => {
    const clock = new FakeClock();
    const timeouts: number[] = [];
    await check(machine, {
      clock,
      callApi: async (_, { timeoutMs }) => {
        timeouts.push(timeoutMs);
        clock.time += ms;
        return responseOf({ status: 404 });
      },
    });
    expect(timeouts).toEqual(expected);
  });
});

describe('a registered redirect URI', () => {
  const fields = { ...user, 'options.redirect_uri': 'http://127.0.0.1:8912/callback' };

  it('needs a free port, which is released again', async () => {
    const events: string[] = [];
    const { results } = await check(fields, {
      listen: async ({ host, port, path }, isExpected) => {
        events.push(`${host} ${port} ${path} ${isExpected('state=any')}`);
        return { port, redirect: new Promise(() => {}), close: async () => void events.push('closed') };
      },
    });
    expect(results.at(-1)).toMatchObject({ level: 'ok', about: 'redirect', message: expect.stringContaining('8912') });
    expect(events).toEqual(['127.0.0.1 8912 /callback false', 'closed']);
  });

  it('whose port is in use is an error', async () => {
    const { results } = await check(fields, {
      listen: () => Promise.reject(new OAuthProfileError('usage', 'port 8912 is in use')),
    });
    expect(results.at(-1)).toMatchObject({
      level: 'error',
      about: 'redirect',
      where: 'svc.options.redirect_uri',
      message: 'port 8912 is in use',
    });
  });

  it('without a port uses port 80', async () => {
    const { results } = await check({ ...fields, 'options.redirect_uri': 'http://localhost/' });
    expect(results.at(-1)).toMatchObject({ level: 'ok', message: expect.stringContaining('80') });
  });

  it('does not hide a bug', async () => {
    const bug = new TypeError('a bug');
    await expect(check(fields, { listen: () => Promise.reject(bug) })).rejects.toBe(bug);
  });
});

it('checkOnline checks at most four profiles at a time, and one port at a time', async () => {
  let [running, most, listening] = [0, 0, 0];
  const profiles = Array.from({ length: 9 }, () =>
    profileOf({ ...user, 'options.redirect_uri': 'http://127.0.0.1:8912/callback' }),
  );
  const listen: LoginPorts['listen'] = async () => {
    if (listening++ > 0) throw new OAuthProfileError('usage', 'port 8912 is in use');
    return { port: 8912, redirect: new Promise(() => {}), close: async () => void listening-- };
  };
  const ports: OnlinePorts = {
    ports: { clock: new FakeClock(), version: '1' },
    callApi: async () => responseOf({ body: metadata }),
    inspectCertificate: async () => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      return trusted;
    },
  };
  const results = await checkOnline(profiles, ports, { listen }, undefined);
  expect(most).toBe(4);
  for (const profile of profiles)
    expect(results.get(profile)?.at(-1)).toMatchObject({ level: 'ok', about: 'redirect' });
});
