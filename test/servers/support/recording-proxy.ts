import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a server received. */
export interface RecordedRequest {
  readonly path: string;
  readonly form: Record<string, string>;
  readonly headers: IncomingHttpHeaders;
}

/** A proxy between client and server. It records requests and forwards them unchanged, with their `Host`. */
export class RecordingProxy {
  /** POST requests, in order of arrival. */
  readonly received: RecordedRequest[] = [];
  readonly #server = createServer();
  #targetPort = 0;

  static async start(): Promise<RecordingProxy> {
    const proxy = new RecordingProxy();
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  private constructor() {
    this.#server.on('request', async (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      const { method = 'GET', url: path = '/', headers } = incoming;
      const form = Object.fromEntries(new URLSearchParams(body.toString()));
      if (method === 'POST') this.received.push({ path, form, headers });
      const forwarded = request(
        { host: '127.0.0.1', port: this.#targetPort, method, path, headers, agent: false },
        (response) => {
          outgoing.writeHead(response.statusCode ?? 502, response.rawHeaders);
          response.pipe(outgoing);
        },
      );
      forwarded.on('error', () => outgoing.destroy());
      forwarded.end(body);
    });
  }

  /** Such as `http://127.0.0.1:4711`. */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sets the port of the server. */
  forwardTo(port: number): void {
    this.#targetPort = port;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}
