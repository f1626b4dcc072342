import { Agent, type AgentOptions } from 'node:http';
import type { TlsFiles, WireRequest } from '../ports.ts';
import { type Environment, proxyFor } from './proxy.ts';
import type { Route } from './route.ts';

/** Firewalls forget idle connections without a word, and the next request over one would wait in vain. */
const IDLE_MS = 30_000;
const MAX_KEPT = 64;

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
      const agent = this.#agent(request, proxy?.url.href, (options) =>
        secure.createAgent(request, options, this.env, proxy),
      );
      const options = { agent, host, port: url.port || 443, path: url.pathname + url.search };
      return { options, headers: {}, secure: true, request: secure.request, proxy: undefined };
    }
    if (proxy === undefined) {
      const agent = this.#agent(request, undefined, (options) => new Agent(options));
      const options = { agent, host, port: url.port || 80, path: url.pathname + url.search };
      return { options, headers: {}, secure: false, request: undefined, proxy: undefined };
    }
    const { plainProxyRoute } = await import('./tunnel.ts');
    const secure = proxy.url.protocol === 'https:' ? await import('./secure-route.ts') : undefined;
    const agent = this.#agent(
      request,
      proxy.url.href,
      (options) => secure?.createProxyAgent(request, options, this.env) ?? new Agent(options),
    );
    return plainProxyRoute(request, proxy, agent);
  }

  #agent(request: WireRequest, proxy: string | undefined, create: (options: AgentOptions) => Agent): Agent {
    // What must not meet a dying connection gets one of its own.
    if (!request.reuseConnection) return create({ keepAlive: false });
    const key = `${request.url.protocol} ${proxy ?? ''} ${keyOf(request.tls)}`;
    let agent = this.#kept.get(key);
    if (agent === undefined) {
      agent = create({ keepAlive: true, timeout: IDLE_MS });
      // What is forgotten here closes its idle connections by itself.
      if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
      this.#kept.set(key, agent);
    }
    return agent;
  }
}

function keyOf({ ca, cert, certKey }: TlsFiles): string {
  return ca === undefined && cert === undefined ? '' : JSON.stringify([ca, cert, certKey]);
}
