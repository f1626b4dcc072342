import { createServer as createTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { startEmulator } from '../../src/emulator/start-emulator.ts';
import { createConnector } from '../../src/http/connector.ts';
import { createInspectCertificate } from '../../src/http/inspect-certificate.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { ConnectProxy, rejectConnect } from '../support/connect-proxy.ts';
import { errorOf } from '../support/errors.ts';
import { closedPort, serve, serveRaw, TokenServer } from '../support/server.ts';

const authority = new Authority('Test CA');
const pair = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const trustedCa = authority.ca.cert;
const bounds = { timeoutMs: 20_000, signal: undefined };
const DAY_MS = 86_400_000;

const inspectCertificate = (
  url: string,
  ca: string | undefined = trustedCa,
  env = {},
  limits: Parameters<ReturnType<typeof createInspectCertificate>>[3] = bounds,
) => createInspectCertificate(createConnector(env))('svc', new URL(url), ca, limits);

describe('an inspected certificate', () => {
  it('has an issuer and an expiry time, and no request is sent', async () => {
    const server = await serve(undefined, pair);
    const certificate = await inspectCertificate(server.url);
    expect(certificate).toEqual({
      issuer: 'Test CA',
      expiresAt: expect.any(Number),
      failure: undefined,
      proxy: undefined,
    });
    expect(Math.abs(certificate.expiresAt - Date.now() - 30 * DAY_MS)).toBeLessThan(DAY_MS);
    await server.allClosed();
    expect([server.connections, server.requests]).toEqual([1, []]);
  });

  it.each<[string, Parameters<Authority['issue']>[0], string | undefined, string, RegExp]>([
    ['of an untrusted issuer', { name: 's', hosts: SERVER_NAMES }, undefined, 'UNABLE_TO', /set svc\.options\.ca_file/],
    ['that has expired', { name: 's', hosts: SERVER_NAMES, days: [-9, -2] }, trustedCa, 'CERT_HAS_EXPIRED', /renew/],
    [
      'that is not valid yet',
      { name: 's', hosts: SERVER_NAMES, days: [2, 9] },
      trustedCa,
      'CERT_NOT_YET_VALID',
      /clock/,
    ],
    ['of another host', { name: 's', hosts: 'DNS:other.test' }, trustedCa, 'ALTNAME_INVALID', /for another host/],
  ])('%s has the reason why it is not trusted', async (_, properties, ca, code, hint) => {
    const server = await serve(undefined, authority.issue(properties));
    const { issuer, failure } = await createInspectCertificate(createConnector({}))(
      'svc',
      new URL(server.url),
      ca,
      bounds,
    );
    expect(issuer).toBe('Test CA');
    expect(failure).toMatchObject({ code: 'tls_failed', message: expect.stringContaining(code) });
    expect(failure?.hint).toMatch(hint);
  });

  it('without an issuer name has an unknown issuer', async () => {
    const nameless = new Authority('');
    const server = await serve(undefined, nameless.issue({ name: 's', hosts: SERVER_NAMES }));
    expect((await inspectCertificate(server.url, nameless.ca.cert)).issuer).toBe('unknown issuer');
  });

  it('can be behind a proxy, which is named without its password', async () => {
    const server = await serve(undefined, pair);
    const proxy = await ConnectProxy.start(server.port);
    const certificate = await inspectCertificate('https://login.example.test/token', trustedCa, {
      HTTPS_PROXY: proxy.url('ada:c4n4ry-password@'),
    });
    expect(certificate).toMatchObject({ issuer: 'Test CA', failure: undefined, proxy: `127.0.0.1:${proxy.port}` });
    expect(proxy.connects.map(({ url }) => url)).toEqual(['login.example.test:443']);
    await proxy.allClosed();
    expect(server.requests).toEqual([]);
  });

  it('can be behind an https proxy', async () => {
    const server = await serve(undefined, pair);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const certificate = await inspectCertificate('https://login.example.test/token', trustedCa, {
      HTTPS_PROXY: proxy.url(),
    });
    expect(certificate.failure).toBeUndefined();
  });

  it('is the emulator’s for every host, if there is an emulator', async () => {
    const emulator = await startEmulator({ profiles: {} });
    try {
      const { port, ca } = emulator;
      const inspectEmulated = createInspectCertificate(
        createConnector({ HTTPS_PROXY: 'http://127.0.0.1:1' }, { port, ca }),
      );
      const certificate = await inspectEmulated('svc', new URL('https://gitlab.com/oauth/token'), undefined, bounds);
      expect(certificate).toMatchObject({ failure: undefined, proxy: undefined });
    } finally {
      await emulator.close();
    }
  });
});

describe('a failed connection', () => {
  it.each<[string, () => Promise<string>, string, RegExp]>([
    ['to an unknown host', async () => 'https://nowhere.invalid/token', 'connection_failed', /nowhere\.invalid/],
    ['to a closed port', async () => `https://127.0.0.1:${await closedPort()}/`, 'connection_failed', /127\.0\.0\.1/],
    ['to a server without TLS', async () => `https://127.0.0.1:${(await serve()).port}/`, 'tls_failed', /127\.0\.0\.1/],
    [
      'to a server that closes it',
      async () => `https://127.0.0.1:${(await serveRaw((socket) => socket.destroy())).port}/`,
      'connection_failed',
      /127\.0\.0\.1/,
    ],
  ])('%s is reported', async (_, url, code, message) => {
    const error = await errorOf(inspectCertificate(await url()));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message), sent: false });
  });

  it.each([
    [403, 'proxy_refused'],
    [407, 'proxy_refused'],
    [502, 'connection_failed'],
  ])('with HTTP %s from the proxy is %s and names the proxy', async (status, code) => {
    const proxy = await ConnectProxy.start(0, rejectConnect(status));
    const error = await errorOf(
      inspectCertificate('https://login.example.test/', trustedCa, { HTTPS_PROXY: proxy.url() }),
    );
    expect(error).toMatchObject({ code, message: expect.stringContaining(`the proxy 127.0.0.1:${proxy.port}`) });
    await proxy.allClosed();
  });

  it('to a closed proxy port has a hint about HTTPS_PROXY', async () => {
    const port = await closedPort();
    const error = await errorOf(
      inspectCertificate('https://login.example.test/', trustedCa, { HTTPS_PROXY: `127.0.0.1:${port}` }),
    );
    expect(error).toMatchObject({ code: 'connection_failed', hint: expect.stringContaining('HTTPS_PROXY') });
  });

  it.each<[string, (port: number) => Record<string, string>]>([
    ['a server', () => ({})],
    ['a proxy', (port) => ({ HTTPS_PROXY: `http://127.0.0.1:${port}` })],
  ])('to %s that hangs is closed after the timeout', async (_, envOf) => {
    const server = await serveRaw((socket) => socket.resume());
    const env = envOf(server.port);
    const url = Object.keys(env).length === 0 ? `https://127.0.0.1:${server.port}/` : 'https://login.example.test/';
    const error = await errorOf(inspectCertificate(url, trustedCa, env, { timeoutMs: 50, signal: undefined }));
    expect(error).toMatchObject({ code: 'timeout', sent: false });
    await server.allClosed();
  });

  it('is reported as aborted, before or during the handshake', async () => {
    const server = await serveRaw((socket) => socket.once('data', () => controller.abort()));
    const controller = new AbortController();
    const url = `https://127.0.0.1:${server.port}/`;
    const limits = { timeoutMs: 20_000, signal: controller.signal };
    expect(await errorOf(inspectCertificate(url, trustedCa, {}, limits))).toMatchObject({ code: 'aborted' });
    expect(await errorOf(inspectCertificate(url, trustedCa, {}, limits))).toMatchObject({ code: 'aborted' });
    await server.allClosed();
  });
});

it('a certificate can be inspected if the server requests a client certificate, which is not sent', async () => {
  const received: boolean[] = [];
  const options = {
    ...pair,
    ca: trustedCa,
    requestCert: true,
    rejectUnauthorized: false,
    maxVersion: 'TLSv1.2',
  } as const;
  const server = createTls(options, (socket) => {
    received.push(Object.keys(socket.getPeerCertificate()).length > 0);
    socket.on('error', () => {});
  });
  const wire = await new TokenServer(server, 'https').start();
  expect((await inspectCertificate(`https://127.0.0.1:${wire.port}/`)).failure).toBeUndefined();
  await wire.allClosed();
  expect(received).toEqual([false]);
});
