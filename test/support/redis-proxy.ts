import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between a client and a Redis, and can lose what it is told. */
export class RedisProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #losing = '';
  #lost: (() => void)[] = [];

  private constructor(target: number) {
    this.#server = createServer((client) => {
      const redis = connect(target, '127.0.0.1');
      let doomed = false;
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
        if (this.#losing !== '' && chunk.includes(this.#losing)) {
          doomed = true;
          this.#losing = '';
        }
        redis.write(chunk);
      });
      redis.on('data', (chunk) => {
        // Redis did what it was asked, and nobody hears of it. That it has never heard of a script is no such answer.
        if (doomed && !chunk.includes('NOSCRIPT')) {
          client.destroy();
          for (const tell of this.#lost.splice(0)) tell();
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

  /** Loses the answer to the next command that contains the text; resolves when that has happened. */
  loseAnswerTo(text: string): Promise<void> {
    this.#losing = text;
    return new Promise((resolve) => this.#lost.push(resolve));
  }

  async remove(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }
}
