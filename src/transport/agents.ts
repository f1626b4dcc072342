import { Agent } from 'node:http';
import type { TlsFiles, WireRequest } from '../ports.ts';
import { type Environment, proxyFor } from './proxy.ts';
import type { Route } from './route.ts';

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
