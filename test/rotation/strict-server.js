// A process of its own: a token endpoint with rotating refresh tokens that keeps count of everything its clients do wrong. Chains are made
// by the parent; it is told of each request, and may have replies wait for its word.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

/**
 * @typedef {object} Chain
 * @property {'safe' | 'grace' | 'refused' | 'revokes'} replay what becomes of a token that is used twice
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
const chains = new Map();
const newToken = (/** @type {string} */ name, /** @type {string} */ kind) =>
  `${name}.${kind}.${randomBytes(24).toString('base64url')}`;

const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const token = new URLSearchParams(body).get('refresh_token') ?? '';
  const name = token.split('.')[0] ?? '';
  const chain = chains.get(name);
  if (chain === undefined) {
    response.writeHead(400).end('{"error":"invalid_grant","error_description":"never heard of"}');
    return;
  }
  chain.counts.requests++;
  chain.counts.received.push(token);
  if (chain.underWay++ > 0) chain.counts.overlaps++;
  // Over when the client has its reply, or is gone.
  response.once('close', () => chain.underWay--);
  const reply = exchange(name, chain, token);
  process.send?.({ arrived: name });
  if (chain.gated) await new Promise((resolve) => chain.waiting.push(() => resolve(undefined)));
  if (chain.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, chain.latencyMs));
  response.writeHead('error' in reply ? 400 : 200, { 'Content-Type': 'application/json', Connection: 'close' });
  response.end(JSON.stringify(reply));
});

/** Rotates at once: a reply that is lost has cost the old token. @param {string} name @param {Chain} chain @param {string} token */
function exchange(name, chain, token) {
  const now = Date.now();
  const usedAt = chain.used.get(token);
  const forgiven =
    chain.replay === 'safe' || (chain.replay === 'grace' && usedAt !== undefined && now - usedAt < GRACE_MS);
  const known = token === chain.current || (usedAt !== undefined && forgiven);
  if (chain.counts.revoked || !known) {
    if (usedAt !== undefined && chain.replay !== 'refused') chain.counts.revoked = true;
    chain.counts.refused++;
    return { error: 'invalid_grant' };
  }
  if (usedAt === undefined) chain.used.set(token, now);
  if (token !== chain.current) {
    chain.counts.forgiven++;
    // What the lost reply brought is never heard of again, unless somebody had it after all.
    chain.used.set(chain.current, now);
  }
  chain.current = newToken(name, 'refresh');
  const access = newToken(name, 'access');
  chain.issued.push(chain.current, access);
  const lifetime = (chain.lifetimes.length > 1 ? chain.lifetimes.shift() : chain.lifetimes[0]) ?? 3600;
  return { access_token: access, token_type: 'Bearer', expires_in: lifetime, refresh_token: chain.current };
}

/** @typedef {{ id: number, act: string, name: string, replay: Chain['replay'], latencyMs: number, gated: boolean, lifetimes: number[] }} Order */

process.on('message', (message) => {
  const { id, act, name, ...rest } = /** @type {Order} */ (message);
  const chain = chains.get(name);
  if (act === 'create') {
    const current = newToken(name, 'refresh');
    const counts = { requests: 0, refused: 0, forgiven: 0, overlaps: 0, revoked: false, received: [] };
    const fresh = { ...rest, current, used: new Map(), issued: [current], counts, underWay: 0, waiting: [] };
    chains.set(name, fresh);
    process.send?.({ id, answer: current });
  } else if (act === 'hold') {
    if (chain !== undefined) chain.gated = true;
    process.send?.({ id });
  } else if (act === 'release') {
    if (chain !== undefined) chain.gated = false;
    for (const go of chain?.waiting.splice(0) ?? []) go();
    process.send?.({ id });
  } else {
    process.send?.({ id, answer: { ...chain?.counts, current: chain?.current, issued: chain?.issued } });
  }
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.({ port });
});
