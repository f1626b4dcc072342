import { resolveUrl, selectLoginEndpoints } from '../profile/endpoints.ts';
import type { Profile } from '../profile/profile.ts';
import { isSecure, parseUrl } from '../profile/url.ts';
import type { Provider } from '../providers/provider.ts';
import { aliasesOf, issuerLocations } from './discovery.ts';

/** Authorization server metadata, as far as a login uses it (RFC 8414 §2). */
export interface ServerMetadata {
  /** `issuer` as published; Microsoft's shared tenants publish a template that contains `{tenantid}`. */
  readonly issuer: string;
  /** Whether every authorization response contains `iss` (RFC 9207 §3). */
  readonly issParameterSupported: boolean;
  readonly revocationUrl: URL | undefined;
  readonly introspectionUrl: URL | undefined;
  readonly userinfoUrl: URL | undefined;
  /** Whether the authorization request may have `prompt=consent` (`prompt_values_supported`). */
  readonly consentPromptSupported: boolean;
  /** Pushed authorization request endpoint (RFC 9126 §5). */
  readonly pushedRequestUrl: URL | undefined;
  readonly requiresPushedRequest: boolean;
  /** Whether the server requires signed authorization requests (RFC 9101 §10.5). */
  readonly requiresSignedRequest: boolean;
}

/** The parts of a profile that identify its authorization server. */
export type Server = Pick<Profile, 'provider' | 'url' | 'options'>;

/**
 * Where a server may publish its metadata: the provider's documented URL, the root of the host, and for other servers
 * each issuer that the endpoints may belong to (RFC 8414 §3.1, OpenID Connect Discovery §4).
 */
export function metadataLocations({ provider, url, options }: Server): [URL, ...URL[]] {
  if (options.issuer !== undefined) return issuerLocations(options.issuer);
  const { authorizationUrl = url } = selectLoginEndpoints(provider, url, options);
  const endpoint = authorizationUrl.origin === url.origin ? url : authorizationUrl;
  const locationsOf = (issuer: string): [URL, URL] => [
    new URL(`/.well-known/oauth-authorization-server${issuer}`, endpoint),
    new URL(`${issuer}/.well-known/openid-configuration`, endpoint),
  ];
  const atRoot = locationsOf('');
  if (provider.tokenUrl === undefined) {
    const parts = endpoint.pathname.split('/').slice(1);
    const issuers = [1, 2, 3].filter((cut) => cut < parts.length).map((cut) => `/${parts.slice(0, -cut).join('/')}`);
    return [...atRoot, ...issuers.flatMap(locationsOf)];
  }
  // A built-in provider without metadata: one request, to compare clocks.
  if (provider.login === undefined) return [atRoot[0]];
  const known = provider.login.metadataUrl && resolveUrl(provider.login.metadataUrl, url);
  if (!known || known.origin !== endpoint.origin) return atRoot;
  return [known, ...atRoot.filter(({ href }) => href !== known.href)];
}

/** Parses a metadata document (RFC 8414 §3.2). Returns `undefined` if it does not describe this server. */
export function parseMetadata(document: unknown, location: URL, server: Server): ServerMetadata | undefined {
  if (typeof document !== 'object' || document === null) return undefined;
  const members = document as Readonly<Record<string, unknown>>;
  const { issuer, prompt_values_supported: prompts } = members;
  if (!describesServer(members, server) || !isIssuerAt(issuer, location, server.provider)) return undefined;
  const endpoint = (name: string): URL | undefined => {
    const url = members[name];
    return typeof url === 'string' && hasOrigin(url, location.origin) ? new URL(url) : undefined;
  };
  return {
    issuer,
    issParameterSupported: members['authorization_response_iss_parameter_supported'] === true,
    revocationUrl: endpoint('revocation_endpoint'),
    introspectionUrl: endpoint('introspection_endpoint'),
    userinfoUrl: endpoint('userinfo_endpoint'),
    consentPromptSupported: Array.isArray(prompts) && prompts.includes('consent'),
    pushedRequestUrl: findPushedRequestUrl(members, location, server),
    requiresPushedRequest: members['require_pushed_authorization_requests'] === true,
    requiresSignedRequest: members['require_signed_request_object'] === true,
  };
}

/** Client credentials are sent to this endpoint, so it must be at the origin of the metadata or of the token endpoint. */
function findPushedRequestUrl(
  members: Readonly<Record<string, unknown>>,
  location: URL,
  { url, options }: Server,
): URL | undefined {
  const name = 'pushed_authorization_request_endpoint';
  const candidates = [...(options.cert === undefined ? [] : [aliasesOf(members)[name]]), members[name]];
  const origins = [location.origin, url.origin];
  const found = candidates.find((one) => typeof one === 'string' && origins.some((origin) => hasOrigin(one, origin)));
  return found === undefined ? undefined : new URL(String(found));
}

/** Whether a document names the token endpoint of a profile, or its authorization endpoint. */
export function describesServer(members: Readonly<Record<string, unknown>>, server: Server): boolean {
  const { provider, url, options } = server;
  const { authorizationUrl } = selectLoginEndpoints(provider, url, options);
  return (
    isSameEndpoint(members['token_endpoint'], url, provider) ||
    isSameEndpoint(aliasesOf(members)['token_endpoint'], url, provider) ||
    (authorizationUrl !== undefined && isSameEndpoint(members['authorization_endpoint'], authorizationUrl, provider))
  );
}

/** RFC 8414 §3.3: the issuer must be the one whose metadata was requested. A terminating slash is not part of the location. */
function isIssuerAt(issuer: unknown, location: URL, provider: Provider): issuer is string {
  if (typeof issuer !== 'string' || !hasOrigin(issuer, location.origin)) return false;
  const expected = new URL(location.href.replace(/\/\.well-known\/[^/]+/, ''));
  return isSameEndpoint(issuer.replace(/\/$/, ''), expected, provider) && !/[?#]/.test(issuer);
}

/** Whether two URLs are the same. Ignores the query and the tenant, which Microsoft publishes as an id. */
export function isSameEndpoint(announced: unknown, ours: URL, { tokenUrl }: Provider): boolean {
  const url = typeof announced === 'string' ? parseUrl(announced) : undefined;
  const tenantIndex = tokenUrl?.split('/').indexOf('{tenant_id}');
  const normalize = ({ origin, pathname }: URL): string =>
    `${origin}${pathname}`
      .split('/')
      .map((part, index) => (index === tenantIndex ? '' : part))
      .join('/');
  return url !== undefined && normalize(url) === normalize(ours);
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
