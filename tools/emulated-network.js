// A proxy that connects every host to one emulator: commands run unchanged, with their real URLs and vault.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';

/** @typedef {{port: number, ca: string, close(): Promise<void>}} Emulator */

/** Returns the environment for commands. The certificate of the emulator is written to `directory`. @param {Emulator} emulator @param {string} directory */
export async function emulatedNetwork(emulator, directory) {
  const proxy = createServer().on('connect', (_, socket) => {
    const there = connect(emulator.port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    there.on('error', () => socket.destroy()).pipe(socket);
    socket.on('error', () => there.destroy()).pipe(there);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (proxy.address());
  const ca = join(directory, 'ca.pem');
  writeFileSync(ca, emulator.ca);
  return {
    env: { HTTPS_PROXY: `http://127.0.0.1:${address.port}`, NODE_EXTRA_CA_CERTS: ca, CURL_CA_BUNDLE: ca },
    async close() {
      proxy.close();
      await emulator.close();
    },
  };
}
