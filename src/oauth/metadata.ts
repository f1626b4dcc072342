import { isLoopback } from '../profile/loopback.ts';
import { stripQuery } from './without-query.ts';

/** What is known of the server that a sign-in belongs to. */
export interface Issuer {
  /** As the server publishes it; `{tenantid}` in it stands for any tenant. */
  readonly name: string | undefined;
  /** The server promises to name itself in every redirect (RFC 9207 §3). */
  readonly promised: boolean;
  readonly revoke: URL | undefined;
}

/** Reads what a server publishes of itself (RFC 8414 §3.2); `undefined` where that is about another one. */
export function parseMetadata(
  document: unknown,
  location: URL,
  { authorize, token }: { readonly authorize: URL | undefined; readonly token: URL },
): Issuer | undefined {
  if (typeof document !== 'object' || document === null) return undefined;
  const members = document as Readonly<Record<string, unknown>>;
  const { issuer, revocation_endpoint: revocation } = members;
  if (typeof issuer !== 'string' || !isAt(issuer, location.origin)) return undefined;
  const [name, ours] = authorize === undefined ? ['token_endpoint', token] : ['authorization_endpoint', authorize];
  if (stripQuery(String(members[name])) !== stripQuery(ours.href)) return undefined;
  const revoke = typeof revocation === 'string' && isAt(revocation, location.origin) ? new URL(revocation) : undefined;
  return { name: issuer, promised: members['authorization_response_iss_parameter_supported'] === true, revoke };
}

/** What is wrong with the issuer that a redirect names (RFC 9207 §2.4); where nothing is published, its host must be one that we ask. */
export function findIssuerMismatch(
  named: string | undefined,
  known: Issuer | undefined,
  hosts: readonly URL[],
): string | undefined {
  if (named === undefined) {
    return known?.promised === true
      ? 'the redirect does not name the server, which promises to name itself'
      : undefined;
  }
  const right = known?.name === undefined ? hosts.some(({ origin }) => isAt(named, origin)) : fits(named, known.name);
  return right ? undefined : 'the redirect comes from another server than the one that was asked';
}

/** Microsoft's shared tenants publish a template. */
function fits(named: string, published: string): boolean {
  const [start = '', end] = published.split('{tenantid}');
  if (end === undefined) return named === published;
  return (
    named.startsWith(start) &&
    named.endsWith(end) &&
    /^[0-9a-f-]{36}$/i.test(named.slice(start.length, named.length - end.length))
  );
}

function isAt(address: string, origin: string): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  return url.origin === origin && (url.protocol === 'https:' || isLoopback(url.hostname));
}
