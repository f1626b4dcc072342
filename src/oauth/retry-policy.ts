import type { ErrorResponse } from '../errors.ts';
import type { Profile } from '../profile/profile.ts';
import type { HttpResponse } from './http-response.ts';

/** Why an attempt failed, as far as it matters for another attempt. */
export type Failure =
  /** The request was not sent: no connection, no proxy tunnel. */
  | 'not_sent'
  /** The provider may have processed the request: reset or timeout after sending, or 500, 502, 503, 504. */
  | 'lost'
  /** The provider did not process the request: 429. */
  | 'throttled';

/** Attempts per token request, the first included (D18). */
export const MAX_ATTEMPTS = 3;

/** Time limit of one attempt, in milliseconds (D17). */
export const ATTEMPT_MS = 10_000;

/** A retry during the grace period starts at least this long before its end, in milliseconds, to arrive in time. */
const GRACE_RESERVE_MS = 5_000;

/** Backoff before the second attempt, in milliseconds, without jitter; it doubles with each attempt. */
const BACKOFF_MS = 500;

/** Errors of all providers that mean rejected credentials of a user, a client or a token. */
const credentialErrors = new Set([
  'invalid_grant',
  'invalid_client',
  'invalid_credentials',
  'unauthorized_client',
  'access_denied',
  'interaction_required',
  'login_required',
  'consent_required',
  'bad_token',
  'E0000004',
  'authenticity_token_error',
]);

/** Whether the provider rejected the credentials, with any status: a retry could lock the account. */
export function rejectsCredentials({ error }: ErrorResponse): boolean {
  return error !== undefined && credentialErrors.has(error);
}

/** Whether the provider rejected the proof of a request only (RFC 9449 §5, §8): it has not used the grant. */
export function rejectsProof({ error = '' }: ErrorResponse): boolean {
  return error === 'use_dpop_nonce' || error === 'invalid_dpop_proof';
}

/** Whether a retry can do no harm (D18). For a refresh token that depends on `refresh_token_reuse` (RFC 9700 §4.14). */
export function isSafeToRetry(failure: Failure, profile: Profile, sinceFirstSendMs: number): boolean {
  const { grant, options, createsGrant } = profile;
  if (failure !== 'lost' || grant === 'client_credentials' || grant === 'password' || createsGrant) return true;
  if (grant !== 'refresh_token') return false;
  const isInGracePeriod = sinceFirstSendMs < options.graceMs - GRACE_RESERVE_MS;
  return options.refreshTokenReuse === 'allowed' || (options.refreshTokenReuse === 'grace' && isInGracePeriod);
}

/** Whether an open connection may be reused: the provider may be closing it, which would lose the request. */
export function mayReuseConnection(profile: Profile): boolean {
  return isSafeToRetry('lost', profile, 0) && profile.grant !== 'refresh_token';
}

/** Backoff before attempt `attempt` (2, 3 …), in milliseconds: 50 to 100 % of 500, 1000 …; `random` is in [0, 1). */
export function backoffMs(attempt: number, random: number): number {
  const full = BACKOFF_MS * 2 ** (attempt - 2);
  return full / 2 + (full / 2) * random;
}

/** Longer waits are cut to this many seconds (about 31 years), so that the result is a valid date. */
const MAX_RETRY_SECONDS = 1_000_000_000;

/** The date formats of RFC 9110 §5.6.7 and ISO 8601. `Date.parse` alone would read `1.5` as a day in 2001. */
const dateFormat = /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*|\d{4}-\d\d-\d\dT.*)$/;

/**
 * When the provider accepts the next request, in epoch milliseconds and never before `receivedAt`: `Retry-After` (RFC
 * 9110 §10.2.3), else `X-Rate-Limit-Reset` of Okta and X (epoch seconds). `undefined` without either.
 */
export function parseRetryAfter(headers: HttpResponse['headers'], receivedAt: number): number | undefined {
  const retryAfter = firstValue(headers['retry-after']) ?? '';
  if (/^\d+$/.test(retryAfter)) return receivedAt + Math.min(Number(retryAfter), MAX_RETRY_SECONDS) * 1000;
  const date = dateFormat.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(date, receivedAt);
  const reset = firstValue(headers['x-rate-limit-reset']) ?? '';
  return /^\d{9,11}$/.test(reset) ? Math.max(Number(reset) * 1000, receivedAt) : undefined;
}

function firstValue(header: string | string[] | undefined): string | undefined {
  return (Array.isArray(header) ? header[0] : header)?.trim();
}
