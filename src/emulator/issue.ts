import type { Issued } from './dialect.ts';
import type { Family, Realm } from './realm.ts';
import type { TokenSigner } from './token-signer.ts';

/** What an endpoint works with. */
export interface RequestContext {
  readonly realm: Realm;
  readonly mint: TokenSigner;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Who gets a token, and for what. */
export interface Grantee {
  readonly clientId: string;
  readonly user: string | undefined;
  readonly scope: string;
  readonly grant: string;
}

/** A new access token and whatever comes with it; `family` is there when a refresh token belongs to it. */
export function issue(
  desk: RequestContext,
  { clientId, user, scope, grant }: Grantee,
  family: Family | undefined,
  refreshToken: string | undefined,
): Issued {
  const { realm, mint, now } = desk;
  const { dialect } = realm;
  const issuedAt = Math.floor(now / 1000);
  const endless = dialect.lifetimeSeconds === Number.POSITIVE_INFINITY;
  const scopes = scope.split(' ');
  const claims = {
    iss: dialect.type,
    client_id: clientId,
    sub: user,
    ...(scope !== '' && { scp: scope }),
    iat: dialect.sameToken ? 0 : issuedAt,
    ...(endless ? {} : { exp: issuedAt + dialect.lifetimeSeconds }),
    ...(family && { fam: family.id, gen: family.generation }),
    ...(dialect.sameToken ? { gen: realm.invalidations.get(clientId) ?? 0 } : { jti: mint.opaque('').slice(0, 16) }),
  };
  const wantsId = user !== undefined && scopes.includes('openid');
  return {
    accessToken: dialect.dress(mint.sign(claims)),
    refreshToken,
    idToken: wantsId
      ? mint.sign({
          iss: dialect.type,
          aud: clientId,
          client_id: clientId,
          sub: user,
          iat: issuedAt,
          exp: issuedAt + 3600,
        })
      : undefined,
    scope,
    lifetime: dialect.lifetimeSeconds,
    issuedAt,
    grant,
  };
}

/** A sign-in's first tokens: with a refresh token where the provider gives one for what was asked. */
export function issueToUser(
  desk: RequestContext,
  grantee: Grantee & { readonly user: string },
  offline = true,
): Issued {
  const { realm } = desk;
  const { policy, scope: needed } = realm.dialect.refresh;
  const allowed = policy !== 'none' && offline && (needed === undefined || grantee.scope.split(' ').includes(needed));
  if (!allowed) return issue(desk, grantee, undefined, undefined);
  const family = realm.newFamily(grantee.clientId, grantee.user, grantee.scope);
  return issue(desk, grantee, family, newRefreshToken(desk, family));
}

/** A further refresh token of a family. */
export function newRefreshToken({ realm, mint, now }: RequestContext, family: Family): string {
  const token = mint.opaque('rt-');
  const expiresAt = now + realm.dialect.refresh.lifetimeSeconds * 1000;
  realm.refreshTokens.set(token, { family, expiresAt, usedAt: undefined, pinned: false });
  return token;
}
