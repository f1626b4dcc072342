import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type CallerSecret, checkAccess, type Rejection } from './access-rules.ts';
import { sendRejection } from './error-response.ts';
import { type Destination, Exchange, type Upgrade } from './exchange.ts';

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
  const handle = (request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade): void => {
    const startedAt = performance.now();
    request.on('error', () => {});
    response.on('error', () => {});
    const found = checkMessage(request) ?? findDestination(request);
    const exchange = 'target' in found ? new Exchange(request, response, found, upgrade) : undefined;
    response.on('close', () => {
      const [path = ''] = ('target' in found ? found.path : (request.url ?? '')).split('?');
      onRequest({
        method: request.method ?? '',
        host: 'target' in found ? found.target.url.host : (request.headers.host ?? ''),
        path,
        status: response.headersSent || response.statusCode === 101 ? response.statusCode : undefined,
        bytes: exchange?.bytes ?? 0,
        durationMs: performance.now() - startedAt,
      });
    });
    if (exchange !== undefined) void exchange.start();
    else sendRejection(response, found as Rejection);
  };
  const server = createServer(serverOptions, handle);
  server.on('checkContinue', handle);
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    // Node has removed its own listeners from the socket.
    socket.on('drain', () => response.emit('drain'));
    response.on('finish', () => socket.end());
    const protocol = request.headers.upgrade ?? '';
    // HTTP/2 is not supported; the request is a normal one without it (RFC 9110 §7.8).
    handle(request, response, /^h2c$/i.test(protocol) ? undefined : { protocol, socket, head });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable) return void socket.destroy();
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });
  return server;
}
