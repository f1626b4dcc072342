import { OAuthProfileError } from '../../errors.ts';
import { buildRevocationRequest, parseRevocationResponse } from '../../oauth/revocation.ts';
import type { LoginPorts, Ports, TokenStore } from '../../ports.ts';
import type { LoginProfile } from '../../profile/login-profile.ts';
import type { Secret } from '../../redaction/secret.ts';
import { postForm } from '../post-form.ts';
import { type FamilyRecord, fromKept } from '../stored-record.ts';
import { findIssuer } from './find-issuer.ts';

/** A login that is kept. */
export interface FoundLogin {
  readonly profile: string;
  readonly account: string | undefined;
  /** Names of its two records. */
  readonly record: string;
  readonly family: string;
  readonly origin: string | undefined;
}

const WAIT = { timeoutMs: 30_000, signal: undefined };

/** All logins that are kept, or those of one profile, whatever server and client they are of. */
export async function findLogins(store: TokenStore, profile?: string): Promise<FoundLogin[]> {
  const found: FoundLogin[] = [];
  for (const { name: record, kept } of await store.list()) {
    const login = fromKept(kept, 'login');
    if (login === undefined || (profile !== undefined && login.profile !== profile)) continue;
    const family = fromKept(await store.read(login.family), 'family');
    found.push({
      profile: login.profile,
      account: family?.account,
      record,
      family: login.family,
      origin: family?.origin,
    });
  }
  return found;
}

/**
 * Forgets a login. What `revoke` throws leaves everything as it was: only with the refresh token can the provider be told again. Nobody
 * refreshes meanwhile, so it is the newest one that is revoked.
 */
export async function forget(
  { record, family }: FoundLogin,
  store: TokenStore,
  revoke?: (token: Secret, kept: FamilyRecord) => Promise<void>,
): Promise<void> {
  await store.update(
    family,
    async (held) => {
      const kept = fromKept(held.kept, 'family');
      if (kept !== undefined) await revoke?.(kept.refreshToken, kept);
      await held.remove();
    },
    WAIT,
  );
  await store.update(record, (held) => held.remove(), WAIT);
}

/** The address where a login's refresh token can be revoked; `undefined` where the provider has none. */
export async function revocationEndpoint(
  login: LoginProfile,
  ports: Ports,
  outside: Pick<LoginPorts, 'readDocument'>,
  signal: AbortSignal | undefined,
): Promise<URL | undefined> {
  if (login.provider.login !== undefined) return login.endpoints.revocationUrl;
  const revoke = (await findIssuer(login, ports, outside, signal))?.revocationUrl;
  return revoke?.origin === login.url.origin ? revoke : undefined;
}

/** Tells the provider that a refresh token is of no use any more (RFC 7009); it is sent to nobody but the one it is bound to. */
export async function revokeToken(
  login: LoginProfile,
  endpoint: URL,
  token: Secret,
  kept: FamilyRecord,
  ports: Ports,
  store: TokenStore,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (kept.origin !== login.url.origin || kept.client !== store.fingerprint(login.clientId)) {
    throw new OAuthProfileError('profile_invalid', `${login.name} is not the profile any more that was signed in for`, {
      hint: 'bring its former address and client back, or log out without --revoke',
    });
  }
  // A server may be told as often as one likes (RFC 7009 §2.2).
  await postForm(buildRevocationRequest(login, endpoint, token), parseRevocationResponse, 'any', ports, signal);
}
