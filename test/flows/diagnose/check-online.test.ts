import { describe, expect, it } from 'vitest';
import { OAuthProfileError, TransportError } from '../../../src/errors.ts';
import { checkOnline, type OnlinePorts } from '../../../src/flows/diagnose/check-online.ts';
import type { Diagnostic } from '../../../src/flows/diagnose/finding.ts';
import type { ApiRequest, ApiResponse } from '../../../src/ports.ts';
import { LoadedFile, type Profile } from '../../../src/profile/profile.ts';
import { profileOf } from '../../support/profile-of.ts';

const NOW = Date.UTC(2027, 0, 1);
const DAY_MS = 86_400_000;
const server = 'https://login.example.test';
const machineProfile = {
  type: 'custom',
  url: `${server}/oauth/token`,
  grant_type: 'client_credentials',
  client_id: 'me',
  client_secret: 'c4n4ry-secret',
};
const person = {
  ...machineProfile,
  grant_type: 'refresh_token',
  refresh_token: 'c4n4ry-refresh',
  'options.authorization_url': `${server}/oauth/authorize`,
};
const document = {
  issuer: server,
  token_endpoint: `${server}/oauth/token`,
  authorization_endpoint: `${server}/oauth/authorize`,
  grant_types_supported: ['client_credentials', 'refresh_token', 'authorization_code'],
  token_endpoint_auth_methods_supported: ['client_secret_post'],
  code_challenge_methods_supported: ['S256'],
};
const trusted = { issuer: 'Some CA', endsAt: NOW + 90 * DAY_MS, failure: undefined, proxy: undefined };

type EmulatorResponse = Partial<Omit<ApiResponse, 'body'>> & { readonly body?: unknown };

function answerOf({ status = 200, headers = {}, body = '' }: EmulatorResponse): ApiResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, statusText: '', headers, body: new TextEncoder().encode(text) };
}

interface World extends Partial<OnlinePorts> {
  /** What each path answers; 404 unless it is here. */
  readonly paths?: Readonly<Record<string, EmulatorResponse>>;
  readonly signal?: AbortSignal;
}

async function look(fields: Record<string, unknown>, { paths = {}, signal, ...changes }: World = {}) {
  const asked: ApiRequest[] = [];
  const outside: OnlinePorts = {
    clock: { now: () => NOW },
    version: '1.2.3',
    callApi: async (request) => {
      asked.push(request);
      return answerOf(paths[request.url.pathname] ?? { status: 404 });
    },
    listen: async ({ port }) => ({ port, redirect: new Promise(() => {}), close: async () => {} }),
    seeCertificate: async () => trusted,
    ...changes,
  };
  const profile = profileOf(fields);
  const found = await checkOnline([profile], outside, signal);
  const findings = found.get(profile) ?? [];
  return { findings, asked, bad: findings.filter(({ level }) => level !== 'ok') };
}

const lookAt = (fields: Record<string, unknown>, published: unknown) =>
  look(fields, { paths: { '/.well-known/oauth-authorization-server': { body: published } } });

const levels = (findings: readonly Diagnostic[]) => findings.map(({ level, about }) => `${level} ${about}`);

describe('what a server publishes of itself', () => {
  it('agrees with a profile that asks as the server says', async () => {
    for (const fields of [machineProfile, person]) {
      const { findings } = await lookAt(fields, document);
      expect(levels(findings)).toEqual(['ok certificate', 'ok discovery']);
      expect(findings[1]).toMatchObject({
        where: `${server}/.well-known/oauth-authorization-server`,
        message: 'agrees with the profile',
      });
    }
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>, string, string, RegExp, RegExp]>([
    [
      'an unknown grant',
      { ...machineProfile, grant_type: 'password', username: 'u', password: 'c4n4ry' },
      {},
      'fault',
      'svc.grant_type',
      /does not announce the grant password, only client_credentials/,
      /set svc\.grant_type/,
    ],
    [
      'no refreshing, which many servers do not mention',
      person,
      { grant_types_supported: ['authorization_code'] },
      'warning',
      'svc.grant_type',
      /refresh_token/,
      /svc\.grant_type/,
    ],
    [
      'another client authentication',
      machineProfile,
      { token_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt'] },
      'fault',
      'svc.options.client_auth',
      /client_secret_post, only client_secret_basic, private_key_jwt/,
      /set svc\.options\.client_auth to basic or private_key_jwt/,
    ],
    [
      'no Basic header',
      { ...machineProfile, 'options.client_auth': 'basic' },
      {},
      'fault',
      'svc.options.client_auth',
      /client_secret_basic, only client_secret_post/,
      /to body/,
    ],
    [
      'no clients without a secret',
      { ...machineProfile, client_secret: undefined },
      {},
      'fault',
      'svc.options.client_auth',
      /clients without a secret/,
      /to body/,
    ],
    [
      'a client authentication that we do not have',
      machineProfile,
      { token_endpoint_auth_methods_supported: ['client_secret_jwt'] },
      'fault',
      'svc.options.client_auth',
      /only client_secret_jwt/,
      /withValue those who run the server/,
    ],
    [
      'PKCE without S256',
      person,
      { code_challenge_methods_supported: ['plain'] },
      'fault',
      'svc.options.authorization_url',
      /S256, but the server announces plain/,
      /allow S256/,
    ],
    [
      'another page to sign in at',
      person,
      { authorization_endpoint: `${server}/new/authorize` },
      'warning',
      'svc.options.authorization_url',
      /login asks .*\/oauth\/authorize, but the server announces .*\/new\/authorize/,
      /options\.authorization_url/,
    ],
    [
      'another address for device codes',
      { ...person, 'options.device_authorization_url': `${server}/device` },
      { device_authorization_endpoint: `${server}/devices` },
      'warning',
      'svc.options.device_authorization_url',
      /\/device, but the server announces .*\/devices/,
      /device_authorization_url/,
    ],
    [
      'where to sign in, which the profile does not say',
      { ...person, 'options.authorization_url': undefined },
      {},
      'note',
      'svc.options.authorization_url',
      /login cannot use it/,
      /set it to https:\/\/login\.example\.test\/oauth\/authorize/,
    ],
    [
      'a scope for refresh tokens that the profile does not withValue for',
      { ...person, scope: 'read' },
      { scopes_supported: ['openid', 'offline_access'] },
      'note',
      'svc.scope',
      /lacks offline_access/,
      /add offline_access to svc\.scope/,
    ],
    [
      'scopes, one of which the profile misspells',
      { ...machineProfile, scope: 'reed openid' },
      { scopes_supported: ['read', 'write'] },
      'note',
      'svc.scope',
      /does not announce reed$/,
      /spelling/,
    ],
    [
      'another token endpoint',
      machineProfile,
      { token_endpoint: `${server}/v2/token`, grant_types_supported: [] },
      'warning',
      'svc.url',
      /announces: https:\/\/login\.example\.test\/v2\/token/,
      /svc\.url/,
    ],
    ['no token endpoint', machineProfile, { token_endpoint: 7 }, 'warning', 'svc.url', /announces: none/, /svc\.url/],
  ])('tells of %s', async (_, fields, changes, level, where, message, hint) => {
    const { bad } = await lookAt(withoutUndefined(fields), { ...document, ...changes });
    expect(bad).toEqual([
      expect.objectContaining({
        level,
        where,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      }),
    ]);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['lists that are missing', person, { issuer: server, token_endpoint: `${server}/oauth/token` }],
    [
      'lists that are none',
      person,
      { grant_types_supported: 'all', scopes_supported: null, code_challenge_methods_supported: {} },
    ],
    ['an address with a query', { ...machineProfile, url: `${server}/oauth/token?api=2` }, {}],
    [
      'an alias for client certificates',
      machineProfile,
      { token_endpoint: `${server}/x`, mtls_endpoint_aliases: { token_endpoint: `${server}/oauth/token` } },
    ],
    [
      'standard scopes alone, which say nothing of others',
      { ...machineProfile, scope: 'reed' },
      { scopes_supported: ['openid'] },
    ],
    [
      'an assertion of any kind, for one that the profile brings along',
      { ...machineProfile, client_secret: undefined, client_assertion: 'c4n4ry', client_assertion_type: 'x' },
      { token_endpoint_auth_methods_supported: ['client_secret_jwt'] },
    ],
  ])('finds nothing wrong with %s', async (_, fields, changes) => {
    const { bad } = await lookAt(withoutUndefined(fields), { ...document, ...changes });
    expect(bad).toEqual([]);
  });

  it.each([
    [
      'disagrees where an address does',
      { token_endpoint: `${server}/v2/token` },
      machineProfile,
      ['warning discovery'],
    ],
    [
      'agrees where only a scope is lacking',
      { scopes_supported: ['offline_access'] },
      { ...person, scope: 'read' },
      ['ok discovery', 'note scope'],
    ],
  ])('%s', async (_, changes, fields, expected) => {
    const { findings } = await lookAt(fields, { ...document, ...changes });
    expect(levels(findings)).toEqual(['ok certificate', ...expected]);
  });

  it('counts only where it is answered with 200', async () => {
    const { bad } = await look(machineProfile, {
      paths: { '/.well-known/oauth-authorization-server': { status: 203, body: document } },
    });
    expect(bad).toEqual([
      {
        level: 'note',
        about: 'discovery',
        where: `${server}/.well-known/oauth-authorization-server`,
        message: 'nothing is published there (HTTP 203), so that the profile cannot be compared',
      },
    ]);
  });

  it('is looked for below the longest path first, three steps up at most', async () => {
    const { asked } = await look({ ...machineProfile, url: `${server}/a/b/c/d/token` });
    expect(asked.map(({ url }) => url.pathname)).toEqual([
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/a/b/c/d/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/a/b/c/d',
      '/a/b/c/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/a/b/c',
      '/a/b/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/a/b',
    ]);
  });

  it('is looked for at each issuer that the token endpoint may belong to', async () => {
    const url = `${server}/realms/x/protocol/openid-connect/token`;
    const path = '/realms/x/.well-known/openid-configuration';
    const foreign = { ...document, token_endpoint: `${server}/realms/master/token` };
    const own = { ...document, token_endpoint: url, grant_types_supported: [] };
    const { bad, asked } = await look(
      { ...machineProfile, url },
      { paths: { '/.well-known/openid-configuration': { body: foreign }, [path]: { body: own } } },
    );
    expect(bad.map(({ where }) => where)).toEqual(['svc.grant_type']);
    expect(asked.at(-1)?.url.pathname).toBe(path);
    expect(asked.length).toBeLessThanOrEqual(8);
  });

  it.each<[string, EmulatorResponse]>([
    ['nothing', { status: 404 }],
    ['a page', { status: 200, body: '<html><title>Welcome</title>' }],
    ['broken JSON', { status: 200, body: '{"issuer":' }],
    ['JSON that is no document', { status: 200, body: { hello: 'world' } }],
    ['a list', { status: 200, body: [1] }],
    ['a redirect', { status: 302, headers: { location: 'https://evil.test/' } }],
    ['an error', { status: 400, body: { error: 'invalid_request' } }],
    ['a bad day', { status: 503, body: 'busy' }],
  ])('is no fault of the profile where the server answers with %s', async (_, answer) => {
    const paths = Object.fromEntries(
      ['', '/oauth'].flatMap((issuer) => [
        [`${issuer}/.well-known/openid-configuration`, answer],
        [`/.well-known/oauth-authorization-server${issuer}`, answer],
      ]),
    );
    const { bad, asked } = await look(machineProfile, { paths });
    expect(levels(bad)).toEqual(['note discovery']);
    expect(asked.every(({ url }) => url.origin === server)).toBe(true);
  });

  it('is asked for with a GET that carries nothing of the profile', async () => {
    const { asked } = await look({ ...person, url: `${server}/oauth/token?key=c4n4ry-query` });
    expect(asked.length).toBeGreaterThan(1);
    for (const { method, headers, body, url } of asked) {
      expect([method, body]).toEqual(['GET', undefined]);
      expect(headers.map(([name]) => name)).toEqual(['Accept', 'User-Agent']);
      expect(url.href + JSON.stringify(headers)).not.toContain('c4n4ry');
    }
  });
});

describe('providers that are known', () => {
  const graph = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', refresh_token: 'c4n4ry-refresh' };
  const ms = 'https://login.microsoftonline.com';
  const path = '/contoso.com/v2.0/.well-known/openid-configuration';
  const guid = '11111111-2222-3333-4444-555555555555';
  const published = {
    issuer: `${ms}/${guid}/v2.0`,
    token_endpoint: `${ms}/${guid}/oauth2/v2.0/token`,
    authorization_endpoint: `${ms}/${guid}/oauth2/v2.0/authorize`,
    device_authorization_endpoint: `${ms}/${guid}/oauth2/v2.0/devicecode`,
    token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'],
    scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
  };

  it('microsoft names a tenant by its id, serves public clients without saying so, and knows more scopes', async () => {
    const { bad, asked } = await look(
      { ...graph, scope: 'user.read offline_access' },
      { paths: { [path]: { body: published } } },
    );
    expect(bad).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it('microsoft with another path after the tenant is another endpoint', async () => {
    const token_endpoint = `${ms}/${guid}/oauth2/token`;
    const { bad } = await look(graph, { paths: { [path]: { body: { ...published, token_endpoint } } } });
    expect(bad).toEqual([expect.objectContaining({ level: 'warning', where: 'svc.url' })]);
  });

  it.each([[published], [undefined]])('microsoft gives no new refresh token without offline_access', async (body) => {
    const paths = { [path]: body === undefined ? { status: 500 } : { body } };
    const { bad } = await look({ ...graph, scope: 'user.read' }, { paths });
    expect(bad.at(-1)).toMatchObject({
      level: 'warning',
      where: 'svc.scope',
      hint: 'add offline_access to svc.scope',
    });
  });

  it('what is published agrees also with a profile whose scope draws a warning', async () => {
    const { findings } = await look({ ...graph, scope: 'user.read' }, { paths: { [path]: { body: published } } });
    expect(levels(findings)).toEqual(['ok certificate', 'ok discovery', 'warning scope']);
  });

  it('a tenant that the provider does not know is a fault, with the hint that the provider’s code has', async () => {
    const body = { error: 'invalid_tenant', error_description: "AADSTS90002: Tenant 'x' not found.\r\nTrace ID: 1" };
    const { bad } = await look(graph, { paths: { [path]: { status: 400, body } } });
    expect(bad).toEqual([
      expect.objectContaining({
        level: 'fault',
        about: 'discovery',
        message: expect.stringMatching(/^HTTP 400, invalid_tenant: AADSTS90002[^\r\n]*$/),
        hint: expect.stringContaining('svc.tenant_id'),
      }),
    ]);
  });

  it.each([
    ['microsoft', graph, path, 'check svc.tenant_id and svc.url'],
    [
      'gitlab',
      { type: 'gitlab', username: 'u', password: 'c4n4ry' },
      '/.well-known/openid-configuration',
      'check svc.url',
    ],
  ])('%s, when it knows nothing of what was asked for, says so in its own words', async (_, fields, at, hint) => {
    const { bad } = await look(fields, { paths: { [at]: { status: 404, body: { error: 'so_not_here' } } } });
    expect(bad[0]).toMatchObject({ level: 'fault', message: 'HTTP 404, so_not_here', hint });
  });

  it.each<[string, EmulatorResponse]>([
    ['of another kind', { status: 500, body: { error: 'server_error' } }],
    ['without a word', { status: 404 }],
    ['that is no refusal', { status: 404, body: { hello: 'world' } }],
  ])('an answer %s is no fault of the profile', async (_, answer) => {
    const { bad } = await look({ ...graph, scope: 'offline_access' }, { paths: { [path]: answer } });
    expect(bad).toEqual([
      {
        level: 'note',
        about: 'discovery',
        where: ms + path,
        message: `nothing is published there (HTTP ${answer.status}), so that the profile cannot be compared`,
      },
    ]);
  });

  it('a provider whose people sign in elsewhere is asked at both addresses there', async () => {
    const { asked } = await look({ ...graph, 'options.authorization_url': 'https://sso.example.test/authorize' });
    expect(asked.map(({ url }) => url.href)).toEqual([
      'https://sso.example.test/.well-known/oauth-authorization-server',
      'https://sso.example.test/.well-known/openid-configuration',
    ]);
  });

  it('google’s older address is a note, and the rest of the document counts', async () => {
    const drive = { type: 'google', client_id: 'c', client_secret: 'c4n4ry', refresh_token: 'c4n4ry' };
    const body = {
      issuer: 'https://accounts.google.com',
      token_endpoint: 'https://oauth2.googleapis.com/token',
      grant_types_supported: ['authorization_code', 'refresh_token'],
    };
    const paths = { '/.well-known/openid-configuration': { body } };
    const { findings } = await look(drive, { paths });
    expect(levels(findings)).toEqual(['ok certificate', 'ok discovery', 'note discovery']);
    expect(findings[2]).toMatchObject({ where: 'svc.url', message: expect.stringContaining(body.token_endpoint) });
    const own = await look({ ...drive, url: body.token_endpoint }, { paths });
    expect(own.bad.filter(({ where }) => where === 'svc.url')).toEqual([]);
    const other = await look({ ...drive, grant_type: 'client_credentials' }, { paths });
    expect(other.bad.at(-1)).toMatchObject({
      level: 'fault',
      hint: expect.stringContaining('Google has no password'),
    });
  });

  it('twitter publishes nothing and is asked once, for its clock', async () => {
    const { bad, asked } = await look({ type: 'twitter', client_id: 'c', client_secret: 'c4n4ry' });
    expect(levels(bad)).toEqual(['note discovery']);
    expect(asked).toHaveLength(1);
  });
});

describe('the clock', () => {
  const at = (seconds: number, headers = {}) => ({
    paths: {
      '/.well-known/oauth-authorization-server': {
        body: document,
        headers: { date: new Date(NOW - seconds * 1000).toUTCString(), ...headers },
      },
    },
  });
  const clock = async (seconds: number, headers = {}, fields: Record<string, unknown> = machineProfile) =>
    (await look(fields, at(seconds, headers))).findings.find(({ about }) => about === 'clock');

  it.each([
    [0, 'ok', /agrees/],
    [60, 'ok', /agrees/],
    [61, 'warning', /^61 s ahead of/],
    [-61, 'warning', /^61 s behind/],
    [4000, 'warning', /4000 s ahead/],
  ])('%s s ahead is %s', async (seconds, level, message) => {
    expect(await clock(seconds)).toMatchObject({ level, message: expect.stringMatching(message) });
  });

  it('a cached answer is as old as its cache says', async () => {
    expect(await clock(3600, { age: '3600' })).toMatchObject({ level: 'ok' });
    expect(await clock(3600, { age: 'old' })).toMatchObject({ level: 'warning' });
  });

  it('nothing is said where the server does not tell the time', async () => {
    expect(await clock(0, { date: 'soon' })).toBeUndefined();
    expect(await clock(0, { date: undefined })).toBeUndefined();
  });

  it.each([
    [300, 'warning'],
    [301, 'fault'],
    [-301, 'fault'],
  ])('for signed assertions %s s are a %s', async (seconds, level) => {
    const signing = { ...profileOf(machineProfile), clientAuth: 'private_key_jwt' } as Profile;
    const { paths } = at(seconds);
    const outside = {
      clock: { now: () => NOW },
      version: '1',
      callApi: async () => answerOf(paths['/.well-known/oauth-authorization-server']),
      listen: () => Promise.reject(new Error('nobody listens')),
      seeCertificate: async () => trusted,
    };
    const findings = (await checkOnline([signing], outside, undefined)).get(signing) ?? [];
    expect(findings.find(({ about }) => about === 'clock')).toMatchObject({
      level,
      hint: expect.stringContaining('assertions'),
    });
  });
});

describe('the way to the server', () => {
  const transportError = (code: 'tls_failed' | 'connection_failed' | 'timeout' | 'not_emulated', sent: boolean) =>
    new TransportError(code, 'it failed', { sent, hint: 'do this', cause: { code: 'SELF_SIGNED_CERT_IN_CHAIN' } });

  it.each([
    [15, 'ok', /until 2027-01-16/],
    [14, 'warning', /ends in 14 days, on 2027-01-15/],
    [1, 'warning', /ends in 1 day,/],
    [-1, 'warning', /ends in 0 days/],
  ])('a certificate that ends in %s days is %s', async (days, level, message) => {
    const { findings } = await look(machineProfile, {
      seeCertificate: async () => ({ ...trusted, endsAt: NOW + days * DAY_MS }),
    });
    expect(findings[0]).toMatchObject({ level, about: 'certificate', message: expect.stringMatching(message) });
  });

  it('a certificate of an unknown authority is a fault, and nothing is asked', async () => {
    const failure = transportError('tls_failed', false);
    const { findings, asked } = await look(machineProfile, { seeCertificate: async () => ({ ...trusted, failure }) });
    expect(findings).toEqual([
      expect.objectContaining({ level: 'fault', hint: 'do this', message: expect.stringContaining('from Some CA') }),
    ]);
    expect(asked).toEqual([]);
  });

  it.each([
    ['of a provider that everybody knows', { type: 'gitlab', username: 'u', password: 'c4n4ry' }, true],
    ['of one’s own', { type: 'gitlab', url: 'https://git.acme.test/oauth/token', username: 'u', password: 'p' }, false],
  ])('an unknown authority hints at a proxy that reads along, on a server %s', async (_, fields, hinted) => {
    const failure = transportError('tls_failed', false);
    const { findings } = await look(fields, { seeCertificate: async () => ({ ...trusted, failure }) });
    expect(findings[0]?.hint?.includes('reads along')).toBe(hinted);
  });

  it('through a proxy says through which', async () => {
    const { findings } = await look(machineProfile, {
      seeCertificate: async () => ({ ...trusted, proxy: 'proxy.corp:3128' }),
    });
    expect(findings[0]).toMatchObject({
      level: 'ok',
      about: 'connection',
      message: 'reached through the proxy proxy.corp:3128',
    });
  });

  it('has no certificate without TLS', async () => {
    const { findings } = await look(
      { ...machineProfile, url: 'http://127.0.0.1:8080/oauth/token' },
      { seeCertificate: () => Promise.reject(new Error('nobody shows one')) },
    );
    expect(levels(findings)).toEqual(['note discovery']);
  });

  it.each([
    ['that leads nowhere is a fault', transportError('connection_failed', false), 'fault', 'do this'],
    ['on which TLS fails late is a fault', transportError('tls_failed', true), 'fault', 'do this'],
    ['to what is not emulated is a fault', transportError('not_emulated', true), 'fault', 'do this'],
    ['whose proxy is no address is a fault', new OAuthProfileError('data_invalid', 'x', { hint: 'y' }), 'fault', 'y'],
    ['to a server that hangs is a warning', transportError('timeout', true), 'warning', 'try again later'],
  ])('%s', async (_, error, level, hint) => {
    const { bad } = await look(machineProfile, { callApi: () => Promise.reject(error) });
    expect(bad).toEqual([
      expect.objectContaining({
        level,
        about: 'connection',
        where: 'login.example.test',
        hint: expect.stringContaining(hint),
      }),
    ]);
  });

  it.each([
    [true, 'tls_failed', ['note discovery']],
    [false, 'tls_failed', ['fault connection']],
    [true, 'connection_failed', ['fault connection']],
  ] as const)(
    'to a server that shakes no hands without a client certificate: the profile has one, %s; %s',
    async (has, code, expected) => {
      const plain = profileOf(machineProfile);
      const cert = has ? new LoadedFile('client.pem', '') : undefined;
      const profile: Profile = { ...plain, options: { ...plain.options, cert } };
      const outside = {
        clock: { now: () => NOW },
        version: '1',
        callApi: async () => answerOf({ status: 404 }),
        listen: () => Promise.reject(new Error('nobody listens')),
        seeCertificate: () => Promise.reject(transportError(code, false)),
      };
      expect(levels((await checkOnline([profile], outside, undefined)).get(profile) ?? [])).toEqual(expected);
    },
  );

  it('that breaks after the first answer costs only what would have come', async () => {
    let asked = 0;
    const { bad } = await look(machineProfile, {
      callApi: async () => {
        if (asked++ > 0) throw transportError('connection_failed', true);
        return answerOf({ status: 404 });
      },
    });
    expect(levels(bad)).toEqual(['note discovery']);
  });

  it('hides no mistake of our own after the first answer', async () => {
    let asked = 0;
    const mistake = new TypeError('a mistake');
    const looking = look(machineProfile, {
      callApi: async () => {
        if (asked++ > 0) throw mistake;
        return answerOf({ status: 404 });
      },
    });
    await expect(looking).rejects.toBe(mistake);
  });

  it('ends with the person’s patience, not with a finding', async () => {
    const abortError = new OAuthProfileError('aborted', 'stop');
    await expect(look(machineProfile, { callApi: () => Promise.reject(abortError) })).rejects.toBe(abortError);
  });

  it.each([
    [4_000, [10_000, 6_000, 2_000]],
    [5_000, [10_000, 5_000]],
  ])('has ten seconds in all, however many addresses are asked: %i ms each', async (ms, expected) => {
    let now = NOW;
    const times: number[] = [];
    await look(machineProfile, {
      clock: { now: () => now },
      callApi: async (_, { timeoutMs }) => {
        times.push(timeoutMs);
        now += ms;
        return answerOf({ status: 404 });
      },
    });
    expect(times).toEqual(expected);
  });
});

describe('the redirect', () => {
  const fields = { ...person, 'options.redirect_uri': 'http://127.0.0.1:8912/callback' };

  it('needs its port free, and gives it back', async () => {
    const events: string[] = [];
    const { findings } = await look(fields, {
      listen: async ({ host, port, path }, isAwaited) => {
        events.push(`${host} ${port} ${path} ${isAwaited('state=any')}`);
        return { port, redirect: new Promise(() => {}), close: async () => void events.push('closed') };
      },
    });
    expect(findings.at(-1)).toMatchObject({ level: 'ok', about: 'redirect', message: 'port 8912 is free' });
    expect(events).toEqual(['127.0.0.1 8912 /callback false', 'closed']);
  });

  it('with a port that somebody else has is a fault', async () => {
    const { findings } = await look(fields, {
      listen: () => Promise.reject(new OAuthProfileError('usage', 'port 8912 of 127.0.0.1 cannot be listened on')),
    });
    expect(findings.at(-1)).toEqual({
      level: 'fault',
      about: 'redirect',
      where: 'svc.options.redirect_uri',
      message: 'port 8912 of 127.0.0.1 cannot be listened on',
      hint: 'end the program that has the port, or register a redirect with another one and set it here',
    });
  });

  it('hides no mistake of our own', async () => {
    const mistake = new TypeError('a mistake');
    await expect(look(fields, { listen: () => Promise.reject(mistake) })).rejects.toBe(mistake);
  });

  it('without a port means port 80', async () => {
    const { findings } = await look({ ...fields, 'options.redirect_uri': 'http://localhost/' });
    expect(findings.at(-1)).toMatchObject({ message: 'port 80 is free' });
  });
});

it('looks at no more than four profiles at once, and tries one port at a time', async () => {
  let [looking, most, listening] = [0, 0, 0];
  const profiles = Array.from({ length: 9 }, () =>
    profileOf({ ...person, 'options.redirect_uri': 'http://127.0.0.1:8912/callback' }),
  );
  const outside: OnlinePorts = {
    clock: { now: () => NOW },
    version: '1',
    callApi: async () => answerOf({ body: document }),
    listen: async () => {
      if (listening++ > 0) throw new OAuthProfileError('usage', 'it is taken');
      return { port: 8912, redirect: new Promise(() => {}), close: async () => void listening-- };
    },
    seeCertificate: async () => {
      most = Math.max(most, ++looking);
      await new Promise(setImmediate);
      looking--;
      return trusted;
    },
  };
  const found = await checkOnline(profiles, outside, undefined);
  expect(most).toBe(4);
  for (const profile of profiles) expect(found.get(profile)?.at(-1)).toMatchObject({ level: 'ok', about: 'redirect' });
});

function withoutUndefined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
