import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { tokenEndpoint } from '../../src/emulator/endpoints/token.ts';
import { Mint } from '../../src/emulator/mint.ts';
import { Realms } from '../../src/emulator/profiles.ts';
import { startEmulator } from '../../src/emulator/start-emulator.ts';
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
  const mint = new Mint();
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
