import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { RedisServer } from './redis-server.ts';

/** Records every command that a server receives, with MONITOR. */
export class RedisMonitor {
  readonly #server: RedisServer;
  readonly #socket: Socket;
  #output = '';

  private constructor(server: RedisServer, socket: Socket) {
    this.#server = server;
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      this.#output += chunk;
    });
  }

  static async start(server: RedisServer): Promise<RedisMonitor> {
    const socket = connect(server.port, '127.0.0.1');
    const monitor = new RedisMonitor(server, socket);
    socket.write('MONITOR\r\n');
    await monitor.#waitFor('+OK');
    return monitor;
  }

  /** Number of clients that tried to acquire a lock. */
  get lockClients(): number {
    const lines = this.#output.split('\r\n').filter((line) => /"eval".*\{store\}:lock:/i.test(line));
    return new Set(lines.map((line) => line.split(' ')[2])).size;
  }

  /** Stops and returns all commands as lines. */
  async stop(): Promise<string[]> {
    const redis = this.#server.connect();
    await redis.echo('end of the recording');
    redis.disconnect();
    await this.#waitFor('end of the recording');
    this.#socket.destroy();
    return this.#output.split('\r\n').filter((line) => line.startsWith('+1') && !line.includes('end of the recording'));
  }

  async #waitFor(text: string): Promise<void> {
    while (!this.#output.includes(text)) await once(this.#socket, 'data');
  }
}

/** Counts the locks that were acquired. */
export function locksTaken(lines: readonly string[]): number {
  return lines.filter((line) => /"SET" "oauth-profile:\{store\}:lock:/i.test(line)).length;
}
