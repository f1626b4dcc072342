import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import type { Client } from '../client.ts';
import type { Variables } from '../config/variables.ts';
import { InvalidProfileError, OAuthProfileError } from '../errors.ts';
import { matchesOrigin, parseOrigin } from '../profile/options/origins.ts';
import type { Profile } from '../profile/profile.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { createCallerCheck } from './access-rules.ts';
import { ForwardProxy } from './forward-proxy.ts';
import { createProxyServer, type ProxiedRequest } from './proxy-server.ts';
import { toOneTarget } from './reverse-proxy.ts';
import { createTargets } from './target.ts';
import { createTokenHeaders } from './token-headers.ts';

/** Options of a proxy. */
export interface ProxySettings {
  /**
   * `reverse`: the URL of the proxy replaces the origin of the API. `forward`: clients find the proxy in `HTTPS_PROXY`, and trust its certificate
   * authority. Default: `reverse`.
   */
  readonly mode?: 'reverse' | 'forward' | undefined;
  /** Origin of the API in reverse mode. Default: the profile's `options.origins`, if there is one. */
  readonly target?: string | undefined;
  /** Port on 127.0.0.1. Default: any free port. */
  readonly port?: number | undefined;
  /** Path of a Unix socket to listen on instead of a port. */
  readonly socket?: string | undefined;
  /** Whether each request has to contain {@link RunningProxy.callerSecret}. Default: only in forward mode. */
  readonly callerSecret?: boolean | undefined;
  /** Web origins whose pages may send requests to the proxy, such as `['http://localhost:3000']`. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Whether requests to other origins than those of the profiles are rejected, in forward mode. Default: false, they are tunnelled. */
  readonly only?: boolean | undefined;
  /** Called when a request has ended. */
  readonly onRequest?: ((request: ProxiedRequest) => void) | undefined;
}

/** A running proxy. */
export interface RunningProxy {
  /** `http://127.0.0.1:<port>`, with user and password if there is a caller secret; `unix:<path>` for a Unix socket. */
  readonly url: string;
  /** Origin of the API, in reverse mode. */
  readonly target: string | undefined;
  /** Origins whose requests get a token. */
  readonly origins: readonly string[];
  /** Certificate authority that clients have to trust, PEM; in forward mode. Its key exists in memory only. */
  readonly ca: string | undefined;
  /** Required in each request as the password of Basic authentication: to the server, or to the proxy in forward mode. */
  readonly callerSecret: string | undefined;
  /** Closes all connections at once. */
  close(): Promise<void>;
}

/** Starts a proxy that adds the tokens of profiles to requests. It listens on loopback or a Unix socket only. */
export async function startProxy(
  client: Client,
  variables: Variables,
  names: readonly string[],
  settings: ProxySettings,
): Promise<RunningProxy> {
  const { mode = 'reverse', onRequest = () => {}, only = false } = settings;
  const profiles = await Promise.all([...new Set(names)].map((name) => client.loadProfile(name, variables)));
  for (const profile of profiles) if (profile.options.origins.length === 0) throw noOrigins(profile);
  const connector = await client.connector();
  const tokens = profiles.map((profile) => createTokenHeaders(client, profile, variables));
  const findTarget = createTargets(tokens, connector);
  const secret = (settings.callerSecret ?? mode === 'forward') ? randomBytes(24).toString('base64url') : undefined;
  const isCaller = createCallerCheck(secret);
  const allowedOrigins = new Set(settings.allowedOrigins?.map(parseWebOrigin));
  const hosts = new Set<string>();
  if (mode === 'forward') {
    const proxy = new ForwardProxy({ findTarget, connector, allowedOrigins, isCaller, only, onRequest });
    const { url, close } = await listen(proxy.server, settings, hosts, secret);
    return {
      url,
      target: undefined,
      origins: profiles.flatMap(({ options }) => options.origins),
      ca: proxy.certificate,
      callerSecret: secret,
      close,
    };
  }
  const target = findTarget(selectTarget(profiles, settings.target));
  const isSocket = settings.socket !== undefined;
  const find = toOneTarget({ target, hosts: isSocket ? undefined : hosts, allowedOrigins, isCaller });
  const { url, close } = await listen(createProxyServer(find, onRequest), settings, hosts, secret);
  return { url, target: target.url.origin, origins: [target.url.origin], ca: undefined, callerSecret: secret, close };
}

/** An origin as browsers send it. Extensions have schemes of their own. */
function parseWebOrigin(text: string): string {
  const [, origin] = /^([a-z][a-z\d+.-]*:\/\/[^\s/?#@]+)\/?$/.exec(text.toLowerCase()) ?? [];
  if (origin !== undefined) return origin;
  throw new OAuthProfileError('usage', `${escapeControls(text)} is not the origin of a web page`, {
    hint: 'write scheme, host and port, such as http://localhost:3000',
  });
}

/** The origin that a reverse proxy stands for. */
function selectTarget([profile]: readonly Profile[], given: string | undefined): URL {
  const { name = '', options } = profile ?? {};
  const { origins = [] } = options ?? {};
  const origin = given === undefined ? origins[0] : parseOrigin(given);
  if (given !== undefined && (origin === undefined || !matchesOrigin(origins, new URL(origin)))) {
    throw new OAuthProfileError('usage', `the target is not an origin of ${name}`, {
      hint: `choose one of ${origins.join(', ')}, or add it to ${name}.options.origins`,
    });
  }
  if (given === undefined && (origins.length > 1 || origin?.includes('*'))) {
    throw new OAuthProfileError('usage', `${name} has more than one origin: ${origins.join(', ')}`, {
      hint: 'choose one with --target',
    });
  }
  return new URL(origin ?? '');
}

/** Listens, and adds the accepted values of the Host header to `hosts`. */
async function listen(
  server: Server,
  { port = 0, socket: path }: ProxySettings,
  hosts: Set<string>,
  secret: string | undefined,
): Promise<Pick<RunningProxy, 'url' | 'close'>> {
  // The server forgets sockets that were upgraded or tunnelled.
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  try {
    await once(path === undefined ? server.listen(port, '127.0.0.1') : listenOnSocket(server, path), 'listening');
  } catch (error) {
    throw listenError(path ?? `127.0.0.1:${port}`, error as NodeJS.ErrnoException);
  }
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  if (path !== undefined) return { url: `unix:${path}`, close };
  const { port: actual } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost']) {
    hosts.add(`${host}:${actual}`);
    if (actual === 80) hosts.add(host);
  }
  return { url: `http://${secret === undefined ? '' : `proxy:${secret}@`}127.0.0.1:${actual}`, close };
}

/** Only this user may connect. A worker thread cannot set the umask, so that the mode is set right after the socket is created. */
function listenOnSocket(server: Server, path: string): Server {
  const umask = isMainThread ? process.umask(0o177) : undefined;
  server.listen(path);
  if (umask !== undefined) process.umask(umask);
  if (server.listening) chmodSync(path, 0o600);
  return server;
}

function noOrigins({ name }: Profile): InvalidProfileError {
  const variable = `${name}.options.origins`;
  const hint = `set ${variable} to the origins of the APIs that get the token, such as https://api.example.com`;
  return new InvalidProfileError(name, [{ variable, message: 'is not set', hint }]);
}

function listenError(endpoint: string, { code = '' }: NodeJS.ErrnoException): OAuthProfileError {
  const reasons: Record<string, string> = { EADDRINUSE: 'address in use', EACCES: 'permission denied' };
  return new OAuthProfileError('usage', `cannot listen on ${endpoint}: ${reasons[code] ?? code}`, {
    hint: endpoint.startsWith('127.')
      ? 'choose another port'
      : 'choose another path, or delete the file if no proxy uses it',
  });
}
