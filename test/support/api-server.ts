import { once } from 'node:events';
import { createServer as createHttp, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createCallApi } from '../../src/http/call-api.ts';
import { createConnector } from '../../src/http/connector.ts';
import type { ApiLimits, ApiRequest, CallApi, EmulatorEndpoint, Environment } from '../../src/ports.ts';
import type { Pair } from './certificates.ts';

/** A request as an API received it. */
export interface SeenCall {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** Handles a request to an API. */
export type ApiHandler = (call: SeenCall, response: ServerResponse) => void;

/** A running API on loopback. */
export class ApiServer {
  readonly calls: SeenCall[] = [];
  readonly sockets: Socket[] = [];

  private constructor(
    readonly server: Server,
    readonly scheme: 'http' | 'https',
  ) {
    server.on('connection', (socket: Socket) => {
      this.sockets.push(socket);
      socket.on('error', () => {});
    });
  }

  static async start(handle: ApiHandler, tls?: Pair): Promise<ApiServer> {
    const server = tls === undefined ? createHttp() : createHttps({ cert: tls.cert, key: tls.key });
    const api = new ApiServer(server, tls === undefined ? 'http' : 'https');
    server.on('tlsClientError', () => {});
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('error', () => {});
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url: path, headers, rawHeaders } = request;
        const call = { method, path, headers, rawHeaders, body: Buffer.concat(chunks) };
        api.calls.push(call);
        handle(call, response);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => api.stop());
    return api;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `${this.scheme}://127.0.0.1:${this.port}`;
  }

  /** The only request. */
  get call(): SeenCall {
    const [call, ...others] = this.calls;
    if (call === undefined || others.length > 0) throw new Error(`expected one request, received ${this.calls.length}`);
    return call;
  }

  /** A header of each request. */
  sent(header: string): unknown[] {
    return this.calls.map(({ headers }) => headers[header.toLowerCase()]);
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }
}

/** Responds with JSON. */
export const json =
  (body: unknown, status = 200): ApiHandler =>
  (_call, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };

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

/** The real transport of API requests, with these proxy variables. */
export function callApiWith(env: Environment = {}, emulator?: EmulatorEndpoint): CallApi {
  return createCallApi(createConnector(env, emulator));
}

/** A GET request, with changes. */
export function apiGet(url: string, changes: Partial<ApiRequest> = {}): ApiRequest {
  return { method: 'GET', url: new URL(url), headers: [], body: undefined, ...changes };
}

/** Limits that a local request does not reach. */
export function apiBounds(changes: Partial<ApiLimits> = {}): ApiLimits {
  return { timeoutMs: 10_000, signal: undefined, maxBytes: 1_048_576, ...changes };
}
