import { type ClientRequest, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { OAuthProfileError } from '../errors.ts';
import { toNetworkError } from '../http/network-errors.ts';
import type { ConnectionAttempt } from '../http/tunnel.ts';
import { sendRejection, toRejection } from './error-response.ts';
import { rewriteLocation, toReasonPhrase, toRequestHeaders, toResponseHeaders, toTrailers } from './header-rules.ts';
import { joinSockets } from './sockets.ts';
import { isIdempotent, type Target } from './target.ts';
import type { Authorization } from './token-headers.ts';

/** A body of at most this size is held until the response arrives, so that the request can be repeated with a new token. */
const MAX_HELD_BYTES = 65_536;
const NO_NAMES: ReadonlySet<string> = new Set();

/** Where a request goes. */
export interface Destination {
  readonly target: Target;
  /** Path and query, as received. */
  readonly path: string;
  /** Host of the proxy, for redirects. Default: redirects are not rewritten. */
  readonly proxyHost?: string | undefined;
}

/** A request to switch protocols, such as to a WebSocket. */
export interface Upgrade {
  readonly protocol: string;
  readonly socket: Duplex;
  /** Bytes that were received after the request. */
  readonly head: Buffer;
}

/**
 * Sends one request on and returns its response. Both bodies are streamed. A client that leaves ends the request to the API. If the API rejects the
 * token, the request is repeated once with a new one.
 */
export class Exchange {
  readonly #method: string;
  readonly #hasBody: boolean;
  #upstream: ClientRequest | undefined;
  #attempt: ConnectionAttempt | undefined;
  /** The body so far; `undefined` once it is larger than the limit. */
  #held: Buffer[] | undefined = [];
  #heldBytes = 0;
  #isReading = false;
  #isContinued = false;
  #isReplayed = false;
  #hasResponse = false;
  #bytes = 0;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly destination: Destination,
    readonly upgrade: Upgrade | undefined,
  ) {
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
    this.#method = request.method ?? 'GET';
    this.#hasBody = encoding !== undefined || length !== '0';
    response.on('close', () => {
      if (!response.writableFinished) this.#abort();
      // The client still sends its body. Node no longer reports on the request if it leaves now.
      else if (this.#hasBody && !request.complete) request.socket.once('close', () => this.#abort());
    });
  }

  /** Bytes of the response body that have been received. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Gets the token and sends the request. `isRepeated` is set if a reused connection has lost it. */
  async start(isRepeated = false): Promise<void> {
    const { target, path } = this.destination;
    try {
      const authorization = await target.tokens?.authorize(this.#method, new URL(target.url.origin + path));
      if (!this.response.destroyed) this.#send(authorization, isRepeated);
    } catch (error) {
      this.#fail(error);
    }
  }

  #send(authorization: Authorization | undefined, isRepeated: boolean): void {
    const { target, path } = this.destination;
    const { tokens, url } = target;
    const route = target.route(this.#method, isRepeated);
    const attempt: ConnectionAttempt = { profile: tokens?.profile.name, cancel: undefined };
    const headers = toRequestHeaders(this.request.rawHeaders, {
      method: this.#method,
      host: url.host,
      removed: tokens?.names ?? NO_NAMES,
      added: authorization?.headers ?? [],
      upgrade: this.upgrade?.protocol,
    });
    if (route.headers !== undefined) headers.push(...Object.entries(route.headers).flat());
    const options = { method: this.#method, headers, attempt, insecureHTTPParser: false, ...route.options };
    // The path is not normalized. A proxy that forwards the request gets a complete URL.
    const upstream = route.request({ ...options, path: route.headers === undefined ? path : url.origin + path });
    this.#upstream = upstream;
    this.#attempt = attempt;
    let isConnected = upstream.reusedSocket;
    if (!isConnected) {
      upstream.once('socket', (socket) => {
        socket.once(route.connectEvent, () => {
          isConnected = true;
        });
      });
    }
    upstream.on('response', (received: IncomingMessage) => {
      const error = route.toResponseError?.(received);
      if (error === undefined) this.#onResponse(received, authorization);
      else this.#fail(error);
    });
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      if (upstream !== this.#upstream || this.#hasResponse) return;
      const isLost = upstream.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      const canRepeat = isLost && !isRepeated && isIdempotent(this.#method) && this.#held !== undefined;
      if (canRepeat) void this.start(true);
      else if (error instanceof OAuthProfileError) this.#fail(error);
      else if (!isConnected && route.toConnectError !== undefined) this.#fail(route.toConnectError(error));
      else this.#fail(toNetworkError(error, { url, profile: attempt.profile }, isConnected));
    });
    upstream.on('upgrade', (received: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#onUpgrade(received, socket, head);
    });
    if (this.#hasBody) this.#sendBody(upstream);
    else upstream.end();
  }

  #sendBody(upstream: ClientRequest): void {
    const { request } = this;
    if (request.headers.expect !== undefined) upstream.on('continue', () => this.#onContinue());
    upstream.on('drain', () => request.resume());
    // The server may respond before the body arrives, for example with 100 (Continue).
    upstream.flushHeaders();
    for (const chunk of this.#held ?? []) upstream.write(chunk);
    if (request.readableEnded) this.#endBody();
    else if (this.#isReading) request.resume();
    else {
      this.#isReading = true;
      request.on('data', (chunk: Buffer) => this.#onData(chunk));
      request.on('end', () => this.#endBody());
    }
  }

  #onContinue(): void {
    if (!this.#isContinued) this.response.writeContinue();
    this.#isContinued = true;
  }

  #onData(chunk: Buffer): void {
    this.#heldBytes += chunk.length;
    if (this.#heldBytes > MAX_HELD_BYTES) this.#held = undefined;
    else this.#held?.push(chunk);
    // A server may respond and close the connection before it has read the whole request.
    if (this.#upstream?.destroyed === false && !this.#upstream.write(chunk)) this.request.pause();
  }

  #endBody(): void {
    const upstream = this.#upstream;
    if (upstream === undefined || upstream.destroyed) return;
    const { rawTrailers } = this.request;
    if (rawTrailers.length > 0)
      upstream.addTrailers(toTrailers(rawTrailers, this.destination.target.tokens?.names ?? NO_NAMES));
    upstream.end();
  }

  #onResponse(received: IncomingMessage, authorization: Authorization | undefined): void {
    const { statusCode: status = 502, statusMessage, rawHeaders } = received;
    received.on('error', () => {});
    if (authorization?.isRejectedBy(received) && !this.#isReplayed && this.#held !== undefined) {
      this.#replay(received);
      return;
    }
    const { target, proxyHost } = this.destination;
    const { request, response } = this;
    this.#hasResponse = true;
    const toLocation =
      proxyHost === undefined ? undefined : (location: string) => rewriteLocation(location, target.url, proxyHost);
    response.sendDate = false;
    // A client that still waits for 100 (Continue) will not send its body, so this connection cannot be used again.
    if (request.headers.expect !== undefined && !request.complete) response.shouldKeepAlive = false;
    try {
      response.writeHead(status, toReasonPhrase(statusMessage), toResponseHeaders(rawHeaders, toLocation));
    } catch (error) {
      this.#fail(error);
      return;
    }
    received.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length;
      if (!response.write(chunk)) received.pause();
    });
    response.on('drain', () => received.resume());
    received.on('end', () => {
      target.markUsed();
      if (received.rawTrailers.length > 0) response.addTrailers(toTrailers(received.rawTrailers, NO_NAMES));
      response.end();
    });
    // The response is incomplete, and must not look complete to the client.
    received.on('error', () => response.destroy());
    // The first event of a stream may come long after the headers.
    setImmediate(() => {
      if (this.#bytes === 0 && !response.writableEnded && !response.destroyed) response.flushHeaders();
    });
  }

  #replay(received: IncomingMessage): void {
    const rejected = this.#upstream;
    this.#isReplayed = true;
    this.#upstream = undefined;
    this.request.pause();
    if (rejected?.writableFinished) received.resume();
    else rejected?.destroy();
    void this.start();
  }

  #onUpgrade(received: IncomingMessage, upstream: Duplex, head: Buffer): void {
    const { upgrade } = this;
    if (upgrade === undefined) {
      upstream.destroy();
      this.#fail(undefined);
      return;
    }
    this.#hasResponse = true;
    const headers = toResponseHeaders(received.rawHeaders);
    headers.push('Connection', 'Upgrade', 'Upgrade', received.headers.upgrade ?? upgrade.protocol);
    let message = `HTTP/1.1 101 ${STATUS_CODES[101]}\r\n`;
    for (let index = 0; index < headers.length; index += 2) message += `${headers[index]}: ${headers[index + 1]}\r\n`;
    this.response.statusCode = 101;
    upgrade.socket.write(`${message}\r\n`, 'latin1');
    if (head.length > 0) upstream.unshift(head);
    joinSockets(upgrade.socket, upstream, upgrade.head);
    upstream.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length;
    });
  }

  #abort(): void {
    this.#attempt?.cancel?.();
    this.#upstream?.destroy();
  }

  #fail(error: unknown): void {
    this.#abort();
    sendRejection(this.response, toRejection(error));
  }
}
