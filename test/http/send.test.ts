import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/redaction/secret.ts';
import { errorOf } from '../support/errors.ts';
import { bounds, post, sendWith } from '../support/ports.ts';
import { isComplete, serve, serveBytes, serveRaw } from '../support/server.ts';

const send = sendWith();
const token = '{"access_token":"given-access-token"}';

describe('send', () => {
  it('D11 sends exactly the given method, path, headers and body', async () => {
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

  it('sends the Content-Length in bytes, not in characters', async () => {
    const server = await serve();
    await send(post(server.url, { body: 'user=Jürgen' }), bounds());
    expect(server.requests[0]).toMatchObject({ body: 'user=Jürgen', headers: { 'content-length': '12' } });
  });

  it('returns the status, the headers in lower case and the body decoded as UTF-8', async () => {
    const body = '{"name":"Jürgen 🔑"}';
    const server = await serve((response) => response.writeHead(418, 'Teapot', { 'X-Request-ID': 'r-1' }).end(body));
    const response = await send(post(server.url), bounds());
    expect(response).toMatchObject({ status: 418, body, headers: { 'x-request-id': 'r-1' } });
  });

  it('decodes a UTF-8 character that is split between two chunks', async () => {
    const bytes = Buffer.from('{"name":"Jürgen"}');
    const server = await serve((response) => {
      response.write(bytes.subarray(0, 11));
      response.end(bytes.subarray(11));
    });
    await expect(send(post(server.url), bounds())).resolves.toMatchObject({ body: bytes.toString() });
  });

  it.each([301, 302, 303, 307, 308])('D13 returns a %i redirect and does not follow it', async (status) => {
    const target = await serve();
    const server = await serve((response) => response.writeHead(status, { Location: target.url }).end());
    const response = await send(post(server.url), bounds());
    expect(response).toMatchObject({ status, headers: { location: target.url } });
    expect(server.requests).toHaveLength(1);
    expect(target.connections).toBe(0);
  });

  it('connects to localhost when the server listens on IPv4 only', async () => {
    const server = await serve();
    await expect(send(post(`http://localhost:${server.port}/token`), bounds())).resolves.toMatchObject({ status: 200 });
  });

  it('ignores informational responses and returns the final one', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
    const server = await serveBytes(`${interim}HTTP/1.1 200 OK\r\nContent-Length: ${token.length}\r\n\r\n${token}`);
    await expect(send(post(server.url), bounds())).resolves.toMatchObject({ status: 200, body: token });
  });

  it.each([
    ['204 without a body', 'HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
    ['200 with an empty body', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 200, ''],
    ['a body that ends when the connection is closed', `HTTP/1.0 200 OK\r\n\r\n${token}`, 200, token],
    ['a chunked body', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n25\r\n${token}\r\n0\r\n\r\n`, 200, token],
    [
      'an empty Content-Encoding',
      `HTTP/1.1 200 OK\r\nContent-Encoding: \r\nContent-Length: 37\r\n\r\n${token}`,
      200,
      token,
    ],
  ])('accepts a response: %s', async (_what, bytes, status, body) => {
    const server = await serveBytes(bytes, (socket) => socket.end());
    await expect(send(post(server.url), bounds())).resolves.toMatchObject({ status, body });
  });
});

describe('a compressed response', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ])('is decompressed: %s', async (encoding, compress) => {
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
  ])('D17 is rejected if it decompresses to more than 1 MiB: %s', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(4 * 1_048_576));
    expect(bomb.length).toBeLessThan(1_048_576);
    const server = await serve((response) => response.writeHead(200, { 'Content-Encoding': encoding }).end(bomb));
    expect(await errorOf(send(post(server.url), bounds()))).toMatchObject({ code: 'response_too_large', sent: true });
  });

  it('D17 is accepted if it decompresses to exactly 1 MiB', async () => {
    const body = gzipSync(Buffer.alloc(1_048_576, 'x'));
    const server = await serve((response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(body));
    expect((await send(post(server.url), bounds())).body).toHaveLength(1_048_576);
  });

  it.each([
    ['truncated', 'gzip', gzipSync(token).subarray(0, 20)],
    ['not gzip', 'gzip', Buffer.from(token)],
    ['in an unsupported encoding', 'zstd', Buffer.from(token)],
    ['in an encoding named like a property of every object', 'constructor', Buffer.from(token)],
    ['in an encoding named like a method of every object', 'toString', Buffer.from(token)],
    ['compressed twice', 'gzip, gzip', gzipSync(gzipSync(token))],
  ])('is rejected as unreadable if it is %s', async (_what, encoding, body) => {
    const server = await serve((response) => response.writeHead(200, { 'Content-Encoding': encoding }).end(body));
    const error = await errorOf(send(post(server.url), bounds()));
    expect(error).toMatchObject({ code: 'response_unreadable', sent: true });
    expect(error.message).toContain(server.url.slice('http://'.length, -'/token'.length));
    expect(inspect(error)).not.toContain('given-access-token');
  });

  it('with an invalid encoding name is reported in a short and printable message', async () => {
    const name = 'x'.repeat(5000);
    const server = await serveBytes(
      Buffer.from(`HTTP/1.1 200 OK\r\nContent-Encoding: \x9b31m${name}\r\nContent-Length: 1\r\n\r\nx`, 'latin1'),
    );
    const { message } = await errorOf(send(post(server.url), bounds()));
    expect(message).not.toContain('\x9b');
    expect(message.length).toBeLessThan(200);
  });
});

describe('the limits of a response', () => {
  it('D17 allow 1 MiB, and not one byte more', async () => {
    const server = await serve((response, { number }) => response.end('x'.repeat(1_048_575 + number)));
    expect((await send(post(server.url), bounds())).body).toHaveLength(1_048_576);
    expect(await errorOf(send(post(server.url), bounds()))).toMatchObject({ code: 'response_too_large', sent: true });
  });

  it('D17 close the connection of a body that never ends', async () => {
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

  it('close the connection of headers that never end', async () => {
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
    ['accepts the request and never responds', () => {}, true],
    ['stops after the status line', (socket) => socket.write('HTTP/1.1 200 OK\r\n'), true],
    ['stops after the headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'), true],
    ['only sends 100 Continue', (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), true],
  ];
  it.each(silent)('D17 end a request to a server that %s, and close the connection', async (_what, respond, sent) => {
    const server = await serveRaw((socket) => {
      socket.resume();
      respond(socket);
    });
    const error = await errorOf(send(post(server.url), bounds(undefined, 250)));
    expect(error).toMatchObject({ code: 'timeout', sent });
    expect(error.message).toContain(`127.0.0.1:${server.port} within 250 ms`);
    expect(error.hint).toContain('graph.options.timeout');
    await server.allClosed();
  });

  it('D17 end a request whose response arrives one byte at a time', async () => {
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
