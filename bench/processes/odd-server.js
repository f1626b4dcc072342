// Token endpoints that misbehave. It tells its parent their addresses, and when asked what the last one saw.
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { accessToken, client } from '../profile.js';
import { listen } from './listen.js';
import { serveParent } from './serve-parent.js';

const HUGE_MIB = 256;
const MIB = 2 ** 20;
const json = { 'Content-Type': 'application/json' };
const token = JSON.stringify({ access_token: accessToken, token_type: 'Bearer', expires_in: 3600 });
let seen = { secretOnSecondHost: false, secondHostAsked: false, sentMib: 0 };

/** @param {import('node:http').IncomingMessage} request */
async function read(request) {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}

/** A token response that is far too long, as fast as it is read. */
function* hugeReply() {
  const padding = Buffer.alloc(MIB, 'a');
  yield `${token.slice(0, -1)},"padding":"`;
  for (; seen.sentMib < HUGE_MIB; seen.sentMib++) yield padding;
  yield '"}';
}

const second = createServer(async (request, response) => {
  const body = await read(request);
  seen.secondHostAsked = true;
  seen.secretOnSecondHost ||= new URLSearchParams(body).get('client_secret') === client.secret;
  response.writeHead(200, json).end(token);
});
const secondOrigin = (await listen(second)).replace('127.0.0.1', 'localhost');

const first = createServer(async (request, response) => {
  await read(request);
  const path = request.url?.split('?')[0];
  if (path === '/redirect') response.writeHead(307, { Location: `${secondOrigin}/token` }).end();
  else if (path === '/refuse') response.writeHead(400, json).end('{"error":"invalid_grant"}');
  // A reader who has had enough is no failure here.
  else if (path === '/huge') await pipeline(hugeReply(), response.writeHead(200, json)).catch(() => {});
  // Whatever else is asked for hangs.
});
const origin = await listen(first);

serveParent(() => {
  const last = seen;
  seen = { secretOnSecondHost: false, secondHostAsked: false, sentMib: 0 };
  return last;
}, origin);
