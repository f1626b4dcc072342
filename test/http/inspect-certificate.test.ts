import { createServer as createTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { startEmulator } from '../../src/emulator/start-emulator.ts';
import { createConnector } from '../../src/http/connector.ts';
import { createInspectCertificate } from '../../src/http/inspect-certificate.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { ConnectProxy, refuseWith } from '../support/connect-proxy.ts';
import { errorOf } from '../support/wire-request.ts';
import { closedPort, serve, serveRaw, WireServer } from '../support/wire-server.ts';

const authority = new Authority('Test CA');
const pair = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const own = authority.ca.cert;
const bounds = { timeoutMs: 20_000, signal: undefined };
const DAY_MS = 86_400_000;

const probe = (
  url: string,
  ca: string | undefined = own,
  env = {},
  limits: Parameters<ReturnType<typeof createInspectCertificate>>[3] = bounds,
) => createInspectCertificate(createConnector(env))('svc', new URL(url), ca, limits);

describe('a certificate that is looked at', () => {
  it('is told with its issuer and its end, and nothing is sent', async () => {
    const server = await serve(undefined, pair);
    const seen = await probe(server.url);
    expect(seen).toEqual({ issuer: 'Test CA', expiresAt: expect.any(Number), failure: undefined, proxy: undefined });
    expect(Math.abs(seen.expiresAt - Date.now() - 30 * DAY_MS)).toBeLessThan(DAY_MS);
    await server.allClosed();
    expect([server.connections, server.requests]).toEqual([1, []]);
  });

  it.each<[string, Parameters<Authority['issue']>[0], string | undefined, string, RegExp]>([
    [
      'of an unknown authority',
      { name: 's', hosts: SERVER_NAMES },
      undefined,
      'UNABLE_TO',
      /set svc\.options\.ca_file/,
    ],
    ['that has ended', { name: 's', hosts: SERVER_NAMES, days: [-9, -2] }, own, 'CERT_HAS_EXPIRED', /renew/],
    ['that has not begun', { name: 's', hosts: SERVER_NAMES, days: [2, 9] }, own, 'CERT_NOT_YET_VALID', /clock/],
    ['of another host', { name: 's', hosts: 'DNS:other.test' }, own, 'ALTNAME_INVALID', /another host/],
  ])('%s is told with why it is not trusted', async (_, wish, ca, code, hint) => {
    const server = await serve(undefined, authority.issue(wish));
    const { issuer, failure } = await createInspectCertificate(createConnector({}))('svc', new URL(server.url), ca, bounds);
    expect(issuer).toBe('Test CA');
    expect(failure).toMatchObject({ code: 'tls_failed', message: expect.stringContaining(code) });
    expect(failure?.hint).toMatch(hint);
  });

  it('with no name at all has been issued by nobody in particular', async () => {
    const nameless = new Authority('');
    const server = await serve(undefined, nameless.issue({ name: 's', hosts: SERVER_NAMES }));
    expect((await probe(server.url, nameless.ca.cert)).issuer).toBe('nobody in particular');
  });

  it('is seen through a proxy, which is named without its password', async () => {
    const server = await serve(undefined, pair);
    const proxy = await ConnectProxy.start(server.port);
    const seen = await probe('https://login.example.test/token', own, {
      HTTPS_PROXY: proxy.url('ada:c4n4ry-password@'),
    });
    expect(seen).toMatchObject({ issuer: 'Test CA', failure: undefined, proxy: `127.0.0.1:${proxy.port}` });
    expect(proxy.connects.map(({ url }) => url)).toEqual(['login.example.test:443']);
    await proxy.allClosed();
    expect(server.requests).toEqual([]);
  });

  it('is seen through a proxy that speaks TLS itself', async () => {
    const server = await serve(undefined, pair);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const seen = await probe('https://login.example.test/token', own, { HTTPS_PROXY: proxy.url() });
    expect(seen.failure).toBeUndefined();
  });

  it('is the emulator’s where one serves, for every host', async () => {
    const emulator = await startEmulator({ profiles: {} });
    try {
      const { port, ca } = emulator;
      const look = createInspectCertificate(createConnector({ HTTPS_PROXY: 'http://127.0.0.1:1' }, { port, ca }));
      const seen = await look('svc', new URL('https://gitlab.com/oauth/token'), undefined, bounds);
      expect(seen).toMatchObject({ failure: undefined, proxy: undefined });
    } finally {
      await emulator.close();
    }
  });
});

describe('a connection that does not come about', () => {
  it.each<[string, () => Promise<string>, string, RegExp]>([
    [
      'to a host that is not there',
      async () => 'https://nowhere.invalid/token',
      'connection_failed',
      /nowhere\.invalid/,
    ],
    [
      'to a closed port',
      async () => `https://127.0.0.1:${await closedPort()}/`,
      'connection_failed',
      /takes no connections/,
    ],
    ['to a server without TLS', async () => `https://127.0.0.1:${(await serve()).port}/`, 'tls_failed', /no trusted/],
    [
      'to a server that hangs up',
      async () => `https://127.0.0.1:${(await serveRaw((socket) => socket.destroy())).port}/`,
      'connection_failed',
      /ended the connection/,
    ],
  ])('%s says why', async (_, url, code, message) => {
    const error = await errorOf(probe(await url()));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message), sent: false });
  });

  it.each([
    [403, 'proxy_refused'],
    [407, 'proxy_refused'],
    [502, 'connection_failed'],
  ])('because of a proxy that answers %s names the proxy', async (status, code) => {
    const proxy = await ConnectProxy.start(0, refuseWith(status));
    const error = await errorOf(probe('https://login.example.test/', own, { HTTPS_PROXY: proxy.url() }));
    expect(error).toMatchObject({ code, message: expect.stringContaining(`the proxy 127.0.0.1:${proxy.port}`) });
    await proxy.allClosed();
  });

  it('because of a proxy that is not there names the proxy', async () => {
    const port = await closedPort();
    const error = await errorOf(probe('https://login.example.test/', own, { HTTPS_PROXY: `127.0.0.1:${port}` }));
    expect(error).toMatchObject({ code: 'connection_failed', hint: expect.stringContaining('HTTPS_PROXY') });
  });

  it.each<[string, (port: number) => Record<string, string>]>([
    ['a server', () => ({})],
    ['a proxy', (port) => ({ HTTPS_PROXY: `http://127.0.0.1:${port}` })],
  ])('because %s hangs ends in time, and the connection with it', async (_, envOf) => {
    const server = await serveRaw((socket) => socket.resume());
    const env = envOf(server.port);
    const url = Object.keys(env).length === 0 ? `https://127.0.0.1:${server.port}/` : 'https://login.example.test/';
    const error = await errorOf(probe(url, own, env, { timeoutMs: 50, signal: undefined }));
    expect(error).toMatchObject({ code: 'timeout', sent: false });
    await server.allClosed();
  });

  it('ends when it is aborted, before or while it is made', async () => {
    const server = await serveRaw((socket) => socket.once('data', () => controller.abort()));
    const controller = new AbortController();
    const url = `https://127.0.0.1:${server.port}/`;
    const limits = { timeoutMs: 20_000, signal: controller.signal };
    expect(await errorOf(probe(url, own, {}, limits))).toMatchObject({ code: 'aborted' });
    expect(await errorOf(probe(url, own, {}, limits))).toMatchObject({ code: 'aborted' });
    await server.allClosed();
  });
});

it('a server that wants a client certificate gets none, and its own is seen all the same', async () => {
  const shown: boolean[] = [];
  const wish = { ...pair, ca: own, requestCert: true, rejectUnauthorized: false, maxVersion: 'TLSv1.2' } as const;
  const server = createTls(wish, (socket) => {
    shown.push(Object.keys(socket.getPeerCertificate()).length > 0);
    socket.on('error', () => {});
  });
  const wire = await new WireServer(server, 'https').start();
  expect((await probe(`https://127.0.0.1:${wire.port}/`)).failure).toBeUndefined();
  await wire.allClosed();
  expect(shown).toEqual([false]);
});
