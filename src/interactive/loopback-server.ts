import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { OAuthProfileError } from '../errors.ts';
import type { Redirect, RedirectListener, RedirectTarget } from '../ports.ts';
import { callbackPage } from './callback-page.ts';

/** Time for a request to come in whole. */
const ARRIVAL_MS = 10_000;
const MAX_CONNECTIONS = 100;
/** How often another free port is tried, where one is free for one family of addresses alone. */
const MAX_TRIES = 10;
/** How long a browser has to take the page before we leave. */
const FAREWELL_MS = 1_000;

/** Listens on loopback for the one redirect that `isAwaited` accepts; every other request gets a refusal and changes nothing. */
export async function listenForRedirect(
  address: RedirectTarget,
  isAwaited: (query: string) => boolean,
): Promise<RedirectListener> {
  const listener = new Listener(address, isAwaited);
  await listener.open();
  return listener;
}

class Listener implements RedirectListener {
  readonly redirect: Promise<Redirect>;
  port = 0;
  readonly #address: RedirectTarget;
  readonly #isAwaited: (query: string) => boolean;
  #servers: Server[] = [];
  #resolve: (redirect: Redirect) => void = () => {};
  #taken: ServerResponse | undefined;

  constructor(address: RedirectTarget, isAwaited: (query: string) => boolean) {
    this.#address = address;
    this.#isAwaited = isAwaited;
    this.redirect = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  async open(): Promise<void> {
    const { host, port } = this.#address;
    // Whoever had the other family's port would get the codes of those browsers that try it first.
    const hosts = host === 'localhost' ? ['127.0.0.1', '::1'] : [host.replace(/^\[|\]$/g, '')];
    for (let tries = 1; ; tries++) {
      try {
        await this.#bind(hosts, port);
        return;
      } catch (error) {
        await this.close();
        const { code } = error as NodeJS.ErrnoException;
        if (code === undefined) throw error;
        if (port === 0 && code === 'EADDRINUSE' && tries < MAX_TRIES) continue;
        throw cannotListen(this.#address, code, error);
      }
    }
  }

  async close(): Promise<void> {
    const page = this.#taken;
    if (page?.headersSent && !page.writableFinished && !page.destroyed) await gone(page);
    const servers = this.#servers;
    this.#servers = [];
    await Promise.all(servers.map(stop));
  }

  async #bind(hosts: readonly string[], port: number): Promise<void> {
    for (const [index, host] of hosts.entries()) {
      const server = this.#createServer();
      try {
        await listen(server, host, index === 0 ? port : this.port);
      } catch (error) {
        // A machine without IPv6 has nobody on ::1.
        const absent = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String((error as NodeJS.ErrnoException).code));
        if (absent && index > 0) continue;
        throw error;
      }
      this.#servers.push(server);
      if (index === 0) this.port = (server.address() as AddressInfo).port;
    }
  }

  #createServer(): Server {
    const server = createServer(
      { requestTimeout: ARRIVAL_MS, headersTimeout: ARRIVAL_MS, connectionsCheckingInterval: 1_000 },
      (request, response) => this.#receive(request, response),
    );
    server.maxConnections = MAX_CONNECTIONS;
    server.on('clientError', refuseUnreadable);
    for (const event of ['upgrade', 'connect']) server.on(event, (_, socket: Duplex) => socket.destroy());
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      this.#receive(request, response),
    );
    return server;
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    response.on('error', () => {});
    const { method, url = '' } = request;
    const [path, ...rest] = url.split('?');
    const query = rest.join('?');
    if (!this.#isAddressed(request)) refuse(response, 421, 'This address is not served here.');
    else if (path !== this.#address.path) refuse(response, 404, 'There is nothing here.');
    else if (method !== 'GET') refuse(response, 405, 'Only GET is served here.', { Allow: 'GET' });
    else if (this.#taken !== undefined || !this.#isAwaited(query)) show(response, 'stranger');
    else this.#take(query, response);
  }

  #take(query: string, response: ServerResponse): void {
    this.#taken = response;
    // One redirect is all that was waited for.
    for (const server of this.#servers) server.close();
    this.#resolve({
      query,
      show: (page) => {
        if (!response.headersSent) show(response, page);
      },
    });
  }

  /** A page of another name that was bent to this address must not reach us (DNS rebinding). */
  #isAddressed({ headers, rawHeaders }: IncomingMessage): boolean {
    const named = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
    const { host } = this.#address;
    const own = this.port === 80 ? [host, `${host}:80`] : [`${host}:${this.port}`];
    return named.length === 1 && own.includes(String(headers.host).toLowerCase());
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, ipv6Only: true, exclusive: true }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Until the browser has the page, or has had the time to take it. */
function gone(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, FAREWELL_MS);
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function show(response: ServerResponse, kind: Parameters<typeof callbackPage>[0]): void {
  const { status, headers, body } = callbackPage(kind);
  response.writeHead(status, headers).end(body);
}

function refuse(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    Connection: 'close',
    ...headers,
  });
  response.end(`${text}\n`);
}

/** What is no HTTP, or far too much of it. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nThis request cannot be read.\n`,
  );
}

function cannotListen({ host, port }: RedirectTarget, code: string, cause: unknown): OAuthProfileError {
  const place = port === 0 ? `a free port of ${host}` : `port ${port} of ${host}`;
  const why: Record<string, string> = { EADDRINUSE: 'another program has it', EACCES: 'this user may not' };
  return new OAuthProfileError('usage', `the browser cannot come back: ${place} cannot be listened on (${code})`, {
    cause,
    hint: `${why[code] ?? 'the system refuses'}: choose another with --port, or leave it out; or use --device`,
  });
}
