import { type Client, shared, sharedClient, thisProcess } from './client.ts';
import type { Variables } from './config/variables.ts';
import { OAuthProfileError } from './errors.ts';
import { setExpiresIn } from './flows/token-cache.ts';
import { getToken } from './get-token.ts';
import { type CallOptions, type TokenResponse, validateCall } from './oauth-profile.ts';
import { isSecure, parseUrl } from './profile/url.ts';
import type { Secret } from './redaction/secret.ts';

/** Options of {@link createTokenSource}. */
export interface TokenSourceOptions extends Omit<CallOptions, 'signal'> {
  /** Origins to which `fetch` may send the token, such as `['https://graph.microsoft.com']`. */
  readonly origins?: readonly string[] | undefined;
  /** Minimum remaining lifetime of a cached token, in milliseconds. Default: the profile's `options.min_ttl`, 60,000. */
  readonly minTtlMs?: number | undefined;
}

/** Options of {@link TokenSource.get}. */
export interface GetOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Returns a profile's token, and refreshes it in time. */
export interface TokenSource {
  /** The token response, from memory while it is usable. */
  get(options?: GetOptions): Promise<TokenResponse>;
  /** `fetch` with the token in the Authorization header. Only the given origins are allowed. A 401 is retried once with a new token. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Discards the token, because an API rejected it. */
  invalidate(): void;
}

/** Creates a token source for a profile, with token reuse, single flight and rotation-safe refresh. */
export function createTokenSource(profile: string, options: TokenSourceOptions = {}): TokenSource {
  validateCall('createTokenSource', profile, options);
  return new ProfileTokenSource(profile, options);
}

/** A token in memory. Times are in epoch milliseconds. */
interface HeldToken {
  readonly response: TokenResponse;
  /** Whether no member of the response is an object. */
  readonly isFlat: boolean;
  readonly accessToken: Secret;
  /** `undefined` if the response has no `expires_in`. */
  readonly expiresAt: number | undefined;
  /** Location of the access token in the response. */
  readonly tokenPath: readonly (string | number)[];
  /** The token is usable before this time. */
  readonly usableUntil: number;
}

let sourceCount = 0;

class ProfileTokenSource implements TokenSource {
  readonly #profile: string;
  readonly #options: TokenSourceOptions;
  readonly #client: Client;
  readonly #origins: ReadonlySet<string>;
  readonly #id = ++sourceCount;
  #variables: Promise<Variables> | undefined;
  #held: HeldToken | undefined;
  #rejectedToken: Secret | undefined;
  #invalidations = 0;

  constructor(profile: string, options: TokenSourceOptions) {
    this.#profile = profile;
    this.#options = options;
    this.#client = sharedClient(options);
    this.#origins = new Set((options.origins ?? []).map(parseOrigin));
  }

  async get({ signal }: GetOptions = {}): Promise<TokenResponse> {
    const now = this.#client.ports.clock.now();
    if (this.#held !== undefined && now < this.#held.usableUntil) return withRemainingTime(this.#held, now);
    // Callers that come while a token is requested share it; after `invalidate` another request is needed.
    const key = `source ${this.#id} ${this.#invalidations}`;
    return copyOf(
      await this.#client.singleFlight.run(key, (control) => this.#load(control.signal), shared({ signal })),
    );
  }

  invalidate(): void {
    if (this.#held === undefined) return;
    this.#rejectedToken = this.#held.accessToken;
    this.#held = undefined;
    this.#invalidations++;
  }

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    if (!this.#origins.has(origin)) {
      throw new OAuthProfileError('usage', `the token of ${this.#profile} may not be sent to ${origin}`, {
        hint: `add the origin: createTokenSource('${this.#profile}', { origins: ['${origin}'] })`,
      });
    }
    // A request body can be read only once.
    const retry = request.clone();
    const { signal } = request;
    const used = await this.get({ signal });
    const response = await this.#send(request, used);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    // Another call may have replaced the same token already.
    if (this.#held?.response.access_token === used.access_token) this.invalidate();
    return this.#send(retry, await this.get({ signal }));
  }

  async #send(request: Request, { access_token: token }: TokenResponse): Promise<Response> {
    request.headers.set('Authorization', `Bearer ${token}`);
    // Node's own fetch would not check certificates with NODE_TLS_REJECT_UNAUTHORIZED=0.
    const { NODE_TLS_REJECT_UNAUTHORIZED: checks, OAUTH_PROFILE_EMULATOR: emulator } = thisProcess.env;
    if (this.#options.emulator === undefined && !emulator && checks !== '0') return fetch(request);
    return (await import('./http/fetch.ts')).fetchThrough(this.#client.callApi, request);
  }

  async #load(signal: AbortSignal): Promise<HeldToken> {
    this.#variables ??= this.#client.loadVariables({ data: this.#options.data }).catch((error) => {
      // The user may correct a file before the next call.
      this.#variables = undefined;
      throw error;
    });
    const variables = await this.#variables;
    const rejectedToken = this.#rejectedToken;
    const { minTtlMs } = this.#options;
    const options = { variables, reuse: true, minTtlMs, rejectedToken, signal };
    const { token, profile } = await getToken(this.#client, this.#profile, options);
    if (this.#rejectedToken === rejectedToken) this.#rejectedToken = undefined;
    const response = token.response as TokenResponse;
    const { defaultTtlMs = 0, minTtlMs: profileMinTtlMs, tokenPath = [] } = profile.options;
    const { accessToken, expiresAt } = token;
    const now = this.#client.ports.clock.now();
    const leftMs = expiresAt === undefined ? defaultTtlMs : expiresAt - now;
    this.#held = {
      response,
      isFlat: Object.values(response).every((member) => typeof member !== 'object'),
      accessToken,
      expiresAt,
      tokenPath,
      usableUntil: now + leftMs - Math.min(minTtlMs ?? profileMinTtlMs, leftMs / 2),
    };
    return this.#held;
  }
}

/** The response with the remaining seconds in `expires_in` (D4). */
function withRemainingTime(held: HeldToken, now: number): TokenResponse {
  const response = copyOf(held);
  if (held.expiresAt !== undefined) setExpiresIn(response, held.tokenPath, Math.floor((held.expiresAt - now) / 1000));
  return response;
}

/** A copy, so that no caller changes the response of another. `structuredClone` takes 100 times as long as a copy of the members. */
function copyOf({ response, isFlat }: HeldToken): { -readonly [name in keyof TokenResponse]: TokenResponse[name] } {
  return isFlat ? { ...response } : structuredClone(response);
}

function parseOrigin(value: string): string {
  const url = parseUrl(value);
  const isOrigin =
    url !== undefined && /^https?:$/.test(url.protocol) && [url.origin, `${url.origin}/`].includes(url.href);
  if (!isOrigin) throw new TypeError(`createTokenSource: ${value} is not an origin such as https://api.example.com`);
  if (!isSecure(url)) throw new TypeError(`createTokenSource: ${value} would send the token without TLS`);
  return url.origin;
}
