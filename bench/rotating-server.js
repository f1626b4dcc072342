// A process of its own: a token endpoint whose refresh tokens serve once; a second use revokes everything that began with the same one. It
// tells its parent the address, and on each message what it has seen since the last.
import { createServer } from 'node:http';
import { accessToken } from './profile.js';

/** @type {Map<string, { current: string, count: number }>} */
const families = new Map();
let seen = { requests: 0, refused: 0 };

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const token = new URLSearchParams(body).get('refresh_token') ?? '';
  const [name = ''] = token.split('.');
  const family = families.get(name) ?? { current: token, count: 0 };
  families.set(name, family);
  seen.requests++;
  const good = family.current === token;
  if (!good) seen.refused++;
  family.current = good ? `${name}.${++family.count}` : '';
  const reply = good
    ? { access_token: accessToken, token_type: 'Bearer', expires_in: 3600, refresh_token: family.current }
    : { error: 'invalid_grant' };
  const latencyMs = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('latency') ?? 0);
  setTimeout(() => response.writeHead(good ? 200 : 400).end(JSON.stringify(reply)), latencyMs);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.(`http://127.0.0.1:${port}/token`);
});
process.on('message', () => {
  process.send?.(seen);
  seen = { requests: 0, refused: 0 };
});
process.on('disconnect', () => process.exit());
