import { isSecure, parseUrl } from '../profile/url.ts';

/** Authorization server metadata, as far as a login uses it (RFC 8414 §2). */
export interface ServerMetadata {
  /** `issuer` as published; Microsoft's shared tenants publish a template that contains `{tenantid}`. */
  readonly issuer: string;
  /** Whether every authorization response contains `iss` (RFC 9207 §3). */
  readonly issParameterSupported: boolean;
  readonly revocationUrl: URL | undefined;
}

/** Parses a metadata document (RFC 8414 §3.2); `undefined` if it describes another server than that of the URLs. */
export function parseMetadata(
  document: unknown,
  location: URL,
  { authorizationUrl, tokenUrl }: { readonly authorizationUrl: URL | undefined; readonly tokenUrl: URL },
): ServerMetadata | undefined {
  if (typeof document !== 'object' || document === null) return undefined;
  const members = document as Readonly<Record<string, unknown>>;
  const { issuer, revocation_endpoint: revocation } = members;
  if (typeof issuer !== 'string' || !hasOrigin(issuer, location.origin)) return undefined;
  const [name, expected] =
    authorizationUrl === undefined ? ['token_endpoint', tokenUrl] : ['authorization_endpoint', authorizationUrl];
  if (removeQuery(String(members[name])) !== removeQuery(expected.href)) return undefined;
  return {
    issuer,
    issParameterSupported: members['authorization_response_iss_parameter_supported'] === true,
    revocationUrl:
      typeof revocation === 'string' && hasOrigin(revocation, location.origin) ? new URL(revocation) : undefined,
  };
}

/**
 * Compares the `iss` of an authorization response with the metadata (RFC 9207 §2.4) and returns what is wrong,
 * `undefined` if nothing. Without metadata, the origin of `iss` must be that of one of `endpoints`.
 */
export function findIssuerMismatch(
  iss: string | undefined,
  metadata: ServerMetadata | undefined,
  endpoints: readonly URL[],
): string | undefined {
  if (iss === undefined) {
    return metadata?.issParameterSupported === true
      ? 'the redirect has no iss parameter, although the server supports it'
      : undefined;
  }
  const matches =
    metadata === undefined
      ? endpoints.some(({ origin }) => hasOrigin(iss, origin))
      : matchesIssuer(iss, metadata.issuer);
  return matches ? undefined : 'the redirect comes from another authorization server (iss does not match)';
}

/** `{tenantid}` in Microsoft's template matches any GUID. */
function matchesIssuer(iss: string, issuer: string): boolean {
  const [start = '', end] = issuer.split('{tenantid}');
  if (end === undefined) return iss === issuer;
  return (
    iss.startsWith(start) &&
    iss.endsWith(end) &&
    /^[0-9a-f-]{36}$/i.test(iss.slice(start.length, iss.length - end.length))
  );
}

/** https: only, or loopback. */
function hasOrigin(text: string, origin: string): boolean {
  const url = parseUrl(text);
  return url?.origin === origin && isSecure(url);
}

function removeQuery(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
