import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A response for a request whose socket Node has detached from the server: CONNECT, or a request to switch protocols. */
export function respondOnSocket(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  socket.on('error', () => socket.destroy());
  socket.on('drain', () => response.emit('drain'));
  response.on('error', () => {});
  response.on('finish', () => socket.end());
  return response;
}

/** Connects two sockets with each other until one of them closes. `head` is what the client has sent already. */
export function joinSockets(client: Duplex, upstream: Duplex, head: Buffer): void {
  if (head.length > 0) upstream.write(head);
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}
