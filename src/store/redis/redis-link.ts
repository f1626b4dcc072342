import { connect, isIP, type Socket } from 'node:net';
import { encodeCommand, ProtocolError, type Reply, ReplyError, ReplyReader } from './redis-protocol.ts';

const CONNECT_MS = 5_000;
const ANSWER_MS = 5_000;

interface Question {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout;
}

/** One connection to a Redis. What is asked while it lasts is answered in turn; with it, all that waits fails. */
export class RedisLink {
  readonly #socket: Socket;
  readonly #waiting: Question[] = [];
  readonly #reader = new ReplyReader();
  #fault: unknown;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#hear(chunk));
    socket.on('error', (error) => {
      this.#fault ??= error;
    });
    socket.on('close', () => this.#fail());
  }

  static async open({ host, port, tls }: { host: string; port: number; tls: boolean }): Promise<RedisLink> {
    // An address is no name that TLS could send.
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = tls ? (await import('node:tls')).connect({ host, port, ...name }) : connect({ host, port });
    const link = new RedisLink(socket.setNoDelay().setKeepAlive(true));
    const timer = setTimeout(() => link.end(new Error('it does not take the connection')), CONNECT_MS);
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once(tls ? 'secureConnect' : 'connect', resolve);
        socket.once('close', () => reject(link.#fault));
      });
    } finally {
      clearTimeout(timer);
    }
    return link;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** What is asked in one turn of the event loop goes in one packet. */
  ask(...command: readonly (string | number | Buffer)[]): Promise<Reply> {
    if (!this.isOpen) return Promise.reject(this.#fault);
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      process.nextTick(() => this.#socket.uncork());
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.end(new Error('it does not answer')), ANSWER_MS);
      this.#waiting.push({ resolve, reject, timer });
      this.#socket.ref();
      this.#socket.write(encodeCommand(command));
    });
  }

  end(why: unknown = new Error('the connection is closed')): void {
    this.#fault ??= why;
    this.#socket.destroy();
    this.#fail();
  }

  #hear(chunk: Buffer): void {
    try {
      for (const reply of this.#reader.read(chunk)) {
        const question = this.#waiting.shift();
        if (question === undefined) throw new ProtocolError();
        clearTimeout(question.timer);
        if (reply instanceof ReplyError) question.reject(reply);
        else question.resolve(reply);
      }
      // A connection that nobody waits for keeps no process alive.
      if (this.#waiting.length === 0) this.#socket.unref();
    } catch (error) {
      this.end(error);
    }
  }

  #fail(): void {
    this.#fault ??= new Error('the connection is closed');
    for (const { reject, timer } of this.#waiting.splice(0)) {
      clearTimeout(timer);
      reject(this.#fault);
    }
  }
}
