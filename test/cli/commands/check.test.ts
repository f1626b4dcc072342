import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../src/flows/diagnose/diagnostic.ts';
import { Authority, SERVER_NAMES } from '../../support/certificates.ts';
import { type Finished, Sandbox } from '../../support/cli.ts';
import { ConnectProxy, rejectConnect } from '../../support/connect-proxy.ts';
import { leaksIn } from '../../support/leaks.ts';
import { type OidcProvider, startOidcProvider } from '../../support/oidc-provider.ts';
import { hasRedis, RedisServer } from '../../support/redis.ts';
import { closedPort, giveJson, serve } from '../../support/server.ts';
import { anyKey } from '../../support/store.ts';

const SECRET = 'c4n4ry-client-secret';
const REFRESH = 'c4n4ry-refresh-token';
const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

/** The output of `check --online --json`. */
interface Output {
  readonly profiles: readonly {
    readonly profile: string;
    readonly ok: boolean;
    readonly diagnostics?: readonly Diagnostic[];
    readonly issues: readonly unknown[];
  }[];
  readonly store?: Diagnostic;
}

/** Runs `check --online` and checks that its output contains no secret. */
async function run(profiles: object, flags: string, env: Record<string, string> = {}): Promise<Finished> {
  sandbox.write('p.json', JSON.stringify(profiles));
  const finished = await sandbox.run(`oauth-profile check --online --data p.json ${flags}`, env);
  expect(leaksIn(finished.stdout + finished.stderr, [SECRET, REFRESH])).toEqual([]);
  return finished;
}

/** Checks the profile `svc`. */
async function checkOne(svc: object, env: Record<string, string> = {}) {
  const { stdout, exit } = await run({ svc }, '--json', env);
  const output = JSON.parse(stdout) as Output;
  const diagnostics = output.profiles[0]?.diagnostics ?? [];
  const levels = diagnostics.map(({ level, about }) => `${level} ${about}`);
  return { diagnostics, levels, exit, ok: output.profiles[0]?.ok, store: output.store };
}

const machineProfile = { type: 'custom', grant_type: 'client_credentials', client_id: 'me', client_secret: SECRET };

describe('check --online with emulated providers', () => {
  const profiles = {
    graph: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', refresh_token: REFRESH },
    drive: { type: 'google', client_id: 'c', client_secret: SECRET, refresh_token: REFRESH },
    staff: { type: 'okta', tenant_id: 'acme', client_id: 'c', client_secret: SECRET, refresh_token: REFRESH },
    lab: { type: 'gitlab', client_id: 'c', client_secret: SECRET, refresh_token: REFRESH },
    x: { type: 'twitter', client_id: 'c', client_secret: SECRET },
    own: { ...machineProfile, url: 'https://login.example.com/oauth/token' },
  };

  it('reports no errors for valid profiles', async () => {
    const { stdout, stderr, exit } = await run(profiles, '--emulate');
    expect(stdout).not.toMatch(/error:|warning:/);
    expect(stdout.match(/^ {4}ok: https:\S+well-known\S+: agrees with the profile$/gm)).toHaveLength(5);
    expect(stdout).toContain('note: drive.url: ');
    expect(stderr).toMatch(/^warning: emulated: .*\n$/);
    expect(exit).toBe(0);
  });

  it('does not create a vault', async () => {
    const { stdout } = await run(profiles, '--emulate --json --quiet');
    expect(JSON.parse(stdout).store).toBeUndefined();
    expect(existsSync(join(sandbox.home, '.local'))).toBe(false);
  });

  it('reports a grant that the provider does not support', async () => {
    const drive = { ...profiles.drive, grant_type: 'client_credentials' };
    const { stdout, exit } = await run({ drive }, '--emulate --quiet');
    expect(stdout).toMatch(/^✗ drive .*\n {4}error: drive\.grant_type: .*\n {6}→ .*\n$/);
    expect(exit).toBe(2);
  });

  it('checks the provider of a profile that lacks a login', async () => {
    const graph = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c' };
    const { stdout, exit } = await run({ graph, none: { type: 'gitlab', 'options.nothing': 1 } }, '--emulate --json');
    const output = JSON.parse(stdout) as Output;
    expect(output.profiles.map(({ ok, diagnostics }) => [ok, diagnostics?.map(({ level }) => level)])).toEqual([
      [false, ['ok', 'ok', 'ok']],
      [false, undefined],
    ]);
    expect(output.profiles[0]?.issues.length).toBeGreaterThan(0);
    expect(exit).toBe(2);
  });

  it('connects to nothing without --online', async () => {
    const graph = JSON.stringify({ graph: profiles.graph });
    sandbox.write('p.json', graph);
    const { stdout, exit } = await sandbox.run('oauth-profile check --data p.json --json', {
      OAUTH_PROFILE_STORE: 'redis://127.0.0.1:1',
    });
    expect(Object.keys(JSON.parse(stdout))).toEqual(['profiles']);
    expect(stdout).not.toContain('diagnostics');
    expect(exit).toBe(0);
  });
});

describe('check --online with oidc-provider', () => {
  const authority = new Authority();
  let provider: OidcProvider;
  beforeAll(async () => {
    const clients = [{ client_id: 'me', client_secret: SECRET, redirect_uris: ['https://app.test/'] }];
    provider = await startOidcProvider(clients, authority.issue({ name: 'idp', hosts: SERVER_NAMES }));
  });
  afterAll(() => provider.close());
  const svc = () => ({ ...machineProfile, url: provider.tokenUrl, 'options.ca_file': authority.caFile });

  it('accepts every client authentication and grant that the metadata lists', async () => {
    const profiles = {
      body: svc(),
      basic: { ...svc(), 'options.client_auth': 'client_secret_basic' },
      none: { ...svc(), client_secret: undefined },
      refreshing: { ...svc(), grant_type: 'refresh_token', refresh_token: REFRESH },
    };
    const { stdout, exit } = await run(profiles, '');
    expect(stdout).not.toMatch(/error:|warning:/);
    expect(stdout.match(/agrees with the profile$/gm)).toHaveLength(4);
    expect(exit).toBe(0);
  });

  it('reports a grant that the metadata does not list', async () => {
    const { diagnostics, exit } = await checkOne({ ...svc(), grant_type: 'password', username: 'u', password: SECRET });
    expect(diagnostics.at(-1)).toMatchObject({ level: 'error', where: 'svc.grant_type' });
    expect(exit).toBe(2);
  });

  it('suggests the authorization endpoint', async () => {
    const refreshing = { ...svc(), grant_type: 'refresh_token', refresh_token: REFRESH };
    const { diagnostics } = await checkOne(refreshing);
    const hint = diagnostics.find(({ where }) => where === 'svc.options.authorization_url')?.hint ?? '';
    const url = /set it to (\S+)$/.exec(hint)?.[1];
    expect(url).toBe(`${provider.issuer}/auth`);
    const { levels } = await checkOne({ ...refreshing, 'options.authorization_url': url });
    expect(levels).toEqual(['ok certificate', 'ok clock', 'ok discovery']);
  });
});

describe('check --online and certificates', () => {
  const authority = new Authority('Acme Root');
  const served = (days?: readonly [number, number], hosts = SERVER_NAMES) =>
    serve(
      (response) => giveJson(response, 404, {}),
      authority.issue({ name: 'idp', hosts, ...(days !== undefined && { days }) }),
    );

  it('reports an unknown authority, unless options.ca_file contains it', async () => {
    const server = await served();
    const { diagnostics, exit } = await checkOne({ ...machineProfile, url: server.url });
    expect(diagnostics).toEqual([
      {
        level: 'error',
        about: 'certificate',
        where: `127.0.0.1:${server.port}`,
        message: expect.stringMatching(/TLS verification failed .*Acme Root/),
        hint: expect.stringContaining('set svc.options.ca_file'),
      },
    ]);
    expect(exit).toBe(2);
    const trusted = await checkOne({ ...machineProfile, url: server.url, 'options.ca_file': authority.caFile });
    expect([trusted.levels, trusted.exit]).toEqual([['ok certificate', 'ok clock', 'note discovery'], 0]);
  });

  it.each<[string, readonly [number, number], string, number]>([
    ['a certificate that expires soon as a warning', [-20, 5], 'warning certificate', 0],
    ['an expired certificate as an error', [-20, -1], 'error certificate', 2],
  ])('reports %s', async (_, days, level, status) => {
    const server = await served(days);
    const { levels, exit } = await checkOne({
      ...machineProfile,
      url: server.url,
      'options.ca_file': authority.caFile,
    });
    expect([levels[0], exit]).toEqual([level, status]);
  });

  it('presents the client certificate to a server that requires one', async () => {
    const client = authority.issue({ name: 'me', usage: 'clientAuth' });
    const pair = authority.issue({ name: 'idp', hosts: SERVER_NAMES });
    const server = await serve((response) => giveJson(response, 404, {}), { ...pair, clientCa: authority.ca.cert });
    const svc = {
      ...machineProfile,
      url: server.url,
      'options.ca_file': authority.caFile,
      'options.cert_file': authority.file('client.pem', client.cert),
      'options.cert_key_file': authority.file('client.key', client.key),
    };
    const { diagnostics, exit } = await checkOne(svc);
    expect([diagnostics.filter(({ level }) => level === 'error'), exit]).toEqual([[], 0]);
    expect(server.requests.length).toBeGreaterThan(0);
    const without = await checkOne({ ...machineProfile, url: server.url, 'options.ca_file': authority.caFile });
    expect([without.levels.at(-1), without.exit]).toEqual(['error connection', 2]);
  });
});

describe('check --online and the network', () => {
  const authority = new Authority();
  const tls = authority.issue({ name: 'idp', hosts: SERVER_NAMES });
  const svc = { ...machineProfile, url: 'https://login.example.test/token', 'options.ca_file': authority.caFile };

  it('names the proxy without its password', async () => {
    const server = await serve((response) => giveJson(response, 404, {}), tls);
    const proxy = await ConnectProxy.start(server.port);
    const { diagnostics, exit } = await checkOne(svc, { HTTPS_PROXY: proxy.url(`me:${SECRET}@`) });
    expect(diagnostics[0]).toMatchObject({ level: 'ok', message: `reached through the proxy 127.0.0.1:${proxy.port}` });
    expect(exit).toBe(0);
  });

  it.each([403, 407])('reports a proxy that returns %s', async (status) => {
    const proxy = await ConnectProxy.start(0, rejectConnect(status));
    const { diagnostics, exit } = await checkOne(svc, { HTTPS_PROXY: proxy.url() });
    expect(diagnostics).toEqual([
      expect.objectContaining({ level: 'error', about: 'connection', message: expect.stringContaining('the proxy') }),
    ]);
    expect(exit).toBe(2);
  });

  it.each<[string, () => Promise<Record<string, string>>, RegExp]>([
    [
      'a proxy that cannot be reached',
      async () => ({ HTTPS_PROXY: `127.0.0.1:${await closedPort()}` }),
      /cannot connect to the proxy/,
    ],
    ['an invalid proxy URL', async () => ({ HTTPS_PROXY: 'ftp://x' }), /HTTPS_PROXY/],
    ['a host that cannot be resolved', async () => ({}), /login\.example\.test/],
  ])('reports %s with a hint', async (_, env, message) => {
    const { diagnostics, exit } = await checkOne(svc, await env());
    expect(diagnostics).toEqual([
      expect.objectContaining({ level: 'error', message: expect.stringMatching(message), hint: expect.any(String) }),
    ]);
    expect(exit).toBe(2);
  });

  it('sends only GET requests, without values of the profile', async () => {
    const server = await serve((response) => giveJson(response, 404, {}), tls);
    const everything = {
      ...machineProfile,
      url: `https://127.0.0.1:${server.port}/a/b/c/token?key=${SECRET}`,
      username: 'u',
      password: SECRET,
      refresh_token: REFRESH,
      'basic.user': 'me',
      'basic.password': SECRET,
      client_id: undefined,
      client_secret: undefined,
      'options.ca_file': authority.caFile,
    };
    await checkOne(everything);
    expect(server.requests.length).toBeGreaterThan(2);
    expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
    const sent = server.requests.map(({ path, rawHeaders, body }) => [path, ...rawHeaders, body].join('\n')).join('\n');
    expect(leaksIn(sent, [SECRET, REFRESH])).toEqual([]);
    expect(sent).not.toMatch(/authorization:/i);
  });

  it.each<[string, number, object, string, number]>([
    ['off by 90 s as a warning', 90, {}, 'warning clock', 0],
    ['off by 400 s as an error if assertions are signed', -400, { key: true }, 'error clock', 2],
  ])('reports a clock %s', async (_, seconds, { key }: { key?: boolean }, level, status) => {
    const server = await serve((response) => {
      response.sendDate = false;
      giveJson(response, 404, {}, { Date: new Date(Date.now() + seconds * 1000).toUTCString() });
    });
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    sandbox.write('key.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    const signing = {
      client_secret: undefined,
      'options.client_auth': 'private_key_jwt',
      'options.key_file': 'key.pem',
    };
    const { levels, exit } = await checkOne({ ...machineProfile, url: server.url, ...(key && signing) });
    expect([levels[0], exit]).toEqual([level, status]);
  });

  it('escapes control characters of the server', async () => {
    const nasty = '\u001b[2J\u202e';
    const server = await serve((response) =>
      giveJson(response, 200, {
        issuer: nasty,
        token_endpoint: server.url,
        grant_types_supported: [nasty],
        token_endpoint_auth_methods_supported: [nasty],
      }),
    );
    for (const flags of ['', '--json']) {
      const { stdout } = await run({ svc: { ...machineProfile, url: server.url } }, flags);
      expect(stdout).toContain('u202e');
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    }
  });
});

describe('check --online and this machine', () => {
  it('reports whether the port of the redirect URI is free', async () => {
    const server = await serve((response) => giveJson(response, 404, {}));
    const port = await closedPort();
    const svc = { ...machineProfile, url: server.url, 'options.redirect_uri': `http://127.0.0.1:${port}/callback` };
    const free = await checkOne(svc);
    expect([free.levels.at(-1), free.exit]).toEqual(['ok redirect', 0]);
    const other = createServer().listen(port, '127.0.0.1');
    try {
      const taken = await checkOne(svc);
      expect([taken.levels.at(-1), taken.exit]).toEqual(['error redirect', 2]);
    } finally {
      other.close();
    }
  });

  it('reports the vault and the source of its key', async () => {
    const server = await serve();
    const svc = { ...machineProfile, url: server.url };
    expect((await checkOne(svc)).store).toMatchObject({ level: 'note', message: expect.any(String) });
    const env = { OAUTH_PROFILE_KEY: anyKey() };
    expect((await sandbox.run('oauth-profile token svc --data p.json', env)).exit).toBe(0);
    expect((await checkOne(svc, env)).store).toMatchObject({
      level: 'ok',
      where: join(sandbox.home, '.local/share/oauth-profile/vault'),
      message: expect.stringContaining('OAUTH_PROFILE_KEY'),
    });
    const wrong = await checkOne(svc, { OAUTH_PROFILE_KEY: anyKey() });
    expect([wrong.store?.level, wrong.exit]).toEqual(['warning', 0]);
    const refreshing = { ...svc, grant_type: 'refresh_token', refresh_token: REFRESH };
    const worse = await checkOne(refreshing, { OAUTH_PROFILE_KEY: anyKey() });
    expect([worse.store?.level, worse.exit]).toEqual(['error', 2]);
  });

  it('reports a Redis that cannot be reached', async () => {
    const server = await serve();
    const refreshing = { ...machineProfile, url: server.url, grant_type: 'refresh_token', refresh_token: REFRESH };
    const { store, exit } = await checkOne(refreshing, {
      OAUTH_PROFILE_STORE: `redis://127.0.0.1:${await closedPort()}`,
      OAUTH_PROFILE_KEY: anyKey(),
    });
    expect(store).toMatchObject({
      level: 'error',
      about: 'store',
      message: expect.stringContaining('connection refused'),
    });
    expect(exit).toBe(2);
  });

  it.skipIf(!hasRedis)('reports a Redis that can be read and written', async () => {
    const redis = await RedisServer.start();
    try {
      const server = await serve();
      const env = { OAUTH_PROFILE_STORE: redis.url, OAUTH_PROFILE_KEY: anyKey() };
      const { store } = await checkOne({ ...machineProfile, url: server.url }, env);
      expect(store).toMatchObject({ level: 'ok', about: 'store' });
    } finally {
      await redis.remove();
    }
  });
});
