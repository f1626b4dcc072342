import { Agent, type AgentOptions, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { TransportError } from '../errors.ts';
import type { EmulatorEndpoint, Environment, TlsFiles, WireRequest } from '../ports.ts';
import { isLoopback } from '../profile/url.ts';
import type { Secret } from '../redaction/secret.ts';
import { endpointOf } from './endpoint.ts';
import { toNetworkError, toProxyError } from './network-errors.ts';
import { type ProxyServer, proxyFor, proxyHeaders, proxyRefused } from './proxy.ts';
import { tlsOptions } from './tls.ts';
import { type ConnectionAttempt, openTunnel, TunnelAgent } from './tunnel.ts';

/** Firewalls silently drop idle connections; a request on one of them would time out. */
const IDLE_TIMEOUT_MS = 30_000;
const MAX_AGENTS = 64;
const NO_TLS_FILES: TlsFiles = { ca: undefined, cert: undefined, certKey: undefined };

/** The host of a request and how to connect to it. */
export interface ConnectionTarget extends Pick<WireRequest, 'url' | 'reuseConnection' | 'tls'> {
  /** Profile to name in messages, if the request belongs to one. */
  readonly profile: string | undefined;
  /** How long an idle connection stays open, in milliseconds. Default: 30,000. */
  readonly idleTimeoutMs?: number | undefined;
}

/** How one request reaches its host. */
export interface Route {
  readonly request: typeof httpRequest;
  /** Agent, endpoint and request target. */
  readonly options: Omit<RequestOptions, 'agent'> & { readonly agent: Agent; readonly servername?: string };
  /** Headers for a proxy that forwards the request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Event of the socket after which the request is sent. */
  readonly connectEvent: 'connect' | 'secureConnect';
  /** Host and port of the proxy, if there is one. */
  readonly proxyHost?: string;
  /** Secrets that the responding server received in addition to the request. */
  readonly secrets?: readonly Secret[];
  /** Explains why no connection was made, if it is not a connection to the target. */
  readonly toConnectError?: (cause: NodeJS.ErrnoException) => TransportError;
  /** Returns an error for a response that is not the target's own. */
  readonly toResponseError?: (response: IncomingMessage) => TransportError | undefined;
}

/** Finds the route to a target. */
export interface Connector {
  route(target: ConnectionTarget): Route;
  /** Opens a connection to the host and port of an https: URL, without TLS. Rejects with a `TransportError`. */
  connect(url: URL, attempt: ConnectionAttempt): Promise<Duplex>;
}

/** Connects to the network through the proxies that `env` names, or to the emulator for every host. */
export function createConnector(env: Environment, emulator?: EmulatorEndpoint): Connector {
  const network = new NetworkConnector(env);
  return emulator === undefined ? network : new EmulatorConnector(emulator, network);
}

/** Connects directly, through a tunnel (https with a proxy), or to a proxy that forwards the request (http with a proxy). */
class NetworkConnector implements Connector {
  readonly #env: Environment;
  /** Agents hold the idle connections and the parsed certificates, which take about 50 ms to load. */
  readonly #agents = new Map<string, Agent>();

  constructor(env: Environment) {
    this.#env = env;
  }

  route(target: ConnectionTarget): Route {
    const proxy = proxyFor(target.url, this.#env);
    const secure = target.url.protocol === 'https:';
    const agent = this.#agentFor(target, proxy, (options) => {
      const toProxy = proxy?.url.protocol === 'https:' ? tlsOptions(withoutCertificate(target), this.#env) : undefined;
      const toTarget = secure ? tlsOptions(target, this.#env) : undefined;
      if (proxy !== undefined && secure) return new TunnelAgent({ ...options, ...toTarget }, proxy, toProxy ?? {});
      const tls = proxy === undefined ? toTarget : toProxy;
      return tls === undefined ? new Agent(options) : new HttpsAgent({ ...options, ...tls });
    });
    if (proxy === undefined) return directRoute(target.url, agent);
    if (secure) return { ...directRoute(target.url, agent), proxyHost: proxy.url.host };
    return {
      ...directRoute(proxy.url, agent),
      // The proxy receives the whole URL (RFC 9112 §3.2.2).
      options: { agent, ...endpointOf(proxy.url), path: target.url.href },
      headers: proxyHeaders(proxy),
      proxyHost: proxy.url.host,
      secrets: proxy.secrets,
      toConnectError: (cause) => toProxyError(cause, proxy.url.host, target.profile),
      toResponseError: ({ statusCode }) =>
        statusCode === 407 ? proxyRefused(proxy, target.url.host, statusCode) : undefined,
    };
  }

  connect(url: URL, attempt: ConnectionAttempt): Promise<Duplex> {
    const { host, port } = endpointOf(url);
    const proxy = proxyFor(url, this.#env);
    return new Promise((resolve, reject) => {
      if (proxy !== undefined) {
        const toProxy =
          proxy.url.protocol === 'https:' ? tlsOptions({ profile: undefined, tls: NO_TLS_FILES }, this.#env) : {};
        const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
        openTunnel(proxy, toProxy, target, attempt, (error, socket) =>
          error === null ? resolve(socket) : reject(error),
        );
        return;
      }
      const socket = connect({ host, port, allowHalfOpen: true }, () => resolve(socket));
      attempt.cancel = () => socket.destroy();
      socket.once('error', (error) => reject(toNetworkError(error, { url, profile: undefined }, false)));
    });
  }

  #agentFor(
    { url, tls, reuseConnection, idleTimeoutMs: timeout = IDLE_TIMEOUT_MS }: ConnectionTarget,
    proxy: ProxyServer | undefined,
    create: (options: AgentOptions) => Agent,
  ): Agent {
    const lifetime = reuseConnection ? timeout : 0;
    const key = `${url.protocol}\0${lifetime}\0${proxy?.url.href}\0${tls.ca}\0${tls.cert}\0${tls.certKey}`;
    let agent = this.#agents.get(key);
    if (agent === undefined) {
      agent = create(reuseConnection ? { keepAlive: true, timeout } : { keepAlive: false });
      // Certificates may be renewed every hour. A dropped agent still closes its idle connections.
      if (this.#agents.size >= MAX_AGENTS) this.#agents.clear();
      this.#agents.set(key, agent);
    }
    return agent;
  }
}

/** A proxy may have a certificate of the same private authority, but never receives the client certificate. */
function withoutCertificate(target: ConnectionTarget): ConnectionTarget {
  return { ...target, tls: { ca: target.tls.ca, cert: undefined, certKey: undefined } };
}

function directRoute(url: URL, agent: Agent): Route {
  const secure = url.protocol === 'https:';
  // Written out: with a spread, V8 creates a slower object.
  const { host, port, servername } = endpointOf(url);
  return {
    request: secure ? httpsRequest : httpRequest,
    options: { agent, host, port, servername, path: url.pathname + url.search },
    connectEvent: secure ? 'secureConnect' : 'connect',
  };
}

/**
 * Connects to the emulator whatever the host, without DNS and proxies, except for servers on this machine and allowed
 * origins. TLS verifies the name of the real host.
 */
class EmulatorConnector implements Connector {
  readonly #emulator: EmulatorEndpoint;
  readonly #network: Connector;
  readonly #agents: Readonly<Record<'http' | 'https', Record<'reused' | 'single', Agent>>>;

  constructor(emulator: EmulatorEndpoint, network: Connector) {
    const { ca } = emulator;
    this.#emulator = emulator;
    this.#network = network;
    this.#agents = {
      http: { reused: new Agent({ keepAlive: true }), single: new Agent() },
      https: {
        reused: new HttpsAgent({ keepAlive: true, ca, rejectUnauthorized: true }),
        single: new HttpsAgent({ ca, rejectUnauthorized: true }),
      },
    };
  }

  route(target: ConnectionTarget): Route {
    const { url, profile, reuseConnection } = target;
    const { port } = this.#emulator;
    if (this.#isReal(url)) return this.#network.route(target);
    const agents = this.#agents[url.protocol === 'https:' ? 'https' : 'http'];
    const route = directRoute(url, reuseConnection ? agents.reused : agents.single);
    return {
      ...route,
      options: { ...route.options, host: '127.0.0.1', port },
      toResponseError: ({ headers }) =>
        headers['x-oauth-profile-emulator'] === 'not_emulated' ? notEmulated(url, profile) : undefined,
    };
  }

  connect(url: URL, attempt: ConnectionAttempt): Promise<Duplex> {
    return this.#isReal(url) ? this.#network.connect(url, attempt) : Promise.reject(notEmulated(url, undefined));
  }

  #isReal(url: URL): boolean {
    const { loopbackHosts = [], allow = [] } = this.#emulator;
    return (isLoopback(url.hostname) && !loopbackHosts.includes(url.host)) || allow.includes(url.origin);
  }
}

function notEmulated({ host }: URL, profile: string | undefined): TransportError {
  const hint = 'the emulator serves the hosts of the built-in providers and of the profiles it was started with';
  const allow = `or connect to the real server with --allow https://${host}`;
  return new TransportError('not_emulated', `${host} is not emulated`, {
    sent: true,
    hint:
      profile === undefined
        ? `${hint}: add the host to emulator.yaml, ${allow}`
        : `${hint}: start it with --data and the file that defines ${profile}`,
  });
}
