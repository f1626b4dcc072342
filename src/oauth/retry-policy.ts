import type { ErrorResponse } from '../errors.ts';
import type { Profile } from '../profile/profile.ts';

/** How an attempt failed, as far as it matters to another one. */
export type Failure =
  /** The request never left: no connection, no tunnel. */
  | 'not_sent'
  /** The provider may have acted on it: reset or time-out after sending, 500, 502, 503, 504. */
  | 'lost'
  /** The provider refused to look at it: 429. */
  | 'throttled';

export const MAX_ATTEMPTS = 3;
export const ATTEMPT_MS = 10_000;

/** A repeat within the grace must still arrive inside it. */
const GRACE_RESERVE_MS = 5_000;

/** Refusals of a user's, a client's or a token's credentials, in the words of all providers. */
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

/** Whether the provider looked at the credentials and said no, with whatever status: more tries would lock the account. */
export function rejectsCredentials({ error }: ErrorResponse): boolean {
  return error !== undefined && credentialErrors.has(error);
}

/** Whether sending again can do no harm; for a refresh token that is a property of its provider. */
export function isSafeToRetry(failure: Failure, profile: Profile, sinceFirstSendMs: number): boolean {
  if (failure !== 'lost') return true;
  switch (profile.grant) {
    case 'client_credentials':
    case 'password':
      return true;
    case 'refresh_token': {
      const { refreshTokenReuse, graceMs } = profile.options;
      return (
        refreshTokenReuse === 'allowed' ||
        (refreshTokenReuse === 'grace' && sinceFirstSendMs < graceMs - GRACE_RESERVE_MS)
      );
    }
    default:
      return false;
  }
}

/** Whether the request may go over a kept connection, which the provider may be closing right now; else a new one is made. */
export function mayReuseConnection(profile: Profile): boolean {
  return isSafeToRetry('lost', profile, 0) && profile.grant !== 'refresh_token';
}

/** Waiting time before attempt number `attempt` (2, 3 …): doubling, with half of it left to chance so that a fleet spreads out. */
export function backoffMs(attempt: number, random: number): number {
  const full = 250 * 2 ** (attempt - 1);
  return full / 2 + (full / 2) * random;
}
