// A process of its own: the emulator, asked as a plain token server. It tells its parent the address.
import { startEmulator } from '../dist/emulator.js';
import { client } from './profile.js';

const host = 'login.example.test';
const profiles = {
  p: { type: 'custom', url: `https://${host}/token`, client_id: client.id, client_secret: client.secret },
};
const { url } = await startEmulator({ profiles });
process.on('message', () => process.send?.(process.cpuUsage()));
process.on('disconnect', () => process.exit());
process.send?.(`${url}/${host}/token`);
