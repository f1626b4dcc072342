import { describe, expect, it, onTestFinished } from 'vitest';
import { composePorts } from '../../src/compose.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { bounds, noTls, post, sendWith } from '../support/wire-request.ts';
import { giveToken, serve, serveRaw } from '../support/wire-server.ts';

const authority = new Authority();
const certificate = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const client = authority.issue({ name: 'client', usage: 'clientAuth' });
const ca = authority.ca.cert;
const kept = { reuseConnection: true };

describe.each([
  ['http', undefined, noTls],
  ['https', certificate, { ...noTls, ca }],
] as const)('connections over %s', (_scheme, tls, files) => {
  it('are used again where a request may be repeated', async () => {
    const send = sendWith({});
    const server = await serve(giveToken, tls);
    for (let i = 0; i < 4; i++) await send(post(server.url, { ...kept, tls: files }), bounds());
    expect(server.requests).toHaveLength(4);
    expect(server.connections).toBe(1);
    expect(server.requests[0]?.headers.connection).toBe('keep-alive');
  });

  it('serve once where a request may not be repeated, and are closed then', async () => {
    const send = sendWith({});
    const server = await serve(giveToken, tls);
    for (let i = 0; i < 3; i++) await send(post(server.url, { tls: files }), bounds());
    expect(server.connections).toBe(3);
    expect(server.requests.map(({ headers }) => headers.connection)).toEqual(['close', 'close', 'close']);
    await server.allClosed();
  });

  it('that are kept do not serve a request that may not be repeated', async () => {
    const send = sendWith({});
    const server = await serve(giveToken, tls);
    await send(post(server.url, { ...kept, tls: files }), bounds());
    await send(post(server.url, { tls: files }), bounds());
    expect(server.connections).toBe(2);
  });

  it('that the server closed in the meantime do no harm', async () => {
    const send = sendWith({});
    const server = await serve(giveToken, tls);
    for (let i = 1; i <= 3; i++) {
      await expect(send(post(server.url, { ...kept, tls: files }), bounds())).resolves.toMatchObject({ status: 200 });
      for (const socket of server.sockets) socket.end();
      await server.allClosed();
      expect(server.connections).toBe(i);
    }
  });

  it('serve 50 requests at once, and again, without a warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    onTestFinished(() => {
      process.off('warning', note);
    });
    const { send } = composePorts({ env: {}, cwd: '/' });
    const server = await serve(giveToken, tls);
    const { signal } = new AbortController();
    for (let round = 0; round < 2; round++) {
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          send(post(server.url, { reuseConnection: i % 5 > 0, tls: files, body: `n=${i}` }), bounds(signal)),
        ),
      );
      expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(200));
    }
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(50);
    expect(server.requests).toHaveLength(100);
    // Ten of fifty are made anew in each round.
    expect(server.connections).toBeLessThanOrEqual(60);
    for (let i = 0; i < 20; i++) await send(post(server.url, { ...kept, tls: files }), bounds(signal));
    expect(warnings).toEqual([]);
  });
});

describe('a kept connection', () => {
  it('is not used again after an answer that says it closes', async () => {
    const send = sendWith({});
    const server = await serve((response) => {
      response.setHeader('Connection', 'close');
      giveToken(response);
    });
    await send(post(server.url, kept), bounds());
    await send(post(server.url, kept), bounds());
    expect(server.connections).toBe(2);
  });

  it('is not used again when the reply was not read to its end', async () => {
    const send = sendWith({});
    const server = await serve((response, { number }) => {
      if (number === 1) response.write('x'.repeat(2_000_000));
      else giveToken(response);
    });
    await expect(send(post(server.url, kept), bounds())).rejects.toMatchObject({ code: 'response_too_large' });
    await expect(send(post(server.url, kept), bounds())).resolves.toMatchObject({ status: 200 });
    expect(server.connections).toBe(2);
  });

  it('hands out no answer that came without a question', async () => {
    const send = sendWith({});
    const reply = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
    const server = await serveRaw((socket, number) => {
      socket.on('data', () => socket.write(reply(`first of ${number}`) + reply('stale')));
    });
    await expect(send(post(server.url, kept), bounds())).resolves.toMatchObject({ body: 'first of 1' });
    await expect(send(post(server.url, kept), bounds())).resolves.toMatchObject({ body: 'first of 2' });
  });

  it('that says goodbye while it is idle is not taken for an answer', async () => {
    const send = sendWith({});
    const server = await serveRaw((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', () => {
          setImmediate(() => socket.end('HTTP/1.1 408 Request Timeout\r\nContent-Length: 3\r\n\r\nbye'));
        });
      });
    });
    await expect(send(post(server.url, kept), bounds())).resolves.toMatchObject({ body: 'ok' });
    await server.allClosed();
    await expect(send(post(server.url, kept), bounds())).resolves.toMatchObject({ status: 200, body: 'ok' });
  });

  it('made with a client certificate serves nobody without it', async () => {
    const send = sendWith({});
    const subjects: (string | undefined)[] = [];
    const server = await serve(giveToken, { ...certificate, clientCa: ca });
    server.server.on('secureConnection', (socket) => subjects.push(socket.getPeerCertificate()?.subject?.CN));
    const mine = { ca, cert: client.cert, certKey: client.key };
    await send(post(server.url, { ...kept, tls: mine }), bounds());
    await expect(send(post(server.url, { ...kept, tls: { ...noTls, ca } }), bounds())).rejects.toThrow();
    await send(post(server.url, { ...kept, tls: mine }), bounds());
    expect(subjects).toEqual(['client']);
    expect(server.requests).toHaveLength(2);
  });

  it('made with an authority of one profile serves no profile that does not trust it', async () => {
    const send = sendWith({});
    const server = await serve(giveToken, certificate);
    await send(post(server.url, { ...kept, tls: { ...noTls, ca } }), bounds());
    await expect(send(post(server.url, kept), bounds())).rejects.toMatchObject({ code: 'tls_failed' });
    expect(server.requests).toHaveLength(1);
  });

  it('is closed when it was idle for long', async () => {
    const { createConnector } = await import('../../src/http/connector.ts');
    const { options } = createConnector({}).route(post('http://127.0.0.1/', kept));
    expect(options.agent).toMatchObject({ options: { keepAlive: true, timeout: 30_000 } });
  });
});

it('requests that load the transport at the same time share their connections', async () => {
  const { send } = composePorts({ env: {}, cwd: '/' });
  const server = await serve();
  const three = () => Promise.all([1, 2, 3].map(() => send(post(server.url, kept), bounds())));
  await three();
  const before = server.connections;
  await three();
  expect(server.connections).toBe(before);
});
