/** A URL's host as sockets take it: an IPv6 address without its brackets. */
export function formatHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** The name that TLS sends for a host: server name indication is for names only (RFC 6066 §3). */
export function serverNameOf(host: string): string {
  return /^[\d.]+$|:/.test(host) ? '' : host;
}
