import { type Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent, type AgentOptions, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { TransportError } from '../errors.ts';
import type { ProxyServer } from './proxy.ts';
import type { Route } from './route.ts';

/** Anything that must be able to end a connection that is still being made. */
interface Connecting {
  cancelConnect: (() => void) | undefined;
}

type Connected = (error: Error | null, socket: Duplex) => void;

/** Connects through a proxy with CONNECT (RFC 9110 §9.3.6); the request's own time-out and abort end a tunnel under way. */
export class TunnelAgent extends Agent {
  readonly #proxy: ProxyServer;

  constructor(options: AgentOptions, proxy: ProxyServer) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: RequestOptions & { attempt?: Connecting }, connected?: Connected): Duplex | null {
    const { url } = this.#proxy;
    const host = String(options.host);
    const target = `${host.includes(':') ? `[${host}]` : host}:${options.port}`;
    const connect = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
      ...proxyAddress(url),
      method: 'CONNECT',
      path: target,
      headers: { Host: target, ...proxyHeaders(this.#proxy) },
      agent: false,
    });
    if (options.attempt !== undefined) options.attempt.cancelConnect = () => connect.destroy();
    connect.once('connect', (response, socket: Socket) => {
      if (options.attempt !== undefined) options.attempt.cancelConnect = undefined;
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) {
        connected?.(null, tlsConnect({ ...(options as object), socket, servername: servernameOf(host) }));
        return;
      }
      socket.destroy();
      connected?.(refused(this.#proxy, status), socket);
    });
    connect.once('error', (cause: NodeJS.ErrnoException) => {
      connected?.(unreachable(this.#proxy, cause), connect as unknown as Duplex);
    });
    connect.end();
    return null;
  }
}

/** Plain http through a proxy: the proxy gets the whole address (RFC 9112 §3.2.2). */
export function plainProxyRoute(url: URL, proxy: ProxyServer, agent: HttpAgent): Route {
  return {
    options: { agent, ...proxyAddress(proxy.url), path: url.href },
    headers: { Host: url.host, ...proxyHeaders(proxy) },
    secure: proxy.url.protocol === 'https:',
    request: proxy.url.protocol === 'https:' ? httpsRequest : httpRequest,
    refusedByProxy: (status) => refused(proxy, status),
  };
}

function proxyAddress(url: URL): { host: string; port: string | number } {
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port || (url.protocol === 'https:' ? 443 : 80) };
}

function proxyHeaders({ authorization }: ProxyServer): Record<string, string> {
  return authorization === undefined ? {} : { 'Proxy-Authorization': authorization.reveal() };
}

/** Server name indication is for names only (RFC 6066 §3). */
function servernameOf(host: string): string {
  return /^[\d.]+$|:/.test(host) ? '' : host;
}

function unreachable(proxy: ProxyServer, cause: NodeJS.ErrnoException): TransportError {
  const why = cause.code ?? cause.message;
  return new TransportError('connection_failed', `cannot connect to the proxy ${proxy.url.host} (${why})`, {
    sent: false,
    cause,
    advice: 'check HTTPS_PROXY, or name the host in NO_PROXY if it needs no proxy',
  });
}

function refused(proxy: ProxyServer, status: number): TransportError {
  return new TransportError('proxy_refused', `the proxy ${proxy.url.host} refused the connection (HTTP ${status})`, {
    sent: false,
    advice:
      status === 407
        ? 'it wants a user name and password: write them into the address, http://user:password@host:port'
        : 'ask those who run the proxy to allow the host, or name it in NO_PROXY if it needs no proxy',
  });
}
