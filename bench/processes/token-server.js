// The least that can answer a token request, at /openid with an ID token. It tells its parent the address, and when asked what it has seen and spent;
// it may be told how long tokens live.
import { createServer } from 'node:http';
import { idToken } from '../candidates/msal-account.js';
import { accessToken } from '../profile.js';
import { listen } from './listen.js';
import { serveParent } from './serve-parent.js';

let expiresIn = 3600;
let requests = 0;
let [plain, openId] = prepare();

function prepare() {
  const token = { access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn };
  return [token, { ...token, id_token: idToken }].map((reply) => {
    const body = JSON.stringify(reply);
    return { body, headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } };
  });
}

const server = createServer((request, response) => {
  requests++;
  const reply = request.url?.startsWith('/openid') ? openId : plain;
  request.resume();
  request.on('end', () => response.writeHead(200, reply?.headers).end(reply?.body));
});
// Longer than a round of all candidates, so that none pays for a connection that was closed while it waited its turn.
server.keepAliveTimeout = 120_000;
const origin = await listen(server);

serveParent((task) => {
  expiresIn = task.expiresIn ?? expiresIn;
  [plain, openId] = prepare();
  return { cpu: process.cpuUsage(), requests };
}, `${origin}/token`);
