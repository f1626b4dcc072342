import { once } from 'node:events';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Pair } from './certificates.ts';

/** A server on the loopback interface, with TLS if it has a certificate. */
export interface Listening {
  /** Such as `https://127.0.0.1:4711`. */
  readonly origin: string;
  close(): Promise<void>;
}

/** Starts a server. Its handler is created with the origin, which is the issuer. */
export async function listen(
  handlerAt: (origin: string) => RequestListener | Promise<RequestListener>,
  tls: Pair | undefined,
): Promise<Listening> {
  const server = tls === undefined ? createHttp() : createHttps({ cert: tls.cert, key: tls.key });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on('request', await handlerAt(origin));
  return {
    origin,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
