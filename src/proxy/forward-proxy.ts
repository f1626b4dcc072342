import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { CertificateAuthority } from '../certificates/certificate.ts';
import type { Connector } from '../http/connector.ts';
import { endpointOf } from '../http/endpoint.ts';
import type { ConnectionAttempt } from '../http/tunnel.ts';
import { parseStrictUrl } from '../profile/url.ts';
import { type CallerCheck, checkAccess, type Rejection } from './access-rules.ts';
import { sendRejection, toRejection } from './error-response.ts';
import { createProxyServer, type FindDestination, type ProxiedRequest } from './proxy-server.ts';
import { notAPath } from './reverse-proxy.ts';
import { joinSockets, respondOnSocket } from './sockets.ts';
import type { FindTarget, Target } from './target.ts';

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';

/** Options of a proxy that clients find in HTTPS_PROXY. */
export interface ForwardOptions {
  readonly findTarget: FindTarget;
  readonly connector: Connector;
  readonly allowedOrigins: ReadonlySet<string>;
  readonly isCaller: CallerCheck;
  /** Whether requests to other origins than those of the profiles are rejected. */
  readonly only: boolean;
  readonly onRequest: (request: ProxiedRequest) => void;
}

/** Adds tokens to the requests for the origins of profiles; everything else is tunnelled. */
export class ForwardProxy {
  readonly server: Server;
  /** Handles the requests inside of tunnels that end here. */
  readonly #inner: Server;
  readonly #targetOf = new WeakMap<object, Target>();
  readonly #authority = new CertificateAuthority('oauth-profile proxy (temporary CA)');
  readonly #contexts = new Map<string, SecureContext>();

  constructor(readonly options: ForwardOptions) {
    this.server = createProxyServer((request) => this.#findByUrl(request), options.onRequest);
    this.#inner = createProxyServer((request) => this.#findBySocket(request), options.onRequest);
    this.server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#onConnect(request, socket, head);
    });
  }

  /** PEM. */
  get certificate(): string {
    return this.#authority.certificate;
  }

  /** A request with a complete URL, as clients send it for http: (RFC 9112 §3.2.2). */
  #findByUrl({ url: text = '', rawHeaders, headers }: IncomingMessage): ReturnType<FindDestination> {
    if (!this.options.isCaller(headers['proxy-authorization'])) return unknownCaller;
    const url = parseStrictUrl(text);
    if (!(url instanceof URL)) return notAUrl;
    const target = this.options.findTarget(url);
    const path = text.replace(/^https?:\/\/[^/?]+/i, '');
    return this.#check(target, rawHeaders) ?? { target, path: path.startsWith('/') ? path : `/${path}` };
  }

  #findBySocket({ url = '', rawHeaders, socket }: IncomingMessage): ReturnType<FindDestination> {
    const target = this.#targetOf.get(socket);
    if (target === undefined || !url.startsWith('/')) return notAPath;
    const { host } = target.url;
    const hosts = new Set([host, `${host}:${endpointOf(target.url).port}`]);
    return this.#check(target, rawHeaders, hosts) ?? { target, path: url };
  }

  #check(target: Target, headers: readonly string[], hosts?: ReadonlySet<string>): Rejection | undefined {
    const { only, allowedOrigins: origins } = this.options;
    if (target.tokens === undefined) return only ? otherOrigin(target.url) : undefined;
    return checkAccess(headers, { hosts, origins, ownOrigin: target.url.origin });
  }

  #onConnect(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const response = respondOnSocket(request, socket);
    const { findTarget, only, isCaller } = this.options;
    const url = parseStrictUrl(`https://${request.url}`);
    const isEndpoint = url instanceof URL && url.href === `${url.origin}/` && /:\d+$/.test(request.url ?? '');
    const isKnown = isCaller(request.headers['proxy-authorization']);
    if (!isKnown || !isEndpoint) {
      sendRejection(response, isKnown ? notAUrl : unknownCaller);
      return;
    }
    try {
      // Some clients also use CONNECT for http:, for example for WebSockets.
      const target = [url, new URL(`http://${request.url}`)].map(findTarget).find(({ tokens }) => tokens);
      if (target !== undefined) {
        response.detachSocket(socket);
        this.#terminate(socket, head, target);
      } else if (only) sendRejection(response, otherOrigin(url));
      else this.#tunnel(response, socket, head, url);
    } catch (error) {
      sendRejection(response, toRejection(error));
    }
  }

  /** Ends a tunnel here, so that the token can be added to its requests. */
  #terminate(socket: Socket, head: Buffer, target: Target): void {
    socket.write(ESTABLISHED);
    if (head.length > 0) socket.unshift(head);
    let inner = socket;
    if (target.url.protocol === 'https:') {
      const secureContext = this.#contextFor(endpointOf(target.url).host);
      inner = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] });
      inner.on('error', () => inner.destroy());
    }
    this.#targetOf.set(inner, target);
    this.#inner.emit('connection', inner);
  }

  #tunnel(response: ReturnType<typeof respondOnSocket>, socket: Socket, head: Buffer, url: URL): void {
    const startedAt = performance.now();
    const attempt: ConnectionAttempt = { profile: undefined, cancel: undefined };
    let bytes = 0;
    socket.on('close', () => {
      attempt.cancel?.();
      const status = response.headersSent ? response.statusCode : 200;
      const durationMs = performance.now() - startedAt;
      this.options.onRequest({ method: 'CONNECT', host: url.host, path: '', status, bytes, durationMs });
    });
    this.options.connector.connect(url, attempt).then(
      (upstream) => {
        socket.write(ESTABLISHED);
        upstream.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        joinSockets(socket, upstream, head);
        if (socket.destroyed) upstream.destroy();
      },
      (error) => sendRejection(response, toRejection(error)),
    );
  }

  #contextFor(host: string): SecureContext {
    let context = this.#contexts.get(host);
    if (context === undefined) {
      context = createSecureContext({ cert: this.#authority.issue([host]), key: this.#authority.leafKeyPem });
      this.#contexts.set(host, context);
    }
    return context;
  }
}

const unknownCaller: Rejection = {
  status: 407,
  message: 'the request does not contain the caller secret',
  hint: 'use the whole URL in HTTPS_PROXY, with its user and password',
};

const notAUrl: Rejection = {
  status: 400,
  message: 'the request target is not a URL',
  hint: 'this is a forward proxy: use it in HTTPS_PROXY, not as the URL of an API',
};

function otherOrigin({ host }: URL): Rejection {
  return {
    status: 403,
    message: `${host} is not an origin of the profiles`,
    hint: 'add it to options.origins of a profile, or omit --only',
  };
}
