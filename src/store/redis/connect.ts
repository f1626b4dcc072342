import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Cluster, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import { OAuthProfileError } from '../../errors.ts';
import { Secret } from '../../redaction/secret.ts';

/** A Redis deployment, parsed from the URL of the store. */
export interface RedisTarget {
  /** The URL without credentials and query. */
  readonly location: string;
  /** Hosts and ports, or the path of the socket, for messages. */
  readonly hosts: string;
  /** Creates a client that is not connected yet. Loads ioredis. */
  createClient(): Promise<Redis | Cluster>;
}

/** Time limit of a connection attempt and of a command, in milliseconds. */
const TIMEOUT_MS = 5_000;

// `RedisConnection` repeats commands and replaces lost connections, so all retries of ioredis are off. The ready check is off too: it needs
// INFO, which an ACL may deny, and a server that is still loading its data returns LOADING anyway.
const NODE_OPTIONS = {
  lazyConnect: true,
  enableReadyCheck: false,
  disableClientInfo: true,
  protocol: 2,
  connectTimeout: TIMEOUT_MS,
  commandTimeout: TIMEOUT_MS,
} satisfies RedisOptions;

const SINGLE_OPTIONS = {
  ...NODE_OPTIONS,
  retryStrategy: null,
  enableOfflineQueue: false,
  sentinelRetryStrategy: () => null,
  sentinelCommandTimeout: TIMEOUT_MS,
  // Each client starts with the Sentinels of the URL.
  updateSentinels: false,
} satisfies RedisOptions;

const CLUSTER_OPTIONS = {
  lazyConnect: true,
  enableReadyCheck: false,
  clusterRetryStrategy: null,
  slotsRefreshTimeout: TIMEOUT_MS,
  // A timer would keep the process alive. A moved slot is noticed by its MOVED error.
  slotsRefreshInterval: 0,
  // Keep host names: certificates are checked against them.
  dnsLookup: (host, callback) => callback(null, host),
} satisfies ClusterOptions;

const URL_PATTERN =
  /^(?<scheme>rediss?(?:\+(?:sentinel|cluster))?|unix):\/\/(?:(?<login>[^@/?#]*)@)?(?<hosts>[^@/?#]*)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/;
const PATH_PATTERNS: Readonly<Record<string, RegExp>> = {
  single: /^\/?(?<db>\d{0,5})$/,
  sentinel: /^\/(?<name>[^/]+)(?:\/(?<db>\d{1,5}))?$/,
  cluster: /^\/?$/,
  unix: /^\/./,
};
const HOST_PATTERN = /^(?:\[(?<ipv6>[\da-fA-F:.]+)\]|(?<name>[\w.-]+))(?::(?<port>\d{1,5}))?$/;
const PARAMETERS = ['db', 'ca_file', 'sentinel_username', 'sentinel_password'];

/**
 * Parses the URL of a store. The query parameter `ca_file` names the PEM file of the only certificate authority to trust; without it, Node's
 * certificate authorities and NODE_EXTRA_CA_CERTS apply. Passwords are registered as secrets before anything can fail.
 */
export function parseRedisUrl(url: string): RedisTarget {
  registerPasswords(url);
  const { scheme, login = '', hosts = '', path = '', query } = URL_PATTERN.exec(url)?.groups ?? {};
  if (scheme === undefined) throw invalidUrl();
  const topology = scheme === 'unix' ? scheme : (scheme.split('+')[1] ?? 'single');
  const nodes = topology === 'unix' && hosts === '' ? [] : parseHosts(hosts, topology === 'sentinel' ? 26379 : 6379);
  const inPath = PATH_PATTERNS[topology]?.exec(path);
  const parameters = new URLSearchParams(query);
  const db = Number(parameters.get('db') ?? inPath?.groups?.['db'] ?? 0);
  const isKnown = [...parameters.keys()].every((name) => PARAMETERS.includes(name));
  const hostCount = { single: 1, unix: 0 }[topology] ?? nodes.length;
  if (!inPath || !isKnown || !Number.isInteger(db) || nodes.length !== hostCount) throw invalidUrl();

  const name = decode(inPath.groups?.['name'] ?? '');
  const tls = scheme.startsWith('rediss') ? readTlsOptions(parameters.get('ca_file')) : undefined;
  const common = { ...parseLogin(login), ...(tls && { tls }) };
  const createClient = async (): Promise<Redis | Cluster> => {
    const { Cluster, Redis } = await importWithoutDebug();
    if (topology === 'cluster') {
      return new Cluster(nodes, { ...CLUSTER_OPTIONS, redisOptions: { ...NODE_OPTIONS, ...common } });
    }
    const options = { ...SINGLE_OPTIONS, ...common, db };
    if (topology === 'unix') return new Redis({ ...options, path: decode(path) });
    if (topology === 'single') {
      const host = nodes[0]?.host ?? '';
      // Node sends the server name (SNI) only if it is set, and it must not be an IP address.
      return new Redis({
        ...options,
        ...nodes[0],
        ...(tls && { tls: isIP(host) ? tls : { ...tls, servername: host } }),
      });
    }
    return new Redis({
      ...options,
      name,
      sentinels: nodes,
      sentinelUsername: parameters.get('sentinel_username') ?? '',
      sentinelPassword: parameters.get('sentinel_password') ?? '',
      ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
    });
  };
  return { location: `${scheme}://${hosts}${path}`, hosts: hosts || path, createClient };
}

/** Loads ioredis with its `DEBUG` output off: it would print every command, including AUTH with the password. */
async function importWithoutDebug() {
  const { DEBUG } = process.env;
  if (DEBUG === undefined) return import('ioredis');
  process.env['DEBUG'] = `${DEBUG},-ioredis:*`;
  try {
    return await import('ioredis');
  } finally {
    process.env['DEBUG'] = DEBUG;
  }
}

/** Finds passwords also in a URL that is invalid because of an unescaped character in the password. */
function registerPasswords(url: string): void {
  const [, password = ''] = /^[^:]*:\/\/[^:]*:(.*)@/s.exec(url) ?? [];
  for (const value of [password, ...[...url.matchAll(/password=([^&#]*)/g)].map((match) => match[1] ?? '')]) {
    if (value !== '') new Secret(value);
    try {
      if (value.includes('%')) new Secret(decodeURIComponent(value));
    } catch {
      // Not percent-encoded: it is registered as it is.
    }
  }
}

function parseLogin(login: string): { username: string; password: string } {
  const [, username = '', password = ''] = /^([^:]*):?(.*)$/s.exec(login) ?? [];
  return { username: decode(username), password: decode(password) };
}

function parseHosts(hosts: string, defaultPort: number): { host: string; port: number }[] {
  return hosts.split(',').map((item) => {
    const { ipv6, name, port = defaultPort } = HOST_PATTERN.exec(item)?.groups ?? {};
    const host = ipv6 ?? name;
    if (host === undefined || Number(port) < 1 || Number(port) > 65_535) throw invalidUrl();
    return { host, port: Number(port) };
  });
}

function readTlsOptions(caFile: string | null): ConnectionOptions {
  if (caFile === null) return {};
  try {
    return { ca: readFileSync(caFile) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OAuthProfileError('usage', `cannot read the ca_file of the store URL: ${code}`, {
      hint: 'set ca_file to the PEM file of the certificate authority, or remove it and set NODE_EXTRA_CA_CERTS',
    });
  }
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw invalidUrl();
  }
}

/** Does not repeat any part of the URL: a password with an unescaped character may be anywhere. */
function invalidUrl(): OAuthProfileError {
  return new OAuthProfileError('usage', 'the store URL is not a valid Redis URL', {
    hint:
      'use redis://user:password@host:6379/0, rediss:// for TLS (?ca_file=PATH for a private certificate authority), ' +
      'redis+sentinel://host:26379,host:26379/primary-name, redis+cluster://host:6379,host:6379 or unix:///path/to/redis.sock; ' +
      'percent-encode special characters in the password',
  });
}
