import type { EmulatorRequest } from '../messages.ts';
import type { RequestTarget } from '../provider.ts';
import type { Realm } from '../realm.ts';

/** The target of a request at the real provider, also if it arrived on loopback. */
export function requestTarget(realm: Realm, { host, path }: Pick<EmulatorRequest, 'host' | 'path'>): RequestTarget {
  const tokenUrl = realm.tokenUrls.get(host);
  const { issuer: configuredIssuer, tenants } = realm;
  return { host, path, origin: tokenUrl?.origin ?? `https://${host}`, tokenUrl, configuredIssuer, tenants };
}

/**
 * The URL of an endpoint or issuer for the client that sent a request: the production URL, or the emulator's own URL
 * with the real host as first path segment if the request arrived there.
 */
export function publicUrl(
  { viaLoopback, origin }: Pick<EmulatorRequest, 'viaLoopback' | 'origin'>,
  url: string,
): string {
  return viaLoopback ? url.replace(/^https?:\//, origin) : url;
}
