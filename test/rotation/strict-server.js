// A process of its own: a token endpoint with rotating refresh tokens that keeps count of everything its clients do wrong. Chains are made
// by the parent; it is told of each request, and may have replies wait for its word.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

/**
 * @typedef {object} Chain
 * @property {'allowed' | 'grace' | 'rejected' | 'revokes_family'} refresh_token_reuse what becomes of a token that is used twice
 * @property {number} latencyMs
 * @property {boolean} gated whether replies wait for the parent
 * @property {number[]} lifetimes of the access tokens, in seconds, the last one for all that follow
 * @property {string} current the newest refresh token
 * @property {Map<string, number>} used when each of the others was used first
 * @property {string[]} issued every token that was ever handed out
 * @property {{ requests: number, refused: number, forgiven: number, overlaps: number, revoked: boolean, received: string[] }} counts
 * @property {number} underWay
 * @property {(() => void)[]} waiting replies
 */

const GRACE_MS = 30_000;
/** @type {Map<string, Chain>} */
const families = new Map();
const newToken = (/** @type {string} */ name, /** @type {string} */ kind) =>
  `${name}.${kind}.${randomBytes(24).toString('base64url')}`;

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const token = new URLSearchParams(body).get('refresh_token') ?? '';
  const name = token.split('.')[0] ?? '';
  const family = families.get(name);
  if (family === undefined) {
    response.writeHead(400).end('{"error":"invalid_grant","error_description":"never heard of"}');
    return;
  }
  family.counts.requests++;
  family.counts.received.push(token);
  if (family.underWay++ > 0) family.counts.overlaps++;
  // Over when the client has its reply, or is gone.
  response.once('close', () => family.underWay--);
  const reply = exchange(name, family, token);
  process.send?.({ arrived: name });
  if (family.gated) await new Promise((resolve) => family.waiting.push(() => resolve(undefined)));
  if (family.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, family.latencyMs));
  response.writeHead('error' in reply ? 400 : 200, { 'Content-Type': 'application/json', Connection: 'close' });
  response.end(JSON.stringify(reply));
});

/** Rotates at once: a reply that is lost has cost the old token. @param {string} name @param {Chain} family @param {string} token */
function exchange(name, family, token) {
  const now = Date.now();
  const usedAt = family.used.get(token);
  const forgiven =
    family.refresh_token_reuse === 'allowed' ||
    (family.refresh_token_reuse === 'grace' && usedAt !== undefined && now - usedAt < GRACE_MS);
  const known = token === family.current || (usedAt !== undefined && forgiven);
  if (family.counts.revoked || !known) {
    if (usedAt !== undefined && family.refresh_token_reuse !== 'rejected') family.counts.revoked = true;
    family.counts.refused++;
    return { error: 'invalid_grant' };
  }
  if (usedAt === undefined) family.used.set(token, now);
  if (token !== family.current) {
    family.counts.forgiven++;
    // What the lost reply brought is never heard of again, unless somebody had it after all.
    family.used.set(family.current, now);
  }
  family.current = newToken(name, 'refresh');
  const access = newToken(name, 'access');
  family.issued.push(family.current, access);
  const lifetime = (family.lifetimes.length > 1 ? family.lifetimes.shift() : family.lifetimes[0]) ?? 3600;
  return { access_token: access, token_type: 'Bearer', expires_in: lifetime, refresh_token: family.current };
}

/** @typedef {{ id: number, act: string, name: string, refresh_token_reuse: Chain['refresh_token_reuse'], latencyMs: number, gated: boolean, lifetimes: number[] }} Order */

process.on('message', (message) => {
  const { id, act, name, ...rest } = /** @type {Order} */ (message);
  const family = families.get(name);
  if (act === 'create') {
    const current = newToken(name, 'refresh');
    const counts = { requests: 0, refused: 0, forgiven: 0, overlaps: 0, revoked: false, received: [] };
    const fresh = { ...rest, current, used: new Map(), issued: [current], counts, underWay: 0, waiting: [] };
    families.set(name, fresh);
    process.send?.({ id, answer: current });
  } else if (act === 'hold') {
    if (family !== undefined) family.gated = true;
    process.send?.({ id });
  } else if (act === 'release') {
    if (family !== undefined) family.gated = false;
    for (const go of family?.waiting.splice(0) ?? []) go();
    process.send?.({ id });
  } else {
    process.send?.({ id, answer: { ...family?.counts, current: family?.current, issued: family?.issued } });
  }
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.({ port });
});
