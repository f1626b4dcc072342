import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, request } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Pair } from './certificates.ts';
import { closeOf } from './wire-server.ts';

/** Handles a CONNECT request. */
type OnConnect = (request: IncomingMessage, client: Socket, head: Buffer) => void;

/** An HTTP proxy: CONNECT for TLS, absolute URLs for plain HTTP. */
export class ConnectProxy {
  readonly connects: IncomingMessage[] = [];
  readonly forwards: IncomingMessage[] = [];
  readonly clients: Socket[] = [];

  private constructor(
    readonly server: Server,
    readonly scheme: 'http' | 'https',
  ) {
    server.on('connection', (socket: Socket) => {
      this.clients.push(socket);
      socket.on('error', () => {});
    });
  }

  /** A running proxy that connects every host to one local port, unless `onConnect` is given. */
  static async start(
    targetPort: number,
    onConnect: OnConnect = tunnelTo(targetPort),
    tls?: Pair,
  ): Promise<ConnectProxy> {
    const server =
      tls === undefined
        ? createHttp()
        : createHttps({ cert: tls.cert, key: tls.key, requestCert: true, rejectUnauthorized: false });
    const proxy = new ConnectProxy(server, tls === undefined ? 'http' : 'https');
    server.on('tlsClientError', () => {});
    server.on('connect', (message: IncomingMessage, client: Socket, head: Buffer) => {
      client.on('error', () => {});
      client.on('end', () => client.end());
      proxy.connects.push(message);
      onConnect(message, client, head);
    });
    server.on('request', (message, response) => {
      proxy.forwards.push(message);
      const { pathname, search } = new URL(message.url ?? '');
      const options = { host: '127.0.0.1', port: targetPort, path: pathname + search, method: message.method };
      const onward = request({ ...options, headers: message.headers }, (forwarded) => {
        response.writeHead(forwarded.statusCode ?? 502, forwarded.headers);
        forwarded.pipe(response);
      });
      onward.on('error', () => response.destroy());
      message.pipe(onward);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => proxy.stop());
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** The URL of the proxy, with optional credentials (`user:password@`). */
  url(credentials = ''): string {
    return `${this.scheme}://${credentials}127.0.0.1:${this.port}`;
  }

  /** Resolves when every connection made so far is closed, seen from the proxy. */
  async allClosed(): Promise<void> {
    await Promise.all(this.clients.filter((socket) => !socket.destroyed).map(closeOf));
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** Opens the tunnel. */
function tunnelTo(port: number): OnConnect {
  return (_request, client, head) => {
    const onward = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) onward.write(head);
      onward.pipe(client);
      client.pipe(onward);
    });
    onward.on('error', () => client.destroy());
    client.on('close', () => onward.destroy());
    onward.on('close', () => client.destroy());
  };
}

/** Responds with an error, and leaves it to the client to close the connection. */
export function rejectConnect(status: number, headers = ''): OnConnect {
  return (_request, client) => {
    client.resume().write(`HTTP/1.1 ${status} No\r\n${headers}Content-Length: 4\r\n\r\nno!\n`);
  };
}
