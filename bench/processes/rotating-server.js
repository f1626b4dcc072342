// A token endpoint whose refresh tokens serve once; a second use revokes everything that began with the same one. The last part of the path is
// its latency in milliseconds. It tells its parent the address, and when asked what a family of tokens has seen.
import { createServer } from 'node:http';
import { idToken } from '../candidates/msal-account.js';
import { accessToken } from '../profile.js';
import { listen } from './listen.js';
import { serveParent } from './serve-parent.js';

/** @type {Map<string, { current: string, requests: number, refused: number, alive: boolean }>} */
const families = new Map();

/** @param {URLSearchParams} form */
function exchange(form) {
  const token = form.get('refresh_token') ?? '';
  const [name = ''] = token.split('.');
  const family = families.get(name) ?? { current: token, requests: 0, refused: 0, alive: true };
  families.set(name, family);
  family.requests++;
  family.alive &&= family.current === token;
  if (!family.alive) {
    family.refused++;
    return undefined;
  }
  family.current = `${name}.${family.requests}`;
  const reply = { access_token: accessToken, token_type: 'Bearer', expires_in: 3600, refresh_token: family.current };
  return form.get('scope')?.includes('openid') ? { ...reply, id_token: idToken } : reply;
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const reply = exchange(new URLSearchParams(body));
  const latencyMs = Number(/\d+(?=$|\?)/.exec(request.url ?? '')?.[0] ?? 0);
  setTimeout(() => {
    response.writeHead(reply === undefined ? 400 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(reply ?? { error: 'invalid_grant' }));
  }, latencyMs);
});
const origin = await listen(server);
serveParent((name) => families.get(name) ?? {}, `${origin}/token`);
