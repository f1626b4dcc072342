import { authenticateClient } from '../client-auth.ts';
import { type EmulatorRequest, type EmulatorResponse, json } from '../messages.ts';
import type { RequestContext } from '../realm.ts';
import { reject } from '../rejection.ts';

/** Token revocation (RFC 7009), and the invalidation of X's stable token. */
export async function revokeEndpoint(context: RequestContext, request: EmulatorRequest): Promise<EmulatorResponse> {
  const { realm, signer } = context;
  const { provider } = realm;
  const token = request.form.get('token') || request.form.get('access_token') || reject('missing_field', 'token');
  const client = provider.revocationWithoutClientAuth
    ? undefined
    : await authenticateClient(context, request, 'refresh_token');
  const record = realm.refreshTokens.get(token);
  if (record !== undefined && (client === undefined || record.family.clientId === client.id))
    record.family.revoked = true;
  const claims = record === undefined ? signer.verify(provider.decodeAccessToken?.(token) ?? token) : undefined;
  if (claims !== undefined && (client === undefined || claims.client_id === client.id)) {
    const family = realm.families.get(claims.fam ?? '');
    if (provider.stableToken) realm.invalidations.set(claims.client_id, (claims.gen ?? 0) + 1);
    else if (family !== undefined) family.revoked = true;
    else realm.revokedTokens.set(claims.jti ?? '', {});
  }
  // An unknown token counts as revoked (RFC 7009 §2.2).
  return json(200, provider.stableToken ? { access_token: token } : {});
}
