import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { WireRequest } from '../../src/ports.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { ConnectProxy, refuseWith } from '../support/connect-proxy.ts';
import { bounds, errorOf, noTls, post, sendWith } from '../support/wire-request.ts';
import { closedPort, giveToken, serve, serveRaw } from '../support/wire-server.ts';

const authority = new Authority();
const certificate = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const proxyCertificate = authority.issue({ name: 'proxy', hosts: 'IP:127.0.0.1' });
const tls = { ...noTls, ca: authority.ca.cert };
const target = 'https://login.example.test/token?x=1';

/** A request for a host that only the proxy knows. */
const toTarget = (changes: Partial<WireRequest> = {}) => post(target, { tls, ...changes });
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe.each([
  ['an http', undefined],
  ['an https', proxyCertificate],
])('through %s proxy', (_kind, pair) => {
  it('D19 asks for the host and port, and speaks TLS with the provider only', async () => {
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

  it('D19 sends user and password decoded, to the proxy only', async () => {
    const server = await serve(giveToken, certificate);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url('dom%5Cme:p%40ss%3A%C3%BC@') });
    await send(toTarget(), bounds());
    expect(proxy.connects[0]?.headers['proxy-authorization']).toBe(basic('dom\\me:p@ss:ü'));
    expect(server.requests[0]?.rawHeaders.join()).not.toMatch(/proxy/i);
  });

  it('keeps the tunnel for requests that may be repeated, and only for them', async () => {
    const server = await serve(giveToken, certificate);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url() });
    for (let i = 0; i < 3; i++) await send(toTarget({ reuseConnection: true }), bounds());
    expect(proxy.connects).toHaveLength(1);
    await send(toTarget(), bounds());
    expect(proxy.connects).toHaveLength(2);
  });

  it.each([
    [407, 'proxy_refused', 'user name and password'],
    [403, 'proxy_refused', 'allow the host'],
    [301, 'proxy_refused', 'allow the host'],
    [500, 'proxy_refused', 'allow the host'],
    [502, 'connection_failed', 'check the address'],
    [503, 'connection_failed', 'check the address'],
    [504, 'connection_failed', 'check the address'],
  ])('D19 tells a %i of the proxy from one of the provider', async (status, code, hint) => {
    const server = await serve(giveToken, certificate);
    const proxy = await ConnectProxy.start(server.port, refuseWith(status, 'Proxy-Authenticate: Basic\r\n'), pair);
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

  it('D17 D19 a CONNECT that hangs ends with the time limit, and its connection too', async () => {
    const proxy = await ConnectProxy.start(0, (_request, client) => client.resume(), pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url() })(toTarget(), bounds(undefined, 100)));
    expect(error).toMatchObject({ code: 'timeout', sent: false });
    expect(error.hint).toContain('proxy');
    await proxy.allClosed();
  });

  it('D17 D19 a handshake that hangs behind the proxy ends with the time limit, and the tunnel too', async () => {
    const server = await serveRaw((socket) => socket.resume());
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url() })(toTarget(), bounds(undefined, 100)));
    expect(error).toMatchObject({ code: 'timeout', sent: false });
    await proxy.allClosed();
    await server.allClosed();
  });

  it('D17 D19 a reply that never comes through the tunnel ends with the time limit', async () => {
    const server = await serve((response, { number }) => number === 1 && giveToken(response), certificate);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url() });
    await send(toTarget({ reuseConnection: true }), bounds());
    const error = await errorOf(send(toTarget({ reuseConnection: true }), bounds(undefined, 60)));
    expect(error).toMatchObject({ code: 'timeout', sent: true });
    await proxy.allClosed();
  });

  it('an abort ends a CONNECT that hangs, and its connection', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
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

  it('an abort ends a handshake behind the proxy, and the tunnel', async () => {
    const controller = new AbortController();
    const server = await serveRaw((socket) => socket.once('data', () => controller.abort()));
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url() })(toTarget(), bounds(controller.signal)));
    expect(error.code).toBe('aborted');
    await proxy.allClosed();
  });

  it.each<[string, (socket: { destroy(): void; end(text: string): void }) => void]>([
    ['hangs up', (socket) => socket.destroy()],
    ['talks nonsense', (socket) => socket.end('what do you want?\r\n')],
    ['breaks off in its answer', (socket) => socket.end('HTTP/1.1 200 Connection est')],
  ])('a proxy that %s is named as the one to look at', async (_what, answer) => {
    const proxy = await ConnectProxy.start(0, (_request, client) => answer(client), pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url('me:c4n4ry-password@') })(toTarget(), bounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
    expect(error.message).toContain(`cannot connect to the proxy 127.0.0.1:${proxy.port}`);
    expect(error.hint).toContain('HTTPS_PROXY');
    expect(error.cause).not.toHaveProperty('rawPacket');
  });

  it('a tunnel that is closed at once sent nothing', async () => {
    const proxy = await ConnectProxy.start(0, (_request, client) => client.end('HTTP/1.1 200 OK\r\n\r\n'), pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url() })(toTarget(), bounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
  });

  it("does not take the proxy's word for who the provider is", async () => {
    const foreign = authority.issue({ name: 'foreign', hosts: 'DNS:other.example.test,IP:127.0.0.1' });
    const server = await serve(giveToken, foreign);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const error = await errorOf(sendWith({ HTTPS_PROXY: proxy.url() })(toTarget(), bounds()));
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(server.requests).toHaveLength(0);
  });

  it('D19 shows a client certificate to the provider', async () => {
    const client = authority.issue({ name: 'client', usage: 'clientAuth' });
    const server = await serve(giveToken, { ...certificate, clientCa: authority.ca.cert });
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url() });
    const files = { ...tls, cert: client.cert, certKey: client.key };
    await expect(send(toTarget({ tls: files }), bounds())).resolves.toMatchObject({ status: 200 });
  });

  it('carries 50 requests at once', async () => {
    const server = await serve(giveToken, certificate);
    const proxy = await ConnectProxy.start(server.port, undefined, pair);
    const send = sendWith({ HTTPS_PROXY: proxy.url() });
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => send(toTarget({ reuseConnection: i % 2 === 0 }), bounds())),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(50);
  });

  it('carries plain http with the whole address, where the profile allows it', async () => {
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

describe('proxies and their certificates', () => {
  it('a proxy over TLS must be who it says, whatever the provider is called', async () => {
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
    'a proxy of an unknown authority gets the hint to set options.ca_file, for %s',
    async (url) => {
      const proxy = await ConnectProxy.start(0, () => {}, proxyCertificate);
      const error = await errorOf(sendWith({ ALL_PROXY: proxy.url() })(post(url), bounds()));
      expect(error).toMatchObject({ code: 'tls_failed', sent: false });
      expect(error.message).toContain(`the proxy 127.0.0.1:${proxy.port}`);
      expect(error.hint).toContain('graph.options.ca_file');
    },
  );

  it.each([target, 'http://login.example.test/token'])(
    'a proxy over TLS is never shown the client certificate, for %s',
    async (url) => {
      const client = authority.issue({ name: 'client', usage: 'clientAuth' });
      const server = await serve(giveToken, url === target ? certificate : undefined);
      const proxy = await ConnectProxy.start(server.port, undefined, proxyCertificate);
      const shown: unknown[] = [];
      proxy.server.on('secureConnection', (socket) => shown.push(socket.getPeerCertificate()));
      const files = { ...tls, cert: client.cert, certKey: client.key };
      await sendWith({ ALL_PROXY: proxy.url() })(post(url, { tls: files }), bounds());
      expect(shown).toEqual([{}]);
    },
  );
});

describe('plain http through a proxy', () => {
  const plain = post('http://login.example.test/token');

  it('D19 tells a 407 of the proxy', async () => {
    const server = await serve((response) => response.writeHead(407).end());
    const error = await errorOf(sendWith({ http_proxy: `http://127.0.0.1:${server.port}` })(plain, bounds()));
    expect(error).toMatchObject({ code: 'proxy_refused', sent: false });
  });

  it('tells what the proxy was sent beside the request, because its page may repeat it', async () => {
    const server = await serve((response) => response.writeHead(403).end('who is me:c4n4ry-password?'));
    const proxy = `http://me:c4n4ry-password@127.0.0.1:${server.port}`;
    const { secrets = [] } = await sendWith({ http_proxy: proxy })(plain, bounds());
    const clear = secrets.map((secret) => secret.reveal());
    expect(clear).toContain('c4n4ry-password');
    expect(clear).toContain(basic('me:c4n4ry-password'));
  });

  it('takes a 407 without a proxy for what it is', async () => {
    const server = await serve((response) => response.writeHead(407).end());
    await expect(sendWith({})(post(server.url), bounds())).resolves.toMatchObject({ status: 407 });
  });

  it.each(['http://login.example.test/token', target])('names a proxy that nobody answers at, for %s', async (url) => {
    const proxy = `127.0.0.1:${await closedPort()}`;
    const error = await errorOf(sendWith({ ALL_PROXY: `http://me:c4n4ry-password@${proxy}` })(post(url), bounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
    expect(error.message).toBe(`cannot connect to the proxy ${proxy} (ECONNREFUSED)`);
    expect(inspect(error, { depth: 9 })).not.toMatch(/c4n4ry|bWU6/);
  });
});

it('D19 this machine is reached without a proxy', async () => {
  const proxy = await ConnectProxy.start(0, refuseWith(403));
  const server = await serve();
  const send = sendWith({ ALL_PROXY: proxy.url(), HTTP_PROXY: proxy.url() });
  await expect(send(post(server.url), bounds())).resolves.toMatchObject({ status: 200 });
  expect(proxy.clients).toHaveLength(0);
});

it('D19 refuses a socks proxy before anything is sent', async () => {
  const error = await errorOf(sendWith({ ALL_PROXY: 'socks5://127.0.0.1:1080' })(post(target), bounds()));
  expect(error).toMatchObject({ code: 'data_invalid', message: 'ALL_PROXY is not the address of an HTTP proxy' });
});
