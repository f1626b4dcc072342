import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import type { TransportError } from '../errors.ts';
import type { TlsFiles, WireRequest } from '../ports.ts';
import { type Environment, proxyFor } from './proxy.ts';

/** How one request reaches its host. */
export interface Route {
  readonly options: RequestOptions;
  readonly headers: Readonly<Record<string, string>>;
  readonly secure: boolean;
  /** `https.request`, where TLS is spoken; `http.request` serves else. */
  readonly request:
    | ((options: RequestOptions, onResponse: (response: IncomingMessage) => void) => ClientRequest)
    | undefined;
  /** Where a proxy answers in the provider's place, tells its refusal from the provider's. */
  readonly refusedByProxy: ((status: number) => TransportError) | undefined;
}

/** Connections are kept for each way of connecting: TLS files, proxy, kept or not. */
export class Agents {
  readonly #kept = new Map<string, Agent>();

  constructor(readonly env: Environment) {}

  async routeTo(request: WireRequest): Promise<Route> {
    const { url } = request;
    const proxy = proxyFor(url, this.env);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (url.protocol === 'https:') {
      // Loading TLS costs start-up, which plain http to loopback need not pay.
      const secure = await import('./secure-route.ts');
      const agent = this.#agent(request, proxy?.url.href, (keepAlive) =>
        secure.createAgent(request.tls, keepAlive, this.env, proxy),
      );
      const options = { agent, host, port: url.port || 443, path: url.pathname + url.search };
      return { options, headers: {}, secure: true, request: secure.request, refusedByProxy: undefined };
    }
    const agent = this.#agent(request, proxy?.url.href, (keepAlive) => new Agent({ keepAlive }));
    if (proxy === undefined) {
      const options = { agent, host, port: url.port || 80, path: url.pathname + url.search };
      return { options, headers: {}, secure: false, request: undefined, refusedByProxy: undefined };
    }
    const { plainProxyRoute } = await import('./tunnel.ts');
    return plainProxyRoute(url, proxy, agent);
  }

  #agent(request: WireRequest, proxy: string | undefined, create: (keepAlive: boolean) => Agent): Agent {
    // What must not meet a dying connection gets one of its own.
    if (!request.reuseConnection) return create(false);
    const key = `${request.url.protocol} ${proxy ?? ''} ${keyOf(request.tls)}`;
    let agent = this.#kept.get(key);
    if (agent === undefined) {
      agent = create(true);
      this.#kept.set(key, agent);
    }
    return agent;
  }
}

function keyOf({ ca, cert, certKey }: TlsFiles): string {
  return ca === undefined && cert === undefined ? '' : JSON.stringify([ca, cert, certKey]);
}
