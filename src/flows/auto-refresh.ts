import { errorCodes, OAuthProfileError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import type { Secret } from '../redaction/secret.ts';

/** A token, and when it has to be replaced. */
export interface FreshToken {
  readonly value: Secret;
  /** Epoch milliseconds; `undefined` if neither the response nor the profile says how long it lives. */
  readonly usableUntil: number | undefined;
}

/** How {@link autoRefresh} gets tokens and what it does with them. */
export interface AutoRefreshOptions {
  readonly clock: Clock;
  /** Ends the work. */
  readonly signal: AbortSignal;
  /** Gets a usable token, from the cache or a new one. */
  readonly getToken: (signal: AbortSignal) => Promise<FreshToken>;
  /** Called with each token that differs from the one before. */
  readonly onToken: (token: FreshToken) => void;
  readonly warn: (message: string) => void;
}

/** Shortest time between two requests in milliseconds: a token may live for 0 s. */
const MIN_WAIT_MS = 1_000;
/** Longest time between two attempts while the provider is unavailable, in milliseconds. */
const MAX_BACKOFF_MS = 30_000;
/** Timers do not count the time while the machine is suspended, so the clock is read this often, in milliseconds. */
const POLL_MS = 1_000;

/**
 * Replaces a token before it stops being usable, until `signal` is aborted, which rejects with `aborted`. Network errors and error responses that
 * may be temporary are retried; any other error is thrown.
 */
export async function autoRefresh(first: FreshToken, options: AutoRefreshOptions): Promise<never> {
  const { clock, signal, getToken, onToken, warn } = options;
  let current = first;
  if (first.usableUntil === undefined)
    warn('the token response has no expires_in, so the token is not refreshed; set options.default_ttl of the profile');
  for (let failures = 0; ; ) {
    const backoffMs = Math.min(MIN_WAIT_MS * 2 ** failures, MAX_BACKOFF_MS);
    const { usableUntil = Number.POSITIVE_INFINITY } = current;
    const wakeAt = Math.max(failures === 0 ? usableUntil : 0, clock.now() + backoffMs);
    while (clock.now() < wakeAt) await clock.sleep(Math.min(wakeAt - clock.now(), POLL_MS), signal);
    try {
      const next = await getToken(signal);
      failures = 0;
      if (!next.value.test((value) => current.value.test((other) => value === other))) onToken(next);
      current = next;
    } catch (error) {
      if (!isTemporary(error)) throw error;
      failures++;
      warn(`${error.message}; the token is not refreshed yet`);
    }
  }
}

function isTemporary(error: unknown): error is OAuthProfileError {
  if (!(error instanceof OAuthProfileError)) return false;
  return error.code === 'store_locked' || errorCodes[error.code] === errorCodes.connection_failed;
}
