import { type Client, shared, sharedClient, thisProcess } from './client.ts';
import type { Variables } from './config/variables.ts';
import { abortError, OAuthProfileError } from './errors.ts';
import { setExpiresIn, usableUntil } from './flows/token-cache.ts';
import { getToken } from './get-token.ts';
import { type ApiHeader, createApiHeader } from './oauth/api-header.ts';
import { type CallOptions, type TokenResponse, validateCall } from './oauth-profile.ts';
import { matchesOrigin, parseOriginPattern } from './profile/origins.ts';
import { parseProfile } from './profile/parse-profile.ts';
import { type Profile, tlsFiles } from './profile/profile.ts';
import type { Secret } from './redaction/secret.ts';

/** Options of {@link createTokenSource}. */
export interface TokenSourceOptions extends Omit<CallOptions, 'signal'> {
  /**
   * Origins to which `fetch` may send the token, such as `['https://graph.microsoft.com']`; `https://*.example.com` for one label. Default: the
   * profile's `options.origins`.
   */
  readonly origins?: readonly string[] | undefined;
  /** Minimum remaining lifetime of a cached token, in milliseconds. Default: the profile's `options.min_ttl`, 60,000. */
  readonly minTtlMs?: number | undefined;
}

/** Options of {@link TokenSource.get}. */
export interface GetOptions {
  readonly signal?: AbortSignal | undefined;
}

/** A token response, with the time at which the token expires. */
export interface CurrentToken extends TokenResponse {
  /** `undefined` if the response has no `expires_in`. */
  readonly expiresAt: Date | undefined;
}

/** Returns a profile's token, and refreshes it in time. */
export interface TokenSource {
  /** The token response, from memory while it is usable. */
  get(options?: GetOptions): Promise<CurrentToken>;
  /** The access token, from memory while it is usable. */
  getAccessToken(options?: GetOptions): Promise<string>;
  /**
   * `fetch` with the token in the Authorization header, or in the profile's `options.api_header`. Only the given origins are allowed. A 401 is retried
   * once with a new token, unless only another login of the user can help. With the profile's `ca_file` or `cert_file`, redirects are not followed and a
   * response has at most 32 MiB; with `dpop`, redirects are not followed.
   */
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
  readonly response: { -readonly [member in keyof CurrentToken]: CurrentToken[member] };
  /** Whether no member of the provider's response is an object. */
  readonly isFlat: boolean;
  readonly accessToken: Secret;
  readonly createHeader: () => ApiHeader;
  /** `undefined` if the response has no `expires_in`. */
  readonly expiresAt: number | undefined;
  /** Location of the access token in the response. */
  readonly tokenPath: readonly (string | number)[];
  /** The profile that it belongs to, with the key that it is bound to. */
  readonly profile: Profile;
  /** The token is usable before this time. */
  readonly usableUntil: number;
}

let sourceCount = 0;

class ProfileTokenSource implements TokenSource {
  readonly #profile: string;
  readonly #options: TokenSourceOptions;
  readonly #client: Client;
  readonly #origins: readonly string[] | undefined;
  readonly #id = ++sourceCount;
  #variables: Promise<Variables> | undefined;
  #held: HeldToken | undefined;
  /** Certificates of the profile, which also apply to the API. */
  #tls: ReturnType<typeof tlsFiles> | undefined;
  #rejectedToken: Secret | undefined;
  #invalidations = 0;

  constructor(profile: string, options: TokenSourceOptions) {
    this.#profile = profile;
    this.#options = options;
    this.#client = sharedClient(options);
    this.#origins = options.origins?.map(parseOrigin);
  }

  async get(options: GetOptions = {}): Promise<CurrentToken> {
    const now = this.#client.ports.clock.now();
    const cached = this.#findHeld(options, now);
    const { response, isFlat, expiresAt, tokenPath } = cached ?? (await this.#request(options));
    // A copy, so that no caller changes the response of another. `structuredClone` takes 100 times as long as a copy of the members.
    const copy = isFlat ? { ...response } : structuredClone(response);
    if (copy.expiresAt !== undefined) copy.expiresAt = new Date(copy.expiresAt);
    // D4: a reused response has the remaining seconds in `expires_in`.
    if (cached !== undefined && expiresAt !== undefined)
      setExpiresIn(copy, tokenPath, Math.floor((expiresAt - now) / 1000));
    return copy;
  }

  async getAccessToken(options: GetOptions = {}): Promise<string> {
    const held = this.#findHeld(options, this.#client.ports.clock.now()) ?? (await this.#request(options));
    return held.accessToken.reveal();
  }

  invalidate(): void {
    if (this.#held === undefined) return;
    this.#rejectedToken = this.#held.accessToken;
    this.#held = undefined;
    this.#invalidations++;
  }

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const { origin } = url;
    if (!matchesOrigin(this.#origins ?? (await this.#profileOrigins()), url)) {
      throw new OAuthProfileError('usage', `the token of ${this.#profile} may not be sent to ${origin}`, {
        hint: `add the origin to ${this.#profile}.options.origins, or to createTokenSource('${this.#profile}', { origins: ['${origin}'] })`,
      });
    }
    const { signal } = request;
    const used = await this.#getHeld({ signal });
    const response = await this.#send(request, used);
    // The token is not sent along a redirect to another origin, so a 401 from there does not mean that it was rejected.
    const isRedirected = response.url !== '' && new URL(response.url).origin !== origin;
    if (response.status !== 401 || isRedirected) return response;
    await response.body?.cancel();
    const { rejectLoginChallenge } = await import('./flows/login/challenge.ts');
    const challenge = response.headers.get('WWW-Authenticate');
    await rejectLoginChallenge(used.profile, origin, challenge, () => this.#client.openStore());
    // Another call may have replaced the same token already.
    if (this.#held?.accessToken.reveal() === used.accessToken.reveal()) this.invalidate();
    return this.#send(request, await this.#getHeld({ signal }));
  }

  async #profileOrigins(): Promise<readonly string[]> {
    return parseProfile(this.#profile, await this.#loadVariables(), this.#client.sources).options.origins;
  }

  async #send(original: Request, held: HeldToken, hasNonce = false): Promise<Response> {
    const { accessToken, profile, createHeader } = held;
    const { dpopKey } = profile;
    const { name, value } = createHeader();
    // A request body can be read only once. A proof is valid for one URL, so a redirect cannot be followed with it.
    const request = dpopKey === undefined ? original.clone() : new Request(original.clone(), { redirect: 'manual' });
    request.headers.set(name, value.reveal());
    if (dpopKey === undefined) return this.#sendOnce(request);
    const dpop = await this.#client.ports.dpop();
    const url = new URL(request.url);
    request.headers.set('DPoP', dpop.createProof(dpopKey, request.method, url, accessToken).reveal());
    const response = await this.#sendOnce(request);
    const { status, headers } = response;
    if (!dpop.acceptNonce(url, { status, headers: Object.fromEntries(headers) }) || hasNonce) return response;
    await response.body?.cancel();
    return this.#send(original, held, true);
  }

  async #sendOnce(request: Request): Promise<Response> {
    const hasTlsFiles = Object.values(this.#tls ?? {}).some((file) => file !== undefined);
    // Node's own fetch would not check certificates with NODE_TLS_REJECT_UNAUTHORIZED=0.
    const { NODE_TLS_REJECT_UNAUTHORIZED: checks, OAUTH_PROFILE_EMULATOR: emulator } = thisProcess.env;
    if (this.#options.emulator === undefined && !emulator && !hasTlsFiles && checks !== '0') return fetch(request);
    return (await import('./http/fetch.ts')).fetchThrough(this.#client.callApi, request, this.#tls);
  }

  async #getHeld(options: GetOptions): Promise<HeldToken> {
    return this.#findHeld(options, this.#client.ports.clock.now()) ?? this.#request(options);
  }

  #findHeld({ signal }: GetOptions, now: number): HeldToken | undefined {
    if (signal?.aborted) throw abortError(signal);
    return this.#held !== undefined && now < this.#held.usableUntil ? this.#held : undefined;
  }

  #request({ signal }: GetOptions): Promise<HeldToken> {
    // Callers that come while a token is requested share it; after `invalidate` another request is needed.
    const key = `source ${this.#id} ${this.#invalidations}`;
    return this.#client.singleFlight.run(key, (control) => this.#load(control.signal), shared({ signal }));
  }

  #loadVariables(): Promise<Variables> {
    this.#variables ??= this.#client.loadVariables({ data: this.#options.data }).catch((error) => {
      // The user may correct a file before the next call.
      this.#variables = undefined;
      throw error;
    });
    return this.#variables;
  }

  async #load(signal: AbortSignal): Promise<HeldToken> {
    const variables = await this.#loadVariables();
    const rejectedToken = this.#rejectedToken;
    const { minTtlMs } = this.#options;
    const options = { variables, reuse: true, minTtlMs, rejectedToken, signal };
    const { token, profile } = await getToken(this.#client, this.#profile, options);
    if (this.#rejectedToken === rejectedToken) this.#rejectedToken = undefined;
    const { defaultTtlMs = 0, minTtlMs: profileMinTtlMs, tokenPath = [] } = profile.options;
    this.#tls = tlsFiles(profile.options);
    const { accessToken, expiresAt } = token;
    const now = this.#client.ports.clock.now();
    const leftMs = expiresAt === undefined ? defaultTtlMs : expiresAt - now;
    // A provider's `expires_in` may exceed the range of dates.
    const date = new Date(expiresAt ?? Number.NaN);
    const response = token.response as TokenResponse;
    this.#held = {
      // Members are copied 30 times faster than with one added to the copy.
      response: { ...response, expiresAt: Number.isNaN(date.getTime()) ? undefined : date },
      isFlat: Object.values(response).every((member) => typeof member !== 'object'),
      accessToken,
      createHeader: () => createApiHeader(profile, token, true),
      expiresAt,
      tokenPath,
      profile,
      usableUntil: usableUntil(now + leftMs, now, minTtlMs ?? profileMinTtlMs),
    };
    return this.#held;
  }
}

function parseOrigin(value: string): string {
  const origin = parseOriginPattern(value);
  if (origin !== undefined) return origin;
  throw new TypeError(
    `createTokenSource: ${value} is not an origin such as https://api.example.com; http: is allowed for loopback only`,
  );
}
