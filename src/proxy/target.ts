import type { Connector, Route } from '../http/connector.ts';
import type { TlsFiles } from '../ports.ts';
import { tlsFiles } from '../profile/profile.ts';
import type { TokenHeaders } from './token-headers.ts';

const NO_TLS_FILES: TlsFiles = { ca: undefined, cert: undefined, certKey: undefined };
/** RFC 9110 §9.2.2. */
const IDEMPOTENT_METHODS = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']);
/** Idle connections are closed after this time: many servers close theirs after 5 s. */
const IDLE_TIMEOUT_MS = 4_000;
/** A request that must not be repeated only uses a connection that was used this recently: the server is not about to close it. */
const RECENT_MS = 1_000;

/** Whether a request that a closing connection has lost can be repeated. */
export function isIdempotent(method: string): boolean {
  return IDEMPOTENT_METHODS.has(method);
}

/** An origin that requests are sent to. */
export class Target {
  readonly url: URL;
  /** Adds the token. `undefined` if the origin gets none. */
  readonly tokens: TokenHeaders | undefined;
  readonly #connector: Connector;
  readonly #routes: [reused: Route | undefined, single: Route | undefined] = [undefined, undefined];
  /** End of the last response, in epoch milliseconds. Before the first one, there is no idle connection. */
  #lastUsed = Number.POSITIVE_INFINITY;

  constructor(url: URL, tokens: TokenHeaders | undefined, connector: Connector) {
    this.url = url;
    this.tokens = tokens;
    this.#connector = connector;
  }

  /** How a request reaches the origin. `isRepeated` is set if a reused connection has lost it. */
  route(method: string, isRepeated: boolean): Route {
    const reuseConnection = !isRepeated && (isIdempotent(method) || Date.now() - this.#lastUsed < RECENT_MS);
    const index = reuseConnection ? 0 : 1;
    this.#routes[index] ??= this.#connector.route({
      profile: this.tokens?.profile.name,
      url: this.url,
      reuseConnection,
      idleTimeoutMs: IDLE_TIMEOUT_MS,
      tls: this.tokens === undefined ? NO_TLS_FILES : tlsFiles(this.tokens.profile.options),
    });
    return this.#routes[index];
  }

  /** Remembers that a connection has just been used. */
  markUsed(): void {
    this.#lastUsed = Date.now();
  }
}
