import { getEventListeners } from 'node:events';
import { inspect } from 'node:util';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/redaction/secret.ts';
import { ApiServer, apiBounds, apiGet, bytes, callApiWith, json, redirect } from '../support/api-server.ts';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { ConnectProxy, refuseWith } from '../support/connect-proxy.ts';
import { errorOf, noTls } from '../support/wire-request.ts';
import { closedPort, isComplete, serveBytes, serveRaw } from '../support/wire-server.ts';

const call = callApiWith({});
const authority = new Authority();
const certificate = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const tls = { ...noTls, ca: authority.ca.cert };
const text = (body: Uint8Array): string => Buffer.from(body).toString();

describe('a request', () => {
  it('goes out exactly as it is given, headers in their order', async () => {
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
  ])('%s without a body says a length of %s', async (method, length) => {
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
  ])('with the header %j: %j never leaves', async (name, value) => {
    const api = await ApiServer.start(json({}));
    for (const given of [value, new Secret(value)]) {
      const error = await errorOf(call(apiGet(api.origin, { headers: [[name, given]] }), apiBounds()));
      expect(error.code).toBe('data_invalid');
      expect(`${inspect(error)}`).not.toContain('Evil: 1');
    }
    expect(api.sockets).toEqual([]);
  });

  it('sends a file as it is read, and notices one that shrank', async () => {
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
      expect(error).toMatchObject({ code: 'step_failed', message: 'a file changed while it was sent' });
    }
    expect(api.calls).toHaveLength(1);
  });

  it('takes an answer that comes before the request is complete', async () => {
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

  it('shows no secret when it fails', async () => {
    const port = await closedPort();
    const secret = new Secret('s3cret-of-the-header');
    const error = await errorOf(
      call(apiGet(`http://127.0.0.1:${port}/?key=abc`, { headers: [['X-Key', secret]] }), apiBounds()),
    );
    expect(error).toMatchObject({ code: 'connection_failed', sent: false });
    expect(inspect(error, { depth: 9 })).not.toMatch(/s3cret|abc/);
  });
});

describe('a reply', () => {
  it('comes with status, status text, lower-case headers and bytes', async () => {
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
    const reply = await call(apiGet(api.origin), apiBounds());
    expect(reply).toMatchObject({ status: 418, statusText: 'Teapot' });
    expect(reply.headers).toMatchObject({ 'x-one': 'a, b', 'set-cookie': ['c=1', 'd=2'] });
    expect(Buffer.from(reply.body)).toEqual(body);
  });

  it.each([301, 302, 303, 307, 308])('that is a %i is given back, not followed', async (status) => {
    const target = await ApiServer.start(json({}));
    const api = await ApiServer.start(redirect(status, target.origin));
    const reply = await call(apiGet(api.origin), apiBounds());
    expect(reply).toMatchObject({ status, headers: { location: target.origin } });
    expect(target.sockets).toEqual([]);
  });

  it.each([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ])('in %s is unpacked', async (encoding, compress) => {
    const body = 'Jürgen '.repeat(10_000);
    const api = await ApiServer.start(bytes(compress(body), 'text/plain', { 'Content-Encoding': encoding }));
    expect(text((await call(apiGet(api.origin), apiBounds())).body)).toBe(body);
  });

  it('to HEAD may name an encoding and has no body', async () => {
    const api = await ApiServer.start(bytes('', 'text/plain', { 'Content-Encoding': 'gzip', 'Content-Length': '99' }));
    const reply = await call(apiGet(api.origin, { method: 'HEAD' }), apiBounds());
    expect(reply.body).toHaveLength(0);
    expect(reply.headers['content-length']).toBe('99');
  });

  it.each([
    ['cut off', 'gzip', gzipSync('abc'.repeat(100)).subarray(0, 20)],
    ['not what it says', 'gzip', Buffer.from('{"a":1}')],
    ['not what it says', 'br', Buffer.from('{"a":1}')],
    ['cut off', 'br', brotliCompressSync('abc'.repeat(100)).subarray(0, 8)],
    ['of another kind', 'zstd', Buffer.from('x')],
    ['a chain', 'gzip, gzip', gzipSync(gzipSync('x'))],
  ])('that is %s (%s) is unreadable', async (_what, encoding, body) => {
    const api = await ApiServer.start(bytes(body, 'text/plain', { 'Content-Encoding': encoding }));
    const error = await errorOf(call(apiGet(api.origin), apiBounds()));
    expect(error).toMatchObject({ code: 'response_unreadable', sent: true });
  });

  it.each([
    ['identity', (body: Buffer) => body],
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('may have as many bytes as allowed, and not one more: %s', async (encoding, compress) => {
    const headers = { 'Content-Encoding': encoding };
    const fits = await ApiServer.start(bytes(compress(Buffer.alloc(1_048_576)), undefined, headers));
    expect((await call(apiGet(fits.origin), apiBounds())).body).toHaveLength(1_048_576);
    const bomb = await ApiServer.start(bytes(compress(Buffer.alloc(3 * 1_048_576)), undefined, headers));
    const error = await errorOf(call(apiGet(bomb.origin), apiBounds()));
    expect(error).toMatchObject({ code: 'response_too_large', sent: true });
    expect(error.message).toContain('more than 1048576 bytes');
  });

  it('that never ends is left when it is too large', async () => {
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

  it('in chunks of one byte costs no more memory than its bytes', async () => {
    const size = 100_000;
    const server = await serveBytes(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(size)}0\r\n\r\n`,
    );
    const { body } = await call(apiGet(server.url), apiBounds());
    expect(text(body)).toBe('x'.repeat(size));
    expect(body.buffer.byteLength).toBeLessThanOrEqual(2 * size);
  });

  it.each([
    ['is cut off', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'],
    ['is cut off in its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc'],
    ['never begins', ''],
  ])('that %s is an error', async (_what, written) => {
    const server = await serveBytes(written, (socket) => socket.end());
    const error = await errorOf(call(apiGet(server.url), apiBounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: true });
  });

  it('that is cut off inside of gzip is a broken connection', async () => {
    const packed = gzipSync(Buffer.from(Array.from({ length: 5000 }, (_, i) => `${i * 7919}`).join(' ')));
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`;
    const server = await serveBytes(Buffer.concat([Buffer.from(head), packed.subarray(0, 2000)]), (s) => s.end());
    const error = await errorOf(call(apiGet(server.url), apiBounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: true });
  });

  it('that is not HTTP is unreadable', async () => {
    const server = await serveBytes('SSH-2.0-OpenSSH_9\r\n');
    expect(await errorOf(call(apiGet(server.url), apiBounds()))).toMatchObject({ code: 'response_unreadable' });
  });

  it('that is reset is an error, and nothing is sent again', async () => {
    const server = await serveRaw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const error = await errorOf(call(apiGet(server.url), apiBounds()));
    expect(error).toMatchObject({ code: 'connection_failed', sent: true });
    expect(server.connections).toBe(1);
  });

  it('that changes the protocol is an error', async () => {
    const server = await serveBytes('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n');
    expect(await errorOf(call(apiGet(server.url), apiBounds()))).toMatchObject({ code: 'connection_failed' });
  });
});

describe('a body that is saved', () => {
  it('comes piece by piece, each when the one before is done with, beyond the limit of bytes', async () => {
    const body = Buffer.alloc(8 * 1_048_576, 'abcdefg');
    const api = await ApiServer.start(bytes(body));
    const pieces: Uint8Array[] = [];
    let busy = false;
    const save = () => async (piece: Uint8Array) => {
      expect(busy).toBe(false);
      busy = true;
      await new Promise(setImmediate);
      busy = false;
      pieces.push(Uint8Array.from(piece));
    };
    const reply = await call(apiGet(api.origin), apiBounds({ maxBytes: 10, save }));
    expect(reply.body).toHaveLength(0);
    expect(Buffer.concat(pieces).equals(body)).toBe(true);
  });

  it('holds the sender back while a piece is being saved', async () => {
    let written = 0;
    let isFull = (): void => {};
    const full = new Promise<void>((resolve) => {
      isFull = resolve;
    });
    const server = await serveBytes(`HTTP/1.1 200 OK\r\nContent-Length: ${2 ** 40}\r\n\r\n`, (socket) => {
      const chunk = Buffer.alloc(65_536);
      const more = (): void => {
        while (socket.writable) {
          written += chunk.length;
          if (!socket.write(chunk)) break;
        }
        // Nothing drains any more once all buffers between us are full.
        clearTimeout(timer);
        timer = setTimeout(isFull, 300);
      };
      let timer = setTimeout(() => {}, 0);
      socket.on('drain', more);
      more();
    });
    const controller = new AbortController();
    const save = () => () => new Promise<void>(() => {});
    const ended = errorOf(call(apiGet(server.url), apiBounds({ save, signal: controller.signal })));
    await full;
    expect(written).toBeLessThan(64 * 1_048_576);
    controller.abort();
    expect(await ended).toMatchObject({ code: 'aborted' });
    await server.allClosed();
  });

  it('is unpacked without a limit too', async () => {
    const api = await ApiServer.start(
      bytes(gzipSync(Buffer.alloc(5_000_000)), undefined, { 'Content-Encoding': 'gzip' }),
    );
    let size = 0;
    const save = () => async (piece: Uint8Array) => {
      size += piece.length;
    };
    await call(apiGet(api.origin), apiBounds({ maxBytes: 10, save }));
    expect(size).toBe(5_000_000);
  });

  it('is collected where the status is not the right one', async () => {
    const api = await ApiServer.start(json({ error: 'gone' }, 410));
    const save = (status: number) => (status === 200 ? async () => {} : undefined);
    expect(text((await call(apiGet(api.origin), apiBounds({ save }))).body)).toBe('{"error":"gone"}');
  });

  it('whose saving fails fails with that error', async () => {
    const api = await ApiServer.start(bytes(Buffer.alloc(1_000_000)));
    const problem = new Error('the disk is full');
    const save = () => async () => {
      throw problem;
    };
    await expect(call(apiGet(api.origin), apiBounds({ save }))).rejects.toBe(problem);
  });

  it('may take longer than the time, but not be silent for so long', async () => {
    const server = await serveBytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', (socket) => {
      let left = 8;
      const next = (): void => {
        socket.write('1\r\nx\r\n');
        if (--left > 0) setTimeout(next, 60);
      };
      next();
    });
    let size = 0;
    const save = () => async (piece: Uint8Array) => {
      size += piece.length;
    };
    const error = await errorOf(call(apiGet(server.url), apiBounds({ save, timeoutMs: 300 })));
    expect(error).toMatchObject({ code: 'timeout', message: expect.stringContaining('did not finish its answer') });
    expect(size).toBe(8);
  });
});

describe('time and abort', () => {
  it.each([
    ['says nothing', ''],
    ['begins and stops', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
  ])('a server that %s is left when the time is over', async (_what, written) => {
    const server = await serveBytes(written);
    const error = await errorOf(call(apiGet(server.url), apiBounds({ timeoutMs: 150 })));
    expect(error).toMatchObject({ code: 'timeout', sent: true });
    expect(error.message).toContain('within 150 ms');
    await server.allClosed();
  });

  it('a server that sends a byte now and then is left when the time is over', async () => {
    const server = await serveBytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', (socket) => {
      const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const error = await errorOf(call(apiGet(server.url), apiBounds({ timeoutMs: 200 })));
    expect(error.code).toBe('timeout');
    await server.allClosed();
  });

  it('an abort ends a request under way, and one that has not begun', async () => {
    const controller = new AbortController();
    const server = await serveRaw((socket) => socket.once('data', () => controller.abort()));
    const { signal } = controller;
    expect(await errorOf(call(apiGet(server.url), apiBounds({ signal })))).toMatchObject({ code: 'aborted' });
    await server.allClosed();
    expect(await errorOf(call(apiGet(server.url), apiBounds({ signal })))).toMatchObject({ code: 'aborted' });
    expect(server.connections).toBe(1);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('an abort ends an upload under way', async () => {
    const controller = new AbortController();
    const server = await serveRaw((socket) => socket.once('data', () => controller.abort()));
    const endless = {
      size: 2 ** 40,
      async *read() {
        for (;;) yield Buffer.alloc(65_536);
      },
    };
    const request = apiGet(server.url, { method: 'POST', body: [endless] });
    expect(await errorOf(call(request, apiBounds({ signal: controller.signal })))).toMatchObject({ code: 'aborted' });
    await server.allClosed();
  });
});

describe('the way', () => {
  it('is TLS that is checked', async () => {
    const api = await ApiServer.start(json({ a: 1 }), certificate);
    const reply = await call(apiGet(api.origin, { tls }), apiBounds());
    expect(text(reply.body)).toBe('{"a":1}');
    const error = await errorOf(call(apiGet(api.origin), apiBounds()));
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(error.hint).toContain('set NODE_EXTRA_CA_CERTS');
    expect(api.calls).toHaveLength(1);
  });

  it('leads through a proxy that the environment names, with a tunnel for TLS', async () => {
    const api = await ApiServer.start(json({}), certificate);
    const proxy = await ConnectProxy.start(api.port);
    const proxied = callApiWith({ HTTPS_PROXY: proxy.url('user:pass-word@') });
    const reply = await proxied(apiGet('https://login.example.test/x', { tls }), apiBounds());
    expect(reply.status).toBe(200);
    expect(proxy.connects[0]?.headers['proxy-authorization']).toBe(
      `Basic ${Buffer.from('user:pass-word').toString('base64')}`,
    );
    expect(api.call.headers).not.toHaveProperty('proxy-authorization');
  });

  it('leads through a proxy for plain http, with the whole address', async () => {
    const api = await ApiServer.start(json({}));
    const proxy = await ConnectProxy.start(api.port);
    const proxied = callApiWith({ HTTP_PROXY: proxy.url() });
    await proxied(apiGet('http://api.example.test/x?y=1', { method: 'POST', body: ['abc'] }), apiBounds());
    expect(proxy.forwards[0]?.url).toBe('http://api.example.test/x?y=1');
    expect(api.call).toMatchObject({ path: '/x?y=1', headers: { host: 'api.example.test' } });
    expect(text(api.call.body)).toBe('abc');
  });

  it('never leads to this machine through a proxy, nor to a host of NO_PROXY', async () => {
    const api = await ApiServer.start(json({}));
    const port = await closedPort();
    const proxied = callApiWith({ HTTP_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: 'free.example.test' });
    await expect(proxied(apiGet(api.origin), apiBounds())).resolves.toMatchObject({ status: 200 });
    expect(await errorOf(proxied(apiGet('http://api.example.test/'), apiBounds()))).toMatchObject({
      code: 'connection_failed',
      message: expect.stringContaining('the proxy'),
    });
    expect((await errorOf(proxied(apiGet('http://free.example.test/'), apiBounds()))).message).not.toContain('proxy');
  });

  it.each([
    [407, 'proxy_refused'],
    [502, 'connection_failed'],
  ])("ends with the proxy's own %i as %s", async (status, code) => {
    const api = await ApiServer.start(json({}), certificate);
    const proxy = await ConnectProxy.start(api.port, refuseWith(status));
    const proxied = callApiWith({ HTTPS_PROXY: proxy.url() });
    expect(await errorOf(proxied(apiGet('https://login.example.test/', { tls }), apiBounds()))).toMatchObject({ code });
    await proxy.allClosed();
  });

  it('ends in time where a proxy never answers', async () => {
    const api = await ApiServer.start(json({}), certificate);
    const proxy = await ConnectProxy.start(api.port, () => {});
    const proxied = callApiWith({ HTTPS_PROXY: proxy.url() });
    const request = apiGet('https://login.example.test/', { tls });
    expect(await errorOf(proxied(request, apiBounds({ timeoutMs: 150 })))).toMatchObject({
      code: 'timeout',
      sent: false,
    });
    await proxy.allClosed();
  });

  it('ends at the emulator, with real names and real TLS', async () => {
    const api = await ApiServer.start(json({}), certificate);
    const emulated = callApiWith({}, { port: api.port, ca: authority.ca.cert });
    await expect(emulated(apiGet('https://login.example.test/me'), apiBounds())).resolves.toMatchObject({
      status: 200,
    });
    expect(api.call.headers.host).toBe('login.example.test');
  });

  it('says which host is not emulated, whether the body is saved or not', async () => {
    const api = await ApiServer.start((_call, response) => {
      response.writeHead(421, { 'X-OAuth-Profile-Emulator': 'not_emulated' }).end('no');
    }, certificate);
    const emulated = callApiWith({}, { port: api.port, ca: authority.ca.cert });
    for (const save of [undefined, (status: number) => (status < 300 ? async () => {} : undefined)]) {
      const error = await errorOf(emulated(apiGet('https://login.example.test/'), apiBounds({ save })));
      expect(error).toMatchObject({ code: 'not_emulated', message: 'login.example.test is not emulated' });
    }
  });
});
