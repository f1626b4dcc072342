// A token endpoint with rotating refresh tokens: the second use of one revokes its family. The last segment of the path is the latency in
// milliseconds. Sends its URL to the parent, then the state of the token family named by each message.
import { createServer } from 'node:http';
import { idToken } from '../clients/msal-account.js';
import { accessToken } from '../fixtures.js';
import { listen, serveParent } from './child-process.js';

/** @type {Map<string, { current: string, requests: number, rejected: number, alive: boolean }>} */
const families = new Map();

/** @param {URLSearchParams} form */
function refresh(form) {
  const token = form.get('refresh_token') ?? '';
  const [name = ''] = token.split('.');
  const family = families.get(name) ?? { current: token, requests: 0, rejected: 0, alive: true };
  families.set(name, family);
  family.requests++;
  family.alive &&= family.current === token;
  if (!family.alive) {
    family.rejected++;
    return undefined;
  }
  family.current = `${name}.${family.requests}`;
  const tokens = { access_token: accessToken, token_type: 'Bearer', expires_in: 3600, refresh_token: family.current };
  return form.get('scope')?.includes('openid') ? { ...tokens, id_token: idToken } : tokens;
}

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const tokens = refresh(new URLSearchParams(body));
  const latencyMs = Number(/\d+(?=$|\?)/.exec(request.url ?? '')?.[0] ?? 0);
  setTimeout(() => {
    response.writeHead(tokens === undefined ? 400 : 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(tokens ?? { error: 'invalid_grant' }));
  }, latencyMs);
});
const origin = await listen(server);
serveParent((name) => families.get(name) ?? {}, `${origin}/token`);
