import { getEventListeners } from 'node:events';
import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { errorOf } from '../support/errors.ts';
import { bounds, post, sendWith } from '../support/ports.ts';
import { closedPort, giveJson, giveToken, serve, serveBytes, serveRaw } from '../support/server.ts';

const send = sendWith();
const token = '{"access_token":"given-access-token"}';

describe('a connection that fails', () => {
  it('is reported as not sent if the connection is refused', async () => {
    const port = await closedPort();
    const error = await errorOf(send(post(`http://127.0.0.1:${port}/token`), bounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: false, cause: { code: 'ECONNREFUSED' } });
    expect(error.message).toContain(`127.0.0.1:${port}`);
  });

  const failures: [string, (socket: Socket) => void][] = [
    ['closes without a response', (socket) => socket.end()],
    ['resets after the request', (socket) => socket.resetAndDestroy()],
    ['resets in the headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nX', () => socket.resetAndDestroy())],
    ['closes in the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n')],
    [
      'resets in the body',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n${token}`, () => socket.resetAndDestroy()),
    ],
    [
      'sends less than the Content-Length',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n${token}`),
    ],
    [
      'stops between chunks',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n25\r\n${token}\r\n`),
    ],
    [
      'stops within a chunk',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n${token}`),
    ],
    [
      'switches to another protocol',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    ],
  ];
  it.each(failures)('is reported as possibly sent if the server %s', async (_what, respond) => {
    const server = await serveBytes('', respond);
    const error = await errorOf(send(post(server.url), bounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: true });
    expect(error.message).toContain(`127.0.0.1:${server.port}`);
    expect(inspect(error, { depth: 5 })).not.toContain('given-access-token');
    await server.allClosed();
  });

  it('is connection_failed if the server resets it before it reads', async () => {
    const server = await serveRaw((socket) => socket.resetAndDestroy());
    expect(await errorOf(send(post(server.url), bounds()))).toMatchObject({ code: 'connection_failed' });
  });

  it.each([
    ['a line that is not HTTP', 'given-access-token\r\n'],
    ['the greeting of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a TLS alert', Buffer.from([0x15, 3, 1, 0, 2, 2, 70])],
    ['a wrong version', `HTTP/7.0 200 OK\r\n\r\n${token}`],
    ['a status that is not a number', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['two different Content-Lengths', `HTTP/1.1 200 OK\r\nContent-Length: 37\r\nContent-Length: 36\r\n\r\n${token}`],
    [
      'Content-Length and Transfer-Encoding',
      `HTTP/1.1 200 OK\r\nContent-Length: 37\r\nTransfer-Encoding: chunked\r\n\r\n${token}`,
    ],
    ['an invalid chunk size', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n25\r\n${token}\r\nxyz\r\n`],
  ])('is closed as unreadable after %s, without the received bytes in the error', async (_what, bytes) => {
    const server = await serveBytes(bytes);
    const error = await errorOf(send(post(server.url), bounds()));
    expect(error).toMatchObject({ code: 'response_unreadable', sent: true });
    expect(error.message).toContain(`127.0.0.1:${server.port}`);
    // Node's parse errors contain the received bytes.
    const shown = inspect(error, { depth: 5, maxArrayLength: null, showHidden: true });
    expect(shown).not.toContain('given-access-token');
    expect(shown).not.toContain('67 69 76 65 6e 2d 61 63 63 65 73 73');
    expect(error.cause).not.toHaveProperty('rawPacket');
    await server.allClosed();
  });
});

describe('an abort', () => {
  const reason = new Error('cancelled by the user');

  it('before the request prevents the connection', async () => {
    const server = await serve();
    const error = await errorOf(send(post(server.url), bounds(AbortSignal.abort(reason))));
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(server.connections).toBe(0);
  });

  it('closes a connection that waits for a response', async () => {
    const controller = new AbortController();
    const server = await serve(() => controller.abort(reason));
    const error = await errorOf(send(post(server.url), bounds(controller.signal)));
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    await server.allClosed();
  });

  it('closes a connection whose response is incomplete', async () => {
    const controller = new AbortController();
    const server = await serve((response) => {
      response.write('{"access_token":', () => controller.abort(reason));
    });
    expect(await errorOf(send(post(server.url), bounds(controller.signal)))).toMatchObject({ code: 'aborted' });
    await server.allClosed();
  });

  it('closes a connection whose TLS handshake hangs', async () => {
    const controller = new AbortController();
    const server = await serveRaw((socket) => socket.once('data', () => controller.abort(reason)));
    const url = `https://127.0.0.1:${server.port}/token`;
    expect(await errorOf(send(post(url), bounds(controller.signal)))).toMatchObject({ code: 'aborted', cause: reason });
    await server.allClosed();
  });

  it('leaves no listener on its signal, whether the request succeeds or fails', async () => {
    const { signal } = new AbortController();
    const server = await serve((response, { number }) => {
      if (number === 1) giveToken(response);
      else response.destroy();
    });
    await send(post(server.url), bounds(signal));
    await errorOf(send(post(server.url), bounds(signal)));
    await errorOf(send(post(`http://127.0.0.1:${await closedPort()}/`), bounds(signal)));
    const hung = await serveRaw(() => {});
    await errorOf(send(post(hung.url), bounds(signal, 30)));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('after the response does not affect it, nor the next request on the connection', async () => {
    const controller = new AbortController();
    const server = await serve((response) => giveJson(response, 200, { ok: true }));
    const response = await send(post(server.url, { reuseConnection: true }), bounds(controller.signal));
    controller.abort(reason);
    expect(response.body).toBe('{"ok":true}');
    await expect(send(post(server.url, { reuseConnection: true }), bounds())).resolves.toMatchObject({ status: 200 });
  });
});
