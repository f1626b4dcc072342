import { type IssuedTokens, JWT_BEARER_GRANT } from '../provider.ts';
import { reject } from '../rejection.ts';
import { createIdToken, describeSubject, issueTokens } from '../tokens/issue-tokens.ts';
import { decodeAssertion, verifyAssertion } from './client-auth.ts';
import type { GrantRequest } from './grant-request.ts';

/**
 * The grant of service accounts (RFC 7523 §2.1): the assertion names the client (`iss`), the scope, and optionally a
 * user to act for (`sub`). With the claim `target_audience`, Google returns an id token for that audience.
 */
export async function jwtBearerGrant({ context, request }: GrantRequest): Promise<IssuedTokens> {
  const { realm } = context;
  const assertion = request.form.get('assertion') || reject('missing_field', 'assertion');
  const { iss, sub, scope, target_audience: targetAudience } = await decodeAssertion(assertion);
  const client = realm.clients.get(String(iss)) ?? reject('invalid_grant_assertion');
  if (!(await verifyAssertion(context, client, request, assertion, { issuer: client.id })))
    reject('invalid_grant_assertion');
  const delegated = typeof sub === 'string' && sub !== client.id ? sub : undefined;
  if (delegated !== undefined && realm.findUser(delegated) === undefined) reject('invalid_grant_assertion');
  const grant = {
    clientId: client.id,
    clientAuth: 'assertion' as const,
    user: delegated,
    scope: typeof scope === 'string' ? scope : '',
    grant: JWT_BEARER_GRANT,
  };
  const issued = await issueTokens(context, request, grant);
  if (typeof targetAudience !== 'string') return issued;
  const subject = describeSubject(context, request, grant);
  const claims = { aud: targetAudience, azp: client.id, email: client.id, email_verified: true, sub: client.id };
  return { ...issued, accessToken: '', idToken: await createIdToken(context, subject, undefined, claims) };
}
