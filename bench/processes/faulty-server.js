// Token endpoints that redirect, reject, never respond, or never stop. Sends its origin to the parent, then on each message what the last request did.
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { accessToken, client } from '../fixtures.js';
import { listen, serveParent } from './child-process.js';

const HUGE_MIB = 256;
const json = { 'Content-Type': 'application/json' };
const token = JSON.stringify({ access_token: accessToken, token_type: 'Bearer', expires_in: 3600 });
const nothing = { secretAtSecondHost: false, secondHostReached: false, sentMib: 0 };
let observed = { ...nothing };

/** @param {import('node:http').IncomingMessage} request */
async function readBody(request) {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}

/** A token response of 256 MiB, as fast as it is read. */
function* hugeResponse() {
  const padding = Buffer.alloc(2 ** 20, 'a');
  yield `${token.slice(0, -1)},"padding":"`;
  for (; observed.sentMib < HUGE_MIB; observed.sentMib++) yield padding;
  yield '"}';
}

const second = createServer(async (request, response) => {
  const body = await readBody(request);
  observed.secondHostReached = true;
  observed.secretAtSecondHost ||= new URLSearchParams(body).get('client_secret') === client.secret;
  response.writeHead(200, json).end(token);
});
const secondOrigin = (await listen(second)).replace('127.0.0.1', 'localhost');

const first = createServer(async (request, response) => {
  await readBody(request);
  const path = request.url?.split('?')[0];
  if (path === '/redirect') response.writeHead(307, { Location: `${secondOrigin}/token` }).end();
  else if (path === '/reject') response.writeHead(400, json).end('{"error":"invalid_grant"}');
  // A client that stops reading is not an error here.
  else if (path === '/huge') await pipeline(hugeResponse(), response.writeHead(200, json)).catch(() => {});
  // Every other path never responds.
});
const origin = await listen(first);

serveParent(() => {
  const last = observed;
  observed = { ...nothing };
  return last;
}, origin);
