import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net';
import { type EmulatorRequest, type EmulatorResponse, text } from './messages.ts';

/** How the server handles a request: it responds, sends events, does not respond, or closes the connection. */
export type Outcome =
  | { readonly response: EmulatorResponse; readonly delayMs?: number; readonly isTruncated?: boolean }
  /** Sends events until the client disconnects; then the returned function is called. */
  | { readonly stream: (send: (event: string) => void) => () => void }
  | 'hang'
  | 'reset';

/** Handles a request. */
export type Handler = (request: EmulatorRequest) => Promise<Outcome>;

/** Certificate and key for a host name, PEM. */
export type Credentials = (host: string | undefined) => { readonly cert: string; readonly key: string };

const MAX_BODY_BYTES = 65_536;
const MAX_DISCARDED_BYTES = 1_048_576;
const MAX_UNREAD_BYTES = 1_048_576;
const TLS_HANDSHAKE = 0x16;

/** Starts a server on one loopback port that accepts both TLS and plain HTTP. TLS is set up with the first TLS connection. */
export async function startServer(port: number, handle: Handler, credentials: Credentials) {
  const connections: Connections = new Map();
  const plain = createHttpServer((request, response) => receive(request, response, handle, false, connections));
  // A client whose proxy is the emulator reaches the production URLs of all hosts. No other host can be reached this way.
  plain.on('connect', (_, socket: Socket, head) => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    accept(socket);
  });
  let secure: Promise<Server> | undefined;
  const listener = createNetServer((socket) => {
    trackConnection(socket, connections);
    socket.on('error', () => socket.destroy());
    accept(socket);
  });
  /** Detects TLS by its first byte. */
  const accept = (socket: Socket): void => {
    socket.once('readable', async () => {
      const first: Buffer | null = socket.read(1);
      if (first === null) return;
      socket.unshift(first);
      if (first[0] !== TLS_HANDSHAKE) plain.emit('connection', socket);
      else {
        secure ??= createSecureServer(handle, credentials, connections);
        (await secure).emit('connection', socket);
      }
    });
  };
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (listener.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        listener.close(() => resolve());
        for (const { socket } of connections.values()) socket.destroy();
      }),
  };
}

/**
 * Time for a complete request to arrive, including the time to read the previous response. Node enforces its own
 * timeouts only on servers that listen themselves.
 */
const REQUEST_TIMEOUT_MS = 30_000;

/** A TCP connection and the timer of its current request. */
interface Connection {
  readonly socket: Socket;
  timer?: NodeJS.Timeout;
}

/** Open connections by remote address and port. A TLS socket does not expose the TCP socket, which is needed for a reset. */
type Connections = Map<string, Connection>;

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function trackConnection(socket: Socket, connections: Connections): void {
  const key = keyOf(socket);
  const connection: Connection = { socket };
  connections.set(key, connection);
  startTimeout(connection);
  socket.on('close', () => {
    clearTimeout(connection.timer);
    if (connections.get(key) === connection) connections.delete(key);
  });
}

function startTimeout(connection: Connection): void {
  clearTimeout(connection.timer);
  connection.timer = setTimeout(() => connection.socket.destroy(), REQUEST_TIMEOUT_MS);
}

async function createSecureServer(handle: Handler, credentials: Credentials, connections: Connections) {
  const [{ createServer }, { createSecureContext }] = await Promise.all([import('node:https'), import('node:tls')]);
  const contexts = new Map<string, ReturnType<typeof createSecureContext>>();
  return createServer(
    {
      ...credentials(undefined),
      SNICallback: (name, done) => {
        const host = name.toLowerCase();
        const context = contexts.get(host) ?? createSecureContext(credentials(host));
        // Clients choose the names, so the number of cached contexts is limited.
        if (contexts.size < 1000) contexts.set(host, context);
        done(null, context);
      },
    },
    (request, response) => receive(request, response, handle, true, connections),
  );
}

function receive(
  request: IncomingMessage,
  response: ServerResponse,
  handle: Handler,
  secure: boolean,
  connections: Connections,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    // The client may read the response only after it has sent everything.
    else if (size > MAX_DISCARDED_BYTES) request.destroy();
  });
  request.on('end', async () => {
    const connection = connections.get(keyOf(request.socket));
    clearTimeout(connection?.timer);
    const body = Buffer.concat(chunks).toString();
    try {
      if (size > MAX_BODY_BYTES) {
        const tooLarge = { response: text(413, 'Content Too Large') };
        return sendOutcome(tooLarge, request, response, connection);
      }
      sendOutcome(await handle(toRequest(request, body, secure)), request, response, connection);
    } catch {
      // A request must not stop the server.
      request.socket.destroy();
    }
  });
}

/** The real host is in the Host header, or in the first path segment if the client connects to the emulator itself. */
function toRequest(request: IncomingMessage, body: string, secure: boolean): EmulatorRequest {
  const { method = 'GET', headers, socket } = request;
  const own = `127.0.0.1:${socket.localPort}`;
  const named = String(headers.host ?? own).toLowerCase();
  const viaLoopback = named.replace(/^(?:localhost|\[::1\])(?=:)/, '127.0.0.1') === own;
  // A request through a proxy has the whole URL (RFC 9112 §3.2.2).
  const url = (request.url ?? '/').replace(/^https?:\/\/[^/?]+/i, '') || '/';
  const [, first, rest = ''] = (viaLoopback && /^\/([^/?]+)((?:\/|\?|$).*)/.exec(url)) || [];
  const isRoot = viaLoopback && /^\/(?:\?|$)/.test(url);
  const host = isRoot ? '' : (first ?? named).toLowerCase();
  const [path = '', ...query] = (first === undefined ? url : rest).split('?');
  const type = String(headers['content-type'] ?? '').toLowerCase();
  return {
    method,
    host: secure ? host.replace(/:443$/, '') : host.replace(/:80$/, ''),
    path: path || '/',
    query: new URLSearchParams(query.join('?')),
    headers,
    form: new URLSearchParams(type.startsWith('application/x-www-form-urlencoded') ? body : ''),
    body,
    origin: viaLoopback ? `${secure ? 'https' : 'http'}://${named}` : `http://${own}`,
    viaLoopback,
  };
}

function sendOutcome(
  outcome: Outcome,
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection | undefined,
): void {
  if (outcome === 'reset') connection?.socket.resetAndDestroy();
  if (typeof outcome === 'string') return;
  if ('stream' in outcome) {
    sendEvents(outcome.stream, response);
    return;
  }
  const { status, headers = {}, body } = outcome.response;
  const finish = (): void => {
    if (connection !== undefined) startTimeout(connection);
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
    if (outcome.isTruncated) response.write(body.slice(0, body.length / 2), () => request.socket.destroy());
    else response.end(body);
  };
  if (outcome.delayMs === undefined) finish();
  else {
    const timer = setTimeout(finish, outcome.delayMs);
    response.on('close', () => clearTimeout(timer));
  }
}

/** Server-sent events (HTML standard §9.2). */
function sendEvents(stream: (send: (event: string) => void) => () => void, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  response.flushHeaders();
  const stop = stream((event) => {
    // A client that does not read must not fill the memory.
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
    else response.write(event);
  });
  response.on('close', stop);
}
