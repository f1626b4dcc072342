import { isSecure, parseStrictUrl } from '../url.ts';

/** `https://*.` stands for one label of a host name. */
const WILDCARD = '://*.';

/** Parses an origin: scheme, host and port only; http: only for loopback. `undefined` if it is anything else. */
export function parseOrigin(text: string): string | undefined {
  const url = text.includes('*') ? undefined : parseStrictUrl(text);
  return url instanceof URL && url.href === `${url.origin}/` && isSecure(url) ? url.origin : undefined;
}

/** Parses an origin, or `https://*.example.com` for the hosts with exactly one more label. */
export function parseOriginPattern(text: string): string | undefined {
  const [scheme = '', parent, ...others] = text.split(WILDCARD);
  if (parent === undefined) return parseOrigin(text);
  const origin = others.length === 0 ? parseOrigin(`${scheme}://label.${parent}`) : undefined;
  // The hosts below a name without a dot, such as com, have different owners.
  return origin && /^https:\/\/label\.[^.:]+\.[^.:]/.test(origin) ? origin.replace('://label.', WILDCARD) : undefined;
}

/** Whether a token may be sent to a URL: it has one of the origins, and no username or password. */
export function matchesOrigin(origins: readonly string[], url: URL): boolean {
  if (url.username !== '' || url.password !== '' || !isSecure(url)) return false;
  const pattern = url.origin.replace(/:\/\/[^.:/]+\./, WILDCARD);
  return origins.some((origin) => origin === url.origin || origin === pattern);
}
