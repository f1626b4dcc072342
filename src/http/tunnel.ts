import { request as httpRequest, type RequestOptions } from 'node:http';
import { Agent, type AgentOptions, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as tlsConnect } from 'node:tls';
import { endpointOf } from './endpoint.ts';
import { toProxyError } from './network-errors.ts';
import { type ProxyServer, proxyHeaders, proxyRefused } from './proxy.ts';

/** A connection that is being made for a request. */
export interface ConnectionAttempt {
  /** Profile to name in messages. */
  readonly profile: string | undefined;
  /** Set while CONNECT is in progress: until then the request has no socket that could be closed. */
  cancel: (() => void) | undefined;
}

type OnConnection = (error: Error | null, socket: Duplex) => void;

/** Connects through a proxy with CONNECT (RFC 9110 §9.3.6), then speaks TLS with the target. */
export class TunnelAgent extends Agent {
  readonly #proxy: ProxyServer;
  readonly #toProxy: ConnectionOptions;

  /** `toProxy` are the TLS options for an https proxy. */
  constructor(options: AgentOptions, proxy: ProxyServer, toProxy: ConnectionOptions) {
    super(options);
    this.#proxy = proxy;
    this.#toProxy = toProxy;
  }

  override createConnection(
    options: RequestOptions & { readonly attempt?: ConnectionAttempt },
    onConnection?: OnConnection,
  ): Duplex | null {
    const { attempt, host = '', port } = options;
    const target = `${host?.includes(':') ? `[${host}]` : host}:${port}`;
    openTunnel(this.#proxy, this.#toProxy, target, attempt, (error, socket) => {
      if (error !== null) onConnection?.(error, socket);
      else onConnection?.(null, tlsConnect({ ...(options as ConnectionOptions), socket }));
    });
    return null;
  }
}

/** Opens a tunnel to `target`, host and port. `toProxy` are the TLS options for an https proxy. */
export function openTunnel(
  proxy: ProxyServer,
  toProxy: ConnectionOptions,
  target: string,
  attempt: ConnectionAttempt | undefined,
  onConnection: OnConnection,
): void {
  const { url } = proxy;
  const connect = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
    ...toProxy,
    ...endpointOf(url),
    method: 'CONNECT',
    path: target,
    headers: { Host: target, ...proxyHeaders(proxy) },
    agent: false,
  });
  if (attempt !== undefined) attempt.cancel = () => connect.destroy();
  connect.once('connect', ({ statusCode: status = 0 }, socket: Socket, head: Buffer) => {
    if (attempt !== undefined) attempt.cancel = undefined;
    // A server may speak first.
    if (head.length > 0) socket.unshift(head);
    if (status >= 200 && status < 300) {
      onConnection(null, socket);
      return;
    }
    socket.destroy();
    onConnection(proxyRefused(proxy, target, status), socket);
  });
  connect.on('error', (cause: NodeJS.ErrnoException) => {
    onConnection(toProxyError(cause, url.host, attempt?.profile), connect as unknown as Duplex);
  });
  connect.end();
}
