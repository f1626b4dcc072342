// A process of its own: the least that can answer a token request. It tells its parent the address.
import { createServer } from 'node:http';
import { accessToken } from './profile.js';

const body = JSON.stringify({ access_token: accessToken, token_type: 'Bearer', expires_in: 3600 });
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, headers).end(body));
});
// Longer than a round of all candidates, so that none pays for a connection that was closed while it waited its turn.
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.(`http://127.0.0.1:${port}/token`);
});
process.on('message', () => process.send?.(process.cpuUsage()));
process.on('disconnect', () => process.exit());
