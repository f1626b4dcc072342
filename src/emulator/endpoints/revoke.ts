import { authenticateClient } from '../client-auth.ts';
import type { RequestContext } from '../issue.ts';
import { type EmulatorRequest, type EmulatorResponse, json } from '../message.ts';
import { rejectWith } from '../problem.ts';

/** Token revocation (RFC 7009), and X's invalidation of its one token. */
export function revokeEndpoint(desk: RequestContext, request: EmulatorRequest): EmulatorResponse {
  const { realm, mint } = desk;
  const { dialect } = realm;
  const token =
    request.form.get('token') ||
    request.form.get('access_token') ||
    rejectWith({ kind: 'missing_field', field: 'token' });
  const client = dialect.revokesWithoutClient ? undefined : authenticateClient(desk, request, 'refresh_token');
  const record = realm.refreshTokens.get(token);
  if (record !== undefined && (client === undefined || record.family.clientId === client.id))
    record.family.revoked = true;
  const claims = record === undefined ? mint.read(dialect.undress(token)) : undefined;
  if (claims !== undefined && (client === undefined || claims.client_id === client.id)) {
    const family = realm.families.get(claims.fam ?? '');
    if (dialect.sameToken) realm.invalidations.set(claims.client_id, (claims.gen ?? 0) + 1);
    else if (family !== undefined) family.revoked = true;
    else realm.revokedTokens.set(claims.jti ?? '', {});
  }
  // An unknown token is revoked already (RFC 7009 §2.2).
  return json(200, dialect.sameToken ? { access_token: token } : {});
}
