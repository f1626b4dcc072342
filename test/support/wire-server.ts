import { once } from 'node:events';
import { createServer as createHttp, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Pair } from './certificates.ts';

/** A request as it arrived. */
export interface Arrived {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** Counted from 1. */
  readonly number: number;
}

/** A local server that records requests and connections. */
export class WireServer {
  readonly requests: Arrived[] = [];
  readonly sockets: Socket[] = [];

  constructor(
    readonly server: Server,
    readonly scheme: 'http' | 'https',
  ) {
    server.on('connection', (socket: Socket) => {
      this.sockets.push(socket);
      // Tests check errors of connections on the client's side.
      socket.on('error', () => {});
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.scheme}://127.0.0.1:${this.port}/token`;
  }

  get connections(): number {
    return this.sockets.length;
  }

  /** Resolves when every connection made so far is closed, seen from the server. */
  async allClosed(): Promise<void> {
    await Promise.all(this.sockets.filter((socket) => !socket.destroyed).map(closeOf));
  }

  async start(port = 0): Promise<this> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
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
export function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}

type Handler = (response: ServerResponse, request: Arrived) => void;

/** Options of a TLS server; without them it speaks plain HTTP. */
export interface TlsSettings extends Pair {
  /** Certificate authority of the required client certificates. */
  readonly clientCa?: string;
}

/** An HTTP server that has not been started. */
export function httpServer(handle: Handler = giveToken, tls?: TlsSettings): WireServer {
  const server =
    tls === undefined
      ? createHttp()
      : createHttps({
          cert: tls.cert,
          key: tls.key,
          ...(tls.clientCa !== undefined && { ca: tls.clientCa, requestCert: true, rejectUnauthorized: true }),
        });
  const wire = new WireServer(server, tls === undefined ? 'http' : 'https');
  // Idle connections are closed by the client or by the test.
  server.keepAliveTimeout = 0;
  server.on('tlsClientError', () => {});
  server.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url: path, headers, rawHeaders } = request;
      const body = Buffer.concat(chunks).toString();
      const arrived = { method, path, headers, rawHeaders, body, number: wire.requests.length + 1 };
      wire.requests.push(arrived);
      handle(response, arrived);
    });
  });
  return wire;
}

/** A running HTTP server. */
export function serve(handle?: Handler, tls?: TlsSettings): Promise<WireServer> {
  return httpServer(handle, tls).start();
}

/** A running TCP server. */
export function serveRaw(onConnection: (socket: Socket, number: number) => void): Promise<WireServer> {
  const server = createTcp();
  const wire = new WireServer(server, 'http');
  server.on('connection', (socket) => onConnection(socket, wire.connections));
  return wire.start();
}

/** A running server that reads a request up to the end of its body and then writes these bytes. */
export function serveBytes(bytes: string | Buffer, then: (socket: Socket) => void = () => {}): Promise<WireServer> {
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

/** Responds with a token. */
export function giveToken(response: ServerResponse): void {
  giveJson(response, 200, { access_token: 'given-access-token', token_type: 'Bearer', expires_in: 3600 });
}

/** Responds with JSON. */
export function giveJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** A port on which no server listens. */
export async function closedPort(): Promise<number> {
  const server = createTcp().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
