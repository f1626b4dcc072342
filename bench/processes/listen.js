import { once } from 'node:events';

/** Listens on a free port of loopback. @param {import('node:http').Server} server @returns its origin */
export async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}`;
}
