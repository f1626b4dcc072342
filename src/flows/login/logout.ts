import { OAuthProfileError } from '../../errors.ts';
import { buildRevocationRequest, parseRevocationResponse } from '../../oauth/revocation.ts';
import type { Ports, TokenStore } from '../../ports.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import { providerName } from '../../profile/profile.ts';
import { findMetadata, type MetadataPorts } from '../read-metadata.ts';
import { type FamilyRecord, parseRecordOf } from '../records.ts';
import { post } from '../request-token.ts';
import { getAccessToken } from '../token-cache.ts';
import { isBoundTo, withLock } from '../token-family.ts';

/** A stored login. */
export interface FoundLogin {
  readonly profile: string;
  readonly account: string | undefined;
  readonly key: string;
  readonly family: string;
}

/** Finds all stored logins, or those of one profile, of any server and client. */
export async function findLogins(store: TokenStore, profile?: string): Promise<FoundLogin[]> {
  const found: FoundLogin[] = [];
  for (const record of await store.list()) {
    const login = parseRecordOf('login', record);
    if (login === undefined || (profile !== undefined && login.profile !== profile)) continue;
    const family = parseRecordOf('family', await store.read(login.family));
    found.push({ profile: login.profile, account: family?.account, key: record.key, family: login.family });
  }
  return found;
}

/**
 * Deletes a stored login. If `revoke` throws, everything stays as it was: without the refresh token it cannot be revoked later. No process refreshes
 * in the meantime, so the newest refresh token is revoked.
 */
export async function deleteLogin(
  { key, family }: FoundLogin,
  store: TokenStore,
  revoke?: (family: FamilyRecord) => Promise<void>,
): Promise<void> {
  await withLock(store, family, async (lock) => {
    const record = parseRecordOf('family', lock.record);
    if (record !== undefined) await revoke?.(record);
    await lock.remove();
  });
  await withLock(store, key, (lock) => lock.remove());
}

/** Revokes the refresh token of a family, or the access token if it has none (RFC 7009). It is only sent to the server that it is bound to. */
export async function revokeToken(
  login: LoginProfile,
  family: FamilyRecord,
  client: Pick<MetadataPorts, 'callApi'> & { readonly ports: Ports },
  store: TokenStore,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { name, url, clientId } = login;
  if (!isBoundTo(family, { origin: url.origin, clientId }, store)) {
    throw new OAuthProfileError('profile_invalid', `the url or client_id of ${name} has changed since you logged in`, {
      hint: 'restore them, or log out without --revoke',
    });
  }
  const endpoint = await findRevocationEndpoint(login, client, signal);
  if (endpoint === undefined) {
    throw new OAuthProfileError('usage', `${providerName(login)} has no revocation endpoint`, {
      hint: `set ${name}.options.revocation_url; or revoke access in your account settings, then log out without --revoke`,
    });
  }
  const token = family.refreshToken ?? getAccessToken(family, login);
  if (token === undefined) return;
  const hint = token === family.refreshToken ? 'refresh_token' : 'access_token';
  await post(buildRevocationRequest(login, endpoint, token, hint), client.ports, {
    parse: parseRevocationResponse,
    // Revocation is idempotent (RFC 7009 §2.2).
    mayRetry: () => true,
    signal,
  });
}

/** The configured revocation endpoint, the provider's documented one, or the one that the metadata of the server names. */
async function findRevocationEndpoint(login: LoginProfile, client: MetadataPorts, signal: AbortSignal | undefined) {
  const { revocationUrl } = login.endpoints;
  if (revocationUrl !== undefined || login.provider.login !== undefined) return revocationUrl;
  const endpoint = (await findMetadata(login, client, signal))?.revocationUrl;
  return endpoint?.origin === login.url.origin ? endpoint : undefined;
}
