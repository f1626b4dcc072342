import { inspect } from 'node:util';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/redaction/secret.ts';
import { errorOf } from '../support/errors.ts';
import { apiBounds, apiGet, callApiWith } from '../support/ports.ts';
import { ApiServer, bytes, closedPort, isComplete, json, redirect, serveBytes, serveRaw } from '../support/server.ts';

const call = callApiWith();
const text = (body: Uint8Array): string => Buffer.from(body).toString();

describe('an API request', () => {
  it('is sent exactly as given, with the headers in their order', async () => {
    let seen = '';
    const server = await serveRaw((socket) => {
      socket.on('data', (chunk) => {
        seen += chunk.toString('latin1');
        if (isComplete(seen)) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
      });
    });
    const request = apiGet(`http://127.0.0.1:${server.port}/a%20b?x=%C3%A9&y=1`, {
      method: 'PATCH',
      headers: [
        ['X-B', '1'],
        ['x-a', new Secret('hidden header value')],
      ],
      body: ['one ', new Secret('tw☃'), new Uint8Array([0x21])],
    });
    await expect(call(request, apiBounds())).resolves.toMatchObject({ status: 204, statusText: 'No Content' });
    expect(seen.split('\r\n')).toEqual([
      'PATCH /a%20b?x=%C3%A9&y=1 HTTP/1.1',
      `Host: 127.0.0.1:${server.port}`,
      'X-B: 1',
      'x-a: hidden header value',
      'Content-Length: 10',
      'Connection: close',
      '',
      Buffer.from('one tw☃!').toString('latin1'),
    ]);
  });

  it.each([
    ['GET', undefined],
    ['HEAD', undefined],
    ['DELETE', undefined],
    ['POST', '0'],
    ['PUT', '0'],
    ['PATCH', '0'],
  ])('with method %s and no body has the Content-Length %s', async (method, length) => {
    const api = await ApiServer.start(json({}));
    await call(apiGet(api.origin, { method }), apiBounds());
    expect(api.call.headers['content-length']).toBe(length);
    expect(api.call.headers).not.toHaveProperty('transfer-encoding');
  });

  it.each([
    ['X-A\r\nX-Evil', 'v'],
    ['X A', 'v'],
    ['', 'v'],
    ['X-A', 'v\r\nX-Evil: 1'],
    ['X-A', 'v\nX-Evil: 1'],
    ['X-A', 'v\0'],
    ['X-A', 'Jürgen'],
    ['X-A', '☃'],
    ['Host', 'evil.example.test'],
    ['Content-Length', '0'],
    ['transfer-encoding', 'chunked'],
    ['Connection', 'upgrade'],
    ['Proxy-Authorization', 'x'],
  ])('with the header %j: %j is rejected before it is sent', async (name, value) => {
    const api = await ApiServer.start(json({}));
    for (const either of [value, new Secret(value)]) {
      const error = await errorOf(call(apiGet(api.origin, { headers: [[name, either]] }), apiBounds()));
      expect(error.code).toBe('data_invalid');
      expect(`${inspect(error)}`).not.toContain('Evil: 1');
    }
    expect(api.sockets).toEqual([]);
  });

  it('streams a file, and fails if the file changes size meanwhile', async () => {
    const api = await ApiServer.start(json({}));
    const content = (size: number) => ({
      size,
      async *read() {
        for (let i = 0; i < 40; i++) yield Buffer.alloc(65_536, i);
      },
    });
    const size = 40 * 65_536;
    await call(apiGet(api.origin, { method: 'PUT', body: ['<', content(size), '>'] }), apiBounds());
    expect(api.call.body).toHaveLength(size + 2);
    expect(api.call.body.at(-2)).toBe(39);
    for (const wrong of [size + 1, size - 1]) {
      const error = await errorOf(call(apiGet(api.origin, { method: 'PUT', body: [content(wrong)] }), apiBounds()));
      expect(error.code).toBe('step_failed');
    }
    expect(api.calls).toHaveLength(1);
  });

  it('accepts a response that arrives before the request is complete', async () => {
    const server = await serveRaw((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!'));
    });
    const endless = {
      size: 2 ** 40,
      async *read() {
        for (;;) yield Buffer.alloc(65_536);
      },
    };
    const request = apiGet(`http://127.0.0.1:${server.port}/`, { method: 'POST', body: [endless] });
    await expect(call(request, apiBounds())).resolves.toMatchObject({ status: 413 });
    await server.allClosed();
  });

  it('does not reveal its secrets and query in an error', async () => {
    const port = await closedPort();
    const secret = new Secret('s3cret-of-the-header');
    const error = await errorOf(
      call(apiGet(`http://127.0.0.1:${port}/?key=abc`, { headers: [['X-Key', secret]] }), apiBounds()),
    );
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
    expect(inspect(error, { depth: 9 })).not.toMatch(/s3cret|abc/);
  });
});

describe('an API response', () => {
  it('has status, status text, lower-case headers and bytes', async () => {
    const body = Buffer.from([0, 255, 128, 10]);
    const api = await ApiServer.start((_call, response) => {
      response.writeHead(418, 'Teapot', [
        ['X-One', 'a'],
        ['x-one', 'b'],
        ['Set-Cookie', 'c=1'],
        ['Set-Cookie', 'd=2'],
      ] as never);
      response.end(body);
    });
    const response = await call(apiGet(api.origin), apiBounds());
    expect(response).toMatchObject({ status: 418, statusText: 'Teapot' });
    expect(response.headers).toMatchObject({ 'x-one': 'a, b', 'set-cookie': ['c=1', 'd=2'] });
    expect(Buffer.from(response.body)).toEqual(body);
  });

  it.each([301, 302, 303, 307, 308])('with status %i is returned, and the redirect is not followed', async (status) => {
    const target = await ApiServer.start(json({}));
    const api = await ApiServer.start(redirect(status, target.origin));
    const response = await call(apiGet(api.origin), apiBounds());
    expect(response).toMatchObject({ status, headers: { location: target.origin } });
    expect(target.sockets).toEqual([]);
  });

  it.each([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ])('compressed with %s is decompressed', async (encoding, compress) => {
    const body = 'Jürgen '.repeat(10_000);
    const api = await ApiServer.start(bytes(compress(body), 'text/plain', { 'Content-Encoding': encoding }));
    expect(text((await call(apiGet(api.origin), apiBounds())).body)).toBe(body);
  });

  it('to HEAD may have a Content-Encoding and no body', async () => {
    const api = await ApiServer.start(bytes('', 'text/plain', { 'Content-Encoding': 'gzip', 'Content-Length': '99' }));
    const response = await call(apiGet(api.origin, { method: 'HEAD' }), apiBounds());
    expect(response.body).toHaveLength(0);
    expect(response.headers['content-length']).toBe('99');
  });

  it.each([
    ['truncated', 'gzip', gzipSync('abc'.repeat(100)).subarray(0, 20)],
    ['not in its encoding', 'gzip', Buffer.from('{"a":1}')],
    ['not in its encoding', 'br', Buffer.from('{"a":1}')],
    ['truncated', 'br', brotliCompressSync('abc'.repeat(100)).subarray(0, 8)],
    ['in an unsupported encoding', 'zstd', Buffer.from('x')],
    ['compressed twice', 'gzip, gzip', gzipSync(gzipSync('x'))],
  ])('that is %s (%s) is response_unreadable', async (_what, encoding, body) => {
    const api = await ApiServer.start(bytes(body, 'text/plain', { 'Content-Encoding': encoding }));
    const error = await errorOf(call(apiGet(api.origin), apiBounds()));
    expect(error).toMatchObject({ code: 'response_unreadable', sent: true });
  });

  it.each([
    ['identity', (body: Buffer) => body],
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('may have maxBytes bytes, and not one more: %s', async (encoding, compress) => {
    const headers = { 'Content-Encoding': encoding };
    const fits = await ApiServer.start(bytes(compress(Buffer.alloc(1_048_576)), undefined, headers));
    expect((await call(apiGet(fits.origin), apiBounds())).body).toHaveLength(1_048_576);
    const bomb = await ApiServer.start(bytes(compress(Buffer.alloc(3 * 1_048_576)), undefined, headers));
    expect(await errorOf(call(apiGet(bomb.origin), apiBounds()))).toMatchObject({
      code: 'response_too_large',
      sent: true,
    });
  });

  it('that never ends is closed when it is too large', async () => {
    const server = await serveBytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', (socket) => {
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      const more = (): void => {
        while (socket.writable && socket.write(chunk));
      };
      socket.on('drain', more);
      more();
    });
    const error = await errorOf(call(apiGet(server.url), apiBounds()));
    expect(error.code).toBe('response_too_large');
    await server.allClosed();
  });

  it('in chunks of one byte takes at most twice the memory of its bytes', async () => {
    const size = 100_000;
    const server = await serveBytes(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(size)}0\r\n\r\n`,
    );
    const { body } = await call(apiGet(server.url), apiBounds());
    expect(text(body)).toBe('x'.repeat(size));
    expect(body.buffer.byteLength).toBeLessThanOrEqual(2 * size);
  });

  it.each([
    ['is truncated', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'],
    ['ends within a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc'],
    ['never starts', ''],
  ])('that %s is connection_failed', async (_what, written) => {
    const server = await serveBytes(written, (socket) => socket.end());
    const error = await errorOf(call(apiGet(server.url), apiBounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: true });
  });

  it('that ends within gzip data is connection_failed', async () => {
    const packed = gzipSync(Buffer.from(Array.from({ length: 5000 }, (_, i) => `${i * 7919}`).join(' ')));
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`;
    const server = await serveBytes(Buffer.concat([Buffer.from(head), packed.subarray(0, 2000)]), (s) => s.end());
    const error = await errorOf(call(apiGet(server.url), apiBounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: true });
  });

  it('that is not HTTP is response_unreadable', async () => {
    const server = await serveBytes('SSH-2.0-OpenSSH_9\r\n');
    expect(await errorOf(call(apiGet(server.url), apiBounds()))).toMatchObject({ code: 'response_unreadable' });
  });

  it('that is reset is connection_failed, and the request is not repeated', async () => {
    const server = await serveRaw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const error = await errorOf(call(apiGet(server.url), apiBounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: true });
    expect(server.connections).toBe(1);
  });

  it('that switches the protocol is connection_failed', async () => {
    const server = await serveBytes('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n');
    expect(await errorOf(call(apiGet(server.url), apiBounds()))).toMatchObject({ code: 'connection_failed' });
  });
});
