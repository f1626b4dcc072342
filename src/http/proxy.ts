import { BlockList, isIP } from 'node:net';
import { OAuthProfileError, TransportError } from '../errors.ts';
import type { Environment } from '../ports.ts';
import { METADATA_HOST } from '../profile/profile.ts';
import { isLoopback, parseUrl } from '../profile/url.ts';
import { Secret } from '../redaction/secret.ts';
import { endpointOf } from './endpoint.ts';

/** An HTTP proxy. */
export interface ProxyServer {
  /** Without user and password. */
  readonly url: URL;
  /** Value of the Proxy-Authorization header. */
  readonly authorization: Secret | undefined;
  /** The credentials in every form in which the proxy receives them. */
  readonly secrets: readonly Secret[];
}

/** Returns the proxy for a URL. Reads the environment as curl does, except that loopback hosts never use a proxy. */
export function proxyFor(url: URL, env: Environment): ProxyServer | undefined {
  // The metadata services of clouds are on the link of this machine.
  if (isLoopback(url.hostname) || url.hostname === METADATA_HOST) return undefined;
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  const names = [`${scheme}_proxy`, `${scheme}_proxy`.toUpperCase(), 'all_proxy', 'ALL_PROXY'];
  const name = names.find((candidate) => env[candidate]);
  if (name === undefined || isExempt(url, env['no_proxy'] || env['NO_PROXY'] || '')) return undefined;
  return parseProxy(name, env[name] ?? '');
}

function parseProxy(variable: string, value: string): ProxyServer {
  const href = value.includes('://') ? value : `http://${value}`;
  const url = parseUrl(href);
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    // The value may contain a password.
    throw new OAuthProfileError('data_invalid', `${variable} is not the URL of an HTTP proxy`, {
      hint: `set ${variable} to http://host:port`,
    });
  }
  if (url.username === '' && url.password === '') return { url, authorization: undefined, secrets: [] };
  const user = percentDecode(url.username);
  const password = new Secret(percentDecode(url.password));
  url.username = '';
  url.password = '';
  const credentials = password.map((clear) => Buffer.from(`${user}:${clear}`).toString('base64'));
  const authorization = credentials.map((clear) => `Basic ${clear}`);
  return { url, authorization, secrets: [password, authorization, credentials] };
}

/** Returns the value unchanged if a `%` in it is not an escape. */
function percentDecode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/**
 * Whether `NO_PROXY` names the host. Entries are separated by commas or spaces: a host, which includes its subdomains, an IP address, each with an
 * optional port, a network such as `10.0.0.0/8`, or `*`.
 */
function isExempt(url: URL, list: string): boolean {
  const { host, port } = endpointOf(url);
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      if (entry.includes('/')) return isInNetwork(host, entry);
      // Optional leading dot or `*.`; name, IPv4 address, IPv6 address with or without brackets; optional port.
      const match = /^(?:\*?\.)?(\[[^\]]+\]|[^:]+|.*:.*:.*?)(?::(\d+))?$/.exec(entry);
      const name = match?.[1]?.replace(/^\[|\]$/g, '') ?? '';
      if (name === '' || (match?.[2] !== undefined && Number(match[2]) !== port)) return false;
      // An IP address can be written in several ways, and has no subdomains.
      if (isIP(host) !== 0) return isInNetwork(host, `${name}/${isIP(name) === 6 ? 128 : 32}`);
      return host === name || host.endsWith(`.${name}`);
    });
}

function isInNetwork(host: string, network: string): boolean {
  const [prefix = '', bits = ''] = network.split('/');
  const family = isIP(prefix) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(host) === 0 || isIP(host) !== isIP(prefix) || !/^\d{1,3}$/.test(bits)) return false;
  try {
    const list = new BlockList();
    list.addSubnet(prefix, Number(bits), family);
    return list.check(host, family);
  } catch {
    // More bits than an IP address has.
    return false;
  }
}

/** Headers that authenticate a request to the proxy. */
export function proxyHeaders({ authorization }: ProxyServer): Record<string, string> {
  return authorization === undefined ? {} : { 'Proxy-Authorization': authorization.reveal() };
}

/** The error for a response of the proxy that is not a tunnel. `target` is host and port. */
export function proxyRefused({ url }: ProxyServer, target: string, status: number): TransportError {
  // Gateway errors: the proxy allows the connection, but cannot make it.
  if (status === 502 || status === 503 || status === 504) {
    return new TransportError('connection_failed', `the proxy ${url.host} cannot reach ${target} (HTTP ${status})`, {
      sent: false,
      hint: 'check the URL, or add the host to NO_PROXY if it can be reached without a proxy',
    });
  }
  return new TransportError(
    'proxy_refused',
    `the proxy ${url.host} refused the connection to ${target} (HTTP ${status})`,
    {
      sent: false,
      hint:
        status === 407
          ? 'add user and password to the URL of the proxy: http://user:password@host:port'
          : 'ask the administrator of the proxy to allow the host, or add it to NO_PROXY if it can be reached without a proxy',
    },
  );
}
