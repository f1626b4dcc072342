import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../src/flows/diagnose/finding.ts';
import { saveLogin } from '../../../src/flows/login/save-login.ts';
import { familyName } from '../../../src/flows/token-family.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { openVault } from '../../../src/store/vault/vault.ts';
import { Authority, SERVER_NAMES } from '../../support/certificates.ts';
import { ConnectProxy, rejectConnect } from '../../support/connect-proxy.ts';
import { fakePorts } from '../../support/fake-ports.ts';
import { type OidcProvider, startOidcProvider } from '../../support/independent-oidc-provider.ts';
import { leaksIn } from '../../support/leaks.ts';
import { profileOf } from '../../support/profile-of.ts';
import { hasRedis, RedisServer } from '../../support/redis-server.ts';
import { type Finished, Sandbox } from '../../support/run-cli.ts';
import { anyKey } from '../../support/store-home.ts';
import { closedPort, giveJson, serve } from '../../support/wire-server.ts';

const SECRET = 'c4n4ry-client-secret';
const REFRESH = 'c4n4ry-refresh-token';
const sandbox = new Sandbox();
afterAll(() => sandbox.remove());

interface Told {
  readonly profiles: readonly {
    readonly profile: string;
    readonly ok: boolean;
    readonly findings?: readonly Diagnostic[];
    readonly issues: readonly unknown[];
  }[];
  readonly store?: Diagnostic;
}

/** Runs the command with profiles from a file; no secret of theirs may appear. */
async function run(profiles: object, flags: string, env: Record<string, string> = {}): Promise<Finished> {
  sandbox.write('p.json', JSON.stringify(profiles));
  const finished = await sandbox.run(`oauth-profile check --online --data p.json ${flags}`, env);
  expect(leaksIn(finished.stdout + finished.stderr, [SECRET, REFRESH])).toEqual([]);
  return finished;
}

/** What is told of the one profile `svc`. */
async function look(svc: object, env: Record<string, string> = {}) {
  const { stdout, exit } = await run({ svc }, '--json', env);
  const told = JSON.parse(stdout) as Told;
  const findings = told.profiles[0]?.findings ?? [];
  const levels = findings.map(({ level, about }) => `${level} ${about}`);
  return { findings, levels, exit, ok: told.profiles[0]?.ok, store: told.store };
}

const machineProfile = { type: 'custom', grant_type: 'client_credentials', client_id: 'me', client_secret: SECRET };

describe('emulated providers', () => {
  const profiles = {
    graph: { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c', refresh_token: REFRESH },
    drive: { type: 'google', client_id: 'c', client_secret: SECRET, refresh_token: REFRESH },
    staff: { type: 'okta', tenant_id: 'acme', client_id: 'c', client_secret: SECRET, refresh_token: REFRESH },
    lab: { type: 'gitlab', client_id: 'c', client_secret: SECRET, refresh_token: REFRESH },
    x: { type: 'twitter', client_id: 'c', client_secret: SECRET },
    own: { ...machineProfile, url: 'https://login.example.com/oauth/token' },
  };

  it('are as their profiles want them', async () => {
    const { stdout, stderr, exit } = await run(profiles, '--emulate');
    expect(stdout).not.toMatch(/fault:|warning:/);
    expect(stdout.match(/^ {4}ok: https:\S+well-known\S+: agrees with the profile$/gm)).toHaveLength(5);
    expect(stdout).toContain('note: drive.url: the default is an older address');
    expect(stderr).toBe('warning: emulated: the emulator was looked at, not the providers\n');
    expect(exit).toBe(0);
  });

  it('leave the vault of this machineProfile alone', async () => {
    const { stdout } = await run(profiles, '--emulate --json --quiet');
    expect(JSON.parse(stdout).store).toBeUndefined();
    expect(existsSync(join(sandbox.home, '.local'))).toBe(false);
  });

  it('tell what they do not have: google knows no client_credentials', async () => {
    const drive = { ...profiles.drive, grant_type: 'client_credentials' };
    const { stdout, exit } = await run({ drive }, '--emulate --quiet');
    expect(stdout).toMatch(/^✗ drive .*\n {4}fault: drive\.grant_type: .*\n {6}→ Google has no .*\n$/);
    expect(exit).toBe(2);
  });

  it('are looked at before somebody has logged in, beside what is missing', async () => {
    const graph = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'c' };
    const { stdout, exit } = await run({ graph, none: { type: 'gitlab', 'options.nothing': 1 } }, '--emulate --json');
    const told = JSON.parse(stdout) as Told;
    expect(told.profiles.map(({ ok, findings }) => [ok, findings?.map(({ level }) => level)])).toEqual([
      [false, ['ok', 'ok', 'ok']],
      [false, undefined],
    ]);
    expect(told.profiles[0]?.issues.length).toBeGreaterThan(0);
    expect(exit).toBe(2);
  });

  it('without --online nothing is looked at', async () => {
    const graph = JSON.stringify({ graph: profiles.graph });
    sandbox.write('p.json', graph);
    const { stdout, exit } = await sandbox.run('oauth-profile check --data p.json --json', {
      OAUTH_PROFILE_STORE: 'redis://127.0.0.1:1',
    });
    expect(Object.keys(JSON.parse(stdout))).toEqual(['profiles']);
    expect(stdout).not.toContain('findings');
    expect(exit).toBe(0);
  });
});

describe('a server that we did not write', () => {
  const authority = new Authority();
  let provider: OidcProvider;
  beforeAll(async () => {
    const clients = [{ client_id: 'me', client_secret: SECRET, redirect_uris: ['https://app.test/'] }];
    provider = await startOidcProvider(clients, authority.issue({ name: 'idp', hosts: SERVER_NAMES }));
  });
  afterAll(() => provider.close());
  const svc = () => ({ ...machineProfile, url: provider.tokenUrl, 'options.ca_file': authority.caFile });

  it('agrees with profiles that ask as it says: with the secret in the body, in a header, without one, refreshing', async () => {
    const profiles = {
      body: svc(),
      basic: { ...svc(), 'options.client_auth': 'client_secret_basic' },
      none: { ...svc(), client_secret: undefined },
      refreshing: { ...svc(), grant_type: 'refresh_token', refresh_token: REFRESH },
    };
    const { stdout, exit } = await run(profiles, '');
    expect(stdout).not.toMatch(/fault:|warning:/);
    expect(stdout.match(/agrees with the profile$/gm)).toHaveLength(4);
    expect(exit).toBe(0);
  });

  it('does not announce the password grant', async () => {
    const { findings, exit } = await look({ ...svc(), grant_type: 'password', username: 'u', password: SECRET });
    expect(findings.at(-1)).toMatchObject({ level: 'fault', where: 'svc.grant_type' });
    expect(exit).toBe(2);
  });

  it('shows where to sign in, which a profile can then name', async () => {
    const refreshing = { ...svc(), grant_type: 'refresh_token', refresh_token: REFRESH };
    const { findings } = await look(refreshing);
    const hint = findings.find(({ where }) => where === 'svc.options.authorization_url')?.hint ?? '';
    const url = /set it to (\S+)$/.exec(hint)?.[1];
    expect(url).toBe(`${provider.origin}/auth`);
    const { levels } = await look({ ...refreshing, 'options.authorization_url': url });
    expect(levels).toEqual(['ok certificate', 'ok clock', 'ok discovery']);
  });
});

describe('certificates', () => {
  const authority = new Authority('Acme Root');
  const served = (days?: readonly [number, number], hosts = SERVER_NAMES) =>
    serve(
      (response) => giveJson(response, 404, {}),
      authority.issue({ name: 'idp', hosts, ...(days !== undefined && { days }) }),
    );

  it('of an unknown authority are a fault, which options.ca_file cures', async () => {
    const server = await served();
    const { findings, exit } = await look({ ...machineProfile, url: server.url });
    expect(findings).toEqual([
      {
        level: 'fault',
        about: 'certificate',
        where: `127.0.0.1:${server.port}`,
        message: expect.stringMatching(/TLS verification failed .*Acme Root/),
        hint: expect.stringContaining('set svc.options.ca_file'),
      },
    ]);
    expect(exit).toBe(2);
    const cured = await look({ ...machineProfile, url: server.url, 'options.ca_file': authority.caFile });
    expect([cured.levels, cured.exit]).toEqual([['ok certificate', 'ok clock', 'note discovery'], 0]);
  });

  it.each<[string, readonly [number, number], string, number]>([
    ['that end soon are a warning', [-20, 5], 'warning certificate', 0],
    ['that have ended are a fault', [-20, -1], 'fault certificate', 2],
  ])('%s', async (_, days, level, status) => {
    const server = await served(days);
    const { levels, exit } = await look({ ...machineProfile, url: server.url, 'options.ca_file': authority.caFile });
    expect([levels[0], exit]).toEqual([level, status]);
  });

  it('of clients are shown to a server that wants one', async () => {
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
    const { findings, exit } = await look(svc);
    expect([findings.filter(({ level }) => level === 'fault'), exit]).toEqual([[], 0]);
    expect(server.requests.length).toBeGreaterThan(0);
    const without = await look({ ...machineProfile, url: server.url, 'options.ca_file': authority.caFile });
    expect([without.levels.at(-1), without.exit]).toEqual(['fault connection', 2]);
  });
});

describe('the network', () => {
  const authority = new Authority();
  const tls = authority.issue({ name: 'idp', hosts: SERVER_NAMES });
  const svc = { ...machineProfile, url: 'https://login.example.test/token', 'options.ca_file': authority.caFile };

  it('through a proxy is named, without the password of the proxy', async () => {
    const server = await serve((response) => giveJson(response, 404, {}), tls);
    const proxy = await ConnectProxy.start(server.port);
    const { findings, exit } = await look(svc, { HTTPS_PROXY: proxy.url(`me:${SECRET}@`) });
    expect(findings[0]).toMatchObject({ level: 'ok', message: `reached through the proxy 127.0.0.1:${proxy.port}` });
    expect(exit).toBe(0);
  });

  it.each([403, 407])('behind a proxy that answers %s is a fault of the proxy', async (status) => {
    const proxy = await ConnectProxy.start(0, rejectConnect(status));
    const { findings, exit } = await look(svc, { HTTPS_PROXY: proxy.url() });
    expect(findings).toEqual([
      expect.objectContaining({ level: 'fault', about: 'connection', message: expect.stringContaining('the proxy') }),
    ]);
    expect(exit).toBe(2);
  });

  it.each<[string, () => Promise<Record<string, string>>, RegExp]>([
    [
      'a proxy that is not there',
      async () => ({ HTTPS_PROXY: `127.0.0.1:${await closedPort()}` }),
      /cannot connect to the proxy/,
    ],
    ['a proxy that is no address', async () => ({ HTTPS_PROXY: 'ftp://x' }), /HTTPS_PROXY/],
    ['a host that is not there', async () => ({}), /login\.example\.test/],
  ])('with %s is a fault with hint', async (_, env, message) => {
    const { findings, exit } = await look(svc, await env());
    expect(findings).toEqual([
      expect.objectContaining({ level: 'fault', message: expect.stringMatching(message), hint: expect.any(String) }),
    ]);
    expect(exit).toBe(2);
  });

  it('gets GET requests alone, with nothing of the profile in them', async () => {
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
    await look(everything);
    expect(server.requests.length).toBeGreaterThan(2);
    expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
    const sent = server.requests.map(({ path, rawHeaders, body }) => [path, ...rawHeaders, body].join('\n')).join('\n');
    expect(leaksIn(sent, [SECRET, REFRESH])).toEqual([]);
    expect(sent).not.toMatch(/authorization:/i);
  });

  it.each<[string, number, object, string, number]>([
    ['off by 90 s is a warning', 90, {}, 'warning clock', 0],
    ['off by 400 s is a fault for signed assertions', -400, { key: true }, 'fault clock', 2],
  ])('with a clock %s', async (_, seconds, { key }: { key?: boolean }, level, status) => {
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
    const { levels, exit } = await look({ ...machineProfile, url: server.url, ...(key && signing) });
    expect([levels[0], exit]).toEqual([level, status]);
  });

  it('with a server that steers terminals steers none', async () => {
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

describe('this machine', () => {
  it('has the port of the redirect free, or not', async () => {
    const server = await serve((response) => giveJson(response, 404, {}));
    const port = await closedPort();
    const svc = { ...machineProfile, url: server.url, 'options.redirect_uri': `http://127.0.0.1:${port}/callback` };
    const free = await look(svc);
    expect([free.levels.at(-1), free.exit]).toEqual(['ok redirect', 0]);
    const other = createServer().listen(port, '127.0.0.1');
    try {
      const taken = await look(svc);
      expect([taken.levels.at(-1), taken.exit]).toEqual(['fault redirect', 2]);
    } finally {
      other.close();
    }
  });

  it('has no vault before something is kept, and then one whose key is shown', async () => {
    const server = await serve();
    const svc = { ...machineProfile, url: server.url };
    expect((await look(svc)).store).toMatchObject({ level: 'note', message: expect.stringContaining('no vault yet') });
    const env = { OAUTH_PROFILE_KEY: anyKey() };
    expect((await sandbox.run('oauth-profile token svc --data p.json', env)).exit).toBe(0);
    expect((await look(svc, env)).store).toMatchObject({
      level: 'ok',
      where: join(sandbox.home, '.local/share/oauth-profile/vault'),
      message: expect.stringContaining('OAUTH_PROFILE_KEY'),
    });
    const wrong = await look(svc, { OAUTH_PROFILE_KEY: anyKey() });
    expect([wrong.store?.level, wrong.exit]).toEqual(['warning', 0]);
    const refreshing = { ...svc, grant_type: 'refresh_token', refresh_token: REFRESH };
    const worse = await look(refreshing, { OAUTH_PROFILE_KEY: anyKey() });
    expect([worse.store?.level, worse.exit]).toEqual(['fault', 2]);
  });

  it('takes a profile whose refresh token a login left for complete, without --online too', async () => {
    const svc = { type: 'gitlab', client_id: 'me', client_secret: SECRET };
    sandbox.write('p.json', JSON.stringify({ svc }));
    const key = anyKey();
    const env = { OAUTH_PROFILE_KEY: key, OAUTH_PROFILE_HOME: join(sandbox.home, 'after-login') };
    const check = 'oauth-profile check --data p.json';
    expect((await sandbox.run(check, env)).exit).toBe(2);
    const store = openVault({ env: { ...env, HOME: sandbox.home } });
    const profile = { ...profileOf({ ...svc, refresh_token: REFRESH }), name: 'svc' };
    const refreshToken = new Secret(REFRESH);
    const family = familyName({ origin: profile.url.origin, clientId: 'me' }, refreshToken, store);
    const reply = {
      response: { access_token: 't0ken' },
      accessToken: new Secret('t0ken'),
      refreshToken,
      otherSecrets: [],
      tokenType: 'Bearer',
      expiresAt: undefined,
    };
    await saveLogin(
      { profile: { ...profile, family: family }, refreshToken, reply, account: undefined, pasted: undefined },
      fakePorts(),
      store,
    );
    await store.close();
    const { stdout, exit } = await sandbox.run(check, env);
    expect([stdout, exit]).toEqual([expect.stringContaining('✓ svc  gitlab, refresh_token'), 0]);
    // Without the key it is as if nobody had logged in.
    expect((await sandbox.run(check, { ...env, OAUTH_PROFILE_KEY: anyKey() })).exit).toBe(2);
  });

  it('cannot reach a Redis that is not there', async () => {
    const server = await serve();
    const refreshing = { ...machineProfile, url: server.url, grant_type: 'refresh_token', refresh_token: REFRESH };
    const { store, exit } = await look(refreshing, {
      OAUTH_PROFILE_STORE: `redis://127.0.0.1:${await closedPort()}`,
      OAUTH_PROFILE_KEY: anyKey(),
    });
    expect(store).toMatchObject({
      level: 'fault',
      about: 'store',
      message: expect.stringContaining('nobody listens there'),
    });
    expect(exit).toBe(2);
  });

  it.skipIf(!hasRedis)('reaches a Redis that is there', async () => {
    const redis = await RedisServer.start();
    try {
      const server = await serve();
      const env = { OAUTH_PROFILE_STORE: redis.url, OAUTH_PROFILE_KEY: anyKey() };
      const { store } = await look({ ...machineProfile, url: server.url }, env);
      expect(store).toMatchObject({ level: 'ok', message: expect.stringContaining('can be read and written') });
    } finally {
      await redis.remove();
    }
  });
});
