import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { RedisServer } from './redis-server.ts';

/** Everything that a Redis is told, in its own words, from now until it is read. */
export class RedisMonitor {
  readonly #server: RedisServer;
  readonly #socket: Socket;
  #text = '';

  private constructor(server: RedisServer, socket: Socket) {
    this.#server = server;
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.#text += text;
    });
  }

  static async start(server: RedisServer): Promise<RedisMonitor> {
    const socket = connect(server.port, '127.0.0.1');
    const monitor = new RedisMonitor(server, socket);
    socket.write('MONITOR\r\n');
    await monitor.#until('+OK');
    return monitor;
  }

  /** How many clients have asked for a lock up to now. */
  get askers(): number {
    const lines = this.#text.split('\r\n').filter((line) => /"EVAL(?:SHA)?".*oauth-profile:lock:/.test(line));
    return new Set(lines.map((line) => line.split(' ')[2])).size;
  }

  /** The lines of all that was told up to now. */
  async stop(): Promise<string[]> {
    const redis = this.#server.connect();
    await redis.echo('that was all');
    redis.disconnect();
    await this.#until('that was all');
    this.#socket.destroy();
    return this.#text.split('\r\n').filter((line) => line.startsWith('+1') && !line.includes('that was all'));
  }

  async #until(text: string): Promise<void> {
    while (!this.#text.includes(text)) await once(this.#socket, 'data');
  }
}

/** How often somebody got a lock. */
export function locksTaken(lines: readonly string[]): number {
  return lines.filter((line) => /"SET" "oauth-profile:lock:/i.test(line)).length;
}
