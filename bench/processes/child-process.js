import { once } from 'node:events';

/** Listens on a free loopback port and returns the origin. @param {import('node:http').Server} server */
export async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}`;
}

/**
 * Handles each message of the parent process and exits with it.
 * @param {(task: any) => unknown} handle
 * @param {unknown} [greeting] the first message: the child is ready
 */
export function serveParent(handle, greeting = 'ready') {
  process.on('message', async (task) => process.send?.(await handle(task)));
  process.on('disconnect', () => process.exit());
  process.send?.(greeting);
}
