import { OAuthProfileError } from '../errors.ts';
import type { Connector, Route } from '../http/connector.ts';
import type { TlsFiles } from '../ports.ts';
import { matchesOrigin } from '../profile/options/origins.ts';
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
  readonly #routes: [reused: Route | undefined, single: Route | undefined] = [undefined, undefined];
  /** End of the last response, in epoch milliseconds. Before the first one, there is no idle connection. */
  #lastUsed = Number.POSITIVE_INFINITY;

  /** `tokens` adds the token. It is `undefined` if the origin gets none. */
  constructor(
    readonly url: URL,
    readonly tokens: TokenHeaders | undefined,
    readonly connector: Connector,
  ) {}

  /** How a request reaches the origin. `isRepeated` is set if a reused connection has lost it. */
  route(method: string, isRepeated: boolean): Route {
    const reuseConnection = !isRepeated && (isIdempotent(method) || Date.now() - this.#lastUsed < RECENT_MS);
    const index = reuseConnection ? 0 : 1;
    this.#routes[index] ??= this.connector.route({
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

const MAX_TARGETS = 1_000;

/** Returns the target with the origin of a URL. Throws if two profiles have a token for it. */
export type FindTarget = (url: URL) => Target;

/** Creates the targets of profiles and of all other origins. */
export function createTargets(profiles: readonly TokenHeaders[], connector: Connector): FindTarget {
  const known = new Map<string, Target>();
  const findTarget = (url: URL): Target => {
    const found = known.get(url.origin);
    if (found !== undefined) return found;
    const [profile, other] = profiles.filter((one) => matchesOrigin(one.profile.options.origins, url));
    if (profile !== undefined && other !== undefined) {
      const names = [profile, other].map((one) => one.profile.name);
      throw new OAuthProfileError('usage', `${names.join(' and ')} both have the origin ${url.origin}`, {
        hint: `give one of them, or remove the origin from ${names[1]}.options.origins`,
      });
    }
    const target = new Target(new URL(url.origin), profile, connector);
    if (known.size >= MAX_TARGETS) known.clear();
    known.set(url.origin, target);
    return target;
  };
  const origins = profiles.flatMap(({ profile }) => profile.options.origins);
  for (const origin of origins) if (!origin.includes('*')) findTarget(new URL(origin));
  return findTarget;
}
