import { abortError, ProviderError, TransportError } from '../errors.ts';
import type { HttpResponse } from '../oauth/http-response.ts';
import {
  ATTEMPT_MS,
  backoffMs,
  type Failure,
  isSafeToRetry,
  MAX_ATTEMPTS,
  mayReuseConnection,
  rejectsCredentials,
} from '../oauth/retry-policy.ts';
import { buildTokenRequest, encodeForm, type TokenRequest, withAssertion } from '../oauth/token-request.ts';
import { type ParsedToken, parseTokenResponse, toTokenResponseError } from '../oauth/token-response.ts';
import type { Ports } from '../ports.ts';
import { type Profile, tlsFiles } from '../profile/profile.ts';

/** Sees each attempt: whoever must not lose a reply writes down that one is under way. */
export interface Witness {
  /** Before an attempt that ends after `timeoutMs` at the latest; what it throws ends the asking. */
  beforeSend(timeoutMs: number): Promise<void>;
  afterReply(reply: HttpResponse): void;
  /** The provider may have acted on an attempt, and another one follows. */
  afterLoss(): void;
}

/** A request, and its body where that is the same each time: what is signed is not. */
interface Prepared {
  readonly request: TokenRequest;
  readonly body: string | undefined;
}

/** A program asks with the same profile again and again. */
const prepared = new WeakMap<Profile, Prepared>();

function prepare(profile: Profile, version: string): Prepared {
  let known = prepared.get(profile);
  if (known === undefined) {
    const request = buildTokenRequest(profile, version);
    known = { request, body: request.assertion === undefined ? encodeForm(request) : undefined };
    prepared.set(profile, known);
  }
  return known;
}

/** Asks the provider for a token, again where that is harmless and can help, within the profile's total time. */
export async function acquireToken(
  profile: Profile,
  ports: Ports,
  signal?: AbortSignal,
  witness?: Witness,
): Promise<ParsedToken> {
  const { clock, log } = ports;
  const { request, body: unsigned } = prepare(profile, ports.version);
  const { url, headers } = request;
  const tls = tlsFiles(profile.options);
  const deadline = clock.now() + profile.options.timeoutMs;
  let firstSentAt: number | undefined;
  let lost = false;
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted) throw abortError(signal);
    try {
      const boundsAt = (time: number) => ({ timeoutMs: Math.min(ATTEMPT_MS, deadline - time), signal });
      const assertion = request.assertion && (await ports.sign(request.assertion, profile.name, boundsAt(clock.now())));
      const signed = assertion === undefined ? request : withAssertion(request, assertion);
      const body = unsigned ?? encodeForm(signed);
      const sentAt = clock.now();
      if (sentAt >= deadline) throw outOfTime(profile, lost);
      firstSentAt ??= sentAt;
      // Where one kept connection was dead, the others may be too.
      const reuseConnection = attempt === 1 && mayReuseConnection(profile);
      const { timeoutMs } = boundsAt(sentAt);
      if (witness !== undefined) await witness.beforeSend(timeoutMs);
      // The witness has told others when this attempt ends, and writing that down may have taken its time.
      const leftMs = sentAt + timeoutMs - clock.now();
      if (leftMs <= 0) throw outOfTime(profile, lost);
      const wire = { profile: profile.name, url, headers, body, reuseConnection, tls };
      const reply = await ports.send(wire, { timeoutMs: leftMs, signal });
      witness?.afterReply(reply);
      const receivedAt = clock.now();
      const token = parseTokenResponse(profile, reply, receivedAt);
      if (token !== undefined) return token;
      throw toTokenResponseError(profile, signed, reply, receivedAt);
    } catch (error) {
      const failure = failureOf(error);
      if (failure === undefined || attempt >= MAX_ATTEMPTS) throw error;
      // What was lost once stays lost: a later attempt that never left makes no other repeat harmless.
      lost ||= failure === 'lost';
      const mayBeSentAt = (time: number): boolean =>
        time < deadline && isSafeToRetry(lost ? 'lost' : failure, profile, time - (firstSentAt ?? time));
      const now = clock.now();
      const asked = error instanceof ProviderError ? error.retryAt : undefined;
      const waitMs = Math.max(backoffMs(attempt + 1, ports.random()), (asked ?? now) - now);
      if (!mayBeSentAt(now + waitMs)) throw error;
      if (failure === 'lost') witness?.afterLoss();
      log(`attempt ${attempt}: ${(error as Error).message}; again in ${(waitMs / 1000).toFixed(1)} s`);
      await clock.sleep(waitMs, signal);
      // A machine that was suspended meanwhile slept longer.
      if (!mayBeSentAt(clock.now())) throw error;
    }
  }
}

function outOfTime({ name, url }: Profile, sent: boolean): TransportError {
  return new TransportError('timeout', `no time was left to ask ${url.host}`, {
    sent,
    hint: `raise ${name}.options.timeout`,
  });
}

/** How far another attempt is worth thinking about; `undefined` where it is not. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof TransportError) {
    switch (error.code) {
      case 'connection_failed':
      case 'timeout':
        return error.sent ? 'lost' : 'not_sent';
      default:
        return undefined;
    }
  }
  if (!(error instanceof ProviderError)) return undefined;
  if (error.code === 'rate_limited') return 'throttled';
  if (rejectsCredentials(error.provider)) return undefined;
  return [500, 502, 503, 504].includes(error.provider.status) ? 'lost' : undefined;
}
