import { Agent, type AgentOptions } from 'node:http';
import type { Environment, TlsFiles } from '../ports.ts';
import type { ConnectionTarget, Route } from './connector.ts';
import { formatHost } from './host-of.ts';
import { type ProxyServer, proxyFor } from './proxy.ts';

/** Firewalls forget idle connections without a word, and the next request over one would wait in vain. */
const IDLE_MS = 30_000;
const MAX_KEPT = 64;

type SecureRoute = typeof import('./tls-connector.ts');

const noHeaders = {};

/** Connections are kept for each way of connecting: TLS files, proxy, kept or not. */
export class Agents {
  readonly #kept = new Map<string, Agent>();
  #secure: SecureRoute | undefined;

  constructor(readonly env: Environment) {}

  /** At once, where everything that it takes is loaded. */
  routeTo(request: ConnectionTarget): Route | Promise<Route> {
    const { url } = request;
    const proxy = proxyFor(url, this.env);
    if (url.protocol === 'https:') {
      if (this.#secure !== undefined) return this.#secureRoute(request, proxy, this.#secure);
      // Loading TLS costs start-up, which plain http to loopback need not pay.
      return import('./tls-connector.ts').then((secure) => {
        this.#secure = secure;
        return this.#secureRoute(request, proxy, secure);
      });
    }
    if (proxy !== undefined) return this.#plainProxyRoute(request, proxy);
    const agent = this.#agent(request, undefined, (options) => new Agent(options));
    const options = { agent, host: formatHost(url), port: url.port || 80, path: url.pathname + url.search };
    return { options, headers: noHeaders, secure: false, request: undefined, proxy: undefined };
  }

  #secureRoute(request: ConnectionTarget, proxy: ProxyServer | undefined, secure: SecureRoute): Route {
    const { url } = request;
    const agent = this.#agent(request, proxy?.url.href, (options) =>
      secure.createAgent(request, options, this.env, proxy),
    );
    const options = { agent, host: formatHost(url), port: url.port || 443, path: url.pathname + url.search };
    return { options, headers: noHeaders, secure: true, request: secure.request, proxy: undefined };
  }

  async #plainProxyRoute(request: ConnectionTarget, proxy: ProxyServer): Promise<Route> {
    const { plainProxyRoute } = await import('./tunnel.ts');
    const secure = proxy.url.protocol === 'https:' ? await import('./tls-connector.ts') : undefined;
    const agent = this.#agent(
      request,
      proxy.url.href,
      (options) => secure?.createProxyAgent(request, options, this.env) ?? new Agent(options),
    );
    return plainProxyRoute(request, proxy, agent);
  }

  #agent(request: ConnectionTarget, proxy: string | undefined, create: (options: AgentOptions) => Agent): Agent {
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
