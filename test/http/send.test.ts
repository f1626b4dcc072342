import { getEventListeners } from 'node:events';
import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/redaction/secret.ts';
import { bounds, errorOf, post, sendWith } from '../support/wire-request.ts';
import { closedPort, giveJson, giveToken, isComplete, serve, serveBytes, serveRaw } from '../support/wire-server.ts';

const send = sendWith({});
const token = '{"access_token":"given-access-token"}';

describe('what arrives', () => {
  it('D11 sends exactly the method, path, headers and body it was given', async () => {
    let bytes = '';
    const server = await serveRaw((socket) => {
      socket.on('data', (chunk) => {
        bytes += chunk.toString();
        if (isComplete(bytes)) socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${token.length}\r\n\r\n${token}`);
      });
    });
    const request = post(`http://127.0.0.1:${server.port}/oauth2/token?api-version=1.0&x=%20%C3%A9`, {
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        Accept: 'application/json',
        Authorization: new Secret('Basic dXNlcjpwdw=='),
      },
      body: 'grant_type=password&username=J%C3%BCrgen',
    });
    await expect(send(request, bounds())).resolves.toMatchObject({ status: 200, body: token });
    const [head = '', body] = bytes.split('\r\n\r\n');
    const [first, ...headers] = head.split('\r\n');
    expect(first).toBe('POST /oauth2/token?api-version=1.0&x=%20%C3%A9 HTTP/1.1');
    expect(headers.sort()).toEqual([
      'Accept: application/json',
      'Authorization: Basic dXNlcjpwdw==',
      'Connection: close',
      'Content-Length: 40',
      'Content-Type: application/x-www-form-urlencoded',
      `Host: 127.0.0.1:${server.port}`,
    ]);
    expect(body).toBe('grant_type=password&username=J%C3%BCrgen');
  });

  it('counts the length of a body in bytes', async () => {
    const server = await serve();
    await send(post(server.url, { body: 'user=Jürgen' }), bounds());
    expect(server.requests[0]).toMatchObject({ body: 'user=Jürgen', headers: { 'content-length': '12' } });
  });

  it('gives back status, lower-case headers and the body as UTF-8', async () => {
    const body = '{"name":"Jürgen 🔑"}';
    const server = await serve((response) => response.writeHead(418, 'Teapot', { 'X-Request-ID': 'r-1' }).end(body));
    const reply = await send(post(server.url), bounds());
    expect(reply).toMatchObject({ status: 418, body, headers: { 'x-request-id': 'r-1' } });
  });

  it('puts a character together that came in two pieces', async () => {
    const bytes = Buffer.from('{"name":"Jürgen"}');
    const server = await serve((response) => {
      response.write(bytes.subarray(0, 11));
      response.end(bytes.subarray(11));
    });
    await expect(send(post(server.url), bounds())).resolves.toMatchObject({ body: bytes.toString() });
  });

  it.each([301, 302, 303, 307, 308])('D13 does not follow a %i', async (status) => {
    const target = await serve();
    const server = await serve((response) => response.writeHead(status, { Location: target.url }).end());
    const reply = await send(post(server.url), bounds());
    expect(reply).toMatchObject({ status, headers: { location: target.url } });
    expect(server.requests).toHaveLength(1);
    expect(target.connections).toBe(0);
  });

  it('reaches a server that only listens on one address family of localhost', async () => {
    const server = await serve();
    await expect(send(post(`http://localhost:${server.port}/token`), bounds())).resolves.toMatchObject({ status: 200 });
  });

  it('waits for the final answer after informational ones', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
    const server = await serveBytes(`${interim}HTTP/1.1 200 OK\r\nContent-Length: ${token.length}\r\n\r\n${token}`);
    await expect(send(post(server.url), bounds())).resolves.toMatchObject({ status: 200, body: token });
  });

  it.each([
    ['204 without a body', 'HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
    ['200 with an empty body', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 200, ''],
    ['an answer that ends with its connection', `HTTP/1.0 200 OK\r\n\r\n${token}`, 200, token],
    ['chunks', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n25\r\n${token}\r\n0\r\n\r\n`, 200, token],
    [
      'an empty name of an encoding',
      `HTTP/1.1 200 OK\r\nContent-Encoding: \r\nContent-Length: 37\r\n\r\n${token}`,
      200,
      token,
    ],
  ])('understands %s', async (_what, bytes, status, body) => {
    const server = await serveBytes(bytes, (socket) => socket.end());
    await expect(send(post(server.url), bounds())).resolves.toMatchObject({ status, body });
  });
});

describe('an answer that is compressed unasked', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ])('is unpacked: %s', async (encoding, compress) => {
    const server = await serve((response) => {
      response.writeHead(200, { 'Content-Encoding': encoding }).end(compress(token));
    });
    await expect(send(post(server.url), bounds())).resolves.toMatchObject({ body: token });
    expect(server.requests[0]?.headers).not.toHaveProperty('accept-encoding');
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('D17 may not unpack to more than 1 MiB: %s', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(4 * 1_048_576));
    expect(bomb.length).toBeLessThan(1_048_576);
    const server = await serve((response) => response.writeHead(200, { 'Content-Encoding': encoding }).end(bomb));
    const error = await errorOf(send(post(server.url), bounds()));
    expect(error).toMatchObject({ code: 'response_too_large', sent: true, hint: expect.stringContaining('check') });
  });

  it('D17 may unpack to exactly 1 MiB', async () => {
    const body = gzipSync(Buffer.alloc(1_048_576, 'x'));
    const server = await serve((response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(body));
    expect((await send(post(server.url), bounds())).body).toHaveLength(1_048_576);
  });

  it.each([
    ['cut off', 'gzip', gzipSync(token).subarray(0, 20)],
    ['not what it says', 'gzip', Buffer.from(token)],
    ['unknown', 'zstd', Buffer.from(token)],
    ['called like a member of every object', 'constructor', Buffer.from(token)],
    ['called like another member of every object', 'toString', Buffer.from(token)],
    ['packed twice', 'gzip, gzip', gzipSync(gzipSync(token))],
  ])('is unreadable when it is %s', async (_what, encoding, body) => {
    const server = await serve((response) => response.writeHead(200, { 'Content-Encoding': encoding }).end(body));
    const error = await errorOf(send(post(server.url), bounds()));
    expect(error).toMatchObject({ code: 'response_unreadable', sent: true });
    expect(error.message).toContain(server.url.slice('http://'.length, -'/token'.length));
    expect(inspect(error)).not.toContain('given-access-token');
  });

  it('is named in a short and printable way', async () => {
    const name = `${'x'.repeat(5000)}`;
    const server = await serveBytes(
      Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: \x9b31m${name}\r\nContent-Length: 1\r\n\r\nx`, 'latin1'),
    );
    const { message } = await errorOf(send(post(server.url), bounds()));
    expect(message).not.toContain('\x9b');
    expect(message.length).toBeLessThan(200);
  });
});

describe('limits', () => {
  it('D17 takes a reply of exactly 1 MiB and no byte more', async () => {
    const server = await serve((response, { number }) => response.end('x'.repeat(1_048_575 + number)));
    expect((await send(post(server.url), bounds())).body).toHaveLength(1_048_576);
    const error = await errorOf(send(post(server.url), bounds()));
    expect(error).toMatchObject({ code: 'response_too_large', sent: true });
    expect(error.message).toContain('1048576 bytes');
  });

  it('D17 hangs up on a reply that never ends', async () => {
    const server = await serve((response) => {
      const more = (): void => {
        while (response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    expect(await errorOf(send(post(server.url), bounds()))).toMatchObject({ code: 'response_too_large' });
    await server.allClosed();
  });

  it('hangs up on headers that never end', async () => {
    const server = await serveBytes('HTTP/1.1 200 OK\r\n', (socket) => {
      const more = (): void => {
        while (!socket.destroyed && socket.write(`X-More: ${'x'.repeat(4096)}\r\n`));
      };
      socket.on('drain', more);
      more();
    });
    const error = await errorOf(send(post(server.url), bounds()));
    expect(error).toMatchObject({ code: 'response_unreadable', sent: true });
    await server.allClosed();
  });

  const silent: [string, (socket: Socket) => void, boolean][] = [
    ['accepts and never answers', () => {}, true],
    ['stops after the status line', (socket) => socket.write('HTTP/1.1 200 OK\r\n'), true],
    ['stops after the headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'), true],
    ['says only that it goes on', (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), true],
  ];
  it.each(silent)('D17 gives up on a server that %s, and hangs up', async (_what, answer, sent) => {
    const server = await serveRaw((socket) => {
      socket.resume();
      answer(socket);
    });
    const error = await errorOf(send(post(server.url), bounds(undefined, 250)));
    expect(error).toMatchObject({ code: 'timeout', sent });
    expect(error.message).toBe(`127.0.0.1:${server.port} did not answer within 250 ms`);
    expect(error.hint).toContain('graph.options.timeout');
    await server.allClosed();
  });

  it('D17 gives up on a reply that drips, however regularly', async () => {
    const timers: NodeJS.Timeout[] = [];
    const server = await serveBytes('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n', (socket) => {
      timers.push(setInterval(() => socket.write('x'), 10));
    });
    const error = await errorOf(send(post(server.url), bounds(undefined, 250)));
    for (const timer of timers) clearInterval(timer);
    expect(error).toMatchObject({ code: 'timeout', sent: true });
    await server.allClosed();
  });
});

describe('connections that break', () => {
  it('says that nobody listens, and that nothing was sent', async () => {
    const port = await closedPort();
    const error = await errorOf(send(post(`http://127.0.0.1:${port}/token`), bounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
    expect(error.message).toBe(`127.0.0.1:${port} takes no connections`);
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' });
  });

  const breaks: [string, (socket: Socket) => void][] = [
    ['closes without answering', (socket) => socket.end()],
    ['resets after the request', (socket) => socket.resetAndDestroy()],
    ['resets in the headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nX', () => socket.resetAndDestroy())],
    ['closes in the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n')],
    [
      'resets in the body',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n${token}`, () => socket.resetAndDestroy()),
    ],
    ['sends less than it promised', (socket) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n${token}`)],
    [
      'stops between chunks',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n25\r\n${token}\r\n`),
    ],
    [
      'stops within a chunk',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n${token}`),
    ],
    [
      'changes to another protocol',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    ],
  ];
  it.each(breaks)('is a failed connection, perhaps sent, when the server %s', async (_what, answer) => {
    const server = await serveBytes('', answer);
    const error = await errorOf(send(post(server.url), bounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: true });
    expect(error.message).toContain(`127.0.0.1:${server.port} broke before the reply was complete`);
    expect(inspect(error, { depth: 5 })).not.toContain('given-access-token');
    await server.allClosed();
  });

  it('is a failed connection when the server resets before it reads', async () => {
    const server = await serveRaw((socket) => socket.resetAndDestroy());
    expect(await errorOf(send(post(server.url), bounds()))).toMatchObject({ code: 'connection_failed' });
  });

  it.each([
    ['a word without HTTP', 'given-access-token\r\n'],
    ['the greeting of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['a TLS alert', Buffer.from([0x15, 3, 1, 0, 2, 2, 70])],
    ['a wrong version', `HTTP/7.0 200 OK\r\n\r\n${token}`],
    ['a status that is no number', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['two lengths', `HTTP/1.1 200 OK\r\nContent-Length: 37\r\nContent-Length: 36\r\n\r\n${token}`],
    ['a length and chunks', `HTTP/1.1 200 OK\r\nContent-Length: 37\r\nTransfer-Encoding: chunked\r\n\r\n${token}`],
    ['chunks of no size', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n25\r\n${token}\r\nxyz\r\n`],
  ])('calls %s unreadable, and keeps what was said out of the error', async (_what, bytes) => {
    const server = await serveBytes(bytes);
    const error = await errorOf(send(post(server.url), bounds()));
    expect(error).toMatchObject({ code: 'response_unreadable', sent: true });
    expect(error.message).toContain(`127.0.0.1:${server.port}`);
    // Node keeps the bytes it stumbled over in the error.
    const shown = inspect(error, { depth: 5, maxArrayLength: null, showHidden: true });
    expect(shown).not.toContain('given-access-token');
    expect(shown).not.toContain('67 69 76 65 6e 2d 61 63 63 65 73 73');
    expect(error.cause).not.toHaveProperty('rawPacket');
    await server.allClosed();
  });
});

describe('an abort', () => {
  const reason = new Error('the user had enough');

  it('sends nothing when it came before', async () => {
    const server = await serve();
    const error = await errorOf(send(post(server.url), bounds(AbortSignal.abort(reason))));
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(server.connections).toBe(0);
  });

  it('sends nothing when it comes while the transport is being loaded', async () => {
    const server = await serve();
    const controller = new AbortController();
    const sending = send(post(server.url), bounds(controller.signal));
    controller.abort(reason);
    expect(await errorOf(sending)).toMatchObject({ code: 'aborted', cause: reason });
    expect(server.connections).toBe(0);
  });

  it('ends the wait for a reply and hangs up', async () => {
    const controller = new AbortController();
    const server = await serve(() => controller.abort(reason));
    const error = await errorOf(send(post(server.url), bounds(controller.signal)));
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    await server.allClosed();
  });

  it('ends the reading of a reply and hangs up', async () => {
    const controller = new AbortController();
    const server = await serve((response) => {
      response.write('{"access_token":', () => controller.abort(reason));
    });
    expect(await errorOf(send(post(server.url), bounds(controller.signal)))).toMatchObject({ code: 'aborted' });
    await server.allClosed();
  });

  it('ends a TLS handshake that hangs', async () => {
    const controller = new AbortController();
    const server = await serveRaw((socket) => socket.once('data', () => controller.abort(reason)));
    const url = `https://127.0.0.1:${server.port}/token`;
    expect(await errorOf(send(post(url), bounds(controller.signal)))).toMatchObject({ code: 'aborted', cause: reason });
    await server.allClosed();
  });

  it('leaves no listener on its signal, whatever the end', async () => {
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

  it('after the reply changes nothing', async () => {
    const controller = new AbortController();
    const server = await serve((response) => giveJson(response, 200, { ok: true }));
    const reply = await send(post(server.url, { reuseConnection: true }), bounds(controller.signal));
    controller.abort(reason);
    expect(reply.body).toBe('{"ok":true}');
    await expect(send(post(server.url, { reuseConnection: true }), bounds())).resolves.toMatchObject({ status: 200 });
  });
});
