import { type EmulatorRequest, type EmulatorResponse, json, text } from '../messages.ts';
import type { RequestTarget } from '../provider.ts';
import type { RequestContext } from '../realm.ts';
import { reject } from '../rejection.ts';

/** The metadata document: the issuer, the endpoints and what they support (RFC 8414). */
export function metadataEndpoint(context: RequestContext, request: EmulatorRequest): EmulatorResponse {
  const { provider, tenants } = context.realm;
  const tenant = provider.tenantOf?.(request);
  if (tenant !== undefined && !tenants.has(tenant.toLowerCase())) reject('tenant_without_metadata', tenant);
  const metadata = provider.metadata?.(requestTarget(context, request));
  if (metadata === undefined) return text(404, 'Not Found');
  return json(200, {
    grant_types_supported: provider.grants,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['plain', 'S256'],
    ...metadata,
  });
}

/** The JWKS. It is empty: tokens are signed with a symmetric key. */
export function keysEndpoint(): EmulatorResponse {
  return json(200, { keys: [] });
}

/** The target of a request at the real provider, also if it arrived on loopback. */
export function requestTarget({ realm }: RequestContext, { host, path }: EmulatorRequest): RequestTarget {
  const tokenUrl = realm.tokenUrls.get(host);
  return { host, path, origin: tokenUrl?.origin ?? `https://${host}`, tokenUrl };
}
