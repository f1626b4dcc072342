import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the server received. */
export interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server on loopback that records its requests. */
export interface TokenServer {
  readonly port: number;
  readonly received: Received[];
  close(): Promise<void>;
}

/** Starts a server; `respond` is called with each request and its number, counted from 1. */
export async function startTokenServer(
  respond: (response: ServerResponse, request: Received, count: number) => void,
): Promise<TokenServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      const { method, url, headers } = request;
      const complete = { method, url, headers, body };
      received.push(complete);
      respond(response, complete, received.length);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
