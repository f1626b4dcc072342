// The cheapest possible server: every request gets the same response, a token or the argument. Sends its URL to the parent, then the number of requests on each message.
import { createServer } from 'node:http';
import { accessToken } from '../fixtures.js';
import { listen, serveParent } from './child-process.js';

let requests = 0;
const body = process.argv[2] ?? JSON.stringify({ access_token: accessToken, token_type: 'Bearer', expires_in: 3600 });
const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };

const server = createServer((request, response) => {
  requests++;
  request.resume();
  request.on('end', () => response.writeHead(200, headers).end(body));
});
// Longer than a round of all clients, so that none has to reconnect after waiting for the others.
server.keepAliveTimeout = 120_000;
const origin = await listen(server);
serveParent(() => requests, `${origin}/token`);
