import { abortError, ProviderError, TransportError } from '../errors.ts';
import type { Exchange, HttpResponse } from '../oauth/http-response.ts';
import {
  ATTEMPT_MS,
  backoffMs,
  type Failure,
  isSafeToRetry,
  MAX_ATTEMPTS,
  mayReuseConnection,
  rejectsCredentials,
} from '../oauth/retry-policy.ts';
import { buildTokenRequest, encodeForm, type TokenRequest, withFieldValue } from '../oauth/token-request.ts';
import { type ParsedToken, parseTokenResponse } from '../oauth/token-response.ts';
import type { Limits, Ports } from '../ports.ts';
import { type Profile, tlsFiles } from '../profile/profile.ts';

/** Hooks of one request, for a caller that must not lose its response. */
export interface AttemptHooks {
  /** Before each attempt, which ends after `timeoutMs` at the latest. An error ends the request. */
  onSend(timeoutMs: number): Promise<void>;
  onResponse(response: HttpResponse): void;
  /** The provider may have processed an attempt whose response was lost, and another attempt follows. */
  onResponseLost(): void;
}

/** How a POST to a token, device authorization or revocation endpoint is sent and read. */
interface PostOptions<T> {
  /** Reads a response, or throws. */
  readonly parse: (exchange: Exchange) => T;
  /** Whether another attempt may follow a failure, `sinceFirstSendMs` after the first attempt. */
  readonly mayRetry: (failure: Failure, sinceFirstSendMs: number) => boolean;
  readonly reuseConnection?: boolean;
  readonly signal: AbortSignal | undefined;
  readonly hooks?: AttemptHooks | undefined;
}

/** Requests a token from the provider, with retries where they are safe, within the profile's total timeout (D17, D18). */
export function requestToken(
  profile: Profile,
  ports: Ports,
  signal?: AbortSignal,
  hooks?: AttemptHooks,
): Promise<ParsedToken> {
  return post(profile, ports, {
    parse: parseTokenResponse,
    mayRetry: (failure, sinceFirstSendMs) => isSafeToRetry(failure, profile, sinceFirstSendMs),
    reuseConnection: mayReuseConnection(profile),
    signal,
    hooks,
  });
}

/** Posts a form and reads its response: the one retry loop for everything that is sent to an authorization server. */
export async function post<T>(profile: Profile, ports: Ports, options: PostOptions<T>): Promise<T> {
  const { clock, log } = ports;
  const { signal, hooks } = options;
  const request = buildTokenRequest(profile, ports.version);
  const tls = tlsFiles(profile.options);
  const { dpopKey } = profile;
  // Proofs are defined for these endpoints only (RFC 9449 §5, §10.1).
  const hasProof = dpopKey !== undefined && (profile.endpoint ?? 'pushed_authorization') === 'pushed_authorization';
  const dpop = hasProof ? await ports.dpop() : undefined;
  let hasNonce = false;
  const deadline = clock.now() + profile.options.timeoutMs;
  let firstSentAt: number | undefined;
  let lost = false;
  const assertTimeLeft = (leftMs: number): void => {
    if (leftMs > 0) return;
    const details = { sent: lost, hint: `increase ${profile.name}.options.timeout` };
    throw new TransportError('timeout', `no time was left to send a request to ${profile.url.host}`, details);
  };
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted) throw abortError(signal);
    try {
      const timeLeft = (time: number): number => Math.min(ATTEMPT_MS, deadline - time);
      const limits = (): Limits => ({ timeoutMs: timeLeft(clock.now()), signal });
      const signed = request.pending.length === 0 ? request : await fillPending(request, ports, profile.name, limits);
      const sentAt = clock.now();
      assertTimeLeft(deadline - sentAt);
      firstSentAt ??= sentAt;
      const timeoutMs = timeLeft(sentAt);
      await hooks?.onSend(timeoutMs);
      // The hook has announced when this attempt ends, and may itself have taken time.
      const leftMs = sentAt + timeoutMs - clock.now();
      assertTimeLeft(leftMs);
      const response = await ports.send(
        {
          profile: profile.name,
          url: signed.url,
          headers:
            dpop && dpopKey
              ? { ...signed.headers, DPoP: dpop.createProof(dpopKey, 'POST', signed.url) }
              : signed.headers,
          body: encodeForm(signed),
          // If one idle connection was closed by the server, the others may be too.
          reuseConnection: options.reuseConnection === true && attempt === 1,
          tls,
          impersonation: profile.options.impersonation,
          installation: profile.options.installation,
        },
        { timeoutMs: leftMs, signal },
      );
      hooks?.onResponse(response);
      // The server has not processed the request, so this is not another attempt.
      if (dpop?.acceptNonce(signed.url, response) && !hasNonce) {
        hasNonce = true;
        attempt--;
        continue;
      }
      return options.parse({ profile, request: signed, response, receivedAt: clock.now() });
    } catch (error) {
      const failure = failureOf(error);
      if (failure === undefined || attempt >= MAX_ATTEMPTS) throw error;
      // A later attempt that was not sent does not make a lost response harmless.
      lost ||= failure === 'lost';
      const maySendAt = (time: number): boolean =>
        time < deadline && options.mayRetry(lost ? 'lost' : failure, time - (firstSentAt ?? time));
      const now = clock.now();
      const retryAt = error instanceof ProviderError ? (error.retryAt ?? now) : now;
      const waitMs = Math.max(backoffMs(attempt + 1, ports.random()), retryAt - now);
      if (!maySendAt(now + waitMs)) throw error;
      if (failure === 'lost') hooks?.onResponseLost();
      log(`attempt ${attempt} failed: ${(error as Error).message}; retrying in ${(waitMs / 1000).toFixed(1)} s`);
      await clock.sleep(waitMs, signal);
      // The machine may have been suspended during the wait.
      if (!maySendAt(clock.now())) throw error;
    }
  }
}

/** Creates the values of the pending fields, for one attempt. */
export async function fillPending(
  request: TokenRequest,
  ports: Pick<Ports, 'sign' | 'readAssertion'>,
  profile: string,
  limits: () => Limits,
): Promise<TokenRequest> {
  let filled = request;
  for (const { name, spec } of request.pending) {
    const value = 'source' in spec ? ports.readAssertion(spec, profile, limits()) : ports.sign(spec, profile, limits());
    filled = withFieldValue(filled, name, await value);
  }
  return filled;
}

/** Classifies a failed attempt for the retry policy; `undefined` if a retry cannot help. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof TransportError) {
    if (!isTransient(error)) return undefined;
    return error.sent ? 'lost' : 'not_sent';
  }
  if (!(error instanceof ProviderError)) return undefined;
  if (error.code === 'rate_limited') return 'throttled';
  if (rejectsCredentials(error.provider)) return undefined;
  return [500, 502, 503, 504].includes(error.provider.status) ? 'lost' : undefined;
}

/** Whether a network failure may be over at the next attempt. */
export function isTransient(error: unknown): boolean {
  return error instanceof TransportError && (error.code === 'connection_failed' || error.code === 'timeout');
}
