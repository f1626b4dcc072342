import type { EmulatorRequest, EmulatorResponse } from '../messages.ts';
import type { RequestContext } from '../realm.ts';

/** A protected resource: returns data about the user, or rejects the token as the provider does. */
export function resourceEndpoint(context: RequestContext, request: EmulatorRequest): EmulatorResponse {
  const { realm, signer, now } = context;
  const { provider } = realm;
  const [, token = ''] = /^Bearer (.+)$/i.exec(String(request.headers['authorization'] ?? '')) ?? [];
  const claims = signer.verify(provider.decodeAccessToken?.(token) ?? token);
  if (claims === undefined || claims.iss !== provider.type) return provider.unauthorizedResponse();
  const family = claims.fam === undefined ? undefined : realm.families.get(claims.fam);
  const isInvalid =
    (claims.exp !== undefined && claims.exp * 1000 <= now) ||
    family?.revoked === true ||
    realm.revokedTokens.get(claims.jti ?? '') !== undefined ||
    // With single-use refresh tokens, a refresh invalidates earlier access tokens.
    (provider.refresh.policy === 'single_use' && family !== undefined && claims.gen !== family.generation) ||
    (provider.stableToken && claims.gen !== (realm.invalidations.get(claims.client_id) ?? 0));
  return isInvalid ? provider.unauthorizedResponse() : provider.resource(claims.sub, claims.client_id, request.path);
}
