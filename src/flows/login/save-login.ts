import { OAuthProfileError } from '../../errors.ts';
import type { LoginResponse } from '../../oauth/token-response.ts';
import type { Ports, RecordLock, StoredRecord, TokenStore } from '../../ports.ts';
import type { Binding } from '../../profile/parse-profile.ts';
import type { Profile } from '../../profile/profile.ts';
import type { Secret } from '../../redaction/secret.ts';
import { type FamilyRecord, type LoginRecord, parseRecordOf, serializeRecord } from '../records.ts';
import { cacheKeyIn, toCachedToken } from '../token-cache.ts';
import { bindingOf, createFamily, loginKey } from '../token-family.ts';

const LOCK_TIMEOUT_MS = 30_000;
const MAX_REPLACED = 32;

/** The result of an interactive login. */
export interface NewLogin {
  /** The profile, completed with the new refresh token. */
  readonly profile: Profile & { readonly family: string };
  readonly response: LoginResponse;
  /** The user who logged in, if the provider sends the name. */
  readonly account: string | undefined;
  /** The configured refresh token, which the login replaces. */
  readonly configuredRefreshToken: string | Secret | undefined;
}

/** Runs `change` while holding the lock of a record. */
export async function withLock<T>(
  store: TokenStore,
  key: string,
  change: (lock: RecordLock) => Promise<T>,
): Promise<T> {
  const lock = await store.lock(key, { timeoutMs: LOCK_TIMEOUT_MS, signal: undefined });
  try {
    return await change(lock);
  } finally {
    await lock.release();
  }
}

/** Fails before the user logs in if the result could not be stored. */
export async function assertStoreWritable(profile: string, binding: Binding, store: TokenStore): Promise<void> {
  await withLock(store, loginKey(profile, binding, store), async () => {});
}

/** Stores the refresh token and access token of a login, and which profile they belong to. Removes an earlier login of the profile. */
export async function saveLogin(login: NewLogin, ports: Ports, store: TokenStore): Promise<void> {
  const { profile, configuredRefreshToken } = login;
  await withLock(store, profile.family, (lock) => write(lock, serializeRecord(createLoginFamily(login, ports, store))));
  const former = await withLock(store, loginKey(profile.name, bindingOf(profile), store), async (lock) => {
    const old = parseRecordOf('login', lock.record);
    const replaced = configuredRefreshToken === undefined ? [] : [store.fingerprint(configuredRefreshToken)];
    const record: LoginRecord = {
      kind: 'login',
      profile: profile.name,
      family: profile.family,
      replaced: [...new Set([...(old?.replaced ?? []), ...replaced])].slice(-MAX_REPLACED),
      at: store.now(),
    };
    await write(lock, serializeRecord(record));
    return old?.family;
  });
  if (former !== undefined && former !== profile.family) await withLock(store, former, (lock) => lock.remove());
}

async function write(lock: RecordLock, record: StoredRecord): Promise<void> {
  if (await lock.write(record)) return;
  throw new OAuthProfileError('store_locked', 'another process changed the login at the same time', {
    hint: 'log in again',
  });
}

function createLoginFamily(
  { profile, response, account }: NewLogin,
  { clock }: Ports,
  store: TokenStore,
): FamilyRecord {
  const { scope } = response.response;
  return {
    ...createFamily(profile, response.refreshToken, store),
    tokens: { [cacheKeyIn(store, profile)]: toCachedToken(response, store.now(), store, clock) },
    account,
    scope: typeof scope === 'string' ? scope : undefined,
  };
}
