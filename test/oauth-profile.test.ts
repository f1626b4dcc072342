import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type DataObject,
  type DataValue,
  InvalidProfileError,
  OAuthProfileError,
  oauthProfile,
  type Profile,
  type Profiles,
  type ProfileType,
  ProviderError,
  Secret,
  TransportError,
} from '../src/index.ts';
import { providerTypes } from '../src/providers/registry.ts';
import { runModule } from './support/build.ts';
import { Authority, SERVER_NAMES } from './support/certificates.ts';
import { ConnectProxy } from './support/connect-proxy.ts';
import { createTestDirectory } from './support/directory.ts';
import { errorOf } from './support/errors.ts';
import { closedPort, giveJson, giveToken, serve, serveBytes, serveRaw } from './support/server.ts';

const machine = { type: 'custom', grant_type: 'client_credentials', client_id: 'me', client_secret: 'c4n4ry-secret' };

describe('variables', () => {
  it.each<[string, (url: string) => DataObject]>([
    [
      'with dotted names',
      (url) => ({
        'acme.type': 'custom',
        'acme.url': url,
        'acme.grant_type': 'client_credentials',
        'acme.client_id': 'me',
        'acme.client_secret': 'c4n4ry-secret',
      }),
    ],
    ['as nested objects', (url) => ({ acme: { ...machine, url } })],
    ['in both forms', (url) => ({ acme: { ...machine }, 'acme.url': url })],
    [
      'with a value of the class Secret',
      (url) => ({ acme: { ...machine, url, client_secret: new Secret('c4n4ry-secret') } }),
    ],
    ['with references', (url) => ({ host: url, acme: { ...machine, url: '${host}', client_id: '${who:-me}' } })],
    ['next to other profiles', (url) => ({ acme: { ...machine, url }, other: { type: 'nonsense' }, plain: 1 })],
    ['without a prototype', (url) => Object.assign(Object.create(null), { acme: { ...machine, url } })],
  ])('are accepted %s', async (_, dataOf) => {
    const server = await serve();
    await expect(oauthProfile('acme', { data: dataOf(server.url) })).resolves.toMatchObject({ token_type: 'Bearer' });
    expect(new URLSearchParams(server.requests[0]?.body)).toEqual(
      new URLSearchParams({ grant_type: 'client_credentials', client_id: 'me', client_secret: 'c4n4ry-secret' }),
    );
  });

  it('are used as they are at each call, also those of the class Secret', async () => {
    const server = await serve();
    for (const secret of ['first-secret', 'second-secret']) {
      const acme = { ...machine, url: server.url, client_secret: new Secret(secret) };
      await oauthProfile('acme', { data: { acme } });
    }
    const sent = server.requests.map(({ body }) => new URLSearchParams(body).get('client_secret'));
    expect(sent).toEqual(['first-secret', 'second-secret']);
  });

  it('are read again at each call if they name a file', async () => {
    const server = await serve();
    const file = join(createTestDirectory(), 'key.pem');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const options = { client_auth: 'private_key_jwt', key_file: file };
    const acme = { type: 'custom', grant_type: 'client_credentials', client_id: 'me', url: server.url, options };
    await oauthProfile('acme', { data: { acme } });
    writeFileSync(file, 'not a key');
    await expect(oauthProfile('acme', { data: { acme } })).rejects.toMatchObject({ code: 'profile_invalid' });
    expect(server.requests).toHaveLength(1);
  });

  it('may belong to a profile with a dot in its name', async () => {
    const server = await serve();
    const data = { acme: { prod: { ...machine, url: server.url }, client_secret: 'another secret' } };
    await expect(oauthProfile('acme.prod', { data })).resolves.toHaveProperty('access_token');
    expect(server.requests[0]?.body).toContain('client_secret=c4n4ry-secret');
  });

  it('are read again at every call, with the files and environment variables that they refer to', async () => {
    const server = await serve();
    const directory = createTestDirectory();
    const file = join(directory, 'scope');
    writeFileSync(file, 'first');
    vi.stubEnv('ACME_AUDIENCE', 'first');
    onTestFinished(() => void vi.unstubAllEnvs());
    const acme: Record<string, DataValue> = { ...machine, url: server.url };
    const data = { acme };
    const sent = async (): Promise<Record<string, string>> => {
      await oauthProfile('acme', { data });
      return Object.fromEntries(new URLSearchParams(server.requests.at(-1)?.body));
    };
    await sent();
    await expect(sent()).resolves.toMatchObject({ client_id: 'me' });
    acme['client_id'] = 'you';
    await expect(sent()).resolves.toMatchObject({ client_id: 'you' });
    Object.assign(acme, { scope: `\${file:${file}}`, audience: '${env:ACME_AUDIENCE}' });
    await expect(sent()).resolves.toMatchObject({ scope: 'first', audience: 'first' });
    writeFileSync(file, 'second');
    vi.stubEnv('ACME_AUDIENCE', 'second');
    await expect(sent()).resolves.toMatchObject({ scope: 'second', audience: 'second' });
    acme['type'] = 'customs';
    expect(await errorOf(oauthProfile('acme', { data }))).toBeInstanceOf(InvalidProfileError);
  });

  it('that change during a call are used by the next one', async () => {
    const server = await serve();
    const acme: Record<string, DataValue> = { ...machine, url: server.url };
    const data = { acme };
    const first = oauthProfile('acme', { data });
    acme['client_id'] = 'you';
    await first;
    await oauthProfile('acme', { data });
    const ids = server.requests.map(({ body }) => new URLSearchParams(body).get('client_id'));
    expect(ids).toEqual(['me', 'you']);
  });

  it('are read from the profile files if no data is given', async () => {
    const server = await serve();
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'oauth-profile-')));
    const before = process.cwd();
    onTestFinished(() => {
      process.chdir(before);
      rmSync(root, { recursive: true });
      vi.unstubAllEnvs();
    });
    mkdirSync(join(root, 'work'));
    mkdirSync(join(root, 'config/oauth-profile'), { recursive: true });
    const yaml = (id: string) =>
      `${id}:\n  type: custom\n  url: ${server.url}\n  grant_type: client_credentials\n  client_id: ${id}\n  client_secret: \${file:secret.txt}\n`;
    writeFileSync(join(root, 'work/oauth-profiles.yaml'), yaml('shared'));
    writeFileSync(join(root, 'work/secret.txt'), 'of-the-directory\n');
    writeFileSync(join(root, 'config/oauth-profile/oauth-profiles.yaml'), yaml('own'));
    writeFileSync(join(root, 'config/oauth-profile/secret.txt'), 'of-the-user\n');
    vi.stubEnv('XDG_CONFIG_HOME', join(root, 'config'));
    process.chdir(join(root, 'work'));
    await oauthProfile('shared');
    await oauthProfile('own', {});
    expect(server.requests.map(({ body }) => new URLSearchParams(body).get('client_secret'))).toEqual([
      'of-the-directory',
      'of-the-user',
    ]);
  });
});

describe('a response', () => {
  it('D4 has all members of the provider’s response with their types', async () => {
    const sent = {
      access_token: 'x',
      expires_in: 3599,
      ext_expires_in: '3599',
      ok: true,
      nothing: null,
      big: 1e300,
      list: [1, 'two', { three: [] }],
      unknown: { deep: { deeper: 0.1 } },
    };
    const server = await serve((response) => giveJson(response, 200, sent));
    const response = await oauthProfile('acme', { data: { acme: { ...machine, url: server.url } } });
    expect(response).toEqual(sent);
    expect(JSON.stringify(response)).toBe(JSON.stringify(sent));
  });

  it('D4 has strings if the provider’s response is form-encoded', async () => {
    const server = await serve((response) => response.end('access_token=a%20b&expires_in=60&scope='));
    await expect(oauthProfile('acme', { data: { acme: { ...machine, url: server.url } } })).resolves.toEqual({
      access_token: 'a b',
      expires_in: '60',
      scope: '',
    });
  });

  it('D1 is a new one at every call', async () => {
    const server = await serve((response, { number }) => giveJson(response, 200, { access_token: `t${number}` }));
    const data = { acme: { ...machine, url: server.url } };
    const tokens = [await oauthProfile('acme', { data }), await oauthProfile('acme', { data })];
    expect(tokens).toEqual([{ access_token: 't1' }, { access_token: 't2' }]);
  });

  it('is a copy: callers that share a refresh do not share an object', async () => {
    const server = await serve((response) =>
      giveJson(response, 200, { access_token: 't', refresh_token: 'r', x: [1] }),
    );
    const acme = { type: 'custom', grant_type: 'refresh_token', refresh_token: 'first', url: server.url };
    const call = () => oauthProfile('acme', { data: { acme }, store: 'memory' });
    const [one, other] = await Promise.all([call(), call()]);
    expect(server.requests).toHaveLength(1);
    expect(one).toEqual(other);
    expect(one['x']).not.toBe(other['x']);
  });

  it('is returned to 50 concurrent callers without a warning of Node', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => {
      process.off('warning', onWarning);
    });
    const server = await serve((response, { body }) => {
      giveJson(response, 200, { access_token: new URLSearchParams(body).get('client_id') });
    });
    const { signal } = new AbortController();
    const ids = Array.from({ length: 50 }, (_, i) => `client-${i}`);
    const tokens = await Promise.all(
      ids.map((client_id) =>
        oauthProfile('acme', { data: { acme: { ...machine, client_id, url: server.url } }, signal }),
      ),
    );
    expect(tokens.map(({ access_token }) => access_token)).toEqual(ids);
    expect(warnings).toEqual([]);
  });
});

describe('an error', () => {
  it('D16 lists every issue of a profile, and nothing is sent', async () => {
    const server = await serve();
    const data = { acme: { type: 'microsoft', clientid: 'x', url: `${server.url}#x`, options: { timeout: 'soon' } } };
    const error = await errorOf(oauthProfile('acme', { data }));
    expect(error).toBeInstanceOf(InvalidProfileError);
    const { issues } = error as InvalidProfileError;
    expect(issues.map(({ variable }) => variable)).toEqual(
      expect.arrayContaining(['acme.url', 'acme.options.timeout', 'acme.client_id', 'acme.username', 'acme.password']),
    );
    expect(server.connections).toBe(0);
  });

  it('has the code login_required if a profile lacks only a login', async () => {
    const data = { drive: { type: 'google', client_id: 'a', client_secret: 'c4n4ry-secret', scope: 'email' } };
    const error = await errorOf(oauthProfile('drive', { data, store: 'memory' }));
    expect(error).toBeInstanceOf(InvalidProfileError);
    expect(error).toMatchObject({ code: 'login_required', hint: expect.stringContaining('oauth-profile login drive') });
  });

  it('suggests the name of another profile if there is none with this name', async () => {
    const error = await errorOf(oauthProfile('graf', { data: { 'graph.type': 'google' } }));
    expect(error).toMatchObject({ code: 'profile_not_found', hint: expect.stringContaining('graph') });
  });

  it('D15 has the provider’s own error and no secret', async () => {
    const server = await serve((response) => {
      giveJson(response, 401, { error: 'invalid_client', error_description: 'c4n4ry-secret is wrong' });
    });
    const error = await errorOf(oauthProfile('acme', { data: { acme: { ...machine, url: server.url } } }));
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ code: 'provider_rejected', provider: { status: 401, error: 'invalid_client' } });
    expect(error.hint).toContain('acme.client_secret');
    expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toContain('c4n4ry');
  });

  it('D17 shows that the provider cannot be reached', async () => {
    const options = { timeout: '200ms' };
    const url = `http://127.0.0.1:${await closedPort()}/`;
    const error = await errorOf(oauthProfile('acme', { data: { acme: { ...machine, url, options } } }));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('c4n4ry');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['no profile', () => oauthProfile(undefined as never)],
    ['a profile that is a number', () => oauthProfile(7 as never)],
    ['an empty name', () => oauthProfile('', { data: {} })],
    ['null as options', () => oauthProfile('acme', null as never)],
    ['null as data', () => oauthProfile('acme', { data: null as never })],
    ['a string as data', () => oauthProfile('acme', { data: 'acme.type=custom' as never })],
    ['an array as data', () => oauthProfile('acme', { data: [machine] as never })],
    ['a Map as data', () => oauthProfile('acme', { data: new Map([['acme', machine]]) as never })],
    ['a function in data', () => oauthProfile('acme', { data: { acme: { type: (() => 'custom') as never } } })],
    ['a number that is not a safe integer', () => oauthProfile('acme', { data: { acme: { client_id: 2 ** 60 } } })],
    ['an object as signal', () => oauthProfile('acme', { data: { acme: machine }, signal: {} as never })],
    [
      'an AbortController as signal',
      () => oauthProfile('acme', { data: { acme: machine }, signal: new AbortController() as never }),
    ],
  ])('is a TypeError if the call is wrong: %s', async (_, call) => {
    const error = await call().then(
      () => expect.fail('it succeeded'),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(TypeError);
    expect(error).not.toBeInstanceOf(OAuthProfileError);
  });
});

describe('an abort', () => {
  it('before the call prevents the request', async () => {
    const server = await serve();
    const data = { acme: { ...machine, url: server.url } };
    const error = await errorOf(oauthProfile('acme', { data, signal: AbortSignal.abort('the reason') }));
    expect(error).toMatchObject({ code: 'aborted', cause: 'the reason' });
    expect(server.connections).toBe(0);
  });

  it('during the call closes the connection', async () => {
    const controller = new AbortController();
    const server = await serve(() => controller.abort('the reason'));
    const data = { acme: { ...machine, url: server.url } };
    const error = await errorOf(oauthProfile('acme', { data, signal: controller.signal }));
    expect(error).toMatchObject({ code: 'aborted', cause: 'the reason' });
    await server.allClosed();
  });

  it('by a timeout has the timeout as its cause', async () => {
    const server = await serveRaw((socket) => socket.resume());
    const data = { acme: { ...machine, url: server.url } };
    const error = await errorOf(oauthProfile('acme', { data, signal: AbortSignal.timeout(30) }));
    expect(error).toMatchObject({ code: 'aborted', cause: { name: 'TimeoutError' } });
  });
});

it('D19 a request uses the proxy of the environment and the certificate authority of the profile', async () => {
  const authority = new Authority();
  const server = await serve(giveToken, authority.issue({ name: 'server', hosts: SERVER_NAMES }));
  const proxy = await ConnectProxy.start(server.port);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  vi.stubEnv('https_proxy', proxy.url('me:c4n4ry-password@'));
  vi.stubEnv('no_proxy', '');
  const options = { ca_file: authority.caFile };
  const data = { acme: { ...machine, url: 'https://login.example.test/token', options } };
  await expect(oauthProfile('acme', { data })).resolves.toHaveProperty('access_token');
  expect(proxy.connects).toHaveLength(1);
  vi.stubEnv('no_proxy', 'example.test');
  const error = await errorOf(
    oauthProfile('acme', { data: { acme: { ...data.acme, options: { ...options, timeout: '1ms' } } } }),
  );
  expect(error).toBeInstanceOf(TransportError);
  expect(proxy.connects).toHaveLength(1);
});

describe('a process', () => {
  const programFor = (url: string, options = '{}') =>
    `const { oauthProfile } = await import(process.env.ENTRY);
     const acme = { type: 'custom', url: ${JSON.stringify(url)}, grant_type: 'client_credentials', client_id: 'me', options: ${options} };
     const outcome = await oauthProfile('acme', { data: { acme } }).catch((error) => error);
     console.log(outcome.access_token ?? outcome.code);`;

  it('ends after a token, although its connection stays open', async () => {
    const server = await serve();
    expect(await runModule(programFor(server.url))).toEqual({ stdout: 'given-access-token\n', stderr: '' });
  });

  it('ends after an error response', async () => {
    const server = await serve((response) => giveJson(response, 400, { error: 'invalid_grant' }));
    expect(await runModule(programFor(server.url))).toEqual({ stdout: 'provider_rejected\n', stderr: '' });
  });

  it('ends after a timeout', async () => {
    const server = await serveRaw((socket) => socket.resume());
    expect(await runModule(programFor(server.url, "{ timeout: '50ms' }"))).toEqual({ stdout: 'timeout\n', stderr: '' });
  });

  it('ends after an abort', async () => {
    const server = await serveRaw((socket) => socket.resume());
    const { stdout } = await runModule(
      `const { oauthProfile } = await import(process.env.ENTRY);
       const acme = { type: 'custom', url: ${JSON.stringify(server.url)}, grant_type: 'client_credentials' };
       await oauthProfile('acme', { data: { acme }, signal: AbortSignal.timeout(50) }).catch(({ code }) => console.log(code));`,
    );
    expect(stdout).toBe('aborted\n');
  });

  it('needs little memory for a response that arrives byte by byte', async () => {
    const body = JSON.stringify({ access_token: 'given-access-token' }).padEnd(262_144);
    const chunks = Buffer.from(`${Array.from(body, (byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`);
    const server = await serveBytes(
      Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'), chunks]),
    );
    const { stdout } = await runModule(programFor(server.url), { NODE_OPTIONS: '--max-old-space-size=16' });
    expect(stdout).toBe('given-access-token\n');
  });

  it('loads no network module before the first request', async () => {
    const server = await serve();
    const { stdout } = await runModule(
      `const loaded = () => process.moduleLoadList.filter((name) => /(?:NativeModule|Internal Binding) (?:_?https?|_http_\\w+|tls|_tls_\\w+|net|zlib|undici|internal\\/deps\\/undici.*)$/.test(name));
       const before = new Set(loaded());
       const since = () => loaded().filter((name) => !before.has(name));
       const { oauthProfile } = await import(process.env.ENTRY);
       const afterImport = since();
       const acme = { type: 'custom', url: ${JSON.stringify(server.url)}, grant_type: 'client_credentials' };
       await oauthProfile('none', { data: { acme } }).catch(() => {});
       const afterError = since();
       await oauthProfile('acme', { data: { acme } });
       console.log(JSON.stringify({ afterImport, afterError, http: since().includes('NativeModule http') }));`,
    );
    expect(JSON.parse(stdout)).toEqual({ afterImport: [], afterError: [], http: true });
  });
});

it('the types of profiles in data can be checked at compile time', () => {
  const profiles = { lab: { type: 'gitlab', client_id: 'a', options: { timeout: '5s' } } } satisfies Profiles;
  // @ts-expect-error: the type is misspelled.
  const misspelled = { lab: { type: 'gitlap', client_id: 'a' } } satisfies Profiles;
  const complete: Profile[] = [
    { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'a', scope: ['b', 'c'] },
    { type: 'microsoft', url: 'https://login.example.com/token', client_id: new Secret('a') },
    { type: 'okta', tenant_id: 'acme', basic: { user: 'a', password: 'b' } },
    { type: 'google', client_id: 'a', 'options.reuse': true },
    { type: 'twitter', client_id: 'a', client_secret: 'b' },
    { type: 'custom', url: 'https://example.com/token' },
  ];
  const incomplete: Profile[] = [
    // @ts-expect-error: a tenant is missing.
    { type: 'microsoft', client_id: 'a' },
    // @ts-expect-error: a client is missing.
    { type: 'okta', tenant_id: 'acme' },
    // @ts-expect-error: a client is missing.
    { type: 'google', refresh_token: 'a' },
    // @ts-expect-error: a URL is missing.
    { type: 'custom', client_id: 'a' },
    // @ts-expect-error: the password of the Basic credentials is missing.
    { type: 'twitter', basic: { user: 'a' } },
  ];
  expect([...complete, ...incomplete]).toHaveLength(11);
  // @ts-expect-error: a Date is not a value.
  const date: DataObject = { 'lab.client_id': new Date(0) };
  const data: DataObject = profiles;
  expect([data, misspelled, date]).toHaveLength(3);
  const types: Record<ProfileType, true> = {
    microsoft: true,
    'microsoft-refresh': true,
    google: true,
    okta: true,
    gitlab: true,
    twitter: true,
    oidc: true,
    custom: true,
    atlassian: true,
    auth0: true,
    box: true,
    cognito: true,
    discord: true,
    dropbox: true,
    github: true,
    hubspot: true,
    keycloak: true,
    linear: true,
    notion: true,
    quickbooks: true,
    salesforce: true,
    shopify: true,
    slack: true,
    spotify: true,
    x: true,
    xero: true,
    zoom: true,
  };
  expect(Object.keys(types)).toEqual(providerTypes);
});

it('a profile that data does not define has a hint for programs', async () => {
  const error = (await errorOf(oauthProfile('lab', { data: { acme: { type: 'custom' } } }))) as OAuthProfileError;
  expect([error.code, error.hint]).toEqual([
    'profile_not_found',
    'define lab.type and its fields in data (defined profiles: acme)',
  ]);
});
