import { composeCallApi } from './compose.ts';
import type { Variables } from './config/variables.ts';
import { OAuthProfileError } from './errors.ts';
import { Flights } from './flows/single-flight.ts';
import { type CallOptions, checkCall, sessionFor, surroundings, variablesFor } from './library-session.ts';
import type { TokenResponse } from './oauth-profile.ts';
import { isLoopback } from './profile/loopback.ts';
import type { Secret } from './redaction/secret.ts';
import type { Session } from './session.ts';

/** What {@link createTokenSource} can be told. */
export interface TokenSourceOptions extends Omit<CallOptions, 'signal'> {
  /** Where `fetch` may send the token: `['https://graph.microsoft.com']`. */
  readonly origins?: readonly string[] | undefined;
  /** A token with no more milliseconds left than this is replaced; the profile's `options.min_ttl` unless given. */
  readonly minTtlMs?: number | undefined;
}

/** What one call of a token source can be told. */
export interface GetOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Hands out a profile's token for as long as it is fresh, and gets the next one in time. */
export interface TokenSource {
  /** The token response; from memory as long as it is fresh. */
  get(options?: GetOptions): Promise<TokenResponse>;
  /** `fetch` with the token in the Authorization header, to the origins given; after a 401 once more with a new token. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Forgets the token: an API has refused it. */
  invalidate(): void;
}

/** A source of tokens for a profile: reuse, one request however many ask, and refresh tokens that no race can lose. */
export function createTokenSource(profile: string, options: TokenSourceOptions = {}): TokenSource {
  checkCall('createTokenSource', profile, options);
  return new ProfileTokens(profile, options);
}

class ProfileTokens implements TokenSource {
  readonly #profile: string;
  readonly #options: TokenSourceOptions;
  readonly #session: Session;
  readonly #origins: ReadonlySet<string>;
  #variables: Promise<Variables> | undefined;
  #known: Known | undefined;
  #rejected: Secret | undefined;
  #refusals = 0;
  readonly #asking: Flights<TokenResponse>;

  constructor(profile: string, options: TokenSourceOptions) {
    this.#profile = profile;
    this.#options = options;
    this.#session = sessionFor(options);
    this.#asking = new Flights(this.#session.ports.clock);
    this.#origins = new Set((options.origins ?? []).map(originOf));
  }

  // Not `async`: a token that is at hand is behind a promise already.
  get(options?: GetOptions): Promise<TokenResponse> {
    const response = this.#known?.at(Date.now());
    if (response !== undefined) return response;
    // Who comes while the token is asked for waits for the same one; a token that was refused since needs another asking.
    const wait = { signal: options?.signal };
    return this.#asking.join(String(this.#refusals), (abandoned) => this.#obtain(abandoned), wait);
  }

  invalidate(): void {
    // The next one is under way already.
    if (this.#known === undefined) return;
    this.#rejected = this.#known.accessToken;
    this.#known = undefined;
    this.#refusals++;
  }

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    if (!this.#origins.has(origin)) {
      throw new OAuthProfileError('usage', `the token of ${this.#profile} is not for ${origin}`, {
        hint: `name it: createTokenSource('${this.#profile}', { origins: ['${origin}'] })`,
      });
    }
    // A body is read once: what may have to go twice is copied.
    const again = request.clone();
    const { signal } = request;
    const used = await this.get({ signal });
    const response = await this.#send(request, used);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    // Others may have been refused the same token, and the next one may be here.
    if (this.#known?.holds(used)) this.invalidate();
    return this.#send(again, await this.get({ signal }));
  }

  async #send(request: Request, { access_token: token }: TokenResponse): Promise<Response> {
    request.headers.set('Authorization', `Bearer ${token}`);
    const { emulator } = this.#options;
    if (emulator === undefined) return fetch(request);
    const { fetchThrough } = await import('./http/fetch.ts');
    return fetchThrough(composeCallApi(surroundings, emulator).callApi, request);
  }

  async #obtain(signal: AbortSignal): Promise<TokenResponse> {
    this.#variables ??= variablesFor(this.#options).catch((error) => {
      // A file that could not be read may be mended by the next call.
      this.#variables = undefined;
      throw error;
    });
    const profile = await this.#session.readProfile(this.#profile, await this.#variables);
    const minTtlMs = this.#options.minTtlMs ?? profile.options.minTtlMs;
    const rejected = this.#rejected;
    const { reply } = await this.#session.obtain(profile, { anew: false, keep: true, minTtlMs, rejected, signal });
    if (this.#rejected === rejected) this.#rejected = undefined;
    const end = reply.expiresAt ?? endWithout(profile.options.defaultTtlMs);
    this.#known =
      end === undefined ? undefined : new Known(reply.response as TokenResponse, reply.accessToken, end, minTtlMs);
    return reply.response as TokenResponse;
  }
}

function endWithout(lifetimeMs: number | undefined): number | undefined {
  return lifetimeMs === undefined ? undefined : Date.now() + lifetimeMs;
}

/** A response in memory; the seconds that it has left are written anew once a second. */
class Known {
  #response: TokenResponse;
  #promised: Promise<TokenResponse>;
  /** When the response has to be written anew, or is not fresh any more. */
  #until: number;

  constructor(
    response: TokenResponse,
    readonly accessToken: Secret,
    readonly endsAt: number,
    readonly minTtlMs: number,
  ) {
    this.#response = response;
    this.#promised = Promise.resolve(response);
    this.#until = response.expires_in === undefined ? endsAt - minTtlMs : Number.NEGATIVE_INFINITY;
  }

  holds({ access_token }: TokenResponse): boolean {
    return this.#response.access_token === access_token;
  }

  /** The response at a time, while it is fresh. */
  at(now: number): Promise<TokenResponse> | undefined {
    return now < this.#until ? this.#promised : this.#anew(now);
  }

  #anew(now: number): Promise<TokenResponse> | undefined {
    const leftMs = this.endsAt - now;
    if (leftMs <= this.minTtlMs) return undefined;
    const seconds = Math.floor(leftMs / 1000);
    const left = typeof this.#response.expires_in === 'string' ? String(seconds) : seconds;
    this.#response = { ...this.#response, expires_in: left };
    this.#promised = Promise.resolve(this.#response);
    this.#until = this.endsAt - Math.max(seconds * 1000, this.minTtlMs);
    return this.#promised;
  }
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const whole = url !== undefined && (url.href === `${url.origin}/` || url.href === url.origin);
  if (url === undefined || !whole || !/^https?:$/.test(url.protocol))
    throw new TypeError(`createTokenSource: ${text} is no origin such as https://api.example.com`);
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new TypeError(`createTokenSource: ${text} would send the token without TLS`);
  return url.origin;
}
