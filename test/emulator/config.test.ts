import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { decodeJwt } from 'jose';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { EmulatorOptions } from '../../src/emulator/config.ts';
import type { ProviderOptions } from '../../src/emulator/settings.ts';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import { profiles, sendRequest, tokenUrls, useEmulator } from './fixture.ts';

const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-config-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function start(options: EmulatorOptions): Promise<Emulator> {
  const emulator = await startEmulator({ profiles, directory, ...options });
  onTestFinished(() => emulator.close());
  return emulator;
}

describe('a stub host', () => {
  mkdirSync(join(directory, 'bodies'));
  writeFileSync(join(directory, 'bodies', 'order.json'), '{"id":7}');
  writeFileSync(join(directory, 'picture.bin'), Buffer.from([0, 255, 254]));
  symlinkSync(join(import.meta.dirname, 'fixture.ts'), join(directory, 'link.txt'));
  const server = useEmulator({
    profiles,
    directory,
    hosts: {
      'API.partner.example': [
        { path: '/v1/orders', body: { orders: [] } },
        { path: '/v1/orders', method: 'POST', status: 201, headers: { Location: '/v1/orders/8' } },
        { path: '/v1/orders/*', file: 'bodies/order.json' },
        { path: '/v1/failing', status: 503, headers: { 'Content-Type': 'text/html', 'Retry-After': '5' }, body: '<p>' },
        { path: '/picture', file: 'picture.bin' },
        { path: '/missing', file: 'missing.json' },
        { path: '/outside', file: '../outside.json' },
        { path: '/link', file: 'link.txt' },
      ],
      'graph.microsoft.com': [{ path: '/v1.0/me/messages', body: { value: [] } }],
      '10.9.8.7': [{ path: '/', body: 'by IP address' }],
    },
  });
  const url = 'https://api.partner.example';

  it('responds with JSON, by path and method', async () => {
    const { status, headers, json } = await server.get(`${url}/v1/orders?page=2`);
    expect([status, headers['content-type'], json]).toEqual([200, 'application/json; charset=utf-8', { orders: [] }]);
    const created = await server.post(`${url}/v1/orders`, {});
    expect([created.status, created.headers['location'], created.text]).toEqual([201, '/v1/orders/8', '']);
    expect((await sendRequest(server.emulator, `${url}/v1/orders`, { method: 'DELETE' })).status).toBe(404);
    expect((await server.get(`${url}/v1`)).status).toBe(404);
  });

  it('responds with a file, which is read for each request', async () => {
    const { headers, json } = await server.get(`${url}/v1/orders/7`);
    expect([headers['content-type'], json]).toEqual(['application/json; charset=utf-8', { id: 7 }]);
    writeFileSync(join(directory, 'bodies', 'order.json'), '{"id":8}');
    expect((await server.get(`${url}/v1/orders/8`)).json).toEqual({ id: 8 });
    const picture = await server.get(`${url}/picture`);
    expect([picture.headers['content-type'], picture.headers['content-length']]).toEqual([
      'application/octet-stream',
      '3',
    ]);
  });

  it('responds with the given status and headers', async () => {
    const { status, headers, text } = await server.get(`${url}/v1/failing`);
    expect({ status, type: headers['content-type'], retry: headers['retry-after'], text }).toEqual({
      status: 503,
      type: 'text/html',
      retry: '5',
      text: '<p>',
    });
  });

  it.each(['/missing', '/outside', '/link'])('reports a file that it cannot or must not read: %s', async (path) => {
    const { status, text } = await server.get(url + path);
    expect([status, text]).toEqual([500, expect.stringContaining('emulator error: cannot read')]);
  });

  it('can be an emulated host, whose other paths stay emulated', async () => {
    expect((await server.get('https://graph.microsoft.com/v1.0/me/messages')).json).toEqual({ value: [] });
    expect((await server.get('https://graph.microsoft.com/v1.0/me')).status).toBe(401);
  });

  it('can be an IP address, with a certificate for it', async () => {
    expect((await server.get('http://10.9.8.7/')).text).toBe('by IP address');
    // TLS clients do not send an IP address as server name.
    const socket = connect({ host: '127.0.0.1', port: server.emulator.port, ca: server.emulator.ca });
    await once(socket, 'secureConnect');
    expect(socket.getPeerCertificate().subjectaltname).toContain('IP Address:10.9.8.7');
    socket.destroy();
  });

  it('is also available on loopback, and its requests are listed', async () => {
    const { emulator } = server;
    expect((await server.get(`${emulator.url}/api.partner.example/v1/orders`)).json).toEqual({ orders: [] });
    const { json } = await server.get(`${emulator.url}/_emulator/requests?host=api.partner.example&path=/v1/orders`);
    expect(json.requests.at(-1)).toMatchObject({ method: 'GET', status: 200 });
  });
});

describe('a fixed signing key', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(directory, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(directory, 'key.jwk'), JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: 'mine' }));
  writeFileSync(join(directory, 'public.pem'), 'not a key');
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  writeFileSync(join(directory, 'weak.pem'), weak.export({ type: 'pkcs8', format: 'pem' }));
  const clock = () => Date.parse('2026-01-01T00:00:00Z');
  const control = async (emulator: Emulator, path: string, body: unknown) => {
    const headers = { 'Content-Type': 'application/json' };
    return sendRequest(emulator, `${emulator.url}/_emulator${path}`, { body: JSON.stringify(body), headers });
  };
  const issue = async (emulator: Emulator) => {
    const options = { host: 'acme.okta.com', urls: 'production', user: 'zoe', claims: { jti: 'fixed' } };
    return (await control(emulator, '/tokens', options)).json.token;
  };
  const keysOf = async (emulator: Emulator) =>
    (await sendRequest(emulator, 'https://acme.okta.com/oauth2/default/v1/keys')).json.keys;

  it('makes tokens and JWKS repeatable', async () => {
    const [first, second] = [
      await start({ signing: { key_file: 'key.pem' }, clock }),
      await start({ signing: { key_file: 'key.pem' }, clock }),
    ];
    expect(await keysOf(first)).toEqual(await keysOf(second));
    expect(await issue(first)).toBe(await issue(second));
    const random = await start({ clock });
    expect(await keysOf(random)).not.toEqual(await keysOf(first));
  });

  it('returns after a rotation when the emulator is reset', async () => {
    const emulator = await start({ signing: { key_file: 'key.pem' }, clock });
    const before = await keysOf(emulator);
    await control(emulator, '/keys/rotate', { publish_old: true });
    expect(await keysOf(emulator)).toHaveLength(2);
    await control(emulator, '/reset', {});
    expect(await keysOf(emulator)).toEqual(before);
  });

  it('can be a JWK with its own kid, and sign with PS256', async () => {
    const emulator = await start({ signing: { key_file: 'key.jwk', alg: 'PS256' } });
    expect(await keysOf(emulator)).toMatchObject([{ kid: 'mine', alg: 'PS256' }]);
  });

  it.each<[string, EmulatorOptions['signing']]>([
    ['does not exist', { key_file: 'nowhere.pem' }],
    ['is outside of the directory', { key_file: '../key.pem' }],
    ['is a link to a file outside of the directory', { key_file: 'link.txt' }],
    ['is not a private key', { key_file: 'public.pem' }],
    ['is too short', { key_file: 'weak.pem' }],
    ['does not fit the algorithm', { key_file: 'key.pem', alg: 'ES256' }],
  ])('is rejected if it %s', async (_, signing) => {
    await expect(start({ signing })).rejects.toBeInstanceOf(TypeError);
  });
});

describe('the settings of refresh tokens', () => {
  const client = { client_id: 'c', client_secret: 'c secret' };
  const password = { grant_type: 'password', ...client, username: 'eve', password: 'pw-eve', scope: 'openid' };
  let now = Date.parse('2026-01-01T00:00:00Z');

  async function useSettings(custom: ProviderOptions) {
    const emulator = await start({ providers: { custom }, clock: () => now });
    const post = (form: Record<string, string>) => sendRequest(emulator, tokenUrls.custom, { form });
    const refresh = async (token: string) =>
      (await post({ grant_type: 'refresh_token', ...client, refresh_token: token })).json;
    return { first: (await post(password)).json, refresh };
  }

  it('set the lifetimes of all tokens', async () => {
    const { first, refresh } = await useSettings({
      access_token_lifetime: '5m',
      id_token_lifetime: 90,
      refresh_token_lifetime: '1h',
    });
    const [access, id] = [decodeJwt(first.access_token), decodeJwt(first.id_token)];
    expect(first.expires_in).toBe(300);
    expect([Number(access.exp) - Number(access.iat), Number(id.exp) - Number(id.iat)]).toEqual([300, 90]);
    now += 3_599_000;
    const second = await refresh(first.refresh_token);
    expect(second).toHaveProperty('access_token');
    now += 3_600_000;
    expect(await refresh(second.refresh_token)).toMatchObject({ error: 'invalid_grant' });
  });

  it('turn rotation off', async () => {
    const { first, refresh } = await useSettings({ refresh_token_rotation: false });
    for (let i = 0; i < 2; i++) {
      const response = await refresh(first.refresh_token);
      expect(response).toHaveProperty('access_token');
      expect(response).not.toHaveProperty('refresh_token');
    }
  });

  it('turn rotation on for a provider without it', async () => {
    const emulator = await start({ providers: { google: { refresh_token_rotation: true } } });
    const form = { grant_type: 'refresh_token', client_id: 'g', client_secret: 'g-secret', refresh_token: 'g-rt' };
    expect((await sendRequest(emulator, tokenUrls.google, { form })).json).toHaveProperty('refresh_token');
    expect((await sendRequest(emulator, tokenUrls.google, { form })).json.error).toBe('invalid_grant');
  });

  it.each([
    ['allowed', true, true],
    ['rejected', false, true],
    ['revokes_family', false, false],
  ] as const)('with reuse %s', async (refresh_token_reuse, oldAccepted, newAccepted) => {
    const { first, refresh } = await useSettings({ refresh_token_reuse });
    const second = await refresh(first.refresh_token);
    expect('access_token' in (await refresh(first.refresh_token))).toBe(oldAccepted);
    expect('access_token' in (await refresh(second.refresh_token))).toBe(newAccepted);
  });

  it('with a grace period, during which a used refresh token is accepted', async () => {
    const { first, refresh } = await useSettings({ refresh_token_reuse: 'revokes_family', refresh_token_grace: '30s' });
    const second = await refresh(first.refresh_token);
    now += 30_000;
    expect(await refresh(first.refresh_token)).toHaveProperty('access_token');
    now += 1;
    expect(await refresh(first.refresh_token)).toMatchObject({ error: 'invalid_grant' });
    expect(await refresh(second.refresh_token)).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('the configuration', () => {
  it('of two profiles with one client_id accepts the secrets and users of both, and no others', async () => {
    const shared = { type: 'custom', url: tokenUrls.custom, client_id: 'shared' };
    const emulator = await start({
      profiles: {
        one: { ...shared, client_secret: 'secret-one' },
        two: { ...shared, client_secret: 'secret-two', username: 'tom', password: 'pw-tom' },
      },
    });
    const statusOf = async (client_secret: string, user: Record<string, string> = {}) => {
      const form = { grant_type: 'client_credentials', client_id: 'shared', client_secret, ...user };
      return (await sendRequest(emulator, tokenUrls.custom, { form })).status;
    };
    expect(await statusOf('secret-one')).toBe(200);
    expect(await statusOf('secret-two')).toBe(200);
    expect(await statusOf('secret-one', { grant_type: 'password', username: 'tom', password: 'pw-tom' })).toBe(200);
    expect(await statusOf('secret-three')).toBe(401);
  });

  it('of redirect URIs allows exactly these, with any port on loopback IP addresses', async () => {
    const redirect_uris = ['https://app.example/cb', 'http://127.0.0.1/cb', 'http://localhost:3000/cb'];
    const host = 'login.example.test';
    const emulator = await start({ clients: [{ client_id: 'web', client_secret: 'web-secret', host, redirect_uris }] });
    const statusOf = async (redirect_uri: string) => {
      const query = new URLSearchParams({ client_id: 'web', response_type: 'code', redirect_uri });
      return (await sendRequest(emulator, `https://${host}/oauth/authorize?${query}`)).status;
    };
    for (const uri of [...redirect_uris, 'http://127.0.0.1:5555/cb']) expect(await statusOf(uri)).toBe(200);
    for (const uri of ['https://app.example/cb/', 'http://localhost:3001/cb', 'https://evil.example/cb'])
      expect(await statusOf(uri)).toBe(400);
  });

  it('of a client sets the lifetime and the audience of its tokens', async () => {
    const client = { client_id: 'web', client_secret: 'web-secret', host: 'acme.okta.com' };
    const emulator = await start({ clients: [{ ...client, audience: 'https://api', access_token_lifetime: '2m' }] });
    const form = { grant_type: 'client_credentials', scope: 'read' };
    const headers = { Authorization: `Basic ${Buffer.from('web:web-secret').toString('base64')}` };
    const { json } = await sendRequest(emulator, tokenUrls.okta, { form, headers });
    expect([json.expires_in, decodeJwt(json.access_token).aud]).toEqual([120, 'https://api']);
  });

  it.each<[string, unknown, string]>([
    ['wrong types', { users: { ada: { name: 5, email: 6 } } }, 'users.ada.name'],
    ['a wrong duration', { providers: { okta: { access_token_lifetime: '5 minutes' } } }, 'access_token_lifetime'],
    ['a header with a line end', { hosts: { h: [{ path: '/', headers: { a: 'b\r\nc: d' } }] } }, 'hosts.h.0.headers.a'],
    ['a header name with a space', { hosts: { h: [{ path: '/', headers: { 'a b': 'c' } }] } }, 'hosts.h.0.headers'],
    ['an unknown member', { user: {} }, 'user'],
    ['an unknown provider', { providers: { facebook: {} } }, 'providers.facebook'],
    ['an origin with a path', { allow: ['https://host/path'] }, 'allow'],
    ['a custom client without a host', { clients: [{ client_id: 'web' }] }, 'host'],
    ['an invalid public key', { clients: [{ client_id: 'w', host: 'h', public_key: 'x' }] }, 'public_key'],
  ])('is rejected with %s', async (_, options, place) => {
    const error = await start(options as EmulatorOptions).catch((reason) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(place);
  });
});
