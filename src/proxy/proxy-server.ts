import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Rejection } from './access-rules.ts';
import { sendRejection, toRejection } from './error-response.ts';
import { type Destination, Exchange, type Upgrade } from './exchange.ts';
import { respondOnSocket } from './sockets.ts';

/** A request that has ended. */
export interface ProxiedRequest {
  readonly method: string;
  readonly host: string;
  /** Without the query. */
  readonly path: string;
  /** `undefined` if the client left before a response arrived. */
  readonly status: number | undefined;
  /** Size of the response body. */
  readonly bytes: number;
  readonly durationMs: number;
}

/** Decides where a request goes. */
export type FindDestination = (request: IncomingMessage) => Destination | Rejection;

/** Long uploads and idle event streams have no time limit; the headers of a request do. */
const serverOptions = {
  requestTimeout: 0,
  headersTimeout: 60_000,
  keepAliveTimeout: 60_000,
  // NODE_OPTIONS may contain --insecure-http-parser.
  insecureHTTPParser: false,
};

/** Creates an HTTP server that sends requests on. */
export function createProxyServer(
  findDestination: FindDestination,
  onRequest: (request: ProxiedRequest) => void,
): Server {
  const handle = (request: IncomingMessage, response: ServerResponse, detached?: Omit<Upgrade, 'protocol'>): void => {
    const startedAt = performance.now();
    request.on('error', () => {});
    response.on('error', () => {});
    const found = findOrReject(request, detached !== undefined);
    const protocol = request.headers.upgrade ?? '';
    // HTTP/2 is not supported: the request is sent on as a normal one (RFC 9110 §7.8).
    const upgrade = detached === undefined || /^h2c$/i.test(protocol) ? undefined : { ...detached, protocol };
    const exchange = 'target' in found ? new Exchange(request, response, found, upgrade) : undefined;
    response.on('close', () => {
      const { host = '' } = 'target' in found ? found.target.url : request.headers;
      // A URL with a host may contain a password.
      const [path = ''] = ('target' in found ? found.path : (request.url ?? '').replace(/^[^/?]*\/\/[^/?]*/, '')).split(
        '?',
      );
      const status = response.headersSent || response.statusCode === 101 ? response.statusCode : undefined;
      const durationMs = performance.now() - startedAt;
      onRequest({ method: request.method ?? '', host, path, status, bytes: exchange?.bytes ?? 0, durationMs });
    });
    if ('target' in found) void exchange?.start();
    else sendRejection(response, found);
  };
  const findOrReject = (request: IncomingMessage, isDetached: boolean): Destination | Rejection => {
    try {
      return checkMessage(request, isDetached) ?? findDestination(request);
    } catch (error) {
      return toRejection(error);
    }
  };
  const server = createServer(serverOptions, (request, response) => handle(request, response));
  server.on('checkContinue', (request, response) => handle(request, response));
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    handle(request, respondOnSocket(request, socket), { socket, head });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable) return void socket.destroy();
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });
  return server;
}

/** Rejects what cannot be sent on unchanged. `isDetached` is set if Node does not read a body from the socket. */
function checkMessage(
  { method, headers, url = '', httpVersion }: IncomingMessage,
  isDetached: boolean,
): Rejection | undefined {
  const { 'transfer-encoding': encoding, 'content-length': length = '0' } = headers;
  // The response would contain the token.
  if (method === 'TRACE') return { status: 405, message: 'TRACE is not supported', hint: 'use another method' };
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    return { status: 501, message: 'only the transfer encoding chunked is supported', hint: 'omit the others' };
  if (encoding !== undefined && httpVersion === '1.0')
    return { status: 400, message: 'HTTP/1.0 has no transfer encoding', hint: 'use HTTP/1.1, or send a length' };
  if (url.includes('#')) return { status: 400, message: 'the URL has a fragment', hint: 'send it without one' };
  return isDetached && (encoding !== undefined || length !== '0')
    ? { status: 400, message: 'a request to switch protocols has a body', hint: 'send it without one' }
    : undefined;
}
