import { isIP } from 'node:net';

/** Where a socket connects. */
export interface Endpoint {
  /** Host name or IP address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Server name for TLS; empty for an IP address, which must not be sent as one (RFC 6066 §3). */
  readonly servername: string;
}

/** Returns the endpoint of an `http:` or `https:` URL. */
export function endpointOf({ hostname, port, protocol }: URL): Endpoint {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { host, port: Number(port) || (protocol === 'https:' ? 443 : 80), servername: isIP(host) === 0 ? host : '' };
}
