import { OAuthProfileError, ProviderError, TransportError } from '../errors.ts';
import { getRefreshToken, withRefreshToken } from '../oauth/cache-key.ts';
import type { HttpResponse } from '../oauth/http-response.ts';
import { ATTEMPT_MS, rejectsProof } from '../oauth/retry-policy.ts';
import { findRefreshToken } from '../oauth/token-response.ts';
import type { RecordLock, TokenStore } from '../ports.ts';
import { loginCommand, type Profile, providerName } from '../profile/profile.ts';
import { Secret } from '../redaction/secret.ts';
import { type FamilyRecord, parseError, parseRecordOf, serializeError, serializeRecord } from './records.ts';
import { failureOf, requestToken } from './request-token.ts';
import type { TokenResult, TokenTask } from './token-cache.ts';
import { expiryOf, findSharedResult, findUsableToken, timeUntil, toCachedToken, withProofKey } from './token-cache.ts';
import { assertBoundTo, bindingOf, createFamily, familyKey } from './token-family.ts';

const MAX_TOKEN_HASHES = 32;
const MAX_CACHED_TOKENS = 16;
const CACHED_ERROR_MS = 5 * 60_000;
/** Give up after this many write conflicts: other owners ignore the lock. */
const MAX_ROUNDS = 4;
/** Cached tokens that expire sooner than this are not worth returning. */
const MIN_REMAINING_MS = 5_000;

/** Refreshes a token while holding the lock of its family: re-read, send, store the successor (rotation-safe, see docs/explanation). */
export async function refreshToken(task: TokenTask, lock: RecordLock<TokenResult>): Promise<TokenResult> {
  const { profile, key, criteria, store } = task;
  let family = parseRecordOf('family', lock.record) ?? startFamily(task);
  for (let round = 1; ; round++) {
    assertBoundTo(family, profile, store);
    const found = findSharedResult(task, family, lock.queuedAt) ?? findRemainingToken(task, family);
    if (found !== undefined) return found;
    const { cachedError } = family;
    const isKnown = cachedError?.key === key && timeUntil(cachedError.until, CACHED_ERROR_MS, store) > 0;
    if (isKnown && !criteria.ignoreCachedError) throw parseError(cachedError.error);
    if (profile.options.refreshTokenReuse === 'revokes_family' && timeUntilEnd(family, store) > 0) {
      family = (await reloadAfterAttempt(task, lock, family)) ?? family;
      continue;
    }
    const { refreshToken } = family;
    if (refreshToken === undefined) return useAccessToken(task, family);
    // The journal stores a new key before it is used.
    if (profile.options.dpop && family.dpopKey === undefined)
      family = { ...family, dpopKey: (await task.ports.dpop()).createKey() };
    const request = withRefreshToken(withProofKey(withGrantedScope(profile, family), family), refreshToken);
    const exchange = new RefreshExchange(task, lock, family, request);
    try {
      return await exchange.send();
    } catch (error) {
      // Another machine may have rotated the token.
      const newer = round < MAX_ROUNDS && isStale(error) ? await reloadAfterAttempt(task, lock, family) : undefined;
      if (newer === undefined || newer.tokenHashes.at(-1) === family.tokenHashes.at(-1)) {
        await exchange.storeFailure(error);
        throw error;
      }
      family = newer;
    }
  }
}

/** A new family for a configured refresh token. The family of a login exists already: without it, the user logged out in the meantime. */
function startFamily({ profile, store }: TokenTask): FamilyRecord {
  if (profile.family !== undefined) {
    throw new OAuthProfileError('login_required', `${profile.name} was logged out or logged in again in the meantime`, {
      hint: `try again, or run: ${loginCommand(profile.name)}`,
    });
  }
  const token = getRefreshToken(profile) ?? '';
  return createFamily(profile, typeof token === 'string' ? new Secret(token) : token, store);
}

/** After a login without a refresh token: every caller gets the access token until it expires, except one that forces a refresh. */
function useAccessToken(task: TokenTask, family: FamilyRecord): TokenResult {
  const { profile, criteria } = task;
  const found = findUsableToken(
    { ...task, criteria: { ...criteria, forceRefresh: criteria.ignoreCachedError } },
    family,
    0,
  );
  if (found !== undefined) return found;
  throw new OAuthProfileError(
    'login_required',
    `${profile.name} has no valid access token, and ${providerName(profile)} issued no refresh token`,
    { hint: `run: ${loginCommand(profile.name)}` },
  );
}

/**
 * The profile without its scope if the login got less than it requested (RFC 6749 §6: a refresh must not request what was not granted). Throws if
 * the profile has a scope that the login did not request.
 */
export function withGrantedScope(profile: Profile, { scope, requestedScope }: FamilyRecord): Profile {
  const { name, fields, provider } = profile;
  if (requestedScope === undefined || provider.login?.grantedScopeDiffers) return profile;
  const wanted = scopesOf(String(fields.find((field) => field.name === 'scope')?.value ?? ''));
  const missing = wanted.filter((one) => !scopesOf(scope ?? requestedScope).includes(one));
  const added = missing.filter((one) => !scopesOf(requestedScope).includes(one));
  if (added.length > 0) {
    throw new OAuthProfileError(
      'login_required',
      `${name}.scope contains ${added.join(' ')}, which your login did not request`,
      {
        hint: `run: ${loginCommand(name)}`,
      },
    );
  }
  return missing.length === 0 ? profile : { ...profile, fields: fields.filter((field) => field.name !== 'scope') };
}

function scopesOf(scope: string): string[] {
  return scope.split(/[\s,]+/).filter((one) => one !== '');
}

/**
 * After a lost response the stored refresh token may be spent, and sending it again may revoke the whole family. The access token that is left is
 * used up first.
 */
function findRemainingToken(task: TokenTask, family: FamilyRecord): TokenResult | undefined {
  const { profile, store } = task;
  const { refreshTokenReuse, graceMs } = profile.options;
  const { attempt } = family;
  if (attempt === undefined) return undefined;
  const mayRevoke =
    refreshTokenReuse === 'revokes_family' || (refreshTokenReuse === 'grace' && store.now() - attempt.sentAt > graceMs);
  return mayRevoke ? findUsableToken(task, family, MIN_REMAINING_MS) : undefined;
}

/** Milliseconds until the response to another owner's attempt can no longer arrive. */
function timeUntilEnd({ attempt }: FamilyRecord, store: TokenStore): number {
  return attempt === undefined ? 0 : timeUntil(attempt.until, ATTEMPT_MS, store);
}

/** Waits for an attempt of another owner that may still be in progress, and reads the family again: that owner may write without the lock. */
async function reloadAfterAttempt(
  { ports, store }: TokenTask,
  lock: RecordLock<TokenResult>,
  family: FamilyRecord,
): Promise<FamilyRecord | undefined> {
  const waitMs = timeUntilEnd(family, store);
  if (waitMs > 0) {
    ports.log(`another request with this refresh token may be in progress: waiting ${Math.ceil(waitMs / 1000)} s`);
    await ports.clock.sleep(waitMs, undefined);
  }
  return parseRecordOf('family', await lock.reload());
}

/** Whether the refresh token is not the newest one any more, according to the provider or to the store. */
function isStale(error: unknown): boolean {
  return error instanceof WriteConflict || (error instanceof ProviderError && error.code === 'login_required');
}

/** Another owner stored a different refresh token. */
class WriteConflict extends OAuthProfileError {
  constructor() {
    super('store_locked', 'another process changed the refresh token at the same time', { hint: 'try again' });
  }
}

/** One exchange of a refresh token, from its journal entry to the write of its result. */
class RefreshExchange {
  readonly #task: TokenTask;
  readonly #lock: RecordLock<TokenResult>;
  readonly #request: Profile;
  readonly #startedAt: number;
  /** Journal entry of an earlier attempt whose outcome is unknown. */
  readonly #earlierAttempt: FamilyRecord['attempt'];
  #family: FamilyRecord;
  #response: HttpResponse | undefined;
  /** The response to an attempt before the last one was lost. */
  #responseLost = false;
  #writeError: unknown;

  constructor(task: TokenTask, lock: RecordLock<TokenResult>, family: FamilyRecord, request: Profile) {
    this.#task = task;
    this.#lock = lock;
    this.#family = family;
    this.#request = request;
    this.#earlierAttempt = family.attempt;
    this.#startedAt = task.store.now();
  }

  async send(): Promise<TokenResult> {
    const { profile, ports, store, key } = this.#task;
    const refreshed = await requestToken(this.#request, ports, undefined, {
      onSend: (timeoutMs) => this.#writeJournal(timeoutMs),
      onResponse: (response) => {
        this.#response = response;
      },
      onResponseLost: () => {
        this.#responseLost = true;
      },
    });
    this.#task.onResponse?.();
    const { redirectMembers } = this.#family;
    const token =
      redirectMembers === undefined
        ? refreshed
        : { ...refreshed, response: { ...redirectMembers, ...refreshed.response } };
    const cached = toCachedToken(token, this.#startedAt, store, ports.clock);
    const others = profile.provider.refreshRevokesAccessTokens ? [] : this.#validTokens();
    const { scope } = token.response;
    const written = await this.#write({
      ...this.#withSuccessor(token.refreshToken),
      profile: profile.name,
      tokens: Object.fromEntries([...others, [key, cached]]),
      scope: typeof scope === 'string' ? scope : this.#family.scope,
      attempt: undefined,
      failure: undefined,
      cachedError: undefined,
    });
    if (!written) ports.log('another process refreshed at the same time: its refresh token is stored, not this one');
    return { token, fromCache: false, profile: withProofKey(profile, this.#family) };
  }

  /** Stores a failure for the callers that are queued, and an error response that no retry would change. */
  async storeFailure(error: unknown): Promise<void> {
    const { profile, store, key, ports } = this.#task;
    // A store that could not be written has retried already.
    if (error instanceof WriteConflict || error === this.#writeError) return;
    const serialized = serializeError(error);
    // A response that is unusable otherwise may contain the only valid refresh token.
    const successor = this.#response && findRefreshToken(this.#response, profile.options.tokenPath);
    if (serialized === undefined && successor === undefined) return;
    const cachedError =
      serialized && isPermanent(error) ? { key, until: store.now() + CACHED_ERROR_MS, error: serialized } : undefined;
    try {
      await this.#write({
        ...this.#withSuccessor(successor),
        attempt: this.#unknownOutcome(error),
        failure: serialized && { startedAt: this.#startedAt, key, error: serialized },
        cachedError: cachedError ?? this.#family.cachedError,
      });
    } catch (writeError) {
      if (!(writeError instanceof OAuthProfileError) || successor !== undefined) throw writeError;
      ports.log(`cannot store the error for other processes: ${writeError.message}`);
    }
  }

  /** The journal entry that stays after a failure. 5xx and 429 do not tell whether the refresh token was used. */
  #unknownOutcome(error: unknown): FamilyRecord['attempt'] {
    const { attempt } = this.#family;
    if (error instanceof TransportError) return this.#responseLost || error.sent ? attempt : this.#earlierAttempt;
    const isUnused = error instanceof ProviderError && rejectsProof(error.provider);
    const failure = isUnused ? 'not_sent' : failureOf(error);
    if (failure === undefined) return undefined;
    const isLost = this.#responseLost || failure === 'lost';
    // A response has arrived, so that other owners need not wait for it.
    return isLost ? attempt && { ...attempt, until: this.#task.store.now() } : this.#earlierAttempt;
  }

  /** Records that this refresh token was sent, and until when its response may arrive. */
  async #writeJournal(timeoutMs: number): Promise<void> {
    const now = this.#task.store.now();
    // The grace period counts from the first send of this token, by any owner.
    const sentAt = this.#family.attempt?.sentAt ?? now;
    const next = { ...this.#family, attempt: { sentAt, until: now + timeoutMs } };
    if (!(await this.#write(next, true))) throw new WriteConflict();
  }

  async #write(next: FamilyRecord, reserve = false): Promise<boolean> {
    try {
      const written = await this.#lock.write(serializeRecord(next), { reserve });
      if (written) this.#family = next;
      return written;
    } catch (error) {
      this.#writeError = error;
      throw error;
    }
  }

  #withSuccessor(token: Secret | undefined): FamilyRecord {
    if (token === undefined) return this.#family;
    const hash = familyKey(bindingOf(this.#task.profile), token, this.#task.store);
    const { tokenHashes } = this.#family;
    if (tokenHashes.at(-1) === hash) return this.#family;
    return { ...this.#family, refreshToken: token, tokenHashes: [...tokenHashes, hash].slice(-MAX_TOKEN_HASHES) };
  }

  #validTokens(): [string, FamilyRecord['tokens'][string]][] {
    const { profile, store } = this.#task;
    const now = store.now();
    return Object.entries(this.#family.tokens)
      .filter(([, token]) => (expiryOf(token, profile) ?? 0) > now)
      .sort(([, one], [, other]) => one.receivedAt - other.receivedAt)
      .slice(1 - MAX_CACHED_TOKENS);
  }
}

/** Only a plain `invalid_grant` is cached: the user can fix MFA, consent or a policy at the provider. */
function isPermanent(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  const { status, error: code, suberror, claims } = error.provider;
  return status === 400 && code === 'invalid_grant' && suberror === undefined && claims === undefined;
}
