import type { Duplex } from 'node:stream';

/** Connects two sockets with each other until one of them closes. The heads are what was received with the messages before. */
export function joinSockets(client: Duplex, upstream: Duplex, clientHead: Buffer, upstreamHead: Buffer): void {
  if (clientHead.length > 0) upstream.write(clientHead);
  if (upstreamHead.length > 0) client.write(upstreamHead);
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}
