import { createServer as createHttp, type IncomingMessage, request } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Pair } from './certificates.ts';
import { LocalServer } from './server.ts';

/** Handles a CONNECT request. */
type OnConnect = (request: IncomingMessage, client: Socket, head: Buffer) => void;

/** An HTTP proxy: CONNECT for TLS, absolute URLs for plain HTTP. */
export class ConnectProxy extends LocalServer {
  readonly connects: IncomingMessage[] = [];
  readonly forwards: IncomingMessage[] = [];

  /** A running proxy that connects every host to one local port, unless `onConnect` is given. */
  static start(targetPort: number, onConnect: OnConnect = tunnelTo(targetPort), tls?: Pair): Promise<ConnectProxy> {
    const proxy =
      tls === undefined
        ? new ConnectProxy(createHttp())
        : new ConnectProxy(
            createHttps({ cert: tls.cert, key: tls.key, requestCert: true, rejectUnauthorized: false }),
            'https',
          );
    proxy.server.on('connect', (message: IncomingMessage, client: Socket, head: Buffer) => {
      client.on('error', () => {});
      client.on('end', () => client.end());
      proxy.connects.push(message);
      onConnect(message, client, head);
    });
    proxy.server.on('request', (message, response) => {
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
    return proxy.start();
  }

  /** The URL of the proxy, with optional credentials (`user:password@`). */
  url(credentials = ''): string {
    return `${this.scheme}://${credentials}127.0.0.1:${this.port}`;
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
