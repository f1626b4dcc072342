import { type Client, shared } from './client.ts';
import type { Variables } from './config/variables.ts';
import { type ErrorCode, InvalidProfileError, OAuthProfileError, TransportError } from './errors.ts';
import { parseCacheRecord, serializeError, serializeRecord, type TokenRecord } from './flows/records.ts';
import { refreshToken } from './flows/refresh-token.ts';
import { requestToken } from './flows/request-token.ts';
import type { CallControl } from './flows/single-flight.ts';
import type { TokenCriteria, TokenResult, TokenTask } from './flows/token-cache.ts';
import { cacheKeyIn, findSharedResult, findUsableToken, toCachedToken } from './flows/token-cache.ts';
import { findFamily, hasRefreshToken } from './flows/token-family.ts';
import { ATTEMPT_MS } from './oauth/retry-policy.ts';
import type { Ports, RecordLock } from './ports.ts';
import type { Profile } from './profile/profile.ts';
import { Secret } from './redaction/secret.ts';

/** Options of {@link getToken}. */
export interface GetTokenOptions {
  /** Variables that define the profile. Default: those of the files that the command line reads. */
  readonly variables?: Variables | undefined;
  /**
   * Whether a usable cached token may be returned. The profile's `options.reuse` takes precedence. Default: false, except where a refresh revokes
   * the access tokens issued before it.
   */
  readonly reuse?: boolean | undefined;
  /** Ignore cached tokens and cached errors, and request a new token. Default: false. */
  readonly forceRefresh?: boolean | undefined;
  /** Minimum remaining lifetime of a cached token, in milliseconds. Default: the profile's `options.min_ttl`, 60,000. */
  readonly minTtlMs?: number | undefined;
  /** An access token that an API rejected. It is not returned again. */
  readonly rejectedToken?: Secret | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Profiles whose assertion source needs this token, the first one first. Default: none. */
  readonly neededBy?: readonly string[] | undefined;
}

/** Callers that wait for another request get its own timeout error, if it comes within this time. */
const TIMEOUT_MARGIN_MS = 2_000;
/** Failures that leave the cached token valid: network, 429, 5xx. */
const TEMPORARY_ERRORS = new Set<ErrorCode>(['connection_failed', 'timeout', 'rate_limited', 'provider_unavailable']);
/** Shorter waits for the lock are not deducted from the timeout. */
const SHORT_WAIT_MS = 500;

/**
 * Gets a token for a profile: a cached one that is usable, or a new one. However many callers ask for the same token, in this process or in others
 * that share the store, one request is sent. A refresh is only sent while holding the lock of its token family.
 */
export async function getToken(client: Client, name: string, options: GetTokenOptions = {}): Promise<TokenResult> {
  return getProfileToken(client, await client.loadProfile(name, options.variables, 'cached', options.signal), options);
}

/** {@link getToken} for a profile that is already loaded. */
export async function getProfileToken(
  client: Client,
  profile: Profile,
  options: GetTokenOptions = {},
): Promise<TokenResult> {
  const { grant, provider } = profile;
  // Where a refresh revokes earlier access tokens, callers that refresh in parallel would invalidate each other's.
  const revokesOnRefresh = grant === 'refresh_token' && provider.refreshRevokesAccessTokens === true;
  const reuse = profile.options.reuse ?? options.reuse ?? revokesOnRefresh;
  try {
    if (reuse || hasRefreshToken(profile)) return await getStoredToken(client, profile, reuse, options);
  } catch (error) {
    const isOptional = error instanceof OAuthProfileError && error.code === 'store_unwritable';
    if (!isOptional || hasRefreshToken(profile)) throw error;
    client.warn(`the token is not cached: ${error.message}`);
  }
  return requestUnstoredToken(client, profile, options);
}

/** Requests a token without reading or writing the store. */
export async function requestUnstoredToken(
  client: Client,
  profile: Profile,
  options: GetTokenOptions = {},
): Promise<TokenResult> {
  const ports = selectPorts(client, profile, options);
  const bound = await withNewKey(profile, ports);
  return { token: await requestToken(bound, ports, options.signal), fromCache: false, profile: bound };
}

/** The profile with a new key, if its tokens are bound to one (RFC 9449). */
async function withNewKey(profile: Profile, ports: Ports): Promise<Profile> {
  return profile.options.dpop ? { ...profile, dpopKey: (await ports.dpop()).createKey() } : profile;
}

/** The ports for a request. If its assertion is the token of another profile, that token is requested or taken from the cache. */
function selectPorts(client: Client, profile: Profile, { neededBy = [] }: GetTokenOptions = {}): Ports {
  if (profile.options.assertionSource?.kind !== 'profile') return client.ports;
  const { value: name, member = 'access_token', variables } = profile.options.assertionSource;
  const fail = (message: string, hint: string): Error =>
    new InvalidProfileError(profile.name, [{ variable: `${profile.name}.options.assertion_source`, message, hint }]);
  const readAssertion: Ports['readAssertion'] = async (_spec, _profile, { signal }) => {
    const names = [...neededBy, profile.name];
    if (names.includes(name)) throw fail(`is circular: ${[...names, name].join(' → ')}`, 'use another source');
    const { token } = await getToken(client, name, { variables, reuse: true, signal, neededBy: names });
    const value = member === 'access_token' ? token.accessToken : token.response[member];
    if (value instanceof Secret) return value;
    if (typeof value === 'string' && value !== '') return new Secret(value);
    throw fail(
      `names a member that the token response of ${name} does not have: ${member}`,
      `request it: check ${name}.scope`,
    );
  };
  return { ...client.ports, readAssertion };
}

async function getStoredToken(
  client: Client,
  profile: Profile,
  reuse: boolean,
  options: GetTokenOptions,
): Promise<TokenResult> {
  const ports = selectPorts(client, profile, options);
  const { rejectedToken: rejected } = options;
  const store = await client.openStore();
  const key = cacheKeyIn(store, profile);
  const stored = hasRefreshToken(profile) ? await findFamily(profile, store) : { key, record: await store.read(key) };
  const record = parseCacheRecord(stored.record);
  const criteria: TokenCriteria = {
    minTtlMs: options.minTtlMs ?? profile.options.minTtlMs,
    forceRefresh: options.forceRefresh === true || !reuse,
    ignoreCachedError: options.forceRefresh === true,
    rejectedToken: rejected,
  };
  const task: TokenTask = { profile, key, criteria, ports, store, warn: client.warn };
  const cached = findUsableToken(task, record);
  if (cached !== undefined) return inLocalTime(task, cached);
  const { timeoutMs } = profile.options;
  const error = (): Error =>
    new TransportError('timeout', `no token was received within ${timeoutMs / 1000} s`, {
      sent: false,
      hint: `try again, or increase ${profile.name}.options.timeout`,
    });
  try {
    const result = await client.singleFlight.run(
      JSON.stringify([stored.key, key, { ...criteria, rejectedToken: rejected && store.fingerprint(rejected) }]),
      (control) => requestUnderLock(task, stored.key, control),
      shared({ signal: options.signal, timeout: { ms: timeoutMs + TIMEOUT_MARGIN_MS, error } }),
    );
    // Callers that wait for the same request share its result, so each gets a copy of the response.
    const token = { ...result.token, response: structuredClone(result.token.response) };
    return inLocalTime(task, { ...result, token });
  } catch (failure) {
    const isTemporary = failure instanceof OAuthProfileError && TEMPORARY_ERRORS.has(failure.code);
    const valid = isTemporary ? findUsableToken(task, record, 0) : undefined;
    if (valid === undefined) throw failure;
    client.warn(`${(failure as Error).message}; returning the cached token of ${profile.name}, which is still valid`);
    return inLocalTime(task, valid);
  }
}

async function requestUnderLock(task: TokenTask, recordKey: string, control: CallControl): Promise<TokenResult> {
  const { profile, ports, store } = task;
  const { timeoutMs } = profile.options;
  const startedAt = ports.clock.now();
  const lock = await store.lock<TokenResult>(recordKey, {
    timeoutMs,
    signal: control.signal,
    acceptIf: (record, queuedAt) => findSharedResult(task, parseCacheRecord(record), queuedAt),
  });
  try {
    // Another process has finished the same request.
    if (lock.accepted !== undefined) return lock.accepted;
    control.close();
    const waitedMs = ports.clock.now() - startedAt;
    const leftMs = waitedMs < SHORT_WAIT_MS ? timeoutMs : timeoutMs - waitedMs;
    if (!hasRefreshToken(profile)) return await requestAndStoreToken(withTimeout(task, leftMs), lock, control.signal);
    // A refresh that is sent gets the time of one attempt, even if its caller has left: its response must not be lost.
    const refreshMs = Math.max(leftMs, Math.min(ATTEMPT_MS, timeoutMs));
    return await refreshToken({ ...withTimeout(task, refreshMs), onResponse: control.onResponse }, lock);
  } finally {
    await lock.release();
  }
}

/** Requests a token of any grant but `refresh_token` and caches it. If it cannot be cached, it is returned anyway. */
async function requestAndStoreToken(
  task: TokenTask,
  lock: RecordLock<TokenResult>,
  signal: AbortSignal,
): Promise<TokenResult> {
  const { key, ports, store, warn } = task;
  const shared = findSharedResult(task, parseCacheRecord(lock.record), lock.queuedAt);
  if (shared !== undefined) return shared;
  const profile = await withNewKey(task.profile, ports);
  const startedAt = store.now();
  const write = async (result: Pick<TokenRecord, 'tokens' | 'failure'>): Promise<void> => {
    try {
      await lock.write(
        serializeRecord({
          kind: 'token',
          profile: profile.name,
          origin: profile.url.origin,
          dpopKey: profile.dpopKey,
          ...result,
        }),
      );
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
      if (result.failure === undefined) warn(`the token is not cached: ${error.message}`);
    }
  };
  try {
    const token = await requestToken(profile, ports, signal);
    await write({ tokens: { [key]: toCachedToken(token, startedAt, store, ports.clock) }, failure: undefined });
    return { token, fromCache: false, profile };
  } catch (error) {
    const failure = signal.aborted ? undefined : serializeError(error);
    if (failure !== undefined) await write({ tokens: {}, failure: { startedAt, key, error: failure } });
    throw error;
  }
}

function withTimeout(task: TokenTask, timeoutMs: number): TokenTask {
  const { profile } = task;
  return { ...task, profile: { ...profile, options: { ...profile.options, timeoutMs } } };
}

/** Cached tokens expire in the store's time; callers compare with the clock of this machine. */
function inLocalTime({ ports, store }: TokenTask, result: TokenResult): TokenResult {
  const { token, fromCache } = result;
  if (!fromCache || token.expiresAt === undefined) return result;
  return { ...result, token: { ...token, expiresAt: token.expiresAt + ports.clock.now() - store.now() } };
}
