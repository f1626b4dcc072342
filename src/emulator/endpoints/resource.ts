import { type EmulatorResponse, json } from '../messages.ts';
import type { RequestContext } from '../realm.ts';
import { verifyProof } from '../tokens/verify-proof.ts';
import { findToken } from '../tokens/verify-token.ts';
import { authenticateClient } from './client-auth.ts';

/** A protected resource: returns data about the user, or rejects the token as the provider does. */
export async function resourceEndpoint(context: RequestContext): Promise<EmulatorResponse> {
  const { request, realm } = context;
  const { provider } = realm;
  const { apiHeader = 'authorization' } = provider;
  const header = String(request.headers[apiHeader] ?? '');
  const [, credentials] = (apiHeader === 'authorization' ? /^(?:Bearer|DPoP) (.+)$/i : /^(.+)$/).exec(header) ?? [];
  // RFC 6750 §2.2; OpenID Connect Core §5.3.1 allows POST for userinfo.
  const token = credentials ?? request.form.get('access_token') ?? request.query.get('access_token') ?? '';
  const known = await findToken(context, token);
  const { jkt } = (known?.claims['cnf'] ?? {}) as { readonly jkt?: string };
  // RFC 9449 §7.2: a token with a key is not a Bearer token.
  const isProven =
    jkt === undefined || (/^DPoP /i.test(header) && (await verifyProof(request, context.now, token)) === jkt);
  return known === undefined || known.invalid !== undefined || !isProven
    ? provider.unauthorizedResponse()
    : provider.resource(known, request);
}

/** Token introspection (RFC 7662). */
export async function introspectEndpoint(context: RequestContext): Promise<EmulatorResponse> {
  const { request, realm, now } = context;
  await authenticateClient(context, 'introspect');
  const token = request.form.get('token') ?? '';
  const refreshToken = realm.refreshTokens.get(token);
  if (refreshToken !== undefined) {
    const { family, expiresAt, usedAt } = refreshToken;
    const isActive = !family.revoked && expiresAt > now && usedAt === undefined;
    const { scope, clientId, user } = family;
    return json(200, isActive ? { active: true, scope, client_id: clientId, username: user } : { active: false });
  }
  const known = await findToken(context, token);
  if (known === undefined || known.invalid !== undefined) return json(200, { active: false });
  const { claims, clientId, user, scopes, issuer, audience, issuedAt, expiresAt } = known;
  const standard = {
    active: true,
    scope: scopes.join(' '),
    client_id: clientId,
    username: user?.login,
    token_type: 'Bearer',
    exp: expiresAt,
    iat: issuedAt,
    sub: claims['sub'] ?? user?.sub ?? user?.login ?? clientId,
    aud: audience,
    iss: issuer,
    jti: claims['jti'],
  };
  return json(200, { ...user?.claims, ...(realm.provider.introspection?.(standard, known) ?? standard) });
}
