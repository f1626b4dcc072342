import { describe, expect, it } from 'vitest';
import { profiles, sendRequest, tokenUrls, useEmulator } from '../fixture.ts';

describe('the control API', () => {
  const server = useEmulator({ profiles, signing: { alg: 'ES256' } });
  const { post } = server;

  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await sendRequest(server.emulator, `${server.emulator.url}/_emulator${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    });
    return response;
  }
  const issue = async (options: Record<string, unknown>) => (await call('POST', '/tokens', options)).json;
  const password = {
    grant_type: 'password',
    client_id: 'c',
    client_secret: 'c secret',
    username: 'eve',
    password: 'pw-eve',
  };

  it('lists what is emulated', async () => {
    const { json } = await call('GET', '/status');
    expect(json.issuers).toContainEqual({
      profile: 'org',
      provider: 'okta',
      loopback: `${server.emulator.url}/acme.okta.com/oauth2/default`,
      production: 'https://acme.okta.com/oauth2/default',
      jwks_uri: `${server.emulator.url}/acme.okta.com/oauth2/default/v1/keys`,
      token_endpoint: `${server.emulator.url}/acme.okta.com/oauth2/default/v1/token`,
    });
  });

  it('lists requests with decoded tokens and without secrets, and clears them', async () => {
    await call('DELETE', '/requests');
    await post(tokenUrls.custom, { ...password, note: 'c secret' });
    const { json, text } = await call('GET', '/requests?host=login.example.test');
    expect(json.requests).toHaveLength(1);
    expect(json.requests[0]).toMatchObject({
      method: 'POST',
      path: '/oauth/token',
      provider: 'custom',
      status: 200,
      form: expect.arrayContaining([
        ['client_secret', '••••'],
        ['password', '••••'],
        ['note', '••••'],
      ]),
      tokens: { access_token: { claims: { iss: 'https://login.example.test', sub: 'eve' } } },
    });
    for (const secret of ['c secret', 'pw-eve', 'c-rt']) expect(text).not.toContain(secret);
    await call('DELETE', '/requests');
    expect((await call('GET', '/requests')).json.requests).toEqual([]);
  });

  it('waits for a request', async () => {
    await call('DELETE', '/requests');
    const waiting = call('GET', '/requests?host=login.example.test&path=/oauth/token&wait=60');
    await post(tokenUrls.twitter, {});
    await post(tokenUrls.custom, password);
    expect((await waiting).json.requests).toHaveLength(1);
  });

  it('adds, lists and removes users, without showing passwords', async () => {
    const user = { password: 'pw-grace', name: 'Grace Hopper', groups: ['navy'], claims: { rank: 'admiral' } };
    const added = await call('PUT', '/users/grace%40example.com', user);
    expect(added.json).toMatchObject({ login: 'grace@example.com', can_sign_in: true, groups: ['navy'] });
    const { text } = await call('GET', '/users');
    expect(text).toContain('Grace Hopper');
    expect(text).not.toContain('pw-grace');
    const form = { ...password, username: 'grace@example.com', password: 'pw-grace', scope: 'profile' };
    expect((await post(tokenUrls.custom, form)).status).toBe(200);
    expect((await call('DELETE', '/users/grace%40example.com')).status).toBe(204);
    expect((await call('DELETE', '/users/grace%40example.com')).status).toBe(404);
    expect((await post(tokenUrls.custom, form)).json.error).toBe('invalid_grant');
  });

  it('adds, lists and removes clients, without showing secrets', async () => {
    const client = { client_id: 'new', client_secret: 'new-secret', host: 'login.example.test', scopes: ['read'] };
    expect((await call('POST', '/clients', client)).status).toBe(201);
    const { json, text } = await call('GET', '/clients');
    expect(json.clients).toContainEqual(expect.objectContaining({ client_id: 'new', provider: 'custom' }));
    expect(text).not.toContain('new-secret');
    const form = { grant_type: 'client_credentials', client_id: 'new', client_secret: 'new-secret' };
    expect((await post(tokenUrls.custom, { ...form, scope: 'read' })).status).toBe(200);
    expect((await post(tokenUrls.custom, { ...form, scope: 'write' })).json.error).toBe('invalid_scope');
    expect((await call('DELETE', '/clients/new')).status).toBe(204);
    expect((await post(tokenUrls.custom, form)).json.error).toBe('invalid_client');
  });

  it('issues any token, with the issuer of either URL', async () => {
    const options = { provider: 'okta', host: 'acme.okta.com', client_id: 'web', user: 'zoe', scope: 'read write' };
    const loopback = await issue({ ...options, claims: { role: 'admin', auth_time: null }, expires_in: 5 });
    expect(loopback.claims).toMatchObject({
      iss: `${server.emulator.url}/acme.okta.com/oauth2/default`,
      aud: 'api://default',
      cid: 'web',
      sub: 'zoe',
      scp: ['read', 'write'],
      role: 'admin',
    });
    expect(loopback.claims.exp - loopback.claims.iat).toBe(5);
    expect(loopback.claims).not.toHaveProperty('auth_time');
    const production = await issue({ ...options, urls: 'production', header: { typ: 'x' } });
    expect([production.claims.iss, production.header.typ]).toEqual(['https://acme.okta.com/oauth2/default', 'x']);
    const idToken = await issue({ ...options, type: 'id_token', nonce: 'n' });
    expect(idToken.claims).toMatchObject({ aud: 'web', nonce: 'n', amr: ['pwd'] });
    const refresh = await issue({ host: 'login.example.test', type: 'refresh_token', client_id: 'c', user: 'eve' });
    const form = {
      grant_type: 'refresh_token',
      client_id: 'c',
      client_secret: 'c secret',
      refresh_token: refresh.token,
    };
    expect((await post(tokenUrls.custom, form)).status).toBe(200);
  });

  it('inspects, revokes and expires tokens', async () => {
    const { json } = await post(tokenUrls.custom, { ...password, scope: 'read' });
    const inspect = async (token: string) => (await call('POST', '/tokens/inspect', { token })).json;
    expect(await inspect(json.access_token)).toMatchObject({
      format: 'jwt',
      status: 'active',
      provider: 'custom',
      client_id: 'c',
      user: 'eve',
      scope: 'read',
      claims: { sub: 'eve' },
    });
    expect(await inspect(json.refresh_token)).toMatchObject({ format: 'refresh_token', status: 'active' });
    expect(await inspect('unknown')).toEqual({ format: 'unknown', status: 'unknown' });
    expect(await inspect(`${json.access_token.slice(0, -4)}AAAA`)).toMatchObject({ status: 'invalid_signature' });
    server.now += 1;
    expect((await call('POST', '/tokens/expire', {})).status).toBe(204);
    expect(await inspect(json.access_token)).toMatchObject({ status: 'expired' });
    server.now += 1;
    const next = await post(tokenUrls.custom, password);
    expect(await inspect(next.json.access_token)).toMatchObject({ status: 'active' });
    expect((await call('POST', '/tokens/revoke', { token: next.json.access_token })).status).toBe(204);
    expect(await inspect(next.json.refresh_token)).toMatchObject({ status: 'revoked' });
    expect((await call('POST', '/tokens/expire', { token: json.refresh_token })).status).toBe(204);
    expect(await inspect(json.refresh_token)).toMatchObject({ status: 'expired' });
    expect((await call('POST', '/tokens/revoke', { token: 'unknown' })).status).toBe(404);
  });

  it('sets and clears faults, and counts requests from 1 again', async () => {
    await post(tokenUrls.custom, password);
    await call('PUT', '/faults', { faults: [{ kind: '500', at: 2 }] });
    expect((await call('GET', '/faults')).json).toMatchObject({ faults: [{ kind: '500', at: 2 }] });
    expect((await post(tokenUrls.custom, password)).status).toBe(200);
    expect((await post(tokenUrls.custom, password)).status).toBe(500);
    await call('PUT', '/faults', { faults: [{ kind: '429' }] });
    expect((await post(tokenUrls.custom, password)).status).toBe(429);
    expect((await call('DELETE', '/faults')).status).toBe(204);
    expect((await post(tokenUrls.custom, password)).status).toBe(200);
  });

  it('rotates the signing key, with and without publishing the old one', async () => {
    const kids = async () => (await call('GET', '/keys')).json.keys.map(({ kid }: { kid: string }) => kid);
    const [first] = await kids();
    const second = (await call('POST', '/keys/rotate', { publish_old: true })).json.kid;
    expect(await kids()).toEqual([second, first]);
    const third = (await call('POST', '/keys/rotate', {})).json.kid;
    expect(await kids()).toEqual([third]);
  });

  it('returns to the state after the start', async () => {
    await call('PUT', '/users/temporary', { password: 'pw-temporary' });
    await call('DELETE', '/clients/c');
    await call('PUT', '/faults', { faults: [{ kind: '500' }] });
    const used = { grant_type: 'refresh_token', client_id: 'l', client_secret: 'gloas-secret', refresh_token: 'l-rt' };
    await call('DELETE', '/faults');
    expect((await post(tokenUrls.gitlab, used)).status).toBe(200);
    expect((await post(tokenUrls.gitlab, used)).status).toBe(400);
    await call('PUT', '/faults', { faults: [{ kind: '500' }] });
    expect((await call('POST', '/reset')).status).toBe(204);
    expect((await call('GET', '/users')).text).not.toContain('temporary');
    expect((await call('GET', '/requests')).json.requests).toEqual([]);
    expect((await post(tokenUrls.custom, password)).status).toBe(200);
    expect((await post(tokenUrls.gitlab, used)).status).toBe(200);
  });

  it('sends requests as events', async () => {
    const abort = new AbortController();
    const response = await fetch(`${server.emulator.url}/_emulator/events`, { signal: abort.signal });
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let received = (await reader.read()).value ?? '';
    await post(tokenUrls.twitter, {});
    while (!received.includes('data: ')) received += (await reader.read()).value ?? '';
    expect(JSON.parse(/data: (.*)/.exec(received)?.[1] ?? '')).toMatchObject({ host: 'api.twitter.com', status: 403 });
    abort.abort();
  });

  it.each([
    ['a page of another origin', { Origin: 'https://evil.example' }, 403],
    ['a page of another port', { Origin: 'http://127.0.0.1:1' }, 403],
    ['a sandboxed page', { Origin: 'null' }, 403],
    ['a page of another site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['a page of the same site', { 'Sec-Fetch-Site': 'same-site' }, 403],
    ['a simple request of a form', { 'Content-Type': 'text/plain' }, 415],
  ])('rejects requests of %s', async (_, headers, status) => {
    const response = await call('PUT', '/faults', { faults: [{ kind: '500' }] }, headers as Record<string, string>);
    expect(response.status).toBe(status);
    expect((await call('GET', '/faults')).json.faults).toEqual([]);
    expect(response.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('is not available under another name of this machine', async () => {
    const host = { Host: `rebound.example:${server.emulator.port}` };
    for (const path of ['/', '/_emulator/status', '/_emulator/requests']) {
      const response = await sendRequest(server.emulator, `${server.emulator.url}${path}`, { headers: host });
      expect([response.status, response.json.error]).toEqual([421, 'not_emulated']);
    }
  });

  it('is not available on the production URLs', async () => {
    for (const url of ['https://acme.okta.com/_emulator/status', 'https://_emulator/status'])
      expect((await server.get(url)).status).toBeGreaterThanOrEqual(400);
  });
});

describe('an emulator without the control API', () => {
  const server = useEmulator({ profiles, control: false });

  it('serves neither the API nor the console', async () => {
    for (const path of ['/', '/_emulator/status', '/_emulator/console.js', '/_emulator/openapi.json'])
      expect((await server.get(`${server.emulator.url}${path}`)).status).toBe(404);
  });
});
