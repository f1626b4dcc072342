// An emulator whose tokens have the signature algorithm of the first argument. Each message returns what it used so far.
import { startEmulator } from '../../dist/emulator.js';
import { client } from '../fixtures.js';
import { serveParent } from './child-process.js';

const [alg = 'RS256'] = process.argv.slice(2);
const url = 'https://login.example.com/token';
const emulator = await startEmulator({
  profiles: { p: { type: 'custom', url, client_id: client.id, client_secret: client.secret } },
  signing: { alg: /** @type {'RS256'} */ (alg) },
});
const used = () => {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, rss: process.memoryUsage.rss() };
};
serveParent(used, `${emulator.url}/login.example.com/token`);
