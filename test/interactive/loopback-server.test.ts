import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { listenForRedirect } from '../../src/interactive/loopback-server.ts';
import type { Redirect, RedirectListener, RedirectTarget } from '../../src/ports.ts';

const EXPECTED = 'code=c&state=expected';
/** CSS class of the success page. */
/** The only script of a page. */
const SCRIPT = "<script>history.replaceState(null, '', location.pathname)</script>";
const SIGNED_IN = '<main class="signed-in">';
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function listen(target: Partial<RedirectTarget> = {}): Promise<RedirectListener & { received: Redirect[] }> {
  const listener = await listenForRedirect(
    { host: '127.0.0.1', port: 0, path: '/callback', ...target },
    (query) => query === EXPECTED,
  );
  open.push(() => listener.close());
  const received: Redirect[] = [];
  void listener.redirect.then((redirect) => received.push(redirect));
  return Object.assign(listener, { received });
}

/** Sends bytes and returns everything received until the server closes the connection. */
function sendBytes(port: number, bytes: string | Buffer, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
    socket.write(bytes);
    open.push(() => socket.destroy());
  });
}

const get = (port: number, target: string, host = `127.0.0.1:${port}`): string =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const statusOf = (response: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1] ?? 0);

/** Sends the expected redirect and shows a page. */
async function finishLogin(
  listener: RedirectListener,
  page: Parameters<Redirect['show']>[0] = 'signed-in',
): Promise<string> {
  const response = sendBytes(listener.port, get(listener.port, `/callback?${EXPECTED}`));
  (await listener.redirect).show(page);
  return response;
}

describe('the loopback server', () => {
  it('accepts the expected redirect and shows a page', async () => {
    const listener = await listen();
    const response = await finishLogin(listener);
    expect(statusOf(response)).toBe(200);
    expect(response).toContain(SIGNED_IN);
    expect((await listener.redirect).query).toBe(EXPECTED);
  });

  it.each(['denied', 'failed'] as const)('shows the page for a login that was %s', async (page) => {
    const response = await finishLogin(await listen(), page);
    expect(response).toContain(`<main class="${page}">`);
  });

  it('shows only the first of several pages', async () => {
    const listener = await listen();
    const response = sendBytes(listener.port, get(listener.port, `/callback?${EXPECTED}`));
    const redirect = await listener.redirect;
    redirect.show('denied');
    redirect.show('failed');
    expect((await response).match(/<h1>/g)).toHaveLength(1);
  });

  it('listens on its own loopback IP address only', async () => {
    const listener = await listen();
    const other = connect(listener.port, '127.0.0.2');
    await expect(once(other, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('stops listening after one redirect', async () => {
    const listener = await listen();
    const early = connect(listener.port, '127.0.0.1');
    await once(early, 'connect');
    const first = sendBytes(listener.port, get(listener.port, `/callback?${EXPECTED}`));
    const redirect = await listener.redirect;
    const second = connect(listener.port, '127.0.0.1');
    await expect(once(second, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    // A connection that was made before does not get a second page either.
    const received: string[] = [];
    early.setEncoding('latin1').on('data', (chunk) => received.push(String(chunk)));
    // The server may have closed it already.
    early.on('error', () => {});
    const gone = new Promise((resolve) => early.once('close', resolve));
    early.write(get(listener.port, `/callback?${EXPECTED}`));
    await gone;
    expect(received.join('')).not.toContain(SIGNED_IN);
    redirect.show('signed-in');
    expect(await first).toContain(SIGNED_IN);
  });

  it('closes idle connections when it is closed', async () => {
    const listener = await listen();
    const idle = connect(listener.port, '127.0.0.1');
    await once(idle, 'connect');
    const gone = once(idle, 'close');
    await listener.close();
    await gone;
    await expect(once(connect(listener.port, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('sends the page before it closes', async () => {
    const listener = await listen();
    const response = sendBytes(listener.port, get(listener.port, `/callback?${EXPECTED}`));
    (await listener.redirect).show('signed-in');
    await listener.close();
    expect(await response).toContain('</html>');
  });
});

describe('the loopback server keeps waiting after', () => {
  const attacks: [string, number, (port: number) => string | Buffer][] = [
    ['another state', 400, (port) => get(port, '/callback?code=c&state=other')],
    ['no query', 400, (port) => get(port, '/callback')],
    ['another path', 404, (port) => get(port, `/other?${EXPECTED}`)],
    ['a path with a trailing slash', 404, (port) => get(port, `/callback/?${EXPECTED}`)],
    ['a path in capitals', 404, (port) => get(port, `/Callback?${EXPECTED}`)],
    ['a percent-encoded path', 404, (port) => get(port, `/%63allback?${EXPECTED}`)],
    ['a path with dot segments', 404, (port) => get(port, `/x/../callback?${EXPECTED}`)],
    ['an absolute URL', 404, (port) => get(port, `http://127.0.0.1:${port}/callback?${EXPECTED}`)],
    ['a request for the favicon', 404, (port) => get(port, '/favicon.ico')],
    [
      'POST',
      405,
      (port) => `POST /callback?${EXPECTED} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 3\r\n\r\na=b`,
    ],
    ['HEAD', 405, (port) => get(port, `/callback?${EXPECTED}`).replace('GET', 'HEAD')],
    ['OPTIONS', 405, (port) => get(port, `/callback?${EXPECTED}`).replace('GET', 'OPTIONS')],
    ['another host name (DNS rebinding)', 421, (port) => get(port, `/callback?${EXPECTED}`, `evil.example:${port}`)],
    ['localhost instead of 127.0.0.1', 421, (port) => get(port, `/callback?${EXPECTED}`, `localhost:${port}`)],
    ['another port in the Host header', 421, (port) => get(port, `/callback?${EXPECTED}`, '127.0.0.1:1')],
    ['no port in the Host header', 421, (port) => get(port, `/callback?${EXPECTED}`, '127.0.0.1')],
    ['no Host header', 400, () => `GET /callback?${EXPECTED} HTTP/1.1\r\n\r\n`],
    [
      'two Host headers',
      421,
      (port) => `GET /callback?${EXPECTED} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.example\r\n\r\n`,
    ],
    [
      'a script in a parameter',
      400,
      (port) => get(port, '/callback?state=<script>alert(1)</script>&error="><img/src=x>'),
    ],
    ['a query of a megabyte', 431, (port) => get(port, `/callback?${EXPECTED}&x=${'x'.repeat(2 ** 20)}`)],
    ['bytes that are not HTTP', 400, () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\r\n\r\n'],
    ['a truncated request', 0, () => 'GET /callback?code=c'],
  ];

  it.each(attacks)('%s', async (_, status, bytes) => {
    const listener = await listen();
    const responding: Promise<string> =
      status === 0 ? sendHalf(listener.port, bytes(listener.port)) : sendBytes(listener.port, bytes(listener.port));
    const response = await responding;
    if (status !== 0 && response !== '') expect(statusOf(response)).toBe(status);
    expect(response.replace(SCRIPT, '')).not.toMatch(/<script|<img|alert\(1\)|state=|code=c/);
    expect(listener.received).toEqual([]);
    expect(await finishLogin(listener)).toContain(SIGNED_IN);
  });

  function sendHalf(port: number, bytes: string | Buffer): Promise<string> {
    return new Promise((resolve) => {
      const socket: Socket = connect(port, '127.0.0.1', () => socket.end(bytes));
      socket.on('error', () => {});
      socket.on('close', () => resolve(''));
      socket.resume();
    });
  }

  it.each([50, 300])('%i silent connections', async (length) => {
    const listener = await listen();
    const idle = await Promise.all(
      Array.from({ length }, async () => {
        const socket = connect(listener.port, '127.0.0.1');
        socket.on('error', () => {});
        await once(socket, 'connect');
        return socket;
      }),
    );
    expect(await finishLogin(listener)).toContain(SIGNED_IN);
    for (const socket of idle) socket.destroy();
  });
});

describe('a page of the loopback server', () => {
  it.each([
    ['success', `/callback?${EXPECTED}`],
    ['unexpected redirect', '/callback?code=c&state=other'],
  ])('runs only its own script, loads nothing and is not cached: %s', async (_, target) => {
    const listener = await listen();
    const responding = sendBytes(listener.port, get(listener.port, target));
    void listener.redirect.then((redirect) => redirect.show('signed-in'));
    const response = await responding;
    expect(response).toMatch(
      /content-security-policy: default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'sha256-[\w+/=]{44}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n/i,
    );
    expect(response).toMatch(/cache-control: no-store\r\n/i);
    expect(response).toMatch(/referrer-policy: no-referrer\r\n/i);
    expect(response).toMatch(/x-content-type-options: nosniff\r\n/i);
    expect(response.match(/<script.*?<\/script>/gs)).toEqual([SCRIPT]);
    expect(response).not.toMatch(/unsafe-inline|set-cookie/i);
  });
});

describe('the port of the loopback server', () => {
  async function occupy(host: string, port = 0): Promise<number> {
    const server = createServer();
    server.listen({ host, port, ipv6Only: true });
    await once(server, 'listening');
    open.push(() => new Promise((resolve) => server.close(resolve)));
    return (server.address() as AddressInfo).port;
  }

  it('is the given one', async () => {
    const free = createHttpServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    expect((await listen({ port })).port).toBe(port);
  });

  it('that is in use is an error with hints', async () => {
    const port = await occupy('127.0.0.1');
    await expect(listen({ port })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`127.0.0.1:${port}`),
      hint: expect.stringMatching(/--port.*--device/),
    });
  });

  it('of localhost is bound for IPv4 and IPv6', async () => {
    const listener = await listen({ host: 'localhost', path: '/' });
    for (const host of ['127.0.0.1', '::1']) {
      const response = await sendBytes(listener.port, get(listener.port, '/?x', `localhost:${listener.port}`), host);
      expect(statusOf(response)).toBe(400);
    }
    const response = sendBytes(listener.port, get(listener.port, `/?${EXPECTED}`, `localhost:${listener.port}`), '::1');
    (await listener.redirect).show('signed-in');
    expect(await response).toContain(SIGNED_IN);
  });

  it.each(['127.0.0.1', '::1'])('of localhost is rejected if it is in use on %s', async (host) => {
    const port = await occupy(host);
    await expect(listen({ host: 'localhost', port, path: '/' })).rejects.toMatchObject({ code: 'usage' });
    // It was released on the other IP address.
    const other = connect(port, host === '::1' ? '127.0.0.1' : '::1');
    await expect(once(other, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('of [::1] is bound for IPv6', async () => {
    const listener = await listen({ host: '[::1]' });
    const response = sendBytes(
      listener.port,
      get(listener.port, `/callback?${EXPECTED}`, `[::1]:${listener.port}`),
      '::1',
    );
    (await listener.redirect).show('signed-in');
    expect(await response).toContain(SIGNED_IN);
  });
});
