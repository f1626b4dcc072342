import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/errors.ts';
import { requestToken } from '../../src/flows/request-token.ts';
import { Authority } from '../support/certificates.ts';
import { errorOf } from '../support/errors.ts';
import { fakePorts } from '../support/ports.ts';
import { profileOf } from '../support/profiles.ts';
import { closedPort, createTokenServer, giveJson, giveToken, serve, type TokenServer } from '../support/server.ts';

const client = { client_id: 'my-client', client_secret: 'c4n4ry-client-secret' };
const machine = { type: 'custom', grant_type: 'client_credentials', ...client };
const user = { client_id: 'my-client', username: 'ada', password: 'c4n4ry-password' };
const refresh = { ...client, refresh_token: 'c4n4ry-refresh-token' };
const code = { grant_type: 'authorization_code', code: 'c4n4ry-code', redirect_uri: 'http://127.0.0.1/' };

/** Every kind of request that D18 distinguishes, and whether it may be retried after a lost response. */
const kinds: [string, Readonly<Record<string, unknown>>, boolean][] = [
  ['client_credentials', machine, true],
  ['client_credentials of twitter', { type: 'twitter', ...client }, true],
  ['password', { type: 'microsoft', ...user }, true],
  ['password of custom', { type: 'custom', grant_type: 'password', ...user }, true],
  ['refresh of microsoft', { type: 'microsoft', ...refresh }, true],
  ['refresh of google', { type: 'google', ...refresh }, true],
  ['refresh of okta', { type: 'okta', ...refresh }, true],
  ['refresh of okta with a short grace period', { type: 'okta', ...refresh, options: { grace: '5s' } }, false],
  ['refresh of gitlab', { type: 'gitlab', ...refresh }, false],
  ['refresh of custom', { type: 'custom', grant_type: 'refresh_token', ...refresh }, false],
  [
    'refresh of custom with refresh_token_reuse: allowed',
    { type: 'custom', grant_type: 'refresh_token', ...refresh, options: { refresh_token_reuse: 'allowed' } },
    true,
  ],
  ['authorization_code', { type: 'custom', ...client, ...code }, false],
  ['authorization_code of google', { type: 'google', ...client, ...code }, false],
  [
    'jwt-bearer',
    { type: 'custom', grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: 'c4n4ry-assertion' },
    false,
  ],
  [
    'token-exchange',
    { type: 'custom', grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', subject_token: 'c4n4ry-subject' },
    false,
  ],
  ['custom without a grant', { type: 'custom', ...client }, false],
];

/** A selection: a timeout takes real time. */
const timedKinds = ['client_credentials', 'refresh of okta', 'refresh of gitlab', 'authorization_code'];

type Respond = (response: ServerResponse) => void;
const status =
  (code: number, headers = {}): Respond =>
  (response) =>
    giveJson(response, code, {}, headers);

/** A server that fails first and then sends tokens. */
const failing = (respond: Respond, times = 1): Promise<TokenServer> =>
  serve((response, { number }) => (number <= times ? respond(response) : giveToken(response)));

describe('a request whose response was lost', () => {
  const losses: [string, Respond, string][] = [
    ['500', status(500), 'provider_unavailable'],
    ['502', status(502), 'provider_unavailable'],
    ['503', status(503), 'provider_unavailable'],
    ['504', status(504), 'provider_unavailable'],
    ['a reset after sending', (response) => response.socket?.resetAndDestroy(), 'connection_failed'],
    ['a connection that is closed without a response', (response) => response.socket?.end(), 'connection_failed'],
    [
      'a truncated response',
      (response) => {
        response.writeHead(200, { 'Content-Length': 100 });
        response.write('{"access_token":"x"', () => response.destroy());
      },
      'connection_failed',
    ],
  ];
  describe.each(losses)('%s', (_loss, respond, errorCode) => {
    it.each(kinds)('D18 is retried only if that is safe: %s', async (_kind, fields, isSafe) => {
      const server = await failing(respond);
      const ports = fakePorts();
      const requested = requestToken(profileOf({ ...fields, url: server.url }), ports);
      if (isSafe) {
        await expect(requested).resolves.toMatchObject({ response: { access_token: 'given-access-token' } });
        expect(server.requests).toHaveLength(2);
        expect(server.requests[1]?.body).toBe(server.requests[0]?.body);
        expect(ports.clock.slept).toHaveLength(1);
      } else {
        expect(await errorOf(requested)).toMatchObject({ code: errorCode });
        expect(server.requests).toHaveLength(1);
        expect(ports.clock.slept).toEqual([]);
      }
    });
  });

  it.each(kinds.filter(([kind]) => timedKinds.includes(kind)))(
    'D18 is retried only if that is safe: %s, after a timeout',
    async (_kind, fields, isSafe) => {
      const server = await failing(() => {});
      const { send } = fakePorts();
      const ports = fakePorts({ send: (request, limits) => send(request, { ...limits, timeoutMs: 250 }) });
      const requested = requestToken(profileOf({ ...fields, url: server.url }), ports);
      if (isSafe) await expect(requested).resolves.toMatchObject({ tokenType: 'Bearer' });
      else expect(await errorOf(requested)).toMatchObject({ code: 'timeout', sent: true });
      expect(server.requests).toHaveLength(isSafe ? 2 : 1);
    },
  );
});

describe('a request that was not processed', () => {
  it.each(kinds)('D18 is retried if no connection was made: %s', async (_kind, fields) => {
    const port = await closedPort();
    const ports = fakePorts();
    const server = createTokenServer();
    ports.clock.whileAsleep = () => server.start(port);
    const profile = profileOf({ ...fields, url: `http://127.0.0.1:${port}/token` });
    await expect(requestToken(profile, ports)).resolves.toMatchObject({ tokenType: 'Bearer' });
    expect(server.requests).toHaveLength(1);
    expect(ports.clock.slept).toHaveLength(1);
  });

  it.each(kinds)('D18 is retried after a 429: %s', async (_kind, fields) => {
    const server = await failing(status(429, { 'Retry-After': '7' }));
    const ports = fakePorts();
    await requestToken(profileOf({ ...fields, url: server.url }), ports);
    expect(server.requests).toHaveLength(2);
    expect(ports.clock.slept).toEqual([7000]);
  });
});

describe('a request is not retried after', () => {
  const json =
    (code: number, body: unknown): Respond =>
    (response) =>
      giveJson(response, code, body);
  it.each<[string, Respond, string]>([
    ['400 invalid_grant', json(400, { error: 'invalid_grant' }), 'provider_rejected'],
    ['401 invalid_client', json(401, { error: 'invalid_client' }), 'provider_rejected'],
    ['403', status(403), 'provider_rejected'],
    ['404', status(404), 'provider_rejected'],
    ['408', status(408), 'provider_rejected'],
    ['500 invalid_grant', json(500, { error: 'invalid_grant' }), 'provider_unavailable'],
    ['502 invalid_client', json(502, { error: 'invalid_client' }), 'provider_unavailable'],
    ['503 access_denied', json(503, { error: 'access_denied' }), 'provider_unavailable'],
    ['504 unauthorized_client', json(504, { error: 'unauthorized_client' }), 'provider_unavailable'],
    ['500 for a wrong password at Okta', json(500, { errorCode: 'E0000004' }), 'provider_unavailable'],
    [
      '500 for a wrong key at X',
      json(500, { errors: [{ code: 99, label: 'authenticity_token_error' }] }),
      'provider_unavailable',
    ],
    ['501', status(501), 'provider_unavailable'],
    ['505', status(505), 'provider_unavailable'],
    ['an error response with status 200', json(200, { error: 'slow_down' }), 'provider_rejected'],
    ['a response without a token', json(200, { token: 'x' }), 'response_unreadable'],
    ['204', (response) => response.writeHead(204).end(), 'response_unreadable'],
    ['a response that is too large', (response) => response.end('x'.repeat(1_048_577)), 'response_too_large'],
    [
      'a response with an unknown encoding',
      (response) => response.writeHead(200, { 'Content-Encoding': 'zz' }).end('x'),
      'response_unreadable',
    ],
  ])('D18 %s', async (_what, respond, errorCode) => {
    const server = await failing(respond);
    const ports = fakePorts();
    expect(await errorOf(requestToken(profileOf({ ...machine, url: server.url }), ports))).toMatchObject({
      code: errorCode,
    });
    expect(server.requests).toHaveLength(1);
    expect(ports.clock.slept).toEqual([]);
  });

  it('D18 a wrong password with any status, because the account would be locked', async () => {
    for (const code of [200, 400, 401, 403, 500, 502, 503, 504]) {
      const server = await serve((response) => giveJson(response, code, { error: 'invalid_grant' }));
      const profile = profileOf({ type: 'custom', grant_type: 'password', ...user, url: server.url });
      await errorOf(requestToken(profile, fakePorts()));
      expect(server.requests).toHaveLength(1);
    }
  });

  it('D18 an untrusted certificate', async () => {
    const authority = new Authority();
    const server = await serve(giveToken, authority.issue({ name: 'server', hosts: 'IP:127.0.0.1' }));
    const ports = fakePorts();
    expect(await errorOf(requestToken(profileOf({ ...machine, url: server.url }), ports))).toMatchObject({
      code: 'tls_failed',
    });
    expect(server.connections).toBe(1);
  });

  it.each([301, 302, 303, 307, 308])('D13 a %i, and nothing is sent to its target', async (redirect) => {
    const target = await serve();
    const server = await failing((response) => response.writeHead(redirect, { Location: target.url }).end());
    const error = await errorOf(requestToken(profileOf({ ...machine, url: server.url }), fakePorts()));
    expect(error).toMatchObject({ code: 'redirected' });
    expect(error.message).toContain(target.url);
    expect(server.requests).toHaveLength(1);
    expect(target.connections).toBe(0);
  });

  it('D17 a request larger than 256 KiB, which is not sent', async () => {
    const server = await serve();
    const profile = profileOf({ ...machine, url: server.url, scope: 'x'.repeat(262_144) });
    expect(await errorOf(requestToken(profile, fakePorts()))).toMatchObject({ code: 'request_too_large' });
    expect(server.connections).toBe(0);
  });
});

describe('retries', () => {
  it.each<[string, Respond]>([
    ['503', status(503)],
    ['429', status(429)],
    ['resets', (response) => response.socket?.resetAndDestroy()],
  ])('D18 end after three attempts: %s', async (_what, respond) => {
    const server = await failing(respond, Number.POSITIVE_INFINITY);
    const ports = fakePorts();
    await errorOf(requestToken(profileOf({ ...machine, url: server.url }), ports));
    expect(server.requests).toHaveLength(3);
    expect(ports.clock.slept).toHaveLength(2);
  });

  it.each([
    [0, [250, 500]],
    [0.5, [375, 750]],
    [0.999, [499.75, 999.5]],
  ])('D18 are delayed with jitter: %f', async (random, waits) => {
    const server = await failing(status(503), 3);
    const ports = fakePorts({ random: () => random });
    await errorOf(requestToken(profileOf({ ...machine, url: server.url }), ports));
    expect(ports.clock.slept).toEqual(waits);
  });

  it('D18 are logged without secrets', async () => {
    const server = await failing((response) => {
      giveJson(response, 503, { error: 'busy', error_description: 'c4n4ry-client-secret is not valid' });
    });
    const ports = fakePorts();
    await requestToken(profileOf({ ...machine, url: server.url }), ports);
    expect(ports.lines).toHaveLength(1);
    expect(ports.lines[0]).toMatch(/HTTP 503.*0\.4 s/);
    expect(ports.lines.join()).not.toContain('c4n4ry');
  });

  it('D18 use a new connection, because other idle connections may be closed too', async () => {
    const served = new WeakSet<object>();
    const server = await serve((response) => {
      const { socket } = response;
      if (socket === null) return;
      if (served.has(socket)) socket.resetAndDestroy();
      else giveToken(response);
      served.add(socket);
    });
    const ports = fakePorts();
    const profile = profileOf({ ...machine, url: server.url });
    await Promise.all([1, 2, 3, 4].map(() => requestToken(profile, ports)));
    await expect(requestToken(profile, ports)).resolves.toMatchObject({ tokenType: 'Bearer' });
  });

  it.each(kinds)(
    'D18 are the condition for a keep-alive connection, which a refresh never uses: %s',
    async (kind, fields, isSafe) => {
      const server = await serve();
      const ports = fakePorts();
      for (let i = 0; i < 3; i++) await requestToken(profileOf({ ...fields, url: server.url }), ports);
      expect(server.connections).toBe(isSafe && !kind.startsWith('refresh') ? 1 : 3);
    },
  );
});

describe('Retry-After', () => {
  it('D18 may be a date', async () => {
    const ports = fakePorts();
    const date = new Date(ports.clock.time + 12_000).toUTCString();
    const server = await failing(status(429, { 'Retry-After': date }));
    await requestToken(profileOf({ ...machine, url: server.url }), ports);
    expect(ports.clock.slept).toEqual([12_000]);
  });

  it('D18 is also honoured for a 503', async () => {
    const server = await failing(status(503, { 'Retry-After': '2' }));
    const ports = fakePorts();
    await requestToken(profileOf({ ...machine, url: server.url }), ports);
    expect(ports.clock.slept).toEqual([2000]);
  });

  it.each(['Fri, 01 Jan 2021 00:00:00 GMT', '0'])(
    'D18 %s is in the past, so that the usual delay applies',
    async (when) => {
      const server = await failing(status(429, { 'Retry-After': when }));
      const ports = fakePorts();
      await requestToken(profileOf({ ...machine, url: server.url }), ports);
      expect(ports.clock.slept).toEqual([375]);
    },
  );

  it.each(['30', '60', '999999999'])(
    'D18 after the deadline ends the request at once, with the time of the next attempt: %s s',
    async (seconds) => {
      const server = await failing(status(429, { 'Retry-After': seconds }));
      const ports = fakePorts();
      const error = await errorOf(requestToken(profileOf({ ...machine, url: server.url }), ports));
      expect(error).toBeInstanceOf(ProviderError);
      expect(error).toMatchObject({ code: 'rate_limited', retryAt: ports.clock.time + Number(seconds) * 1000 });
      expect(error.hint).toContain(`${seconds} s`);
      expect(server.requests).toHaveLength(1);
      expect(ports.clock.slept).toEqual([]);
    },
  );
});

it('a token is returned with the response of the provider', async () => {
  const sent = { access_token: 'a', refresh_token: 'r', token_type: 'bearer', expires_in: '60', x: [1, { y: null }] };
  const server = await serve((response) => giveJson(response, 200, sent));
  const ports = fakePorts();
  const parsed = await requestToken(profileOf({ ...machine, url: server.url }), ports);
  expect(parsed).toMatchObject({ response: sent, tokenType: 'bearer', expiresAt: ports.clock.time + 60_000 });
  expect(parsed.accessToken.reveal()).toBe('a');
  expect(parsed.refreshToken?.reveal()).toBe('r');
  expect(server.requests[0]?.headers['user-agent']).toBe('oauth-profile/1.2.3');
});
