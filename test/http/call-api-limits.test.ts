import { getEventListeners } from 'node:events';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Authority, SERVER_NAMES } from '../support/certificates.ts';
import { ConnectProxy, rejectConnect } from '../support/connect-proxy.ts';
import { errorOf } from '../support/errors.ts';
import { apiBounds, apiGet, callApiWith, noTls } from '../support/ports.ts';
import { ApiServer, bytes, closedPort, json, serveBytes, serveRaw } from '../support/server.ts';

const call = callApiWith();
const authority = new Authority();
const certificate = authority.issue({ name: 'server', hosts: SERVER_NAMES });
const tls = { ...noTls, ca: authority.ca.cert };
const text = (body: Uint8Array): string => Buffer.from(body).toString();

describe('a response body that is saved', () => {
  it('is passed on one chunk at a time, without a size limit', async () => {
    const body = Buffer.alloc(8 * 1_048_576, 'abcdefg');
    const api = await ApiServer.start(bytes(body));
    const chunks: Uint8Array[] = [];
    let busy = false;
    const save = () => async (chunk: Uint8Array) => {
      expect(busy).toBe(false);
      busy = true;
      await new Promise(setImmediate);
      busy = false;
      chunks.push(Uint8Array.from(chunk));
    };
    const response = await call(apiGet(api.origin), apiBounds({ maxBytes: 10, save }));
    expect(response.body).toHaveLength(0);
    expect(Buffer.concat(chunks).equals(body)).toBe(true);
  });

  it('is not received faster than it is saved', async () => {
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
        // No more 'drain' events: all buffers between server and client are full.
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

  it('is decompressed, also without a size limit', async () => {
    const api = await ApiServer.start(
      bytes(gzipSync(Buffer.alloc(5_000_000)), undefined, { 'Content-Encoding': 'gzip' }),
    );
    let size = 0;
    const save = () => async (chunk: Uint8Array) => {
      size += chunk.length;
    };
    await call(apiGet(api.origin), apiBounds({ maxBytes: 10, save }));
    expect(size).toBe(5_000_000);
  });

  it('is collected if the save function declines the status', async () => {
    const api = await ApiServer.start(json({ error: 'gone' }, 410));
    const save = (status: number) => (status === 200 ? async () => {} : undefined);
    expect(text((await call(apiGet(api.origin), apiBounds({ save }))).body)).toBe('{"error":"gone"}');
  });

  it('fails with the error of the save function', async () => {
    const api = await ApiServer.start(bytes(Buffer.alloc(1_000_000)));
    const problem = new Error('no space left on device');
    const save = () => async () => {
      throw problem;
    };
    await expect(call(apiGet(api.origin), apiBounds({ save }))).rejects.toBe(problem);
  });

  it('may take longer than the timeout, but not pause for that long', async () => {
    const server = await serveBytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', (socket) => {
      let left = 8;
      const next = (): void => {
        socket.write('1\r\nx\r\n');
        if (--left > 0) setTimeout(next, 60);
      };
      next();
    });
    let size = 0;
    const save = () => async (chunk: Uint8Array) => {
      size += chunk.length;
    };
    const error = await errorOf(call(apiGet(server.url), apiBounds({ save, timeoutMs: 300 })));
    expect(error).toMatchObject({ code: 'timeout', sent: true });
    expect(size).toBe(8);
  });
});

describe('the limits of an API request', () => {
  it.each([
    ['never responds', ''],
    ['stops within the body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
  ])('end a request to a server that %s', async (_what, written) => {
    const server = await serveBytes(written);
    const error = await errorOf(call(apiGet(server.url), apiBounds({ timeoutMs: 150 })));
    expect(error).toMatchObject({ code: 'timeout', sent: true });
    await server.allClosed();
  });

  it('end a request whose response arrives one byte at a time', async () => {
    const server = await serveBytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', (socket) => {
      const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const error = await errorOf(call(apiGet(server.url), apiBounds({ timeoutMs: 200 })));
    expect(error.code).toBe('timeout');
    await server.allClosed();
  });

  it('include an abort, before the request and during it', async () => {
    const controller = new AbortController();
    const server = await serveRaw((socket) => socket.once('data', () => controller.abort()));
    const { signal } = controller;
    expect(await errorOf(call(apiGet(server.url), apiBounds({ signal })))).toMatchObject({ code: 'aborted' });
    await server.allClosed();
    expect(await errorOf(call(apiGet(server.url), apiBounds({ signal })))).toMatchObject({ code: 'aborted' });
    expect(server.connections).toBe(1);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('include an abort during an upload', async () => {
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

describe('the connection of an API request', () => {
  it('verifies the certificate of the server', async () => {
    const api = await ApiServer.start(json({ a: 1 }), certificate);
    const response = await call(apiGet(api.origin, { tls }), apiBounds());
    expect(text(response.body)).toBe('{"a":1}');
    const error = await errorOf(call(apiGet(api.origin), apiBounds()));
    expect(error).toMatchObject({ code: 'tls_failed', sent: false });
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS');
    expect(api.calls).toHaveLength(1);
  });

  it('uses the tunnel of a proxy for https', async () => {
    const api = await ApiServer.start(json({}), certificate);
    const proxy = await ConnectProxy.start(api.port);
    const proxied = callApiWith({ HTTPS_PROXY: proxy.url('user:pass-word@') });
    const response = await proxied(apiGet('https://login.example.test/x', { tls }), apiBounds());
    expect(response.status).toBe(200);
    expect(proxy.connects[0]?.headers['proxy-authorization']).toBe(
      `Basic ${Buffer.from('user:pass-word').toString('base64')}`,
    );
    expect(api.call.headers).not.toHaveProperty('proxy-authorization');
  });

  it('uses a proxy for http, which receives the whole URL', async () => {
    const api = await ApiServer.start(json({}));
    const proxy = await ConnectProxy.start(api.port);
    const proxied = callApiWith({ HTTP_PROXY: proxy.url() });
    await proxied(apiGet('http://api.example.test/x?y=1', { method: 'POST', body: ['abc'] }), apiBounds());
    expect(proxy.forwards[0]?.url).toBe('http://api.example.test/x?y=1');
    expect(api.call).toMatchObject({ path: '/x?y=1', headers: { host: 'api.example.test' } });
    expect(text(api.call.body)).toBe('abc');
  });

  it('uses no proxy for loopback and the hosts in NO_PROXY', async () => {
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
  ])('reports HTTP %i from the proxy as %s', async (status, code) => {
    const api = await ApiServer.start(json({}), certificate);
    const proxy = await ConnectProxy.start(api.port, rejectConnect(status));
    const proxied = callApiWith({ HTTPS_PROXY: proxy.url() });
    expect(await errorOf(proxied(apiGet('https://login.example.test/', { tls }), apiBounds()))).toMatchObject({ code });
    await proxy.allClosed();
  });

  it('times out if the proxy never responds', async () => {
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

  it('goes to the emulator, with the real host name and TLS', async () => {
    const api = await ApiServer.start(json({}), certificate);
    const emulated = callApiWith({}, { port: api.port, ca: authority.ca.cert });
    await expect(emulated(apiGet('https://login.example.test/me'), apiBounds())).resolves.toMatchObject({
      status: 200,
    });
    expect(api.call.headers.host).toBe('login.example.test');
  });

  it('fails for a host that is not emulated, whether the body is saved or not', async () => {
    const api = await ApiServer.start((_call, response) => {
      response.writeHead(421, { 'X-OAuth-Profile-Emulator': 'not_emulated' }).end('no');
    }, certificate);
    const emulated = callApiWith({}, { port: api.port, ca: authority.ca.cert });
    for (const save of [undefined, (status: number) => (status < 300 ? async () => {} : undefined)]) {
      const error = await errorOf(emulated(apiGet('https://login.example.test/'), apiBounds({ save })));
      expect(error).toMatchObject({ code: 'not_emulated' });
      expect(error.message).toContain('login.example.test');
    }
  });
});
