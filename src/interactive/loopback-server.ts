import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { OAuthProfileError } from '../errors.ts';
import type { Redirect, RedirectListener, RedirectTarget } from '../ports.ts';
import { callbackPage, type PageKind } from './callback-page.ts';

/** Time for a whole request to arrive, and for its headers, which browsers send at once. */
const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 3_000;
/** Connections that may wait for their request. All users of the machine can connect, so the oldest is closed for a new one. */
const MAX_WAITING = 100;
/** Attempts to find a port that is free for both IPv4 and IPv6. */
const MAX_PORT_ATTEMPTS = 10;
/** Time for the browser to receive the result page before the server closes. */
const PAGE_TIMEOUT_MS = 1_000;

/** Listens on loopback for one redirect whose query `isExpected` accepts. Every other request gets an error and changes nothing (RFC 8252 §7.3). */
export async function listenForRedirect(
  target: RedirectTarget,
  isExpected: (query: string) => boolean,
): Promise<RedirectListener> {
  const { host, port } = target;
  // Browsers try either IP address of localhost first; another program on the other one would receive the authorization code.
  const hosts = host === 'localhost' ? ['127.0.0.1', '::1'] : [host.replace(/^\[|\]$/g, '')];
  for (let attempt = 1; ; attempt++) {
    const server = new LoopbackServer(target, isExpected);
    try {
      await server.bind(hosts);
      return server;
    } catch (error) {
      await server.close();
      const { code } = error as NodeJS.ErrnoException;
      if (code === undefined) throw error;
      if (port !== 0 || code !== 'EADDRINUSE' || attempt >= MAX_PORT_ATTEMPTS) throw listenError(target, code, error);
    }
  }
}

class LoopbackServer implements RedirectListener {
  readonly redirect: Promise<Redirect>;
  port: number;
  readonly #servers: Server[] = [];
  readonly #waiting = new Set<Duplex>();
  #resolve: (redirect: Redirect) => void = () => {};
  /** The response to the expected redirect, once it has arrived. */
  #accepted: ServerResponse | undefined;

  constructor(
    readonly target: RedirectTarget,
    readonly isExpected: (query: string) => boolean,
  ) {
    this.port = target.port;
    this.redirect = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  async bind(hosts: readonly string[]): Promise<void> {
    for (const [index, host] of hosts.entries()) {
      const server = this.#createServer();
      try {
        await once(server.listen({ host, port: this.port, ipv6Only: true, exclusive: true }), 'listening');
      } catch (error) {
        // A machine without IPv6 has no ::1.
        const unavailable = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String((error as NodeJS.ErrnoException).code));
        if (unavailable && index > 0) continue;
        throw error;
      }
      this.#servers.push(server);
      this.port = (server.address() as AddressInfo).port;
    }
  }

  async close(): Promise<void> {
    const page = this.#accepted;
    if (page?.headersSent && !page.writableFinished && !page.destroyed)
      await once(page, 'close', { signal: AbortSignal.timeout(PAGE_TIMEOUT_MS) }).catch(() => {});
    await Promise.all(this.#servers.splice(0).map(stop));
  }

  #createServer(): Server {
    const options = {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
    };
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => this.#onRequest(request, response);
    const server = createServer(options, onRequest);
    server.on('connection', (socket) => this.#onConnection(socket));
    server.on('clientError', rejectInvalidHttp);
    server.on('checkExpectation', onRequest);
    for (const event of ['upgrade', 'connect']) server.on(event, (_, socket: Duplex) => socket.destroy());
    return server;
  }

  #onConnection(socket: Duplex): void {
    this.#waiting.add(socket);
    socket.once('close', () => this.#waiting.delete(socket));
    const [oldest] = this.#waiting;
    if (this.#waiting.size > MAX_WAITING) oldest?.destroy();
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    this.#waiting.delete(request.socket);
    response.on('error', () => {});
    const { method, url = '' } = request;
    const [path, ...rest] = url.split('?');
    const query = rest.join('?');
    if (!this.#isForThisHost(request)) sendError(response, 421, 'Unknown host.');
    else if (path !== this.target.path) sendError(response, 404, 'Not found.');
    else if (method !== 'GET') sendError(response, 405, 'Only GET is supported.');
    else if (this.#accepted !== undefined || !this.isExpected(query)) sendPage(response, 'unexpected');
    else this.#accept(query, response);
  }

  #accept(query: string, response: ServerResponse): void {
    this.#accepted = response;
    for (const server of this.#servers) server.close();
    this.#resolve({
      query,
      show: (page) => {
        if (!response.headersSent) sendPage(response, page);
      },
    });
  }

  /** Exactly one Host header with the expected host: prevents DNS rebinding. */
  #isForThisHost({ headersDistinct }: IncomingMessage): boolean {
    const { host } = this.target;
    const allowed = this.port === 80 ? [host, `${host}:80`] : [`${host}:${this.port}`];
    const [value = '', ...others] = headersDistinct['host'] ?? [];
    return others.length === 0 && allowed.includes(value.toLowerCase());
  }
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function sendPage(response: ServerResponse, kind: PageKind): void {
  const { status, headers, body } = callbackPage(kind);
  response.writeHead(status, headers).end(body);
}

function sendError(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...(status === 405 ? { Allow: 'GET' } : {}),
  });
  response.end(`${message}\n`);
}

function rejectInvalidHttp(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) return void socket.destroy();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nInvalid request.\n`);
}

function listenError({ host, port }: RedirectTarget, code: string, cause: unknown): OAuthProfileError {
  const endpoint = port === 0 ? `a free port of ${host}` : `${host}:${port}`;
  const reasons: Record<string, string> = { EADDRINUSE: 'address in use', EACCES: 'permission denied' };
  return new OAuthProfileError('usage', `cannot listen on ${endpoint}: ${reasons[code] ?? code}`, {
    cause,
    hint: 'choose another port with --port, omit --port to use any free port, or log in with --device',
  });
}
