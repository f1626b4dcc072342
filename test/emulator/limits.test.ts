import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type PeerCertificate, connect as tlsConnect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tokenEndpoint } from '../../src/emulator/endpoints/token.ts';
import { Realms } from '../../src/emulator/realms.ts';
import { type Emulator, startEmulator } from '../../src/emulator/start-emulator.ts';
import { SigningKeys } from '../../src/emulator/tokens/signing-keys.ts';
import { TokenStates } from '../../src/emulator/tokens/token-state.ts';
import { sendRequest } from './fixture.ts';

it('the list of requests stays bounded over 5,000 requests, with the latest ones', async () => {
  const profiles = { x: { type: 'twitter', client_id: 'a', client_secret: 'b' } };
  let count = 0;
  const emulator = await startEmulator({ profiles, onRequest: () => count++ });
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const get = (path: string) =>
    new Promise<string>((resolve, reject) => {
      request(`${emulator.url}${path}`, { agent }, async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve(text);
      })
        .on('error', reject)
        .end();
    });
  await Promise.all(Array.from({ length: 5_000 }, () => get('/api.twitter.com/2/users/me')));
  expect(count).toBe(5_000);
  const { requests } = JSON.parse(await get('/_emulator/requests'));
  expect([requests.length, requests[0].id, requests.at(-1).id]).toEqual([1_000, 4_001, 5_000]);
  agent.destroy();
  await emulator.close();
}, 60_000);

it('the state of the emulator stays bounded over 30,000 requests', async () => {
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
  // ES256 is the fastest algorithm.
  const [keys, states] = [new SigningKeys('ES256', undefined), new TokenStates()];
  const send = async (host: string, path: string, form: Record<string, string>): Promise<Record<string, string>> => {
    const realm = realms.find(host);
    if (realm === undefined) throw new Error(`${host} is not emulated`);
    const request = {
      method: 'POST',
      host,
      path,
      query: new URLSearchParams(),
      headers: {},
      form: new URLSearchParams(form),
      body: '',
      origin: 'http://127.0.0.1:8400',
      viaLoopback: false,
    };
    const { status, body } = await tokenEndpoint({ request, realm, keys, states, now: 0 });
    expect(status).toBe(200);
    return JSON.parse(String(body));
  };
  const microsoft = (form: Record<string, string>) =>
    send('login.microsoftonline.com', '/contoso.com/oauth2/v2.0/token', { client_id: 'c', ...form });
  const gitlab = (form: Record<string, string>) =>
    send('gitlab.com', '/oauth/token', { grant_type: 'password', ...form });
  let latest = '';
  for (let i = 0; i < 10_100; i++)
    await microsoft({ grant_type: 'password', username: 'u', password: 'p', scope: 'offline_access' });
  for (let i = 0; i < 10_100; i++) latest = (await gitlab({ username: 'u', password: 'p' }))['refresh_token'] ?? '';
  for (let i = 0; i < 10_100; i++)
    latest = (await gitlab({ grant_type: 'refresh_token', refresh_token: latest }))['refresh_token'] ?? '';
  for (const host of ['login.microsoftonline.com', 'gitlab.com']) {
    const { refreshTokens, families, codes, devices, revokedTokens, clients } = realms.find(host) ?? {};
    for (const store of [refreshTokens, families, codes, devices, revokedTokens, clients])
      expect(store?.size).toBeLessThanOrEqual(10_000);
  }
  // The refresh token of a profile is never evicted.
  expect(await microsoft({ grant_type: 'refresh_token', refresh_token: 'seed' })).toHaveProperty('access_token');
}, 120_000);

it('the emulator stores nothing for hosts that no profile has', () => {
  const realms = new Realms({ org: { type: 'okta', tenant_id: 'acme', client_id: 'c' } });
  const known = realms.find('acme.okta.com');
  const before = realms.hosts();
  for (let i = 0; i < 1000; i++) expect(realms.find(`org-${i}.okta.com`)?.provider.type).toBe('okta');
  expect(realms.hosts()).toEqual(before);
  expect(realms.find('acme.okta.com')).toBe(known);
});

it('the emulator rejects requests to an Okta org that no profile has, as Okta does', async () => {
  const emulator = await startEmulator();
  const { status, json } = await sendRequest(emulator, 'https://unknown.okta.com/oauth2/default/v1/token', {
    form: { grant_type: 'password' },
  });
  expect([status, json.errorCode]).toEqual([404, 'E0000007']);
  await emulator.close();
});

it('the emulator serves profiles with thousands of hosts and IP addresses, with certificates for each', async () => {
  const profiles = Object.fromEntries(
    Array.from({ length: 8000 }, (_, i) => {
      const host = i % 2 === 0 ? `host-${i}.example.test` : `10.1.${i >> 8}.${i & 255}`;
      return [`p${i}`, { type: 'custom', url: `https://${host}/token`, client_id: 'c', client_secret: 's' }];
    }),
  );
  const emulator = await startEmulator({ profiles });
  const form = { grant_type: 'client_credentials', client_id: 'c', client_secret: 's' };
  expect((await sendRequest(emulator, 'https://host-7998.example.test/token', { form })).status).toBe(200);
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
  'the emulator serves a profile on another loopback port: %s',
  async (url) => {
    const profiles = { p: { type: 'custom', url, client_id: 'c', client_secret: 's' } };
    const emulator = await startEmulator({ profiles });
    const form = { grant_type: 'client_credentials', client_id: 'c', client_secret: 's' };
    expect((await sendRequest(emulator, url, { form })).status).toBe(200);
    const page = `http://localhost:${emulator.port}/${new URL(url).host}/authorize`;
    expect((await sendRequest(emulator, page)).text).toContain('Invalid request');
    await emulator.close();
  },
);

describe('a client that stalls', () => {
  const profiles = { x: { type: 'twitter', client_id: 'a', client_secret: 'b' } };
  const head = 'POST /oauth2/token HTTP/1.1\r\nHost: api.twitter.com\r\nContent-Length: 10\r\n';
  beforeEach(() => {
    // Fake only the timers of the emulator, not those of sockets.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['sends nothing', ''],
    ['stops within the headers', head],
    ['stops within the body', `${head}\r\ngrant`],
    ['stops within the TLS handshake', Buffer.from([0x16, 3, 1, 2, 0, 1])],
  ])('is disconnected if it %s', async (_, bytes) => {
    const emulator = await startEmulator({ profiles });
    const socket = connect(emulator.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {}).resume();
    if (bytes.length > 0) await new Promise((resolve) => socket.write(bytes, resolve));
    const closed = once(socket, 'close');
    // The response shows that the emulator has read the bytes of the other connection.
    await sendRequest(emulator, `${emulator.url}/_emulator/ca.pem`);
    vi.advanceTimersByTime(29_000);
    expect(socket.destroyed || socket.readableEnded).toBe(false);
    vi.advanceTimersByTime(2_000);
    await closed;
    await emulator.close();
  });

  it('is disconnected after an earlier response, too', async () => {
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

  it('is not disconnected while it waits for a response', async () => {
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
    await sendRequest(emulator, `${emulator.url}/_emulator/ca.pem`);
    expect(events).toEqual([]);
    await emulator.close();
  });
});

// On other systems, loopback has a single IP address.
it.runIf(process.platform === 'linux')(
  'the emulator distinguishes clients with the same port and different IP addresses',
  async () => {
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
    // The first client sends last: a lookup by port alone would find and reset the second.
    for (const socket of [second, first]) {
      const handled = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      socket.write(request);
      await handled;
    }
    await vi.waitFor(() => expect(ended).toEqual(['127.0.0.2']));
    await emulator.close();
  },
);

it('the emulator shuts down at once, with open connections and a hanging request', async () => {
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
  const hanging = sendRequest(emulator, 'https://api.twitter.com/oauth2/token', {
    form: { grant_type: 'client_credentials' },
  }).catch((error) => error);
  await sendRequest(emulator, `${emulator.url}/_emulator/ca.pem`);
  await emulator.close();
  await closed;
  expect(await hanging).toBeInstanceOf(Error);
});

it('the emulator survives malformed requests', async () => {
  const emulator = await startEmulator({ profiles: { x: { type: 'twitter', client_id: 'a', client_secret: 'b' } } });
  const bearer = (token: string) =>
    sendRequest(emulator, 'https://api.twitter.com/2/users/me', { headers: { Authorization: `Bearer ${token}` } });
  expect((await bearer('AAAAAAAAAAAAAAAAAAAAA%')).status).toBeGreaterThanOrEqual(400);
  expect((await sendRequest(emulator, `${emulator.url}/%`)).status).toBe(421);
  expect((await sendRequest(emulator, `${emulator.url}//`)).status).toBe(421);
  expect(
    (await sendRequest(emulator, 'https://api.twitter.com/oauth2/token', { body: '%zz&&=&grant_type' })).status,
  ).toBe(403);
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
  expect((await sendRequest(emulator, 'https://api.twitter.com/2/users/me')).status).toBe(401);
  await emulator.close();
});

it('the emulator stores no parameter that is longer than providers accept', async () => {
  const profiles = {
    c: { type: 'custom', url: 'https://login.example.test/token', client_id: 'c', username: 'u', password: 'p' },
  };
  const emulator = await startEmulator({ profiles });
  const form = { client_id: 'c', scope: 'x'.repeat(5000) };
  const token = await sendRequest(emulator, 'https://login.example.test/token', {
    form: { grant_type: 'password', username: 'u', password: 'p', ...form },
  });
  const device = await sendRequest(emulator, 'https://login.example.test/device_authorization', { form });
  expect([token.json.error, device.json.error]).toEqual(['invalid_scope', 'invalid_scope']);
  const authorize = await sendRequest(
    emulator,
    `https://login.example.test/authorize?${new URLSearchParams({ ...form, redirect_uri: 'http://127.0.0.1/' })}`,
  );
  expect(authorize.status).toBe(400);
  const send = (length: number) =>
    sendRequest(emulator, 'https://login.example.test/token', { body: 'x'.repeat(length) });
  expect((await send(100_000)).status).toBe(413);
  await expect(send(5_000_000)).rejects.toThrow();
  await emulator.close();
});
