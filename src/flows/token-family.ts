import { OAuthProfileError } from '../errors.ts';
import { encodeTuple, getRefreshToken } from '../oauth/cache-key.ts';
import type { RecordLock, StoredRecord, TokenStore } from '../ports.ts';
import type { StoredGrant } from '../profile/complete-profile.ts';
import type { Binding } from '../profile/parse-profile.ts';
import { getClientId, loginCommand, type Profile } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';
import { type FamilyRecord, type LoginRecord, parseRecordOf } from './records.ts';

const LOCK_TIMEOUT_MS = 30_000;

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

/** Whether a profile has a refresh token to use. A custom profile may set the grant without one. */
export function hasRefreshToken(profile: Profile): boolean {
  return profile.grant === 'refresh_token' && (getRefreshToken(profile)?.length ?? 0) > 0;
}

/** Finds the token family of a profile's refresh token. Any known refresh token resolves to its family; an unknown one starts a new family. */
export async function findFamily(
  profile: Profile,
  store: TokenStore,
): Promise<{ readonly key: string; readonly record: StoredRecord | undefined }> {
  const name = profile.family ?? familyKey(bindingOf(profile), getRefreshToken(profile) ?? '', store);
  const record = await store.read(name);
  return { key: record?.key ?? name, record };
}

/** Creates the record of a new token family. */
export function createFamily(profile: Profile, refreshToken: Secret | undefined, store: TokenStore): FamilyRecord {
  return {
    kind: 'family',
    profile: profile.name,
    origin: profile.url.origin,
    client: store.fingerprint(getClientId(profile)),
    refreshToken,
    tokenHashes: refreshToken === undefined ? [] : [familyKey(bindingOf(profile), refreshToken, store)],
    tokens: {},
    dpopKey: profile.dpopKey,
  };
}

/** The server and client that a profile's tokens are bound to. */
export function bindingOf(profile: Profile): Binding {
  return { origin: profile.url.origin, clientId: getClientId(profile) };
}

/** Name of a refresh token's family: the key of one that starts with it, else an alias. No other client or server finds the record. */
export function familyKey({ origin, clientId }: Binding, token: string | Secret, store: TokenStore): string {
  return store.fingerprint(encodeTuple(['family', origin, clientId, token]));
}

/** Key of the login record of a profile. */
export function loginKey(profile: string, { origin, clientId }: Binding, store: TokenStore): string {
  return store.fingerprint(encodeTuple(['login', profile, origin, clientId]));
}

/** Finds the login of a profile, and its token family. */
export async function findLogin(
  profile: string,
  binding: Binding,
  store: TokenStore,
): Promise<{ readonly login: LoginRecord; readonly family: FamilyRecord } | undefined> {
  const login = parseRecordOf('login', await store.read(loginKey(profile, binding, store)));
  const family = login && parseRecordOf('family', await store.read(login.family));
  if (login === undefined || family === undefined || !isBoundTo(family, binding, store)) return undefined;
  return { login, family };
}

/** The refresh token of a profile's login, unless another refresh token was configured after the login. */
export async function findStoredGrant(
  profile: string,
  binding: Binding,
  configured: string | Secret | undefined,
  store: TokenStore,
): Promise<StoredGrant | undefined> {
  const found = await findLogin(profile, binding, store);
  if (found === undefined) return undefined;
  const { login, family } = found;
  if (configured !== undefined) {
    const isReplaced = login.replaced.includes(store.fingerprint(configured));
    if (!isReplaced && !family.tokenHashes.includes(familyKey(binding, configured, store))) return undefined;
  }
  return { refreshToken: family.refreshToken, family: login.family };
}

/** Throws if a family is bound to another server or client. */
export function assertBoundTo(family: FamilyRecord, profile: Profile, store: TokenStore): void {
  if (isBoundTo(family, bindingOf(profile), store)) return;
  throw new OAuthProfileError(
    'store_unreadable',
    `the stored refresh token of ${profile.name} belongs to another server or client`,
    { hint: `run: ${loginCommand(profile.name)}` },
  );
}

/** Whether a family is bound to a server and client. */
export function isBoundTo(family: FamilyRecord, { origin, clientId }: Binding, store: TokenStore): boolean {
  return family.origin === origin && family.client === store.fingerprint(clientId);
}
