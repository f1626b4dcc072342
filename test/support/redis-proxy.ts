import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy in front of a Redis server that can lose responses. */
export class RedisProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #pattern = '';
  #onLost: (() => void)[] = [];

  private constructor(target: number) {
    this.#server = createServer((client) => {
      const redis = connect(target, '127.0.0.1');
      let losesResponse = false;
      for (const socket of [client, redis]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          client.destroy();
          redis.destroy();
          this.#sockets.delete(socket);
        });
      }
      client.on('data', (chunk) => {
        if (this.#pattern !== '' && chunk.includes(this.#pattern)) {
          losesResponse = true;
          this.#pattern = '';
        }
        redis.write(chunk);
      });
      redis.on('data', (chunk) => {
        if (losesResponse) {
          client.destroy();
          for (const resolve of this.#onLost.splice(0)) resolve();
        } else client.write(chunk);
      });
    });
  }

  static async start(target: number): Promise<RedisProxy> {
    const proxy = new RedisProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  /** Loses the response to the next command that contains `pattern`; Redis runs the command. Resolves when the response is lost. */
  loseResponseTo(pattern: string): Promise<void> {
    this.#pattern = pattern;
    return new Promise((resolve) => this.#onLost.push(resolve));
  }

  async remove(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }
}
