import { type EmulatorResponse, json } from '../messages.ts';
import type { RequestContext } from '../realm.ts';
import { Rejection, reject } from '../rejection.ts';
import { findToken } from '../tokens/verify-token.ts';
import { authenticateClient } from './client-auth.ts';

/** Token revocation (RFC 7009), and the invalidation of X's stable token. */
export async function revokeEndpoint(context: RequestContext): Promise<EmulatorResponse> {
  const { request, realm } = context;
  const { provider } = realm;
  const { withoutClientAuth, rejectsUnknown, rejectsOthers } = provider.revocation ?? {};
  const { form, query } = request;
  const token = form.get('token') || form.get('access_token') || query.get('token') || '';
  if (token === '' && !rejectsOthers) reject('missing_field', 'token');
  const client = withoutClientAuth ? undefined : await authenticate(context, rejectsOthers === true);
  const mayRevoke = (clientId: string | undefined): boolean => {
    if (clientId === undefined) return false;
    if (withoutClientAuth || clientId === (client?.id ?? '')) return true;
    const isPublic = realm.clients.get(clientId)?.credentials.every(({ auth }) => auth === 'none') ?? true;
    return rejectsOthers ? isPublic || reject('revocation_by_other_client') : false;
  };
  const record = realm.refreshTokens.get(token);
  const known = record === undefined ? await findToken(context, token) : undefined;
  const isUsable = record === undefined ? known !== undefined && known.invalid === undefined : !record.family.revoked;
  if (rejectsUnknown && !isUsable) reject('unknown_token');
  const family = record?.family ?? known?.family;
  if (!mayRevoke(record?.family.clientId ?? known?.clientId)) return json(200, {});
  if (family !== undefined) family.revoked = true;
  else if (known !== undefined) realm.revokeAccessToken(known);
  // An unknown token counts as revoked (RFC 7009 §2.2).
  return json(200, provider.stableToken ? { access_token: token } : {});
}

async function authenticate(context: RequestContext, rejectsOthers: boolean) {
  try {
    return await authenticateClient(context, 'revoke');
  } catch (error) {
    if (rejectsOthers && error instanceof Rejection) return reject('revocation_by_other_client');
    throw error;
  }
}
