import type { RequestContext } from '../issue.ts';
import type { EmulatorRequest, EmulatorResponse } from '../message.ts';

/** A protected resource: tells who the token's owner is, or refuses as the provider does. */
export function resourceEndpoint(desk: RequestContext, request: EmulatorRequest): EmulatorResponse {
  const { realm, mint, now } = desk;
  const { dialect } = realm;
  const [, token = ''] = /^Bearer (.+)$/i.exec(String(request.headers['authorization'] ?? '')) ?? [];
  const claims = mint.read(dialect.undress(token));
  if (claims === undefined || claims.iss !== dialect.type) return dialect.resourceRefusal();
  const family = claims.fam === undefined ? undefined : realm.families.get(claims.fam);
  const dead =
    (claims.exp !== undefined && claims.exp * 1000 <= now) ||
    family?.revoked === true ||
    realm.revokedTokens.get(claims.jti ?? '') !== undefined ||
    // Where each refresh token serves once, a refresh kills the access tokens issued before.
    (dialect.refresh.policy === 'once' && family !== undefined && claims.gen !== family.generation) ||
    (dialect.sameToken && claims.gen !== (realm.invalidations.get(claims.client_id) ?? 0));
  return dead ? dialect.resourceRefusal() : dialect.resource(claims.sub, claims.client_id, request.path);
}
