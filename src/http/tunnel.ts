import { type Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent, type AgentOptions, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type SecureContext, connect as tlsConnect } from 'node:tls';
import { TransportError } from '../errors.ts';
import type { ConnectionTarget, Route } from './connector.ts';
import { formatHost, serverNameOf } from './host-of.ts';
import { toProxyError } from './network-errors.ts';
import type { ProxyServer } from './proxy.ts';

/** Anything that must be able to end a connection that is still being made. */
interface Connecting {
  readonly wire: ConnectionTarget;
  cancelConnect: (() => void) | undefined;
}

type Connected = (error: Error | null, socket: Duplex) => void;

/** Connects through a proxy with CONNECT (RFC 9110 §9.3.6); the request's own time-out and abort end a tunnel under way. */
export class TunnelAgent extends Agent {
  readonly #proxy: ProxyServer;

  /** `toProxy` is for the connection to the proxy itself, if that speaks TLS. */
  constructor(
    options: AgentOptions,
    proxy: ProxyServer,
    readonly toProxy: { secureContext?: SecureContext },
  ) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: RequestOptions & { attempt?: Connecting }, connected?: Connected): Duplex | null {
    const { url } = this.#proxy;
    const host = String(options.host);
    const target = `${host.includes(':') ? `[${host}]` : host}:${options.port}`;
    const connect = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
      ...proxyAddress(url),
      ...this.toProxy,
      method: 'CONNECT',
      path: target,
      headers: { Host: target, ...proxyHeaders(this.#proxy) },
      agent: false,
    });
    const { attempt } = options;
    if (attempt !== undefined) attempt.cancelConnect = () => connect.destroy();
    connect.once('connect', (response, socket: Socket) => {
      if (attempt !== undefined) attempt.cancelConnect = undefined;
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) {
        connected?.(null, tlsConnect({ ...(options as object), socket, servername: serverNameOf(host) }));
        return;
      }
      socket.destroy();
      connected?.(refused(this.#proxy, target, status), socket);
    });
    connect.on('error', (cause: NodeJS.ErrnoException) => {
      connected?.(toProxyError(cause, url.host, attempt?.wire.profile), connect as unknown as Duplex);
    });
    connect.end();
    return null;
  }
}

/** Plain http through a proxy: the proxy gets the whole address (RFC 9112 §3.2.2). */
export function plainProxyRoute({ url, profile }: ConnectionTarget, proxy: ProxyServer, agent: HttpAgent): Route {
  const secure = proxy.url.protocol === 'https:';
  return {
    options: { agent, ...proxyAddress(proxy.url), path: url.href },
    headers: proxyHeaders(proxy),
    secure,
    request: secure ? httpsRequest : httpRequest,
    proxy: {
      refused: (status) => refused(proxy, url.host, status),
      unreachable: (cause) => toProxyError(cause, proxy.url.host, profile),
      secrets: proxy.secrets,
    },
  };
}

/** With the name that the proxy's own certificate must have: by default that would be the `Host` header's. */
function proxyAddress(url: URL): { host: string; port: string | number; servername: string } {
  const host = formatHost(url);
  return { host, port: url.port || (url.protocol === 'https:' ? 443 : 80), servername: serverNameOf(host) };
}

function proxyHeaders({ authorization }: ProxyServer): Record<string, string> {
  return authorization === undefined ? {} : { 'Proxy-Authorization': authorization.reveal() };
}

function refused(proxy: ProxyServer, target: string, status: number): TransportError {
  // A gateway's errors say that the way beyond the proxy is broken, not that it may not be taken.
  if (status === 502 || status === 503 || status === 504) {
    return new TransportError(
      'connection_failed',
      `the proxy ${proxy.url.host} cannot reach ${target} (HTTP ${status})`,
      {
        sent: false,
        hint: 'check the address, or name the host in NO_PROXY if it needs no proxy',
      },
    );
  }
  return new TransportError('proxy_refused', `the proxy ${proxy.url.host} refused the connection (HTTP ${status})`, {
    sent: false,
    hint:
      status === 407
        ? 'it wants a user name and password: write them into the address, http://user:password@host:port'
        : 'ask those who run the proxy to allow the host, or name it in NO_PROXY if it needs no proxy',
  });
}
