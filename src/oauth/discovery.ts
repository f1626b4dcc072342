import type { IssuerEndpoints } from '../profile/issuer.ts';
import { isLoopback, parseStrictUrl } from '../profile/url.ts';
import { excerpt } from '../redaction/sanitize.ts';

/** Limits of the time for which a metadata document is cached, in milliseconds, and the time without `max-age`. */
const MIN_AGE_MS = 5 * 60_000;
const MAX_AGE_MS = 24 * 3_600_000;
const DEFAULT_AGE_MS = 3_600_000;

/** Where an issuer publishes its metadata: OpenID Connect Discovery §4.1, then RFC 8414 §3.1. */
export function issuerLocations(issuer: string): [URL, URL] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    new URL(`${origin}${path}/.well-known/openid-configuration`),
    new URL(`${origin}/.well-known/oauth-authorization-server${path}`),
  ];
}

/** The endpoints for clients with a certificate (RFC 8705 §5). */
export function aliasesOf(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const aliases = members['mtls_endpoint_aliases'];
  return typeof aliases === 'object' && aliases !== null ? (aliases as Record<string, unknown>) : {};
}

/**
 * Reads the endpoints from the metadata of an issuer. Returns what is wrong, to complete "the metadata …", if it belongs to another issuer (RFC 8414
 * §3.3) or names an endpoint that must not receive secrets.
 */
export function parseIssuerEndpoints(
  members: Readonly<Record<string, unknown>>,
  issuer: string,
  allowHttp: boolean,
): IssuerEndpoints | string {
  const published = members['issuer'];
  // A terminating slash does not make another issuer: users often omit it.
  const isSame = typeof published === 'string' && published.replace(/\/$/, '') === issuer.replace(/\/$/, '');
  if (!isSame) return `names another issuer: ${typeof published === 'string' ? excerpt(published, 200) : 'none'}`;
  const urls: Record<string, string> = {};
  const aliases = aliasesOf(members);
  const named = ['token', 'authorization', 'device_authorization', 'revocation'].flatMap((name) => [
    [name, members[`${name}_endpoint`]] as const,
    [`mtls ${name}`, aliases[`${name}_endpoint`]] as const,
  ]);
  for (const [name, value] of named) {
    if (value === undefined || value === null) continue;
    const url = typeof value === 'string' ? parseStrictUrl(value) : 'is not a string';
    if (typeof url === 'string') return `names an invalid ${name}_endpoint, which ${url}`;
    // A remote server must not direct secrets to this machine, nor to a connection without TLS.
    const isAllowed = allowHttp || url.protocol === 'https:' || isLoopback(new URL(issuer).hostname);
    if (!isAllowed) return `names a ${name}_endpoint that is not https:`;
    urls[name] = url.href;
  }
  const { token } = urls;
  if (token === undefined) return 'names no token_endpoint';
  const mtls = {
    ...(urls['mtls token'] !== undefined && { tokenUrl: urls['mtls token'] }),
    ...(urls['mtls device_authorization'] !== undefined && {
      deviceAuthorizationUrl: urls['mtls device_authorization'],
    }),
    ...(urls['mtls revocation'] !== undefined && { revocationUrl: urls['mtls revocation'] }),
  };
  const methods = members['token_endpoint_auth_methods_supported'];
  return {
    tokenUrl: token,
    ...(Object.keys(mtls).length > 0 && { mtls }),
    authorizationUrl: urls['authorization'],
    deviceAuthorizationUrl: urls['device_authorization'],
    revocationUrl: urls['revocation'],
    authMethods: Array.isArray(methods) ? methods.filter((method) => typeof method === 'string') : undefined,
  };
}

/**
 * How long a metadata document is cached: `max-age` (RFC 9111 §5.2.2.1), between 5 minutes and a day. Servers that forbid caching get the minimum:
 * otherwise each cached token would cost a request.
 */
export function metadataLifetimeMs(cacheControl: unknown): number {
  const value = String(cacheControl ?? '');
  if (/\bno-(?:store|cache)\b/i.test(value)) return MIN_AGE_MS;
  const [, seconds] = /\bmax-age=(\d{1,10})\b/i.exec(value) ?? [];
  if (seconds === undefined) return DEFAULT_AGE_MS;
  return Math.min(MAX_AGE_MS, Math.max(MIN_AGE_MS, Number(seconds) * 1000));
}
