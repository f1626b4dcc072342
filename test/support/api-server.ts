import { once } from 'node:events';
import { createServer as createHttp, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createCallApi } from '../../src/http/call-api.ts';
import { createConnector } from '../../src/http/connector.ts';
import type { ApiLimits, ApiRequest, CallApi, EmulatorEndpoint, Environment } from '../../src/ports.ts';
import type { Pair } from './certificates.ts';

/** A request as an API saw it, its body byte for byte. */
export interface SeenCall {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** What an API does with a request. */
export type ApiAnswer = (call: SeenCall, response: ServerResponse) => void;

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

  static async start(answer: ApiAnswer, tls?: Pair): Promise<ApiServer> {
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
        answer(call, response);
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
    if (call === undefined || others.length > 0) throw new Error(`it was called ${this.calls.length} times`);
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

/** Answers with JSON. */
export const json =
  (body: unknown, status = 200): ApiAnswer =>
  (_call, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };

/** Answers with these bytes. */
export const bytes =
  (body: Uint8Array | string, type?: string, headers: Record<string, string> = {}): ApiAnswer =>
  (_call, response) => {
    response.writeHead(200, { ...(type !== undefined && { 'Content-Type': type }), ...headers }).end(body);
  };

/** Answers by path; everything else is not found. */
export const routes =
  (answers: Record<string, ApiAnswer>): ApiAnswer =>
  (call, response) => {
    const answer = answers[call.path ?? ''];
    if (answer === undefined) response.writeHead(404).end();
    else answer(call, response);
  };

/** Leads elsewhere. */
export const redirect =
  (status: number, location: string): ApiAnswer =>
  (_call, response) => {
    response.writeHead(status, { Location: location }).end('moved');
  };

/** The real transport of API requests, with these proxy variables. */
export function callApiWith(env: Environment = {}, emulator?: EmulatorEndpoint): CallApi {
  return createCallApi(createConnector(env, emulator));
}

/** A request as a command hands it to the transport. */
export function apiGet(url: string, changes: Partial<ApiRequest> = {}): ApiRequest {
  return { method: 'GET', url: new URL(url), headers: [], body: undefined, ...changes };
}

/** Bounds that a healthy local exchange never meets. */
export function apiBounds(changes: Partial<ApiLimits> = {}): ApiLimits {
  return { timeoutMs: 10_000, signal: undefined, maxBytes: 1_048_576, ...changes };
}
