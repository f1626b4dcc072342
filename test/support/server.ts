import { once } from 'node:events';
import {
  createServer as createHttp,
  type IncomingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Pair } from './certificates.ts';

/** Options of a TLS server; without them it speaks plain HTTP. */
export interface TlsSettings extends Pair {
  /** Certificate authority of the required client certificates. */
  readonly clientCa?: string;
}

/** A server on the loopback interface that records its connections. */
export class LocalServer {
  readonly sockets: Socket[] = [];

  constructor(
    readonly server: Server,
    readonly scheme: 'http' | 'https' = 'http',
  ) {
    server.on('connection', (socket: Socket) => {
      this.sockets.push(socket);
      // Tests check errors of connections on the client's side.
      socket.on('error', () => {});
    });
    server.on('tlsClientError', () => {});
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `${this.scheme}://127.0.0.1:${this.port}`;
  }

  get connections(): number {
    return this.sockets.length;
  }

  /** Resolves when every connection made so far is closed, seen from the server. */
  async allClosed(): Promise<void> {
    await Promise.all(this.sockets.filter((socket) => !socket.destroyed).map(closeOf));
  }

  /** Starts the server. */
  async listen(port = 0): Promise<this> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  /** Starts the server; it is stopped after the test. */
  async start(port = 0): Promise<this> {
    await this.listen(port);
    onTestFinished(() => this.stop());
    return this;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }
}

/** Resolves when the connection is closed, with or without an error. */
function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}

/** The arguments of {@link LocalServer} for HTTP, with TLS if there is a certificate. */
export function forHttp(tls: TlsSettings | undefined): [server: Server, scheme: 'http' | 'https'] {
  if (tls === undefined) return [createHttp(), 'http'];
  const { cert, key, clientCa: ca } = tls;
  const clients = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true };
  return [createHttps({ cert, key, ...clients }), 'https'];
}

/** A running HTTP server with this handler. */
export function startServer(handle: RequestListener, tls?: Pair): Promise<LocalServer> {
  const local = new LocalServer(...forHttp(tls));
  local.server.on('request', handle);
  return local.start();
}

/** A running TCP server. */
export function serveRaw(onConnection: (socket: Socket, number: number) => void): Promise<TokenServer> {
  const local = new TokenServer(createTcp());
  local.server.on('connection', (socket) => onConnection(socket, local.connections));
  return local.start();
}

/** A running server that reads a request up to the end of its body and then writes these bytes. */
export function serveBytes(bytes: string | Buffer, then: (socket: Socket) => void = () => {}): Promise<TokenServer> {
  return serveRaw((socket) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!isComplete(text)) return;
      text = '';
      socket.write(bytes);
      then(socket);
    });
  });
}

/** Whether the received bytes are a whole request with a Content-Length. */
export function isComplete(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = Number(/^content-length: (\d+)\r?$/im.exec(text)?.[1] ?? 0);
  return end >= 0 && text.length >= end + 4 + length;
}

/** A port on which no server listens. */
export async function closedPort(): Promise<number> {
  const local = await new LocalServer(createTcp()).listen();
  const { port } = local;
  await local.stop();
  return port;
}

/** A request as an API received it. */
export interface ApiCall {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** Handles a request to an API. */
export type ApiHandler = (call: ApiCall, response: ServerResponse) => void;

/** A running API. */
export class ApiServer extends LocalServer {
  readonly calls: ApiCall[] = [];

  static start(handle: ApiHandler, tls?: Pair): Promise<ApiServer> {
    const api = new ApiServer(...forHttp(tls));
    onCall(api, (call, response) => {
      api.calls.push(call);
      handle(call, response);
    });
    return api.start();
  }

  /** The only request. */
  get call(): ApiCall {
    const [call, ...others] = this.calls;
    if (call === undefined || others.length > 0) throw new Error(`expected one request, received ${this.calls.length}`);
    return call;
  }

  /** A header of each request. */
  sent(header: string): unknown[] {
    return this.calls.map(({ headers }) => headers[header.toLowerCase()]);
  }
}

/** Calls `handle` with each request, when its body is complete. */
function onCall({ server }: LocalServer, handle: ApiHandler): void {
  server.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url: path, headers, rawHeaders } = request;
      handle({ method, path, headers, rawHeaders, body: Buffer.concat(chunks) }, response);
    });
  });
}

/** Responds with JSON. */
export const json =
  (body: unknown, status = 200): ApiHandler =>
  (_call, response) =>
    giveJson(response, status, body);

/** Responds with these bytes. */
export const bytes =
  (body: Uint8Array | string, type?: string, headers: Record<string, string> = {}): ApiHandler =>
  (_call, response) => {
    response.writeHead(200, { ...(type !== undefined && { 'Content-Type': type }), ...headers }).end(body);
  };

/** Responds by path; 404 for any other path. */
export const routes =
  (handlers: Record<string, ApiHandler>): ApiHandler =>
  (call, response) => {
    const handle = handlers[call.path ?? ''];
    if (handle === undefined) response.writeHead(404).end();
    else handle(call, response);
  };

/** Responds with a redirect. */
export const redirect =
  (status: number, location: string): ApiHandler =>
  (_call, response) => {
    response.writeHead(status, { Location: location }).end('moved');
  };

/** A request as a token endpoint received it. */
export interface TokenCall extends Omit<ApiCall, 'body'> {
  readonly body: string;
  /** Counted from 1. */
  readonly number: number;
}

/** Handles a request to a token endpoint. */
export type TokenHandler = (response: ServerResponse, request: TokenCall) => void;

/** A token endpoint that records its requests. */
export class TokenServer extends LocalServer {
  readonly requests: TokenCall[] = [];

  get url(): string {
    return `${this.origin}/token`;
  }
}

/** A token endpoint that has not been started. */
export function createTokenServer(handle: TokenHandler = giveToken, tls?: TlsSettings): TokenServer {
  const local = new TokenServer(...forHttp(tls));
  onCall(local, ({ body, ...call }, response) => {
    const request = { ...call, body: body.toString(), number: local.requests.length + 1 };
    local.requests.push(request);
    handle(response, request);
  });
  return local;
}

/** A running token endpoint, which is stopped after the test. Only the client and the test close idle connections. */
export function serve(handle?: TokenHandler, tls?: TlsSettings): Promise<TokenServer> {
  const local = createTokenServer(handle, tls);
  Object.assign(local.server, { keepAliveTimeout: 0 });
  return local.start();
}

/** A running token endpoint, which a test has to stop. */
export function startTokenServer(handle: TokenHandler): Promise<TokenServer> {
  return createTokenServer(handle).listen();
}

/** Responds with a token. */
export function giveToken(response: ServerResponse): void {
  giveJson(response, 200, { access_token: 'given-access-token', token_type: 'Bearer', expires_in: 3600 });
}

/** Responds with JSON. */
export function giveJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}
