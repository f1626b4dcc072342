import type { IssuedTokens } from './provider.ts';
import type { RequestContext, TokenFamily } from './realm.ts';

/** The client, the user and the scope that tokens are issued for. */
export interface TokenGrant {
  readonly clientId: string;
  readonly user: string | undefined;
  readonly scope: string;
  readonly grant: string;
}

/** Issues an access token, and an id token for the scope `openid`. `family` is set if a refresh token belongs to it. */
export function issueTokens(
  { realm, signer, now }: RequestContext,
  { clientId, user, scope, grant }: TokenGrant,
  family?: TokenFamily,
  refreshToken?: string,
): IssuedTokens {
  const { provider } = realm;
  const issuedAt = Math.floor(now / 1000);
  const expires = provider.lifetimeSeconds !== Number.POSITIVE_INFINITY;
  const claims = {
    iss: provider.type,
    client_id: clientId,
    sub: user,
    ...(scope !== '' && { scp: scope }),
    iat: provider.stableToken ? 0 : issuedAt,
    ...(expires && { exp: issuedAt + provider.lifetimeSeconds }),
    ...(family && { fam: family.id, gen: family.generation }),
    ...(provider.stableToken
      ? { gen: realm.invalidations.get(clientId) ?? 0 }
      : { jti: signer.opaque('').slice(0, 16) }),
  };
  const idClaims = {
    iss: provider.type,
    aud: clientId,
    client_id: clientId,
    sub: user,
    iat: issuedAt,
    exp: issuedAt + 3600,
  };
  const accessToken = signer.sign(claims);
  return {
    accessToken: provider.encodeAccessToken?.(accessToken) ?? accessToken,
    refreshToken,
    idToken: user !== undefined && scope.split(' ').includes('openid') ? signer.sign(idClaims) : undefined,
    scope,
    lifetime: provider.lifetimeSeconds,
    issuedAt,
    grant,
  };
}

/** Issues the first tokens of a user, with a refresh token if the provider issues one for this request. */
export function issueUserTokens(
  context: RequestContext,
  grant: TokenGrant & { readonly user: string },
  offline = true,
): IssuedTokens {
  const { policy, requiredScope } = context.realm.provider.refresh;
  const hasScope = requiredScope === undefined || grant.scope.split(' ').includes(requiredScope);
  if (policy === 'none' || !offline || !hasScope) return issueTokens(context, grant);
  const family = context.realm.createFamily(grant.clientId, grant.user, grant.scope);
  return issueTokens(context, grant, family, createRefreshToken(context, family));
}

/** Creates another refresh token of a token family. */
export function createRefreshToken({ realm, signer, now }: RequestContext, family: TokenFamily): string {
  const token = signer.opaque('rt-');
  const expiresAt = now + realm.provider.refresh.lifetimeSeconds * 1000;
  realm.refreshTokens.set(token, { family, expiresAt, usedAt: undefined, pinned: false });
  return token;
}
