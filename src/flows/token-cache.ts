import { cacheKey } from '../oauth/cache-key.ts';
import { type ParsedToken, parseTokenMembers } from '../oauth/token-response.ts';
import type { Clock, Ports, TokenStore } from '../ports.ts';
import type { Profile } from '../profile/profile.ts';
import { Secret } from '../redaction/secret.ts';
import { type CachedToken, type CacheRecord, parseError } from './records.ts';

/** Which tokens a caller accepts. */
export interface TokenCriteria {
  /** Minimum remaining lifetime of a cached token, in milliseconds. */
  readonly minTtlMs: number;
  /** Ignore cached tokens and request a new one. */
  readonly forceRefresh: boolean;
  /** Send the request even if its last error response is cached. */
  readonly ignoreCachedError: boolean;
  /** An access token that an API rejected. It is not returned again. */
  readonly rejectedToken: Secret | undefined;
}

/** One request for a token, from the cache lookup to the write of its result. */
export interface TokenTask {
  readonly profile: Profile;
  /** Fingerprint of {@link cacheKey}. */
  readonly key: string;
  readonly criteria: TokenCriteria;
  readonly ports: Ports;
  readonly store: TokenStore;
  /** Reports something that the user should know but that stops nothing. */
  readonly warn: (message: string) => void;
  /** Called when the response has arrived and only has to be stored. */
  readonly onResponse?: () => void;
}

/** A token and where it came from. */
export interface TokenResult {
  readonly token: ParsedToken;
  /** Whether it was returned to another caller before. */
  readonly fromCache: boolean;
  /** The profile that it belongs to, with the key that it is bound to. */
  readonly profile: Profile;
}

const REFRESH_TOKEN = 'refresh_token';

/** Clocks of machines that share a store may differ by this much. */
const CLOCK_TOLERANCE_MS = 2_000;

/** Milliseconds until a stored time. It can be at most `maxMs` ahead; one that is further ahead counts as past, because the clock was set back. */
export function timeUntil(time: number, maxMs: number, store: Pick<TokenStore, 'now'>): number {
  const leftMs = time - store.now();
  return leftMs > maxMs + CLOCK_TOLERANCE_MS ? 0 : Math.max(0, leftMs);
}

/** Key under which the tokens of a profile are cached. */
export function cacheKeyIn(store: TokenStore, profile: Profile): string {
  return store.fingerprint(cacheKey(profile));
}

/** Converts a new token response for storage, with its times in the store's time. */
export function toCachedToken(
  token: ParsedToken,
  startedAt: number,
  store: Pick<TokenStore, 'now'>,
  clock: Pick<Clock, 'now'>,
): CachedToken {
  const { refresh_token: refreshToken, ...rest } = token.response;
  const receivedAt = store.now();
  // A refresh token that is nested next to the access token leaves an empty string behind.
  const withoutRefreshToken = (name: string, value: unknown): unknown =>
    name === REFRESH_TOKEN && token.refreshToken?.test((secret) => secret === value) ? '' : value;
  return {
    response: Secret.untracked(JSON.stringify(rest, withoutRefreshToken)),
    hadRefreshToken: refreshToken !== undefined,
    startedAt,
    receivedAt,
    expiresAt: token.expiresAt === undefined ? undefined : receivedAt + token.expiresAt - clock.now(),
  };
}

/** When a cached token expires, in the store's time; `undefined` if neither the response nor the profile says. */
export function expiryOf({ expiresAt, receivedAt }: CachedToken, { options }: Profile): number | undefined {
  if (expiresAt !== undefined) return expiresAt;
  return options.defaultTtlMs === undefined ? undefined : receivedAt + options.defaultTtlMs;
}

/** Until when a token is usable: it has more than `minTtlMs` left, but at most half of the time that is left at `now`. */
export function usableUntil(expiresAt: number, now: number, minTtlMs: number): number {
  return expiresAt - Math.min(minTtlMs, (expiresAt - now) / 2);
}

/** Returns the cached token of a record while it has more than `minTtlMs` left, unless the caller wants a new one. */
export function findUsableToken(
  task: TokenTask,
  record: CacheRecord | undefined,
  minTtlMs = task.criteria.minTtlMs,
): TokenResult | undefined {
  const { profile, key, criteria, store } = task;
  const cached = criteria.forceRefresh ? undefined : record?.tokens[key];
  // Without a refresh token, a token without `expires_in` cannot be replaced.
  const isFinal = record?.kind === 'family' && record.refreshToken === undefined;
  const expiresAt = cached && (expiryOf(cached, profile) ?? (isFinal ? Number.POSITIVE_INFINITY : undefined));
  if (cached === undefined || expiresAt === undefined) return undefined;
  // At most half of the lifetime: otherwise a token that lives no longer than `minTtlMs` would be requested at every call.
  const lifetimeMs = expiresAt - cached.receivedAt;
  const isUsable = timeUntil(expiresAt, lifetimeMs, store) > Math.min(minTtlMs, lifetimeMs / 2);
  return isUsable ? restoreToken(task, record) : undefined;
}

/**
 * Returns what a concurrent request produced for a caller that is waiting for the lock: a token that is usable or newer than `queuedAt`, whatever
 * its lifetime. Throws the error of an attempt that began after `queuedAt`.
 */
export function findSharedResult(
  task: TokenTask,
  record: CacheRecord | undefined,
  queuedAt: number,
): TokenResult | undefined {
  // A start in the future is from the time before the clock was set back.
  const latest = task.store.now() + CLOCK_TOLERANCE_MS;
  const isNewer = (startedAt: number): boolean => startedAt >= queuedAt && startedAt <= latest;
  const failure = record?.failure;
  if (failure?.key === task.key && isNewer(failure.startedAt)) throw parseError(failure.error);
  const token = record?.tokens[task.key];
  return token !== undefined && isNewer(token.startedAt) ? restoreToken(task, record) : findUsableToken(task, record);
}

/** Returns a cached token with `expires_in` set to the remaining seconds (D4), unless an API rejected it. */
export function restoreToken(task: TokenTask, record: CacheRecord | undefined): TokenResult | undefined {
  const { profile, key, criteria, store } = task;
  const cached = record?.tokens[key];
  if (cached === undefined) return undefined;
  const refreshToken = record?.kind === 'family' ? record.refreshToken?.reveal() : undefined;
  const now = store.now();
  const withRefreshToken = (name: string, value: unknown): unknown =>
    name === REFRESH_TOKEN && value === '' ? refreshToken : value;
  const response = JSON.parse(cached.response.reveal(), withRefreshToken) as Record<string, unknown>;
  if (cached.expiresAt !== undefined) {
    const seconds = Math.max(0, Math.floor((cached.expiresAt - now) / 1000));
    setExpiresIn(response, profile.options.tokenPath ?? [], seconds);
  }
  if (cached.hadRefreshToken && refreshToken !== undefined) response[REFRESH_TOKEN] = refreshToken;
  const token = parseTokenMembers(profile, response, now);
  if (token === undefined || token === 'too_deep') return undefined;
  const isRejected = criteria.rejectedToken?.test((one) => token.accessToken.test((other) => one === other));
  return isRejected ? undefined : { token, fromCache: true, profile: withProofKey(profile, record) };
}

/** The profile with the key that the tokens of a record are bound to. */
export function withProofKey(profile: Profile, record: CacheRecord | undefined): Profile {
  return record?.dpopKey === undefined ? profile : { ...profile, dpopKey: record.dpopKey };
}

/** The access token of a login without a refresh token. */
export function getAccessToken({ tokens }: CacheRecord, profile: Pick<Profile, 'options'>): Secret | undefined {
  return readAccessToken(Object.values(tokens)[0], profile);
}

/** The access token of a cached response. */
export function readAccessToken(
  cached: CachedToken | undefined,
  profile: Pick<Profile, 'options'>,
): Secret | undefined {
  const token = cached && parseTokenMembers(profile, JSON.parse(cached.response.reveal()), cached.receivedAt);
  return token === 'too_deep' ? undefined : token?.accessToken;
}

/** Sets `expires_in` at the top and on the way to a nested token, in the type that the provider sent. */
export function setExpiresIn(
  members: Record<string, unknown>,
  path: readonly (string | number)[],
  seconds: number,
): void {
  const value = members['expires_in'];
  if (value !== undefined) members['expires_in'] = typeof value === 'string' ? String(seconds) : seconds;
  const inner = path[0] === undefined ? undefined : members[path[0]];
  if (typeof inner === 'object' && inner !== null)
    setExpiresIn(inner as Record<string, unknown>, path.slice(1), seconds);
}
