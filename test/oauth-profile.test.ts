import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  InvalidProfileError,
  OAuthProfileError,
  oauthProfile,
  ProviderError,
  Secret,
  TransportError,
} from '../src/index.ts';
import { Authority, SERVER_NAMES } from './support/certificates.ts';
import { runModule } from './support/child-module.ts';
import { ConnectProxy } from './support/connect-proxy.ts';
import { errorOf } from './support/wire-request.ts';
import { closedPort, giveJson, giveToken, serve, serveBytes, serveRaw } from './support/wire-server.ts';

const machine = { type: 'custom', grant_type: 'client_credentials', client_id: 'me', client_secret: 'c4n4ry-secret' };

describe('variables', () => {
  it.each<[string, (url: string) => Record<string, unknown>]>([
    [
      'as dotted names',
      (url) => ({
        'acme.type': 'custom',
        'acme.url': url,
        'acme.grant_type': 'client_credentials',
        'acme.client_id': 'me',
        'acme.client_secret': 'c4n4ry-secret',
      }),
    ],
    ['as nested maps', (url) => ({ acme: { ...machine, url } })],
    ['as both', (url) => ({ acme: { ...machine }, 'acme.url': url })],
    [
      'with a secret that is one already',
      (url) => ({ acme: { ...machine, url, client_secret: new Secret('c4n4ry-secret') } }),
    ],
    ['with references', (url) => ({ host: url, acme: { ...machine, url: '${host}', client_id: '${who:-me}' } })],
    ['beside other profiles', (url) => ({ acme: { ...machine, url }, other: { type: 'nonsense' }, plain: 1 })],
    ['without a prototype', (url) => Object.assign(Object.create(null), { acme: { ...machine, url } })],
  ])('are taken %s', async (_how, dataOf) => {
    const server = await serve();
    await expect(oauthProfile('acme', { data: dataOf(server.url) })).resolves.toMatchObject({ token_type: 'Bearer' });
    expect(new URLSearchParams(server.requests[0]?.body)).toEqual(
      new URLSearchParams({ grant_type: 'client_credentials', client_id: 'me', client_secret: 'c4n4ry-secret' }),
    );
  });

  it('of a profile with a dot in its name are found', async () => {
    const server = await serve();
    const data = { acme: { prod: { ...machine, url: server.url }, client_secret: 'not this' } };
    await expect(oauthProfile('acme.prod', { data })).resolves.toHaveProperty('access_token');
    expect(server.requests[0]?.body).toContain('client_secret=c4n4ry-secret');
  });

  it('that change between two calls are read again, in the same object or in what it refers to', async () => {
    const server = await serve();
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'oauth-profile-')));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'scope');
    writeFileSync(file, 'first');
    vi.stubEnv('ACME_AUDIENCE', 'first');
    onTestFinished(() => void vi.unstubAllEnvs());
    const acme: Record<string, unknown> = { ...machine, url: server.url };
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

  it('that change while a call is under way are read again by the next one', async () => {
    const server = await serve();
    const acme: Record<string, unknown> = { ...machine, url: server.url };
    const data = { acme };
    const first = oauthProfile('acme', { data });
    acme['client_id'] = 'you';
    await first;
    await oauthProfile('acme', { data });
    const ids = server.requests.map(({ body }) => new URLSearchParams(body).get('client_id'));
    expect(ids).toEqual(['me', 'you']);
  });

  it('are read from the files of the shell command where none are given', async () => {
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
    writeFileSync(join(root, 'work/secret.txt'), 'of-the-folder\n');
    writeFileSync(join(root, 'config/oauth-profile/oauth-profiles.yaml'), yaml('own'));
    writeFileSync(join(root, 'config/oauth-profile/secret.txt'), 'of-the-user\n');
    vi.stubEnv('XDG_CONFIG_HOME', join(root, 'config'));
    process.chdir(join(root, 'work'));
    await oauthProfile('shared');
    await oauthProfile('own', {});
    expect(server.requests.map(({ body }) => new URLSearchParams(body).get('client_secret'))).toEqual([
      'of-the-folder',
      'of-the-user',
    ]);
  });
});

describe('the response', () => {
  it('D4 is what the provider sent, with all members and types', async () => {
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

  it('D4 holds texts where the provider answers as a form', async () => {
    const server = await serve((response) => response.end('access_token=a%20b&expires_in=60&scope='));
    await expect(oauthProfile('acme', { data: { acme: { ...machine, url: server.url } } })).resolves.toEqual({
      access_token: 'a b',
      expires_in: '60',
      scope: '',
    });
  });

  it('D1 is asked for with every call', async () => {
    const server = await serve((response, { number }) => giveJson(response, 200, { access_token: `t${number}` }));
    const data = { acme: { ...machine, url: server.url } };
    const tokens = [await oauthProfile('acme', { data }), await oauthProfile('acme', { data })];
    expect(tokens).toEqual([{ access_token: 't1' }, { access_token: 't2' }]);
  });

  it('comes to 50 callers at once, without a warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => {
      process.off('warning', note);
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

describe('failures', () => {
  it('D16 name every fault of a profile, and send nothing', async () => {
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

  it('say that there is no such profile', async () => {
    const error = await errorOf(oauthProfile('graf', { data: { 'graph.type': 'google' } }));
    expect(error).toMatchObject({ code: 'profile_not_found', hint: 'did you mean graph?' });
  });

  it('D15 carry the words of the provider', async () => {
    const server = await serve((response) => {
      giveJson(response, 401, { error: 'invalid_client', error_description: 'c4n4ry-secret is wrong' });
    });
    const error = await errorOf(oauthProfile('acme', { data: { acme: { ...machine, url: server.url } } }));
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ code: 'provider_rejected', provider: { status: 401, error: 'invalid_client' } });
    expect(error.hint).toContain('acme.client_secret');
    expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toContain('c4n4ry');
  });

  it('D17 tell of a provider that cannot be reached in time', async () => {
    const options = { timeout: '200ms' };
    const url = `http://127.0.0.1:${await closedPort()}/`;
    const error = await errorOf(oauthProfile('acme', { data: { acme: { ...machine, url, options } } }));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('c4n4ry');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a profile that is no name', () => oauthProfile(undefined as never)],
    ['a profile that is a number', () => oauthProfile(7 as never)],
    ['an empty name', () => oauthProfile('', { data: {} })],
    ['options that are nothing', () => oauthProfile('acme', null as never)],
    ['data that are nothing', () => oauthProfile('acme', { data: null as never })],
    ['data that are a text', () => oauthProfile('acme', { data: 'acme.type=custom' as never })],
    ['data that are a list', () => oauthProfile('acme', { data: [machine] as never })],
    ['data that are a Map', () => oauthProfile('acme', { data: new Map([['acme', machine]]) as never })],
    ['data that contain a function', () => oauthProfile('acme', { data: { acme: { type: () => 'custom' } } })],
    ['a number that lost digits', () => oauthProfile('acme', { data: { acme: { client_id: 2 ** 60 } } })],
    ['a signal that is none', () => oauthProfile('acme', { data: { acme: machine }, signal: {} as never })],
    [
      'a controller for its signal',
      () => oauthProfile('acme', { data: { acme: machine }, signal: new AbortController() as never }),
    ],
  ])('are a TypeError where the program is wrong: %s', async (_what, call) => {
    const error = await call().then(
      () => expect.fail('it succeeded'),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(TypeError);
    expect(error).not.toBeInstanceOf(OAuthProfileError);
  });
});

describe('an abort', () => {
  it('before the call sends nothing', async () => {
    const server = await serve();
    const data = { acme: { ...machine, url: server.url } };
    const error = await errorOf(oauthProfile('acme', { data, signal: AbortSignal.abort('enough') }));
    expect(error).toMatchObject({ code: 'aborted', cause: 'enough' });
    expect(server.connections).toBe(0);
  });

  it('during the call hangs up', async () => {
    const controller = new AbortController();
    const server = await serve(() => controller.abort('enough'));
    const data = { acme: { ...machine, url: server.url } };
    const error = await errorOf(oauthProfile('acme', { data, signal: controller.signal }));
    expect(error).toMatchObject({ code: 'aborted', cause: 'enough' });
    await server.allClosed();
  });

  it('by a time-out says what it was', async () => {
    const server = await serveRaw((socket) => socket.resume());
    const data = { acme: { ...machine, url: server.url } };
    const error = await errorOf(oauthProfile('acme', { data, signal: AbortSignal.timeout(30) }));
    expect(error).toMatchObject({ code: 'aborted', cause: { name: 'TimeoutError' } });
  });
});

it('D19 goes through the proxy of the environment, with the authority of the profile', async () => {
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

describe('a process of its own', () => {
  const ask = (url: string, options = '{}') =>
    `const { oauthProfile } = await import(process.env.ENTRY);
     const acme = { type: 'custom', url: ${JSON.stringify(url)}, grant_type: 'client_credentials', client_id: 'me', options: ${options} };
     const outcome = await oauthProfile('acme', { data: { acme } }).catch((error) => error);
     console.log(outcome.access_token ?? outcome.code);`;

  it('ends by itself after a token, though its connection is kept', async () => {
    const server = await serve();
    expect(await runModule(ask(server.url))).toEqual({ stdout: 'given-access-token\n', stderr: '' });
  });

  it('ends by itself after a refusal', async () => {
    const server = await serve((response) => giveJson(response, 400, { error: 'invalid_grant' }));
    expect(await runModule(ask(server.url))).toEqual({ stdout: 'provider_rejected\n', stderr: '' });
  });

  it('ends by itself after a time-out', async () => {
    const server = await serveRaw((socket) => socket.resume());
    expect(await runModule(ask(server.url, "{ timeout: '50ms' }"))).toEqual({ stdout: 'timed_out\n', stderr: '' });
  });

  it('ends by itself after an abort', async () => {
    const server = await serveRaw((socket) => socket.resume());
    const { stdout } = await runModule(
      `const { oauthProfile } = await import(process.env.ENTRY);
       const acme = { type: 'custom', url: ${JSON.stringify(server.url)}, grant_type: 'client_credentials' };
       await oauthProfile('acme', { data: { acme }, signal: AbortSignal.timeout(50) }).catch(({ code }) => console.log(code));`,
    );
    expect(stdout).toBe('aborted\n');
  });

  it('takes little memory for a reply that comes byte by byte', async () => {
    const body = JSON.stringify({ access_token: 'given-access-token' }).padEnd(262_144);
    const chunks = Buffer.from(`${Array.from(body, (byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`);
    const server = await serveBytes(
      Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'), chunks]),
    );
    const { stdout } = await runModule(ask(server.url), { NODE_OPTIONS: '--max-old-space-size=16' });
    expect(stdout).toBe('given-access-token\n');
  });

  it('loads nothing of the network before the first request, and no TLS for plain http', async () => {
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
       console.log(JSON.stringify({ afterImport, afterError, http: since().includes('NativeModule http'), https: since().includes('NativeModule https') }));`,
    );
    expect(JSON.parse(stdout)).toEqual({ afterImport: [], afterError: [], http: true, https: false });
  });
});
