// A network in which every name leads to one emulator: commands run as they are, with their real addresses and their real vault.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';

/** @typedef {{port: number, ca: string, close(): Promise<void>}} Emulator */

/** The environment that leads commands there; the emulator's certificate is left in `folder`. @param {Emulator} emulator @param {string} folder */
export async function emulatedNetwork(emulator, folder) {
  const proxy = createServer().on('connect', (_, socket) => {
    const there = connect(emulator.port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    there.on('error', () => socket.destroy()).pipe(socket);
    socket.on('error', () => there.destroy()).pipe(there);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (proxy.address());
  const ca = join(folder, 'ca.pem');
  writeFileSync(ca, emulator.ca);
  return {
    env: { HTTPS_PROXY: `http://127.0.0.1:${address.port}`, NODE_EXTRA_CA_CERTS: ca, CURL_CA_BUNDLE: ca },
    async close() {
      proxy.close();
      await emulator.close();
    },
  };
}
