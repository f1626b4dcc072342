// A child process with a token endpoint that rotates refresh tokens and counts every violation of its clients. Its parent creates the token
// families, is notified of each request, and may hold responses back.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';

/**
 * @typedef {object} TokenFamily
 * @property {'allowed' | 'grace' | 'rejected' | 'revokes_family'} refresh_token_reuse response to a refresh token that is used twice
 * @property {number} latencyMs
 * @property {boolean} gated whether responses wait for `release`
 * @property {boolean} dpop whether each request needs a proof (RFC 9449) with a nonce that was not used before
 * @property {string | undefined} thumbprint of the key that the refresh token is bound to
 * @property {number[]} lifetimes of the access tokens, in seconds; the last one is repeated
 * @property {string} current the newest refresh token
 * @property {Map<string, number>} used time at which each of the other refresh tokens was first used
 * @property {string[]} issued all tokens
 * @property {{ requests: number, challenged: number, rejected: number, reused: number, overlaps: number, revoked: boolean, received: string[] }} counts
 * @property {number} pending requests without a response
 * @property {(() => void)[]} waiting functions that send the responses that wait
 */

const GRACE_MS = 30_000;
/** @type {Map<string, TokenFamily>} */
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
    response.writeHead(400).end('{"error":"invalid_grant","error_description":"unknown token family"}');
    return;
  }
  if (family.pending++ > 0) family.counts.overlaps++;
  // Ends when the client has the response or has disconnected.
  response.once('close', () => family.pending--);
  const problem = family.dpop ? await findProofProblem(family, request) : undefined;
  if (problem === 'use_dpop_nonce') family.counts.challenged++;
  else {
    family.counts.requests++;
    family.counts.received.push(token);
  }
  if (family.dpop) response.setHeader('DPoP-Nonce', newNonce());
  const result = problem === undefined ? exchange(name, family, token) : { error: problem };
  process.send?.({ arrived: name });
  if (family.gated) await new Promise((resolve) => family.waiting.push(() => resolve(undefined)));
  if (family.latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, family.latencyMs));
  response.writeHead('error' in result ? 400 : 200, { 'Content-Type': 'application/json', Connection: 'close' });
  response.end(JSON.stringify(result));
});

/** Nonces that were issued and not used yet. @type {Set<string>} */
const nonces = new Set();

function newNonce() {
  const nonce = randomBytes(16).toString('base64url');
  nonces.add(nonce);
  return nonce;
}

/** @param {TokenFamily} family @param {import('node:http').IncomingMessage} request */
async function findProofProblem(family, request) {
  try {
    const proof = String(request.headers['dpop']);
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: ['ES256'],
    });
    if (payload['htm'] !== 'POST' || payload['htu'] !== `http://${request.headers.host}${request.url}`)
      return 'invalid_dpop_proof';
    if (!nonces.delete(String(payload['nonce']))) return 'use_dpop_nonce';
    const thumbprint = await calculateJwkThumbprint(protectedHeader.jwk ?? {});
    family.thumbprint ??= thumbprint;
    return family.thumbprint === thumbprint ? undefined : 'invalid_grant';
  } catch {
    return 'invalid_dpop_proof';
  }
}

/** Rotates before the response is sent: a lost response has still used up the refresh token. @param {string} name @param {TokenFamily} family @param {string} token */
function exchange(name, family, token) {
  const now = Date.now();
  const usedAt = family.used.get(token);
  const mayReuse =
    family.refresh_token_reuse === 'allowed' ||
    (family.refresh_token_reuse === 'grace' && usedAt !== undefined && now - usedAt < GRACE_MS);
  const known = token === family.current || (usedAt !== undefined && mayReuse);
  if (family.counts.revoked || !known) {
    if (usedAt !== undefined && family.refresh_token_reuse !== 'rejected') family.counts.revoked = true;
    family.counts.rejected++;
    return { error: 'invalid_grant' };
  }
  if (usedAt === undefined) family.used.set(token, now);
  if (token !== family.current) {
    family.counts.reused++;
    // The refresh token of the lost response counts as used, too.
    family.used.set(family.current, now);
  }
  family.current = newToken(name, 'refresh');
  const access = newToken(name, 'access');
  family.issued.push(family.current, access);
  const lifetime = (family.lifetimes.length > 1 ? family.lifetimes.shift() : family.lifetimes[0]) ?? 3600;
  return {
    access_token: access,
    token_type: family.dpop ? 'DPoP' : 'Bearer',
    expires_in: lifetime,
    refresh_token: family.current,
  };
}

/** @typedef {{ id: number, action: string, name: string, refresh_token_reuse: TokenFamily['refresh_token_reuse'], latencyMs: number, gated: boolean, dpop: boolean, lifetimes: number[] }} Order */

process.on('message', (message) => {
  const { id, action, name, ...rest } = /** @type {Order} */ (message);
  const family = families.get(name);
  if (action === 'create') {
    const current = newToken(name, 'refresh');
    const counts = { requests: 0, challenged: 0, rejected: 0, reused: 0, overlaps: 0, revoked: false, received: [] };
    const created = {
      ...rest,
      current,
      used: new Map(),
      issued: [current],
      counts,
      pending: 0,
      waiting: [],
      thumbprint: undefined,
    };
    families.set(name, created);
    process.send?.({ id, result: current });
  } else if (action === 'hold') {
    if (family !== undefined) family.gated = true;
    process.send?.({ id });
  } else if (action === 'release') {
    if (family !== undefined) family.gated = false;
    for (const send of family?.waiting.splice(0) ?? []) send();
    process.send?.({ id });
  } else {
    process.send?.({ id, result: { ...family?.counts, current: family?.current, issued: family?.issued } });
  }
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.({ port });
});
