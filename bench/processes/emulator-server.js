// The emulator, asked as a plain token server. It tells its parent the address, and when asked what it has spent.
import { startEmulator } from '../../dist/emulator.js';
import { client } from '../profile.js';
import { serveParent } from './serve-parent.js';

const host = 'login.example.test';
const profiles = {
  p: { type: 'custom', url: `https://${host}/token`, client_id: client.id, client_secret: client.secret },
};
const { url } = await startEmulator({ profiles });
serveParent(() => ({ cpu: process.cpuUsage() }), `${url}/${host}/token`);
