import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type PeerCertificate, connect as tlsConnect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tokenEndpoint } from '../../src/emulator/endpoints/token.ts';
import { Realms } from '../../src/emulator/profiles.ts';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import { TokenSigner } from '../../src/emulator/token-signer.ts';
import { ask } from '../support/ask.ts';

it('holds no growing state over 100,000 requests', () => {
  const realms = new Realms({
    ms: {
      type: 'microsoft',
      tenant_id: 'contoso.com',
      client_id: 'c',
      username: 'u',
      password: 'p',
      refresh_token: 'seed',
    },
    lab: { type: 'gitlab', username: 'u', password: 'p' },
  });
  const mint = new TokenSigner();
  const send = (host: string, path: string, form: Record<string, string>): Record<string, string> => {
    const realm = realms.find(host);
    if (realm === undefined) throw new Error(`${host} is not emulated`);
    const request = {
      method: 'POST',
      host,
      path,
      query: new URLSearchParams(),
      headers: {},
      form: new URLSearchParams(form),
      base: '',
    };
    const { status, body } = tokenEndpoint({ realm, mint, now: 0 }, request, false);
    expect(status).toBe(200);
    return JSON.parse(body);
  };
  const microsoft = (form: Record<string, string>) =>
    send('login.microsoftonline.com', '/contoso.com/oauth2/v2.0/token', { client_id: 'c', ...form });
  let latest = 'seed';
  for (let i = 0; i < 40_000; i++)
    latest = microsoft({ grant_type: 'refresh_token', refresh_token: latest })['refresh_token'] ?? '';
  for (let i = 0; i < 30_000; i++)
    microsoft({ grant_type: 'password', username: 'u', password: 'p', scope: 'offline_access' });
  for (let i = 0; i < 30_000; i++)
    send('gitlab.com', '/oauth/token', { grant_type: 'password', username: 'u', password: 'p' });
  for (const host of ['login.microsoftonline.com', 'gitlab.com']) {
    const { refreshTokens, families, codes, devices, revokedTokens, users, clients } = realms.find(host) ?? {};
    for (const store of [refreshTokens, families, codes, devices, revokedTokens, users, clients])
      expect(store?.size).toBeLessThanOrEqual(10_000);
  }
  // What a profile holds is never dropped to make room.
  expect(microsoft({ grant_type: 'refresh_token', refresh_token: 'seed' })['access_token']).toEqual(expect.any(String));
}, 120_000);

it('keeps nothing for hosts that callers make up', () => {
  const realms = new Realms({ org: { type: 'okta', tenant_id: 'acme', client_id: 'c' } });
  const known = realms.find('acme.okta.com');
  const before = realms.hosts();
  for (let i = 0; i < 1000; i++) expect(realms.find(`org-${i}.okta.com`)?.dialect.type).toBe('okta');
  expect(realms.hosts()).toEqual(before);
  expect(realms.find('acme.okta.com')).toBe(known);
});

it('refuses at a host that no profile has, as the provider would', async () => {
  const emulator = await startEmulator();
  const { status, json } = await ask(emulator, 'https://nobody.okta.com/oauth2/default/v1/token', {
    form: { grant_type: 'password' },
  });
  expect([status, json.errorCode]).toEqual([404, 'E0000007']);
  await emulator.close();
});

it('serves profiles of thousands of hosts and addresses, with certificates for each', async () => {
  const profiles = Object.fromEntries(
    Array.from({ length: 8000 }, (_, i) => {
      const host = i % 2 === 0 ? `host-${i}.example.test` : `10.1.${i >> 8}.${i & 255}`;
      return [`p${i}`, { type: 'custom', url: `https://${host}/token`, client_id: 'c', client_secret: 's' }];
    }),
  );
  const emulator = await startEmulator({ profiles });
  const form = { grant_type: 'client_credentials', client_id: 'c', client_secret: 's' };
  expect((await ask(emulator, 'https://host-7998.example.test/token', { form })).status).toBe(200);
  const certificate = await new Promise<PeerCertificate>((resolve, reject) => {
    const socket = tlsConnect({ host: '127.0.0.1', port: emulator.port, ca: emulator.ca }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on('error', reject);
  });
  expect(certificate.subjectaltname).toContain('IP Address:10.1.31.63');
  expect(certificate.subjectaltname).toContain('IP Address:127.0.0.1');
  await emulator.close();
});

it.each(['http://localhost:8080/token', 'https://localhost:8443/token', 'http://[::1]:8080/token'])(
  'serves a profile on another port of this machine: %s',
  async (url) => {
    const profiles = { p: { type: 'custom', url, client_id: 'c', client_secret: 's' } };
    const emulator = await startEmulator({ profiles });
    const form = { grant_type: 'client_credentials', client_id: 'c', client_secret: 's' };
    expect((await ask(emulator, url, { form })).status).toBe(200);
    const page = `http://localhost:${emulator.port}/${new URL(url).host}/authorize`;
    expect((await ask(emulator, page)).text).toContain('This request cannot be used');
    await emulator.close();
  },
);

describe('a caller that stalls', () => {
  const profiles = { x: { type: 'twitter', client_id: 'a', client_secret: 'b' } };
  const head = 'POST /oauth2/token HTTP/1.1\r\nHost: api.twitter.com\r\nContent-Length: 10\r\n';
  beforeEach(() => {
    // Sockets keep their own time; only what the emulator itself waits for is in our hands.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['says nothing', ''],
    ['stops in its headers', head],
    ['stops in its body', `${head}\r\ngrant`],
    ['stops in the handshake', Buffer.from([0x16, 3, 1, 2, 0, 1])],
  ])('loses its connection: it %s', async (_, bytes) => {
    const emulator = await startEmulator({ profiles });
    const socket = connect(emulator.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {}).resume();
    if (bytes.length > 0) await new Promise((resolve) => socket.write(bytes, resolve));
    const closed = once(socket, 'close');
    // Answered later than the other's bytes were taken.
    await ask(emulator, `${emulator.url}/oauth-profile-emulator/ca.pem`);
    vi.advanceTimersByTime(29_000);
    expect(socket.destroyed || socket.readableEnded).toBe(false);
    vi.advanceTimersByTime(2_000);
    await closed;
    await emulator.close();
  });

  it('loses its connection after an answer, too', async () => {
    const emulator = await startEmulator({ profiles });
    const socket = connect(emulator.port, '127.0.0.1');
    socket.write('GET /2/users/me HTTP/1.1\r\nHost: api.twitter.com\r\n\r\nGET /2');
    await once(socket, 'data');
    socket.on('error', () => {}).resume();
    const closed = once(socket, 'close');
    vi.advanceTimersByTime(31_000);
    await closed;
    await emulator.close();
  });

  it('is not one that waits for an answer', async () => {
    const hangs = new Promise<Emulator>((resolve) => {
      const starting = startEmulator({ profiles, faults: [{ kind: 'hang' }], onRequest: () => resolve(starting) });
      starting.then((emulator) => {
        const socket = connect(emulator.port, '127.0.0.1');
        socket.on('error', () => {}).on('close', () => events.push('closed'));
        socket.write(`${head}\r\n0123456789`);
      });
    });
    const events: string[] = [];
    const emulator = await hangs;
    vi.advanceTimersByTime(600_000);
    await ask(emulator, `${emulator.url}/oauth-profile-emulator/ca.pem`);
    expect(events).toEqual([]);
    await emulator.close();
  });
});

// Elsewhere loopback has but one address.
it.runIf(process.platform === 'linux')('tells callers of the same port and other addresses apart', async () => {
  let arrived = (): void => {};
  const emulator = await startEmulator({
    profiles: { x: { type: 'twitter', client_id: 'a', client_secret: 'b' } },
    faults: [
      { kind: 'hang', at: 1 },
      { kind: 'reset-before', at: 2 },
    ],
    onRequest: () => arrived(),
  });
  const ended: string[] = [];
  const call = async (localAddress: string, localPort?: number): Promise<Socket> => {
    const socket = connect({ port: emulator.port, host: '127.0.0.1', localAddress, ...(localPort && { localPort }) });
    socket.on('error', () => {}).on('close', () => ended.push(localAddress));
    await once(socket, 'connect');
    return socket;
  };
  const request = 'POST /oauth2/token HTTP/1.1\r\nHost: api.twitter.com\r\nContent-Length: 0\r\n\r\n';
  const first = await call('127.0.0.2');
  const second = await call('127.0.0.3', first.localPort);
  // The first asks last: by its port alone the second would be found in its place, and be reset.
  for (const socket of [second, first]) {
    const served = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    socket.write(request);
    await served;
  }
  await vi.waitFor(() => expect(ended).toEqual(['127.0.0.2']));
  await emulator.close();
});

it('shuts down at once, with connections open and a request hanging', async () => {
  const emulator = await startEmulator({
    profiles: { x: { type: 'twitter', client_id: 'a', client_secret: 'b' } },
    faults: [{ kind: 'hang' }],
  });
  const idle = connect(emulator.port, '127.0.0.1');
  await new Promise((resolve) => {
    idle.once('connect', resolve);
  });
  const closed = new Promise((resolve) => {
    idle.once('close', resolve);
  });
  idle.on('error', () => {});
  const hanging = ask(emulator, 'https://api.twitter.com/oauth2/token', {
    form: { grant_type: 'client_credentials' },
  }).catch((error) => error);
  await ask(emulator, `${emulator.url}/oauth-profile-emulator/ca.pem`);
  await emulator.close();
  await closed;
  expect(await hanging).toBeInstanceOf(Error);
});

it('survives whatever is thrown at it', async () => {
  const emulator = await startEmulator({ profiles: { x: { type: 'twitter', client_id: 'a', client_secret: 'b' } } });
  const bearer = (token: string) =>
    ask(emulator, 'https://api.twitter.com/2/users/me', { headers: { Authorization: `Bearer ${token}` } });
  expect((await bearer('AAAAAAAAAAAAAAAAAAAAA%')).status).toBeGreaterThanOrEqual(400);
  expect((await ask(emulator, `${emulator.url}/%`)).status).toBe(421);
  expect((await ask(emulator, `${emulator.url}//`)).status).toBe(421);
  expect((await ask(emulator, 'https://api.twitter.com/oauth2/token', { body: '%zz&&=&grant_type' })).status).toBe(403);
  const raw = (bytes: string | Buffer) =>
    new Promise((resolve) => {
      const socket = connect(emulator.port, '127.0.0.1', () => socket.end(bytes));
      socket
        .on('close', resolve)
        .on('error', () => {})
        .resume();
    });
  await raw('');
  await raw('GARBAGE\r\n\r\n');
  await raw(Buffer.from([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5]));
  expect((await ask(emulator, 'https://api.twitter.com/2/users/me')).status).toBe(401);
  await emulator.close();
});

it('keeps nothing that is longer than any provider takes', async () => {
  const profiles = {
    c: { type: 'custom', url: 'https://login.example.test/token', client_id: 'c', username: 'u', password: 'p' },
  };
  const emulator = await startEmulator({ profiles });
  const form = { client_id: 'c', scope: 'x'.repeat(5000) };
  const token = await ask(emulator, 'https://login.example.test/token', {
    form: { grant_type: 'password', username: 'u', password: 'p', ...form },
  });
  const device = await ask(emulator, 'https://login.example.test/device_authorization', { form });
  expect([token.json.error, device.json.error]).toEqual(['invalid_scope', 'invalid_scope']);
  const authorize = await ask(
    emulator,
    `https://login.example.test/authorize?${new URLSearchParams({ ...form, redirect_uri: 'http://127.0.0.1/' })}`,
  );
  expect(authorize.status).toBe(400);
  await expect(ask(emulator, 'https://login.example.test/token', { body: 'x'.repeat(100_000) })).rejects.toThrow();
  await emulator.close();
});
