import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { createProxy } from '../src/proxy.ts';
import { runScript } from '../src/script.ts';
import { createTokenSource } from '../src/token-source.ts';
import { send } from './support/proxy.ts';
import { type ApiCall, ApiServer } from './support/server.ts';

let server: ApiServer;
let origin: string;
/** Nonces that were issued and not used yet. */
let nonces: Set<string>;
let issued: number;
let bindings: Map<string, string>;

/** A token endpoint and an API that accept a nonce once, and the API only a token with a proof of its key. */
async function handle(call: ApiCall, response: ServerResponse): Promise<void> {
  const { method, path = '', headers, body } = call;
  const nonce = `nonce-${nonces.size}-${Math.random()}`;
  nonces.add(nonce);
  const respond = (status: number, content: object, more = {}): void =>
    void response
      .writeHead(status, { 'Content-Type': 'application/json', 'DPoP-Nonce': nonce, ...more })
      .end(JSON.stringify(content));
  const proof = String(headers['dpop']);
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt' });
  const url = `${origin}${path.replace(/\?.*/, '')}`;
  if (payload['htm'] !== method || payload['htu'] !== url) return respond(400, { error: 'invalid_dpop_proof' });
  const isFresh = nonces.delete(String(payload['nonce']));
  const thumbprint = await calculateJwkThumbprint(protectedHeader.jwk ?? {});
  if (path === '/token') {
    if (!isFresh) return respond(400, { error: 'use_dpop_nonce' });
    const access_token = `token-${++issued}`;
    bindings.set(access_token, thumbprint);
    return respond(200, { access_token, token_type: 'DPoP', expires_in: 3600 });
  }
  const [, token = ''] = /^DPoP (.+)$/.exec(headers.authorization ?? '') ?? [];
  const challenge = (error: string) => respond(401, {}, { 'WWW-Authenticate': `DPoP error="${error}", algs="ES256"` });
  const isBound =
    bindings.get(token) === thumbprint && payload['ath'] === createHash('sha256').update(token).digest('base64url');
  if (!isBound || path === '/rejects') return challenge('invalid_token');
  if (!isFresh || path === '/confused') return challenge('use_dpop_nonce');
  if (path === '/moved') return void response.writeHead(302, { location: '/me', 'DPoP-Nonce': nonce }).end();
  respond(200, { path, body: body.toString() });
}

const calls = (path: string): number => server.calls.filter((call) => call.path === path).length;
beforeEach(async () => {
  nonces = new Set();
  bindings = new Map();
  issued = 0;
  server = await ApiServer.start((call, response) => {
    handle(call, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  origin = `http://127.0.0.1:${server.port}`;
});

const profile = () => ({
  type: 'custom',
  url: `${origin}/token`,
  grant_type: 'client_credentials',
  client_id: 'app',
  options: { dpop: true, authorize_origin: origin },
});

describe('fetch of a token source with DPoP', () => {
  const createSource = () => createTokenSource('api', { data: { api: profile() }, store: 'memory', origins: [origin] });

  it('sends a proof of the key with each request, and repeats a request with the nonce of the API, body included', async () => {
    const source = createSource();
    const first = await source.fetch(`${origin}/me?a=b`, { method: 'POST', body: 'content' });
    expect(await first.json()).toEqual({ path: '/me?a=b', body: 'content' });
    // The token endpoint is at the same origin, so the API accepts its nonce.
    expect(calls('/me?a=b')).toBe(1);
    nonces.clear();
    const second = await source.fetch(new Request(`${origin}/other`, { method: 'PUT', body: 'more' }));
    expect(await second.json()).toEqual({ path: '/other', body: 'more' });
    expect([calls('/other'), calls('/token')]).toEqual([2, 2]);
  });

  it('repeats a request with a nonce once, and with a new token once', async () => {
    const source = createSource();
    expect((await source.fetch(`${origin}/confused`)).status).toBe(401);
    expect([issued, calls('/confused')]).toEqual([2, 4]);
    expect((await source.fetch(`${origin}/rejects`)).status).toBe(401);
    expect([issued, calls('/rejects')]).toEqual([3, 2]);
  });

  it('does not follow a redirect, whose URL needs another proof', async () => {
    const { status, headers } = await createSource().fetch(`${origin}/moved`);
    expect({ status, location: headers.get('location') }).toEqual({ status: 302, location: '/me' });
  });
});

it('a script with authorize_origin sends proofs, also along a redirect of the same origin', async () => {
  const script = {
    steps: [
      { 'ws.oauthProfile': ['token', 'api'] },
      { 'ws.post': [`${origin}/me`, 'content', 'first'] },
      { 'ws.get': [`${origin}/moved`, '', 'second', { redirects: 1 }] },
      { 'base.assertEqual': ['content', '${first.body.body}'] },
      { 'ws.assertReturnCode': ['second', '200'] },
    ],
  };
  nonces.clear();
  const result = await runScript(script, { data: { api: profile() }, store: 'memory' });
  expect(JSON.stringify(result)).not.toMatch(/eyJ[\w-]{20,}/);
  expect(result).toMatchObject({ state: 'passed' });
});

it('a proxy adds proofs, replaces those of the client, and repeats a request with the nonce of the API', async () => {
  const api = { ...profile(), options: { dpop: true, origins: [origin] } };
  const proxy = await createProxy('api', { data: { api }, store: 'memory' });
  const port = Number(new URL(proxy.url).port);
  const request = { method: 'POST', headers: { DPoP: 'of the client', Authorization: 'DPoP x' }, body: 'content' };
  expect(JSON.parse((await send(port, '/me?a=b', request)).body)).toEqual({ path: '/me?a=b', body: 'content' });
  nonces.clear();
  expect(JSON.parse((await send(port, '/other', request)).body)).toEqual({ path: '/other', body: 'content' });
  expect([calls('/other'), issued]).toEqual([2, 1]);
  await proxy.close();
});
