import type { Place } from '../dialect.ts';
import type { RequestContext } from '../issue.ts';
import { type EmulatorRequest, type EmulatorResponse, json, text } from '../message.ts';
import { rejectWith } from '../problem.ts';

/** What a provider publishes of itself: its issuer, its endpoints, what they understand. */
export function metadataEndpoint(desk: RequestContext, request: EmulatorRequest): EmulatorResponse {
  const { dialect, tenants } = desk.realm;
  const tenant = dialect.tenantOf(request);
  if (tenant !== undefined && !tenants.has(tenant.toLowerCase()))
    rejectWith({ kind: 'tenant_without_metadata', tenant });
  const metadata = dialect.metadata?.(placeOf(desk, request));
  return metadata === undefined ? text(404, 'Not Found') : json(200, metadata);
}

/** The keys that tokens are signed with: none that could be published, since a throw-away secret signs them. */
export function keysEndpoint(): EmulatorResponse {
  return json(200, { keys: [] });
}

/** A request's place at the real provider, also when a browser asked for it on loopback. */
export function placeOf({ realm }: RequestContext, { host, path }: EmulatorRequest): Place {
  const tokenUrl = realm.tokenUrls.get(host);
  return { host, path, origin: tokenUrl?.origin ?? `https://${host}`, tokenUrl };
}
