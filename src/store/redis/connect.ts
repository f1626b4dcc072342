import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Cluster, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import { OAuthProfileError } from '../../errors.ts';
import { readTextFile } from '../../files/read-file.ts';
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

const HOST = String.raw`(?:\[[\da-fA-F:.]+\]|[\w.-]+)(?::\d{1,5})?`;
const LOGIN = '(?:(?<username>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?';
const QUERY = String.raw`(?:\?(?<query>[^#]*))?`;
const URL_PATTERNS = [
  String.raw`rediss?://${LOGIN}(?<hosts>${HOST})/?(?<db>\d{0,5})`,
  String.raw`rediss?\+sentinel://${LOGIN}(?<hosts>${HOST}(?:,${HOST})*)/(?<name>[^/?#]+)(?:/(?<db>\d{1,5}))?`,
  String.raw`rediss?\+cluster://${LOGIN}(?<hosts>${HOST}(?:,${HOST})*)/?`,
  `unix://${LOGIN}(?<path>/[^?#]+)`,
].map((pattern) => new RegExp(`^${pattern}${QUERY}$`));
const PARAMETERS = ['db', 'ca_file', 'sentinel_username', 'sentinel_password'];

/**
 * Parses the URL of a store. The query parameter `ca_file` names the PEM file of the only certificate authority to trust; without it, Node's
 * certificate authorities and NODE_EXTRA_CA_CERTS apply. Passwords are registered as secrets before anything can fail.
 */
export function parseRedisUrl(url: string): RedisTarget {
  registerPasswords(url);
  const groups = URL_PATTERNS.map((pattern) => pattern.exec(url)?.groups).find((found) => found !== undefined);
  const { username = '', password = '', hosts = '', name = '', db: dbInPath, path = '', query } = groups ?? {};
  const isSentinel = url.includes('+sentinel:');
  const nodes = hosts === '' ? [] : hosts.split(',').map((host) => parseHost(host, isSentinel ? 26379 : 6379));
  const parameters = new URLSearchParams(query);
  const db = Number(parameters.get('db') ?? dbInPath ?? 0);
  const isKnown = [...parameters.keys()].every((parameter) => PARAMETERS.includes(parameter));
  if (groups === undefined || !isKnown || !Number.isInteger(db)) throw invalidUrl();

  const tls = url.startsWith('rediss') ? readTlsOptions(parameters.get('ca_file')) : undefined;
  const common = { username: decode(username), password: decode(password), ...(tls && { tls }) };
  const options = { ...SINGLE_OPTIONS, ...common, db };
  const [sentinelName, socket] = [decode(name), decode(path)];
  const createClient = async (): Promise<Redis | Cluster> => {
    const { Cluster, Redis } = await import('ioredis');
    if (url.includes('+cluster:')) {
      return new Cluster(nodes, { ...CLUSTER_OPTIONS, redisOptions: { ...NODE_OPTIONS, ...common } });
    }
    if (isSentinel) {
      return new Redis({
        ...options,
        name: sentinelName,
        sentinels: nodes,
        sentinelUsername: parameters.get('sentinel_username') ?? '',
        sentinelPassword: parameters.get('sentinel_password') ?? '',
        ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
      });
    }
    const [node] = nodes;
    if (node === undefined) return new Redis({ ...options, path: socket });
    // Node sends the server name (SNI) only if it is set, and it must not be an IP address.
    return new Redis({
      ...options,
      ...node,
      ...(tls && !isIP(node.host) && { tls: { ...tls, servername: node.host } }),
    });
  };
  return { location: url.replace(/\/\/[^/?#]*@/, '//').replace(/\?.*/s, ''), hosts: hosts || path, createClient };
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

function parseHost(value: string, defaultPort: number): { host: string; port: number } {
  const [, host = '', port = defaultPort] = /^\[?([^\]]+?)\]?(?::(\d+))?$/.exec(value) ?? [];
  if (Number(port) < 1 || Number(port) > 65_535) throw invalidUrl();
  return { host, port: Number(port) };
}

function readTlsOptions(caFile: string | null): ConnectionOptions {
  // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 would disable it.
  if (caFile === null) return { rejectUnauthorized: true };
  let problem = 'the file does not exist';
  try {
    const ca = readTextFile(caFile, 'the file');
    if (ca !== undefined) return { rejectUnauthorized: true, ca };
  } catch (error) {
    problem = (error as Error).message;
  }
  throw new OAuthProfileError('usage', `cannot read the ca_file of the store URL: ${problem}`, {
    hint: 'set ca_file to the PEM file of the certificate authority, or remove it and set NODE_EXTRA_CA_CERTS',
  });
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
