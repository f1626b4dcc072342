import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { listenForRedirect } from '../../src/interactive/loopback-server.ts';
import type { Redirect, RedirectListener, RedirectTarget } from '../../src/ports.ts';

const RIGHT = 'code=c&state=right';
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function listen(address: Partial<RedirectTarget> = {}): Promise<RedirectListener & { came: Redirect[] }> {
  const listener = await listenForRedirect(
    { host: '127.0.0.1', port: 0, path: '/callback', ...address },
    (query) => query === RIGHT,
  );
  open.push(() => listener.close());
  const came: Redirect[] = [];
  void listener.redirect.then((redirect) => came.push(redirect));
  return Object.assign(listener, { came });
}

/** Sends bytes and gives back all that comes until the other side closes. */
function raw(port: number, bytes: string | Buffer, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    socket.write(bytes);
    open.push(() => socket.destroy());
  });
}

const get = (port: number, target: string, host = `127.0.0.1:${port}`): string =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
const statusOf = (reply: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(reply)?.[1] ?? 0);

/** Sends the right redirect and answers it. */
async function comeBack(
  listener: RedirectListener,
  page: Parameters<Redirect['show']>[0] = 'signed-in',
): Promise<string> {
  const reply = raw(listener.port, get(listener.port, `/callback?${RIGHT}`));
  (await listener.redirect).show(page);
  return reply;
}

describe('the listener of a sign-in', () => {
  it('takes the redirect that is awaited, and shows a page', async () => {
    const listener = await listen();
    const reply = await comeBack(listener);
    expect(statusOf(reply)).toBe(200);
    expect(reply).toContain('You are signed in');
    expect((await listener.redirect).query).toBe(RIGHT);
  });

  it.each(['refused', 'failed'] as const)('tells the person when it was %s', async (page) => {
    const reply = await comeBack(await listen(), page);
    expect(reply).not.toContain('You are signed in');
    expect(reply).toContain('terminal');
  });

  it('shows one page, however often it is told to', async () => {
    const listener = await listen();
    const reply = raw(listener.port, get(listener.port, `/callback?${RIGHT}`));
    const redirect = await listener.redirect;
    redirect.show('refused');
    redirect.show('failed');
    expect((await reply).match(/<h1>/g)).toHaveLength(1);
  });

  it('listens on loopback alone', async () => {
    const listener = await listen();
    const outside = connect(listener.port, '127.0.0.2');
    await expect(once(outside, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('is gone after one redirect: a second finds nobody', async () => {
    const listener = await listen();
    const kept = connect(listener.port, '127.0.0.1');
    await once(kept, 'connect');
    const first = raw(listener.port, get(listener.port, `/callback?${RIGHT}`));
    const redirect = await listener.redirect;
    const late = connect(listener.port, '127.0.0.1');
    await expect(once(late, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    // Whoever was connected before gets no second answer either.
    const texts: string[] = [];
    kept.setEncoding('latin1').on('data', (text) => texts.push(String(text)));
    // The listener may have hung up already.
    kept.on('error', () => {});
    const gone = new Promise((resolve) => kept.once('close', resolve));
    kept.write(get(listener.port, `/callback?${RIGHT}`));
    await gone;
    expect(texts.join('')).not.toContain('You are signed in');
    redirect.show('signed-in');
    expect(await first).toContain('You are signed in');
  });

  it('is gone when it is closed, with whoever hangs on', async () => {
    const listener = await listen();
    const idle = connect(listener.port, '127.0.0.1');
    await once(idle, 'connect');
    const gone = once(idle, 'close');
    await listener.close();
    await gone;
    await expect(once(connect(listener.port, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('lets the page go out before it is gone', async () => {
    const listener = await listen();
    const reply = raw(listener.port, get(listener.port, `/callback?${RIGHT}`));
    (await listener.redirect).show('signed-in');
    await listener.close();
    expect(await reply).toContain('</html>');
  });
});

describe('what does not end the wait', () => {
  const attacks: [string, number, (port: number) => string | Buffer][] = [
    ['another state', 400, (port) => get(port, '/callback?code=c&state=wrong')],
    ['no query', 400, (port) => get(port, '/callback')],
    ['another path', 404, (port) => get(port, `/other?${RIGHT}`)],
    ['a path with a slash more', 404, (port) => get(port, `/callback/?${RIGHT}`)],
    ['a path in capitals', 404, (port) => get(port, `/Callback?${RIGHT}`)],
    ['a path that is encoded', 404, (port) => get(port, `/%63allback?${RIGHT}`)],
    ['a path with a detour', 404, (port) => get(port, `/x/../callback?${RIGHT}`)],
    ['a whole address', 404, (port) => get(port, `http://127.0.0.1:${port}/callback?${RIGHT}`)],
    ['the icon that browsers want', 404, (port) => get(port, '/favicon.ico')],
    [
      'POST',
      405,
      (port) => `POST /callback?${RIGHT} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 3\r\n\r\na=b`,
    ],
    ['HEAD', 405, (port) => get(port, `/callback?${RIGHT}`).replace('GET', 'HEAD')],
    ['OPTIONS', 405, (port) => get(port, `/callback?${RIGHT}`).replace('GET', 'OPTIONS')],
    [
      'another name of the same address (DNS rebinding)',
      421,
      (port) => get(port, `/callback?${RIGHT}`, `evil.example:${port}`),
    ],
    ['localhost instead of 127.0.0.1', 421, (port) => get(port, `/callback?${RIGHT}`, `localhost:${port}`)],
    ['another port in the name', 421, (port) => get(port, `/callback?${RIGHT}`, '127.0.0.1:1')],
    ['no port in the name', 421, (port) => get(port, `/callback?${RIGHT}`, '127.0.0.1')],
    ['no name', 400, () => `GET /callback?${RIGHT} HTTP/1.1\r\n\r\n`],
    [
      'two names',
      421,
      (port) => `GET /callback?${RIGHT} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.example\r\n\r\n`,
    ],
    [
      'script in a parameter',
      400,
      (port) => get(port, '/callback?state=<script>alert(1)</script>&error="><img/src=x>'),
    ],
    ['a query of a megabyte', 431, (port) => get(port, `/callback?${RIGHT}&x=${'x'.repeat(2 ** 20)}`)],
    ['no HTTP at all', 400, () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\r\n\r\n'],
    ['half a request, then the end', 0, () => 'GET /callback?code=c'],
  ];

  it.each(attacks)('%s', async (_, status, bytes) => {
    const listener = await listen();
    const socket: Promise<string> =
      status === 0 ? halfOf(listener.port, bytes(listener.port)) : raw(listener.port, bytes(listener.port));
    const reply = await socket;
    if (status !== 0 && reply !== '') expect(statusOf(reply)).toBe(status);
    expect(reply).not.toMatch(/<script|<img|alert\(1\)|state=|code=c/);
    expect(listener.came).toEqual([]);
    expect(await comeBack(listener)).toContain('You are signed in');
  });

  function halfOf(port: number, bytes: string | Buffer): Promise<string> {
    return new Promise((resolve) => {
      const socket: Socket = connect(port, '127.0.0.1', () => socket.end(bytes));
      socket.on('error', () => {});
      socket.on('close', () => resolve(''));
      socket.resume();
    });
  }

  it('fifty connections that say nothing', async () => {
    const listener = await listen();
    const idle = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = connect(listener.port, '127.0.0.1');
        socket.on('error', () => {});
        await once(socket, 'connect');
        return socket;
      }),
    );
    expect(await comeBack(listener)).toContain('You are signed in');
    for (const socket of idle) socket.destroy();
  });
});

describe('its pages', () => {
  it.each([
    ['a success', `/callback?${RIGHT}`],
    ['a stranger', '/callback?code=c&state=wrong'],
  ])('run nothing, load nothing and are kept nowhere: %s', async (_, target) => {
    const listener = await listen();
    const asked = raw(listener.port, get(listener.port, target));
    void listener.redirect.then((redirect) => redirect.show('signed-in'));
    const reply = await asked;
    expect(reply).toMatch(
      /content-security-policy: default-src 'none'; style-src 'sha256-[\w+/=]{44}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n/i,
    );
    expect(reply).toMatch(/cache-control: no-store\r\n/i);
    expect(reply).toMatch(/referrer-policy: no-referrer\r\n/i);
    expect(reply).toMatch(/x-content-type-options: nosniff\r\n/i);
    expect(reply).not.toMatch(/<script|unsafe-inline|set-cookie/i);
  });
});

describe('the port', () => {
  async function occupy(host: string, port = 0): Promise<number> {
    const server = createServer();
    server.listen({ host, port, ipv6Only: true });
    await once(server, 'listening');
    open.push(() => new Promise((resolve) => server.close(resolve)));
    return (server.address() as AddressInfo).port;
  }

  it('is the one that was asked for', async () => {
    const free = createHttpServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    expect((await listen({ port })).port).toBe(port);
  });

  it('that another program has is told, with what to do', async () => {
    const port = await occupy('127.0.0.1');
    await expect(listen({ port })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`port ${port}`),
      hint: expect.stringMatching(/another program has it.*--port.*--device/),
    });
  });

  it('of localhost is bound on both families of addresses', async () => {
    const listener = await listen({ host: 'localhost', path: '/' });
    for (const host of ['127.0.0.1', '::1']) {
      const reply = await raw(listener.port, get(listener.port, '/?x', `localhost:${listener.port}`), host);
      expect(statusOf(reply)).toBe(400);
    }
    const reply = raw(listener.port, get(listener.port, `/?${RIGHT}`, `localhost:${listener.port}`), '::1');
    (await listener.redirect).show('signed-in');
    expect(await reply).toContain('You are signed in');
  });

  it.each(['127.0.0.1', '::1'])('of localhost is refused when somebody else has it on %s', async (host) => {
    const port = await occupy(host);
    await expect(listen({ host: 'localhost', port, path: '/' })).rejects.toMatchObject({ code: 'usage' });
    // And nothing is left on the other.
    const other = connect(port, host === '::1' ? '127.0.0.1' : '::1');
    await expect(once(other, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('of [::1] is bound there', async () => {
    const listener = await listen({ host: '[::1]' });
    const reply = raw(listener.port, get(listener.port, `/callback?${RIGHT}`, `[::1]:${listener.port}`), '::1');
    (await listener.redirect).show('signed-in');
    expect(await reply).toContain('You are signed in');
  });
});
