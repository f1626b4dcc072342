import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { WireRequest } from '../../src/ports.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { ConnectProxy, rejectConnect } from '../support/connect-proxy.ts';
import { errorOf } from '../support/errors.ts';
import { bounds, noTls, post, sendWith } from '../support/ports.ts';
import { closedPort, giveToken, serve, serveRaw } from '../support/server.ts';

const authority = new Authority();
const certificate = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const proxyCertificate = authority.issue({ name: 'proxy', hosts: 'IP:127.0.0.1' });
const tls = { ...noTls, ca: authority.ca.cert };
const target = 'https://login.example.test/token?x=1';

/** A request to a host that only the proxy can resolve. */
const toTarget = (changes: Partial<WireRequest> = {}) => post(target, { tls, ...changes });
const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;

describe.each([
  ['an http', undefined],
  ['an https', proxyCertificate],
])('a request through %s proxy', (_scheme, pair) => {
  it('D19 sends CONNECT with host and port, and everything else to the provider over TLS', async () => {
    const server = await serve(giveToken, certificate);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url() });
    await expect(send(toTarget(), bounds())).resolves.toMatchObject({ status: 200 });
    expect(proxy.connects).toHaveLength(1);
    expect(proxy.connects[0]).toMatchObject({ method: 'CONNECT', url: 'login.example.test:443' });
    expect(proxy.connects[0]?.headers).toEqual({ host: 'login.example.test:443', connection: expect.any(String) });
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/token?x=1' });
    expect(server.requests[0]?.headers).toMatchObject({ host: 'login.example.test' });
  });

  it('D19 sends the decoded user and password to the proxy only', async () => {
    const server = await serve(giveToken, certificate);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url('dom%5Cme:p%40ss%3A%C3%BC@') });
    await send(toTarget(), bounds());
    expect(proxy.connects[0]?.headers['proxy-authorization']).toBe(basic('dom\\me:p@ss:ü'));
    expect(server.requests[0]?.rawHeaders.join()).not.toMatch(/proxy/i);
  });

  it('reuses the tunnel only if it may reuse connections', async () => {
    const server = await serve(giveToken, certificate);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url() });
    for (let i = 0; i < 3; i++) await send(toTarget({ reuseConnection: true }), bounds());
    expect(proxy.connects).toHaveLength(1);
    await send(toTarget(), bounds());
    expect(proxy.connects).toHaveLength(2);
  });

  it.each([
    [407, 'proxy_refused', 'user:password@'],
    [403, 'proxy_refused', 'NO_PROXY'],
    [301, 'proxy_refused', 'NO_PROXY'],
    [500, 'proxy_refused', 'NO_PROXY'],
    [502, 'connection_failed', 'NO_PROXY'],
    [503, 'connection_failed', 'NO_PROXY'],
    [504, 'connection_failed', 'NO_PROXY'],
  ])('D19 reports HTTP %i from the proxy as %s', async (status, code, hint) => {
    const server = await serve(giveToken, certificate);
    const proxy = await ConnectProxy.start(server.port, rejectConnect(status, 'Proxy-Authenticate: Basic\r\n'), pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url('me:c4n4ry-password@') });
    const error = await errorOf(send(toTarget(), bounds()));
    expect(error).toMatchObject({ code, sent: false });
    expect(error.message).toContain(`the proxy 127.0.0.1:${proxy.port}`);
    expect(error.message).toContain(`HTTP ${status}`);
    expect(error.hint).toContain(hint);
    expect(inspect(error, { depth: 9 })).not.toMatch(/c4n4ry|bWU6/);
    expect(server.connections).toBe(0);
    await proxy.allClosed();
  });

  it('D17 D19 times out and closes the connection if CONNECT hangs', async () => {
    const proxy = await ConnectProxy.start(0, (_request, client) => client.resume(), pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url() })(toTarget(), bounds(undefined, 100)));
    expect(error).toMatchObject({ code: 'timeout', sent: false });
    await proxy.allClosed();
  });

  it('D17 D19 times out and closes the tunnel if the TLS handshake with the provider hangs', async () => {
    const server = await serveRaw((socket) => socket.resume());
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url() })(toTarget(), bounds(undefined, 100)));
    expect(error).toMatchObject({ code: 'timeout', sent: false });
    await proxy.allClosed();
    await server.allClosed();
  });

  it('D17 D19 times out if no response arrives through the tunnel', async () => {
    const server = await serve((response, { number }) => number === 1 && giveToken(response), certificate);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url() });
    await send(toTarget({ reuseConnection: true }), bounds());
    const error = await errorOf(send(toTarget({ reuseConnection: true }), bounds(undefined, 60)));
    expect(error).toMatchObject({ code: 'timeout', sent: true });
    await proxy.allClosed();
  });

  it('closes the connection if it is aborted during CONNECT', async () => {
    const controller = new AbortController();
    const reason = new Error('cancelled');
    const proxy = await ConnectProxy.start(
      0,
      (_request, client) => {
        client.resume();
        controller.abort(reason);
      },
      pair,
    );
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url() })(toTarget(), bounds(controller.signal)));
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    await proxy.allClosed();
  });

  it('closes the tunnel if it is aborted during the TLS handshake with the provider', async () => {
    const controller = new AbortController();
    const server = await serveRaw((socket) => socket.once('data', () => controller.abort()));
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url() })(toTarget(), bounds(controller.signal)));
    expect(error.code).toBe('aborted');
    await proxy.allClosed();
  });

  it.each<[string, (socket: { destroy(): void; end(bytes: string): void }) => void]>([
    ['closes the connection', (socket) => socket.destroy()],
    ['does not speak HTTP', (socket) => socket.end('220 ready\r\n')],
    ['closes within its response', (socket) => socket.end('HTTP/1.1 200 Connection est')],
  ])('names the proxy in the error if the proxy %s', async (_what, respond) => {
    const proxy = await ConnectProxy.start(0, (_request, client) => respond(client), pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url('me:c4n4ry-password@') })(toTarget(), bounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
    expect(error.message).toContain(`the proxy 127.0.0.1:${proxy.port}`);
    expect(error.hint).toContain('HTTPS_PROXY');
    expect(error.cause).not.toHaveProperty('rawPacket');
  });

  it('is not sent if the tunnel is closed at once', async () => {
    const proxy = await ConnectProxy.start(0, (_request, client) => client.end('HTTP/1.1 200 OK\r\n\r\n'), pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url() })(toTarget(), bounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
  });

  it('verifies the certificate of the provider', async () => {
    const foreign = authority.issue({ name: 'foreign', hosts: 'DNS:other.example.test,IP:127.0.0.1' });
    const server = await serve(giveToken, foreign);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url() })(toTarget(), bounds()));
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(server.requests).toHaveLength(0);
  });

  it('D19 presents the client certificate to the provider', async () => {
    const client = authority.issue({ name: 'client', usage: 'clientAuth' });
    const server = await serve(giveToken, { ...certificate, clientCa: authority.ca.cert });
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url() });
    const files = { ...tls, cert: client.cert, certKey: client.key };
    await expect(send(toTarget({ tls: files }), bounds())).resolves.toMatchObject({ status: 200 });
  });

  it('works 50 times at once', async () => {
    const server = await serve(giveToken, certificate);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url() });
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, i) => send(toTarget({ reuseConnection: i % 2 === 0 }), bounds())),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(50);
  });

  it('over plain http is forwarded with the whole URL', async () => {
    const server = await serve();
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTP_PROXY: proxy.url('me:secret@') });
    const request = post('http://login.example.test:8080/token?x=1', { tls, reuseConnection: true });
    await expect(send(request, bounds())).resolves.toMatchObject({ status: 200 });
    expect(proxy.connects).toHaveLength(0);
    expect(proxy.forwards[0]?.url).toBe('http://login.example.test:8080/token?x=1');
    expect(proxy.forwards[0]?.headers).toMatchObject({
      host: 'login.example.test:8080',
      'proxy-authorization': basic('me:secret'),
    });
    expect(server.requests[0]).toMatchObject({ path: '/token?x=1', body: 'grant_type=client_credentials' });
  });
});

describe('an https proxy', () => {
  it('must have a certificate for its own host name, not for that of the provider', async () => {
    const server = await serve(giveToken, certificate);
    const wrong = authority.issue({ name: 'wrong', hosts: 'DNS:login.example.test' });
    const proxy = await ConnectProxy.start(server.port, undefined, wrong);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url('me:c4n4ry-password@') })(toTarget(), bounds()));
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(error.message).toContain(`the proxy 127.0.0.1:${proxy.port}`);
    expect(proxy.connects).toHaveLength(0);
    expect(inspect(error, { depth: 9 })).not.toMatch(/c4n4ry|bWU6/);
  });

  it.each([target, 'http://login.example.test/token'])(
    'with an untrusted certificate gets the hint to set options.ca_file, for %s',
    async (url) => {
      const proxy = await ConnectProxy.start(0, () => {}, proxyCertificate);
      const error = await errorOf(sendWith({ ALL_PROXY: proxy.url() })(post(url), bounds()));
      expect(error).toMatchObject({ code: 'tls_failed', sent: false });
      expect(error.message).toContain(`the proxy 127.0.0.1:${proxy.port}`);
      expect(error.hint).toContain('graph.options.ca_file');
    },
  );

  it.each([target, 'http://login.example.test/token'])('never receives the client certificate, for %s', async (url) => {
    const client = authority.issue({ name: 'client', usage: 'clientAuth' });
    const server = await serve(giveToken, url === target ? certificate : undefined);
    const proxy = await ConnectProxy.start(server.port, undefined, proxyCertificate);
    const received: unknown[] = [];
    proxy.server.on('secureConnection', (socket) => received.push(socket.getPeerCertificate()));
    const files = { ...tls, cert: client.cert, certKey: client.key };
    await sendWith({ ALL_PROXY: proxy.url() })(post(url, { tls: files }), bounds());
    expect(received).toEqual([{}]);
  });
});

describe('a plain http request through a proxy', () => {
  const plain = post('http://login.example.test/token');

  it('D19 reports HTTP 407 as proxy_refused', async () => {
    const server = await serve((response) => response.writeHead(407).end());
    const error = await errorOf(sendWith({ http_proxy: `http://127.0.0.1:${server.port}` })(plain, bounds()));
    expect(error).toMatchObject({ code: 'proxy_refused', sent: false });
  });

  it('returns the proxy credentials as secrets of the response, which may echo them', async () => {
    const server = await serve((response) => response.writeHead(403).end('unknown user me:c4n4ry-password'));
    const proxy = `http://me:c4n4ry-password@127.0.0.1:${server.port}`;
    const { secrets = [] } = await sendWith({ http_proxy: proxy })(plain, bounds());
    const clear = secrets.map((secret) => secret.reveal());
    expect(clear).toContain('c4n4ry-password');
    expect(clear).toContain(basic('me:c4n4ry-password'));
  });

  it('returns HTTP 407 if no proxy is used', async () => {
    const server = await serve((response) => response.writeHead(407).end());
    await expect(sendWith({})(post(server.url), bounds())).resolves.toMatchObject({ status: 407 });
  });

  it.each(['http://login.example.test/token', target])(
    'names the proxy if its connection is refused, for %s',
    async (url) => {
      const proxy = `127.0.0.1:${await closedPort()}`;
      const error = await errorOf(sendWith({ ALL_PROXY: `http://me:c4n4ry-password@${proxy}` })(post(url), bounds()));
      expect(error).toMatchObject({ code: 'connection_failed', sent: false, cause: { code: 'ECONNREFUSED' } });
      expect(error.message).toContain(`the proxy ${proxy}`);
      expect(inspect(error, { depth: 9 })).not.toMatch(/c4n4ry|bWU6/);
    },
  );
});

it('D19 a loopback host is never reached through a proxy', async () => {
  const proxy = await ConnectProxy.start(0, rejectConnect(403));
  const server = await serve();
  const send = sendWith({ ALL_PROXY: proxy.url(), HTTP_PROXY: proxy.url() });
  await expect(send(post(server.url), bounds())).resolves.toMatchObject({ status: 200 });
  expect(proxy.sockets).toHaveLength(0);
});

it('D19 a SOCKS proxy is rejected before anything is sent', async () => {
  const error = await errorOf(sendWith({ ALL_PROXY: 'socks5://127.0.0.1:1080' })(post(target), bounds()));
  expect(error.code).toBe('data_invalid');
});
