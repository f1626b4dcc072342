import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net';
import type { EmulatorRequest, EmulatorResponse } from './message.ts';

/** What a request gets: an answer, or silence, or a connection that ends. */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: EmulatorResponse; readonly delayMs?: number }
  | { readonly kind: 'truncate'; readonly answer: EmulatorResponse }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' };

/** Decides what a request gets. */
export type Handler = (request: EmulatorRequest) => Outcome;

/** Certificate and key for a host name, PEM. */
export type Credentials = (host: string | undefined) => { readonly cert: string; readonly key: string };

const MAX_BODY_BYTES = 65_536;
const TLS_HANDSHAKE = 0x16;

/** A server on one loopback port that speaks TLS and plain HTTP, whichever the caller begins with. */
export interface PortServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts the server; TLS is loaded when the first caller speaks it. */
export async function startServer(port: number, react: Handler, credentials: Credentials): Promise<PortServer> {
  const connections = new Connections();
  const plain = createHttpServer((request, response) => receive(request, response, react, false, connections));
  let secure: Promise<Server> | undefined;
  const entrance = createNetServer((socket) => {
    connections.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('readable', async () => {
      const first: Buffer | null = socket.read(1);
      if (first === null) return;
      socket.unshift(first);
      if (first[0] !== TLS_HANDSHAKE) plain.emit('connection', socket);
      else {
        secure ??= createSecureServer(react, credentials, connections);
        (await secure).emit('connection', socket);
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    entrance.once('error', reject);
    entrance.listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (entrance.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        entrance.close(() => resolve());
        connections.end();
      }),
  };
}

/** Time for a whole request to come, and for the answer before it to be taken; Node's own limits hold only for servers that listen themselves. */
const ARRIVAL_MS = 30_000;

/** The open connections, known by the caller's address and port: the socket of TLS hides the one below, which alone can reset. */
class Connections {
  readonly #open = new Map<string, Connection>();

  add(socket: Socket): void {
    const key = keyOf(socket);
    const connection = new Connection(socket);
    this.#open.set(key, connection);
    socket.on('close', () => {
      connection.stopWaiting();
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
    connection.waitForRequest();
  }

  /** The connection that a request came over, unless it is gone. */
  of({ socket }: IncomingMessage): Connection | undefined {
    return this.#open.get(keyOf(socket));
  }

  end(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** One connection and the time that its caller has. */
class Connection {
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly socket: Socket) {}

  waitForRequest(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.socket.destroy(), ARRIVAL_MS);
  }

  stopWaiting(): void {
    clearTimeout(this.#timer);
  }
}

async function createSecureServer(react: Handler, credentials: Credentials, connections: Connections): Promise<Server> {
  const [{ createServer }, { createSecureContext }] = await Promise.all([import('node:https'), import('node:tls')]);
  const contexts = new Map<string, ReturnType<typeof createSecureContext>>();
  return createServer(
    {
      ...credentials(undefined),
      SNICallback: (name, done) => {
        const host = name.toLowerCase();
        const context = contexts.get(host) ?? createSecureContext(credentials(host));
        // Names come from callers: only so many are worth keeping.
        if (contexts.size < 1000) contexts.set(host, context);
        done(null, context);
      },
    },
    (request, response) => receive(request, response, react, true, connections),
  );
}

function receive(
  request: IncomingMessage,
  response: ServerResponse,
  react: Handler,
  secure: boolean,
  connections: Connections,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) request.destroy();
    else chunks.push(chunk);
  });
  request.on('end', () => {
    const connection = connections.of(request);
    connection?.stopWaiting();
    const body = (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)).toString();
    try {
      perform(react(toRequest(request, body, secure)), request, response, connection);
    } catch {
      // Whatever a caller sends, the others are served on.
      request.socket.destroy();
    }
  });
}

/** The Host header names the real host; a browser that asks the emulator itself names it as the first part of the path. */
function toRequest(request: IncomingMessage, body: string, secure: boolean): EmulatorRequest {
  const { method = 'GET', headers, socket } = request;
  const own = `127.0.0.1:${socket.localPort}`;
  const named = String(headers.host ?? own).toLowerCase();
  const isOwn = named.replace(/^(?:localhost|\[::1\])(?=:)/, '127.0.0.1') === own;
  const url = request.url ?? '/';
  const [, first, rest = ''] = (isOwn && /^\/([^/?]+)((?:\/|\?|$).*)/.exec(url)) || [];
  const host = (first ?? named).toLowerCase();
  const [path = '', ...query] = (first === undefined ? url : rest).split('?');
  const isForm = /^application\/x-www-form-urlencoded/i.test(String(headers['content-type'] ?? ''));
  return {
    method,
    host: secure ? host.replace(/:443$/, '') : host,
    path: path || '/',
    query: new URLSearchParams(query.join('?')),
    headers,
    form: new URLSearchParams(isForm ? body : ''),
    base: `http://${own}/${host}`,
  };
}

function perform(
  reaction: Outcome,
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection | undefined,
): void {
  switch (reaction.kind) {
    case 'answer': {
      const { status, headers = {}, body } = reaction.answer;
      const finish = (): void => {
        connection?.waitForRequest();
        response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
        response.end(body);
      };
      if (reaction.delayMs === undefined) finish();
      else {
        const timer = setTimeout(finish, reaction.delayMs);
        response.on('close', () => clearTimeout(timer));
      }
      return;
    }
    case 'truncate': {
      const { status, headers = {}, body } = reaction.answer;
      response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
      response.write(body.slice(0, body.length / 2), () => request.socket.destroy());
      return;
    }
    case 'reset':
      connection?.socket.resetAndDestroy();
      return;
    case 'hang':
      return;
  }
}
