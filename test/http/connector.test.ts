import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../src/client.ts';
import { createConnector } from '../../src/http/connector.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { errorOf } from '../support/errors.ts';
import { bounds, noTls, post, sendWith } from '../support/ports.ts';
import { giveToken, serve, serveRaw } from '../support/server.ts';

const authority = new Authority();
const certificate = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const client = authority.issue({ name: 'client', usage: 'clientAuth' });
const ca = authority.ca.cert;
const reuse = { reuseConnection: true };

describe.each([
  ['http', undefined, noTls],
  ['https', certificate, { ...noTls, ca }],
] as const)('a connection over %s', (_scheme, tls, files) => {
  it('is reused if the request allows it', async () => {
    const send = sendWith({});
    const server = await serve(giveToken, tls);
    for (let i = 0; i < 4; i++) await send(post(server.url, { ...reuse, tls: files }), bounds());
    expect(server.requests).toHaveLength(4);
    expect(server.connections).toBe(1);
    expect(server.requests[0]?.headers.connection).toBe('keep-alive');
  });

  it('is used once and closed if the request does not allow reuse', async () => {
    const send = sendWith({});
    const server = await serve(giveToken, tls);
    for (let i = 0; i < 3; i++) await send(post(server.url, { tls: files }), bounds());
    expect(server.connections).toBe(3);
    expect(server.requests.map(({ headers }) => headers.connection)).toEqual(['close', 'close', 'close']);
    await server.allClosed();
  });

  it('that is idle is not used for a request that does not allow reuse', async () => {
    const send = sendWith({});
    const server = await serve(giveToken, tls);
    await send(post(server.url, { ...reuse, tls: files }), bounds());
    await send(post(server.url, { tls: files }), bounds());
    expect(server.connections).toBe(2);
  });

  it('that the server has closed is replaced by a new one', async () => {
    const send = sendWith({});
    const server = await serve(giveToken, tls);
    for (let i = 1; i <= 3; i++) {
      await expect(send(post(server.url, { ...reuse, tls: files }), bounds())).resolves.toMatchObject({ status: 200 });
      for (const socket of server.sockets) socket.end();
      await server.allClosed();
      expect(server.connections).toBe(i);
    }
  });

  it('can be one of 50 at once, without a warning of Node', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => {
      process.off('warning', onWarning);
    });
    const { send } = createClient({ environment: { env: {}, cwd: '/' } }).ports;
    const server = await serve(giveToken, tls);
    const { signal } = new AbortController();
    for (let round = 0; round < 2; round++) {
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          send(post(server.url, { reuseConnection: i % 5 > 0, tls: files, body: `n=${i}` }), bounds(signal)),
        ),
      );
      expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(200));
    }
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(50);
    expect(server.requests).toHaveLength(100);
    // Forty are reused in the second round; ten of fifty are new each time.
    expect(server.connections).toBeLessThanOrEqual(60);
    for (let i = 0; i < 20; i++) await send(post(server.url, { ...reuse, tls: files }), bounds(signal));
    expect(warnings).toEqual([]);
  });
});

describe('an idle connection', () => {
  it('is not reused after a response with Connection: close', async () => {
    const send = sendWith({});
    const server = await serve((response) => {
      response.setHeader('Connection', 'close');
      giveToken(response);
    });
    await send(post(server.url, reuse), bounds());
    await send(post(server.url, reuse), bounds());
    expect(server.connections).toBe(2);
  });

  it('is not reused if the response was not read to its end', async () => {
    const send = sendWith({});
    const server = await serve((response, { number }) => {
      if (number === 1) response.write('x'.repeat(2_000_000));
      else giveToken(response);
    });
    await expect(send(post(server.url, reuse), bounds())).rejects.toMatchObject({ code: 'response_too_large' });
    await expect(send(post(server.url, reuse), bounds())).resolves.toMatchObject({ status: 200 });
    expect(server.connections).toBe(2);
  });

  it('is not reused after a second, unrequested response', async () => {
    const send = sendWith({});
    const respondWith = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const server = await serveRaw((socket, number) => {
      socket.on('data', () => socket.write(respondWith(`first of ${number}`) + respondWith('stale')));
    });
    await expect(send(post(server.url, reuse), bounds())).resolves.toMatchObject({ body: 'first of 1' });
    await expect(send(post(server.url, reuse), bounds())).resolves.toMatchObject({ body: 'first of 2' });
  });

  it('is not reused after the server has sent HTTP 408 and closed it', async () => {
    const send = sendWith({});
    const server = await serveRaw((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', () => {
          setImmediate(() => socket.end('HTTP/1.1 408 Request Timeout\r\nContent-Length: 3\r\n\r\nbye'));
        });
      });
    });
    await expect(send(post(server.url, reuse), bounds())).resolves.toMatchObject({ body: 'ok' });
    await server.allClosed();
    await expect(send(post(server.url, reuse), bounds())).resolves.toMatchObject({ status: 200, body: 'ok' });
  });

  it('with a client certificate is not used for a request without it', async () => {
    const send = sendWith({});
    const subjects: (string | undefined)[] = [];
    const server = await serve(giveToken, { ...certificate, clientCa: ca });
    server.server.on('secureConnection', (socket) => subjects.push(socket.getPeerCertificate()?.subject?.CN));
    const files = { ca, cert: client.cert, certKey: client.key };
    await send(post(server.url, { ...reuse, tls: files }), bounds());
    await expect(send(post(server.url, { ...reuse, tls: { ...noTls, ca } }), bounds())).rejects.toThrow();
    await send(post(server.url, { ...reuse, tls: files }), bounds());
    expect(subjects).toEqual(['client']);
    expect(server.requests).toHaveLength(2);
  });

  it('to a private certificate authority is not used by a profile that does not trust it', async () => {
    const send = sendWith({});
    const server = await serve(giveToken, certificate);
    await send(post(server.url, { ...reuse, tls: { ...noTls, ca } }), bounds());
    await expect(send(post(server.url, reuse), bounds())).rejects.toMatchObject({ code: 'tls_failed' });
    expect(server.requests).toHaveLength(1);
  });

  it('is closed after 30 seconds', async () => {
    const { options } = createConnector({}).route(post('http://127.0.0.1/', reuse));
    expect(options.agent).toMatchObject({ options: { keepAlive: true, timeout: 30_000 } });
  });
});

it('concurrent first requests share their connections afterwards', async () => {
  const { send } = createClient({ environment: { env: {}, cwd: '/' } }).ports;
  const server = await serve();
  const three = () => Promise.all([1, 2, 3].map(() => send(post(server.url, reuse), bounds())));
  await three();
  const before = server.connections;
  await three();
  expect(server.connections).toBe(before);
});

describe('a request to an emulator', () => {
  const emulatorPair = authority.issue({ name: 'emulator', hosts: 'DNS:login.example.test' });
  it('has the real host and TLS, and does not use a proxy', async () => {
    const server = await serve(giveToken, emulatorPair);
    const names: unknown[] = [];
    server.server.on('secureConnection', (socket) => names.push(socket.servername));
    const send = sendWith({ HTTPS_PROXY: 'http://127.0.0.1:9' }, { port: server.port, ca });
    await expect(send(post('https://login.example.test/t?x=1'), bounds())).resolves.toMatchObject({ status: 200 });
    expect(server.requests[0]).toMatchObject({ path: '/t?x=1', headers: { host: 'login.example.test' } });
    expect(names).toEqual(['login.example.test']);
  });

  it('fails if the certificate of the emulator is for another host', async () => {
    const server = await serve(giveToken, emulatorPair);
    const send = sendWith({}, { port: server.port, ca });
    const error = await errorOf(send(post('https://other.example.test/t'), bounds()));
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(server.requests).toHaveLength(0);
  });

  it('stays plain http', async () => {
    const server = await serve();
    const send = sendWith({}, { port: server.port, ca });
    await expect(send(post('http://192.0.2.1:8080/t'), bounds())).resolves.toMatchObject({ status: 200 });
    expect(server.requests[0]?.headers.host).toBe('192.0.2.1:8080');
  });

  it.each([
    [true, 1],
    [false, 3],
  ])('reuses a connection only if that is allowed: %s', async (reuseConnection, connections) => {
    const server = await serve(giveToken, emulatorPair);
    const send = sendWith({}, { port: server.port, ca });
    for (let i = 0; i < 3; i++) await send(post('https://login.example.test/t', { reuseConnection }), bounds());
    expect(server.connections).toBe(connections);
  });

  it('fails with not_emulated if the emulator does not know the host', async () => {
    const server = await serve((response) => {
      response.writeHead(421, { 'X-OAuth-Profile-Emulator': 'not_emulated' }).end();
    }, emulatorPair);
    const error = await errorOf(sendWith({}, { port: server.port, ca })(post('https://login.example.test/'), bounds()));
    expect(error.code).toBe('not_emulated');
    expect(error.message).toContain('login.example.test');
  });
});
