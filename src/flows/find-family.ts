import { OAuthProfileError } from '../errors.ts';
import { encodeTuple, getRefreshToken } from '../oauth/cache-key.ts';
import type { Kept, TokenStore } from '../ports.ts';
import type { StoredGrant } from '../profile/complete-profile.ts';
import type { Binding, ParsedProfile } from '../profile/parse-profile.ts';
import { getClientId, loginCommand, type Profile } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';
import { type FamilyRecord, fromKept } from './stored-record.ts';

/** Whether there is a family to follow; a custom profile may say refresh_token and hold none. */
export function refreshes(profile: Profile): boolean {
  return profile.grant === 'refresh_token' && (getRefreshToken(profile)?.length ?? 0) > 0;
}

/** The family of a profile's refresh token: any known member leads to it, an unknown value begins one. */
export async function findFamily(
  profile: Profile,
  store: TokenStore,
): Promise<{ readonly name: string; readonly kept: Kept | undefined }> {
  if (profile.family !== undefined) return { name: profile.family, kept: await store.read(profile.family) };
  const token = getRefreshToken(profile);
  if (token === undefined) throw new TypeError('a profile without a refresh token was not checked');
  const binding = { origin: profile.url.origin, clientId: getClientId(profile) };
  const name = familyName(binding, token, store);
  const kept = await store.read(name);
  if (kept !== undefined) return { name, kept };
  // A value pasted later than the family's first: rare, so it may cost a look at everything.
  const member = store.fingerprint(token);
  for (const one of await store.list()) {
    const record = fromKept(one.kept, 'family');
    if (record?.members.includes(member) && isBoundTo(record, binding, store)) return one;
  }
  return { name, kept: undefined };
}

/** The record of a family that begins with this refresh token. */
export function createFamily(profile: Profile, refreshToken: Secret, store: TokenStore): FamilyRecord {
  return {
    kind: 'family',
    profile: profile.name,
    origin: profile.url.origin,
    client: store.fingerprint(getClientId(profile)),
    refreshToken,
    members: [store.fingerprint(refreshToken)],
    tokens: {},
    failure: undefined,
    attempt: undefined,
    refusal: undefined,
    account: undefined,
    scope: undefined,
  };
}

/** Name of the family that a refresh token begins; the binding is part of it, so that no other client and no other server ever finds it. */
export function familyName({ origin, clientId }: Binding, token: string | Secret, store: TokenStore): string {
  return store.fingerprint(encodeTuple(['family', origin, clientId, token]));
}

/** Name of the record that says which family a login of this profile began. */
export function loginName(profile: string, { origin, clientId }: Binding, store: TokenStore): string {
  return store.fingerprint(encodeTuple(['login', profile, origin, clientId]));
}

/** The refresh token that a login left for a profile, unless a value was pasted since that the login did not replace. */
export async function findLogin(
  { name, configuredRefreshToken }: Pick<ParsedProfile, 'name' | 'configuredRefreshToken'>,
  binding: Binding,
  store: TokenStore,
): Promise<StoredGrant | undefined> {
  const login = fromKept(await store.read(loginName(name, binding, store)), 'login');
  if (login === undefined) return undefined;
  const family = fromKept(await store.read(login.family), 'family');
  if (family === undefined || !isBoundTo(family, binding, store)) return undefined;
  if (configuredRefreshToken !== undefined) {
    const seen = store.fingerprint(configuredRefreshToken);
    if (!login.replaced.includes(seen) && !family.members.includes(seen)) return undefined;
  }
  return { refreshToken: family.refreshToken, family: login.family };
}

/** Refuses a record of another server or client: it is sent nowhere else. */
export function refuseForeign(record: FamilyRecord, profile: Profile, store: TokenStore): void {
  if (isBoundTo(record, { origin: profile.url.origin, clientId: getClientId(profile) }, store)) return;
  throw new OAuthProfileError('store_unreadable', `the kept refresh token of ${profile.name} is bound elsewhere`, {
    hint: `run: ${loginCommand(profile.name)}`,
  });
}

function isBoundTo(record: FamilyRecord, { origin, clientId }: Binding, store: TokenStore): boolean {
  return record.origin === origin && record.client === store.fingerprint(clientId);
}
