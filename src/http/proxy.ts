import { BlockList, isIP } from 'node:net';
import { OAuthProfileError } from '../errors.ts';
import type { Environment } from '../ports.ts';
import { isLoopback } from '../profile/loopback.ts';
import { Secret } from '../redaction/secret.ts';
import { formatHost } from './host-of.ts';

/** Where to go through instead of straight. */
export interface ProxyServer {
  readonly url: URL;
  /** For `Proxy-Authorization`, from user and password in the proxy's address. */
  readonly authorization: Secret | undefined;
  /** All that must not be shown. */
  readonly secrets: readonly Secret[];
}

/** The proxy for an address, as curl and others read the environment; this machine is never reached through one. */
export function proxyFor(url: URL, env: Environment): ProxyServer | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const names = url.protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
  const name = [...names, 'all_proxy', 'ALL_PROXY'].find((candidate) => env[candidate]);
  const value = name === undefined ? undefined : env[name];
  if (name === undefined || value === undefined || isExempt(url, env['no_proxy'] || env['NO_PROXY'] || ''))
    return undefined;
  return parseProxy(name, value);
}

function parseProxy(name: string, value: string): ProxyServer {
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new OAuthProfileError('data_invalid', `${name} is not the address of an HTTP proxy`, {
      hint: `set ${name} to http://host:port`,
    });
  }
  if (url.username === '' && url.password === '') return { url, authorization: undefined, secrets: [] };
  const password = new Secret(decoded(url.password));
  const user = decoded(url.username);
  url.username = '';
  url.password = '';
  const authorization = password.map((clear) => `Basic ${Buffer.from(`${user}:${clear}`).toString('base64')}`);
  return { url, authorization, secrets: [password, authorization, authorization.map((header) => header.slice(6))] };
}

/** Percent escapes undone, if they are any. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `NO_PROXY`: hosts with their subdomains, hosts with a port, addresses, networks (10.0.0.0/8), or `*`. */
function isExempt(url: URL, list: string): boolean {
  const host = formatHost(url).toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      if (entry.includes('/')) return inNetwork(host, entry);
      const [, name = '', only] = /^(?:\*?\.)?(\[[^\]]+\]|[^:]+|.*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? [];
      const plain = name.replace(/^\[|\]$/g, '');
      if (plain === '' || (only !== undefined && only !== port)) return false;
      // An address has many spellings, and no subdomains.
      if (isIP(host) !== 0) return inNetwork(host, `${plain}/${isIP(plain) === 6 ? 128 : 32}`);
      return host === plain || host.endsWith(`.${plain}`);
    });
}

function inNetwork(host: string, network: string): boolean {
  const [address = '', bits = ''] = network.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(host) === 0 || isIP(host) !== isIP(address) || !/^\d{1,3}$/.test(bits)) return false;
  try {
    const list = new BlockList();
    list.addSubnet(address, Number(bits), family);
    return list.check(host, family);
  } catch {
    return false;
  }
}
