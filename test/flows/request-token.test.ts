import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { composePorts } from '../../src/compose.ts';
import { OAuthProfileError, ProviderError, TransportError } from '../../src/errors.ts';
import { requestToken } from '../../src/flows/request-token.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import type { Limits, Ports, Send, WireRequest } from '../../src/ports.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { Authority } from '../support/certificates.ts';
import { FakeClock, fakePorts } from '../support/fake-ports.ts';
import { profileOf } from '../support/profile-of.ts';
import { errorOf } from '../support/wire-request.ts';
import { closedPort, giveJson, giveToken, httpServer, serve, type WireServer } from '../support/wire-server.ts';

const client = { client_id: 'my-client', client_secret: 'c4n4ry-client-secret' };
const machineProfile = { type: 'custom', grant_type: 'client_credentials', ...client };
const user = { client_id: 'my-client', username: 'ada', password: 'c4n4ry-password' };
const refresh = { ...client, refresh_token: 'c4n4ry-refresh-token' };
const code = { grant_type: 'authorization_code', code: 'c4n4ry-code', redirect_uri: 'http://127.0.0.1/' };

/** Every kind of request that D18 tells apart, and whether a lost one may be repeated. */
const kinds: [string, Readonly<Record<string, unknown>>, boolean][] = [
  ['client_credentials', machineProfile, true],
  ['client_credentials of twitter', { type: 'twitter', ...client }, true],
  ['password', { type: 'microsoft', ...user }, true],
  ['password of custom', { type: 'custom', grant_type: 'password', ...user }, true],
  ['refresh of microsoft', { type: 'microsoft', ...refresh }, true],
  ['refresh of google', { type: 'google', ...refresh }, true],
  ['refresh of okta', { type: 'okta', ...refresh }, true],
  ['refresh of okta with a grace too short', { type: 'okta', ...refresh, options: { grace: '5s' } }, false],
  ['refresh of gitlab', { type: 'gitlab', ...refresh }, false],
  ['refresh of custom', { type: 'custom', grant_type: 'refresh_token', ...refresh }, false],
  [
    'refresh of custom that says it is safe',
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

/** Waiting takes time, so that some stand for all. */
const timedKinds = ['client_credentials', 'refresh of okta', 'refresh of gitlab', 'authorization_code'];

type Fault = (response: ServerResponse) => void;
const status =
  (code: number, headers = {}): Fault =>
  (response) =>
    giveJson(response, code, {}, headers);

/** A server that fails first and then gives tokens. */
const failing = (fault: Fault, times = 1): Promise<WireServer> =>
  serve((response, { number }) => (number <= times ? fault(response) : giveToken(response)));

describe('a request whose outcome is unknown', () => {
  const losses: [string, Fault, string][] = [
    ['500', status(500), 'provider_unavailable'],
    ['502', status(502), 'provider_unavailable'],
    ['503', status(503), 'provider_unavailable'],
    ['504', status(504), 'provider_unavailable'],
    ['a reset after sending', (response) => response.socket?.resetAndDestroy(), 'connection_failed'],
    ['a connection closed without a reply', (response) => response.socket?.end(), 'connection_failed'],
    [
      'a reply cut off',
      (response) => {
        response.writeHead(200, { 'Content-Length': 100 });
        response.write('{"access_token":"x"', () => response.destroy());
      },
      'connection_failed',
    ],
  ];
  describe.each(losses)('%s', (_loss, fault, errorCode) => {
    it.each(kinds)('D18 is repeated only where that does no harm: %s', async (_kind, fields, repeatable) => {
      const server = await failing(fault);
      const ports = fakePorts();
      const asking = requestToken(profileOf({ ...fields, url: server.url }), ports);
      if (repeatable) {
        await expect(asking).resolves.toMatchObject({ response: { access_token: 'given-access-token' } });
        expect(server.requests).toHaveLength(2);
        expect(server.requests[1]?.body).toBe(server.requests[0]?.body);
        expect(ports.clock.slept).toHaveLength(1);
      } else {
        expect(await errorOf(asking)).toMatchObject({ code: errorCode });
        expect(server.requests).toHaveLength(1);
        expect(ports.clock.slept).toEqual([]);
      }
    });
  });

  it.each(kinds.filter(([kind]) => timedKinds.includes(kind)))(
    'D18 a time-out after sending is repeated only where that does no harm: %s',
    async (_kind, fields, repeatable) => {
      const server = await failing(() => {});
      const { send } = fakePorts();
      const ports = fakePorts({ send: (request, bounds) => send(request, { ...bounds, timeoutMs: 250 }) });
      const asking = requestToken(profileOf({ ...fields, url: server.url }), ports);
      if (repeatable) await expect(asking).resolves.toMatchObject({ tokenType: 'Bearer' });
      else expect(await errorOf(asking)).toMatchObject({ code: 'timeout', sent: true });
      expect(server.requests).toHaveLength(repeatable ? 2 : 1);
    },
  );
});

describe('a request that certainly did nothing', () => {
  it.each(kinds)('D18 is repeated when no connection came about: %s', async (_kind, fields) => {
    const port = await closedPort();
    const ports = fakePorts();
    const server = httpServer();
    ports.clock.whileAsleep = () => server.start(port);
    const profile = profileOf({ ...fields, url: `http://127.0.0.1:${port}/token` });
    await expect(requestToken(profile, ports)).resolves.toMatchObject({ tokenType: 'Bearer' });
    expect(server.requests).toHaveLength(1);
    expect(ports.clock.slept).toHaveLength(1);
  });

  it.each(kinds)('D18 is repeated after a 429: %s', async (_kind, fields) => {
    const server = await failing(status(429, { 'Retry-After': '7' }));
    const ports = fakePorts();
    await requestToken(profileOf({ ...fields, url: server.url }), ports);
    expect(server.requests).toHaveLength(2);
    expect(ports.clock.slept).toEqual([7000]);
  });
});

describe('what is never repeated', () => {
  const json =
    (code: number, body: unknown): Fault =>
    (response) =>
      giveJson(response, code, body);
  it.each<[string, Fault, string]>([
    ['400 invalid_grant', json(400, { error: 'invalid_grant' }), 'provider_rejected'],
    ['401 invalid_client', json(401, { error: 'invalid_client' }), 'provider_rejected'],
    ['403', status(403), 'provider_rejected'],
    ['404', status(404), 'provider_rejected'],
    ['408', status(408), 'provider_rejected'],
    ['500 invalid_grant', json(500, { error: 'invalid_grant' }), 'provider_unavailable'],
    ['502 invalid_client', json(502, { error: 'invalid_client' }), 'provider_unavailable'],
    ['503 access_denied', json(503, { error: 'access_denied' }), 'provider_unavailable'],
    ['504 unauthorized_client', json(504, { error: 'unauthorized_client' }), 'provider_unavailable'],
    ['500 of a wrong password at Okta', json(500, { errorCode: 'E0000004' }), 'provider_unavailable'],
    [
      '500 of a wrong key at X',
      json(500, { errors: [{ code: 99, label: 'authenticity_token_error' }] }),
      'provider_unavailable',
    ],
    ['501', status(501), 'provider_unavailable'],
    ['505', status(505), 'provider_unavailable'],
    ['a refusal with status 200', json(200, { error: 'slow_down' }), 'provider_rejected'],
    ['a reply without a token', json(200, { token: 'x' }), 'response_unreadable'],
    ['204', (response) => response.writeHead(204).end(), 'response_unreadable'],
    ['a reply too large', (response) => response.end('x'.repeat(1_048_577)), 'response_too_large'],
    [
      'a reply in no known encoding',
      (response) => response.writeHead(200, { 'Content-Encoding': 'zz' }).end('x'),
      'response_unreadable',
    ],
  ])('D18 %s', async (_what, fault, errorCode) => {
    const server = await failing(fault);
    const ports = fakePorts();
    expect(await errorOf(requestToken(profileOf({ ...machineProfile, url: server.url }), ports))).toMatchObject({
      code: errorCode,
    });
    expect(server.requests).toHaveLength(1);
    expect(ports.clock.slept).toEqual([]);
  });

  it('D18 a wrong password, with whatever status: the account would be locked', async () => {
    for (const code of [200, 400, 401, 403, 500, 502, 503, 504]) {
      const server = await serve((response) => giveJson(response, code, { error: 'invalid_grant' }));
      const profile = profileOf({ type: 'custom', grant_type: 'password', ...user, url: server.url });
      await errorOf(requestToken(profile, fakePorts()));
      expect(server.requests).toHaveLength(1);
    }
  });

  it('D18 an untrusted server', async () => {
    const authority = new Authority();
    const server = await serve(giveToken, authority.issue({ name: 'server', hosts: 'IP:127.0.0.1' }));
    const ports = fakePorts();
    expect(await errorOf(requestToken(profileOf({ ...machineProfile, url: server.url }), ports))).toMatchObject({
      code: 'tls_failed',
    });
    expect(server.connections).toBe(1);
  });

  it.each([301, 302, 303, 307, 308])('D13 a %i, whose target is told and gets nothing', async (redirect) => {
    const target = await serve();
    const server = await failing((response) => response.writeHead(redirect, { Location: target.url }).end());
    const error = await errorOf(requestToken(profileOf({ ...machineProfile, url: server.url }), fakePorts()));
    expect(error).toMatchObject({ code: 'redirected' });
    expect(error.message).toContain(target.url);
    expect(server.requests).toHaveLength(1);
    expect(target.connections).toBe(0);
  });

  it('D17 a request larger than 256 KiB, of which nothing is sent', async () => {
    const server = await serve();
    const profile = profileOf({ ...machineProfile, url: server.url, scope: 'x'.repeat(262_144) });
    expect(await errorOf(requestToken(profile, fakePorts()))).toMatchObject({ code: 'request_too_large' });
    expect(server.connections).toBe(0);
  });
});

describe('attempts', () => {
  it.each<[string, Fault]>([
    ['503', status(503)],
    ['429', status(429)],
    ['resets', (response) => response.socket?.resetAndDestroy()],
  ])('D18 are three at most: %s', async (_what, fault) => {
    const server = await failing(fault, Number.POSITIVE_INFINITY);
    const ports = fakePorts();
    await errorOf(requestToken(profileOf({ ...machineProfile, url: server.url }), ports));
    expect(server.requests).toHaveLength(3);
    expect(ports.clock.slept).toHaveLength(2);
  });

  it.each([
    [0, [250, 500]],
    [0.5, [375, 750]],
    [0.999, [499.75, 999.5]],
  ])('D18 are spread by chance: %f', async (chance, waits) => {
    const server = await failing(status(503), 3);
    const ports = fakePorts({ random: () => chance });
    await errorOf(requestToken(profileOf({ ...machineProfile, url: server.url }), ports));
    expect(ports.clock.slept).toEqual(waits);
  });

  it('D18 are told to who wants to know, without secrets', async () => {
    const server = await failing((response) => {
      giveJson(response, 503, { error: 'busy', error_description: 'c4n4ry-client-secret is not now' });
    });
    const ports = fakePorts();
    await requestToken(profileOf({ ...machineProfile, url: server.url }), ports);
    expect(ports.lines).toHaveLength(1);
    expect(ports.lines[0]).toMatch(/^attempt 1: .*HTTP 503.*; again in 0\.4 s$/);
    expect(ports.lines.join()).not.toContain('c4n4ry');
  });

  it('D18 after a failure have a connection of their own: where one was dead, the next may be too', async () => {
    const served = new WeakSet<object>();
    const server = await serve((response) => {
      const { socket } = response;
      if (socket === null) return;
      if (served.has(socket)) socket.resetAndDestroy();
      else giveToken(response);
      served.add(socket);
    });
    const ports = fakePorts();
    const profile = profileOf({ ...machineProfile, url: server.url });
    await Promise.all([1, 2, 3, 4].map(() => requestToken(profile, ports)));
    await expect(requestToken(profile, ports)).resolves.toMatchObject({ tokenType: 'Bearer' });
  });

  it.each(kinds)(
    'D18 use a kept connection only where a repeat does no harm, and never for a refresh: %s',
    async (kind, fields, repeatable) => {
      const server = await serve();
      const ports = fakePorts();
      for (let i = 0; i < 3; i++) await requestToken(profileOf({ ...fields, url: server.url }), ports);
      expect(server.connections).toBe(repeatable && !kind.startsWith('refresh') ? 1 : 3);
    },
  );
});

describe('Retry-After', () => {
  it('D18 is honoured as a date', async () => {
    const ports = fakePorts();
    const date = new Date(ports.clock.time + 12_000).toUTCString();
    const server = await failing(status(429, { 'Retry-After': date }));
    await requestToken(profileOf({ ...machineProfile, url: server.url }), ports);
    expect(ports.clock.slept).toEqual([12_000]);
  });

  it('D18 is honoured for a 503', async () => {
    const server = await failing(status(503, { 'Retry-After': '2' }));
    const ports = fakePorts();
    await requestToken(profileOf({ ...machineProfile, url: server.url }), ports);
    expect(ports.clock.slept).toEqual([2000]);
  });

  it.each(['Fri, 01 Jan 2021 00:00:00 GMT', '0'])('D18 %s means soon, after the usual pause', async (when) => {
    const server = await failing(status(429, { 'Retry-After': when }));
    const ports = fakePorts();
    await requestToken(profileOf({ ...machineProfile, url: server.url }), ports);
    expect(ports.clock.slept).toEqual([375]);
  });

  it.each(['30', '60', '999999999'])('D18 past the time left fails at once and says when: %s s', async (seconds) => {
    const server = await failing(status(429, { 'Retry-After': seconds }));
    const ports = fakePorts();
    const error = await errorOf(requestToken(profileOf({ ...machineProfile, url: server.url }), ports));
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ code: 'rate_limited', retryAt: ports.clock.time + Number(seconds) * 1000 });
    expect(error.hint).toContain(`wait ${seconds} s`);
    expect(server.requests).toHaveLength(1);
    expect(ports.clock.slept).toEqual([]);
  });
});

/** A transport that does what it is told, at the times it is told. */
function scripted(clock: FakeClock, ...steps: ((request: WireRequest, bounds: Limits) => HttpResponse | Error)[]) {
  const sent: { at: number; timeoutMs: number; request: WireRequest }[] = [];
  const start = clock.time;
  const send: Send = async (request, bounds) => {
    sent.push({ at: clock.time - start, timeoutMs: bounds.timeoutMs, request });
    const result = steps[sent.length - 1]?.(request, bounds) ?? new Error('asked too often');
    if (result instanceof Error) throw result;
    return result;
  };
  return { send, sent };
}

const token: HttpResponse = { status: 200, headers: {}, body: '{"access_token":"t","expires_in":3600}' };
const lost = () => new TransportError('connection_failed', 'lost', { sent: true });
const notSent = () => new TransportError('connection_failed', 'not sent', { sent: false });
const busy = (code: number, retryAfter: string) => (): HttpResponse => ({
  status: code,
  headers: { 'retry-after': retryAfter },
  body: '',
});

describe('time', () => {
  const taking = (clock: FakeClock, ms: number, result: () => HttpResponse | Error) => (): HttpResponse | Error => {
    clock.time += ms;
    return result();
  };

  it('D17 one attempt gets 10 s, the last what is left of 30 s', async () => {
    const clock = new FakeClock();
    const { send, sent } = scripted(clock, taking(clock, 10_000, lost), taking(clock, 12_000, lost), () => token);
    await requestToken(
      profileOf({ ...machineProfile, url: 'http://localhost/' }),
      fakePorts({ send, clock, random: () => 0 }),
    );
    expect(sent.map(({ at, timeoutMs }) => [at, timeoutMs])).toEqual([
      [0, 10_000],
      [10_250, 10_000],
      [22_750, 7250],
    ]);
  });

  it('D17 options.timeout is the whole time', async () => {
    const clock = new FakeClock();
    const { send, sent } = scripted(clock, taking(clock, 100, lost), taking(clock, 100, lost), () => token);
    const profile = profileOf({ ...machineProfile, url: 'http://localhost/', options: { timeout: '2s' } });
    await requestToken(profile, fakePorts({ send, clock, random: () => 0 }));
    expect(sent.map(({ timeoutMs }) => timeoutMs)).toEqual([2000, 1650, 1050]);
  });

  it('D17 nothing is sent when the wait would end after the time', async () => {
    const clock = new FakeClock();
    const { send, sent } = scripted(clock, taking(clock, 29_800, lost), () => token);
    const error = await errorOf(
      requestToken(profileOf({ ...machineProfile, url: 'http://localhost/' }), fakePorts({ send, clock })),
    );
    expect(error.message).toBe('lost');
    expect(sent).toHaveLength(1);
    expect(clock.slept).toEqual([]);
  });

  it('D17 nothing is sent by a machineProfile that slept past the time', async () => {
    const clock = new FakeClock();
    clock.whileAsleep = () => {
      clock.time += 3_600_000;
    };
    const { send, sent } = scripted(clock, lost, () => token);
    const error = await errorOf(
      requestToken(profileOf({ ...machineProfile, url: 'http://localhost/' }), fakePorts({ send, clock })),
    );
    expect(error.message).toBe('lost');
    expect(sent).toHaveLength(1);
  });

  it('D17 nothing is sent when signing took all the time', async () => {
    const clock = new FakeClock();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const ports = fakePorts();
    const authority = new Authority();
    const key_file = authority.file('own.pem', privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
    const { send, sent } = scripted(clock, () => token);
    const sign: typeof ports.sign = async (...args) => {
      clock.time += 30_000;
      return ports.sign(...args);
    };
    const options = { client_auth: 'private_key_jwt', key_file };
    const profile = profileOf({ ...machineProfile, url: 'http://localhost/', options });
    const error = await errorOf(requestToken(profile, fakePorts({ send, sign, clock })));
    expect(error).toMatchObject({
      code: 'timeout',
      message: 'no time was left to ask localhost',
      sent: false,
      hint: 'raise svc.options.timeout',
    });
    expect(sent).toHaveLength(0);
  });

  it('D17 no attempt is announced when signing took all the time', async () => {
    const clock = new FakeClock();
    const { send } = scripted(clock, () => token);
    const sign: Ports['sign'] = async () => {
      clock.time += 4_000;
      return new Secret('signed');
    };
    const key_file = new Authority().file('own.pem', 'read by nobody');
    const options = { client_auth: 'private_key_jwt', key_file, timeout: '4s' };
    const profile = profileOf({ ...machineProfile, url: 'http://localhost/', options });
    const announced: number[] = [];
    const onSend = async (timeoutMs: number) => void announced.push(timeoutMs);
    const witness = { onSend, onResponse: () => {}, onResponseLost: () => {} };
    await errorOf(requestToken(profile, fakePorts({ send, sign, clock }), undefined, witness));
    expect(announced).toEqual([]);
  });

  it.each([
    [3_999, 1],
    [4_000, 0],
    [4_001, 0],
  ])('D17 nothing is sent when announcing it took all the time: %i of 4000 ms', async (ms, times) => {
    const clock = new FakeClock();
    const { send, sent } = scripted(clock, () => token);
    const profile = profileOf({ ...machineProfile, url: 'http://localhost/', options: { timeout: '4s' } });
    const onSend = async (): Promise<void> => {
      clock.time += ms;
    };
    const witness = { onSend, onResponse: () => {}, onResponseLost: () => {} };
    const asking = requestToken(profile, fakePorts({ send, clock }), undefined, witness);
    if (times === 0) expect(await errorOf(asking)).toMatchObject({ code: 'timeout', sent: false });
    else await asking;
    expect(sent).toHaveLength(times);
  });

  it('D17 signing has the time of an attempt, or what is left of all', async () => {
    const clock = new FakeClock();
    const { send } = scripted(
      clock,
      () => token,
      () => token,
    );
    const given: unknown[] = [];
    const sign: Ports['sign'] = async (...[, , bounds]) => {
      given.push(bounds);
      return new Secret('signed');
    };
    const key_file = new Authority().file('own.pem', 'read by nobody');
    const { signal } = new AbortController();
    for (const timeout of ['30s', '4s']) {
      const options = { client_auth: 'private_key_jwt', key_file, timeout };
      const profile = profileOf({ ...machineProfile, url: 'http://localhost/', options });
      await requestToken(profile, fakePorts({ send, sign, clock }), signal);
    }
    expect(given).toEqual([
      { timeoutMs: 10_000, signal },
      { timeoutMs: 4_000, signal },
    ]);
  });

  it('D17 holds for a whole call over the wire', async () => {
    const server = await serve(() => {});
    const profile = profileOf({ ...machineProfile, url: server.url, options: { timeout: '300ms' } });
    const error = await errorOf(requestToken(profile, composePorts({ env: {}, cwd: '/' })));
    expect(error.code).toBe('timeout');
    expect(server.requests).toHaveLength(1);
    await server.allClosed();
  });

  it('the life of a token counts from its arrival', async () => {
    const clock = new FakeClock();
    const start = clock.time;
    const { send } = scripted(
      clock,
      taking(clock, 5000, () => token),
    );
    const { expiresAt } = await requestToken(
      profileOf({ ...machineProfile, url: 'http://localhost/' }),
      fakePorts({ send, clock }),
    );
    expect(expiresAt).toBe(start + 5000 + 3_600_000);
  });
});

describe('a refresh token with a grace of 30 s', () => {
  const profile = profileOf({ type: 'okta', ...refresh, url: 'http://localhost/', options: { timeout: '2m' } });

  it.each([
    ['24', 2],
    ['25', 1],
    ['29', 1],
    ['60', 1],
  ])('D18 is repeated only when that still falls into it: after %s s', async (seconds, times) => {
    const clock = new FakeClock();
    const { send, sent } = scripted(clock, busy(503, seconds), () => token);
    await requestToken(profile, fakePorts({ send, clock })).catch(() => {});
    expect(sent).toHaveLength(times);
  });

  it('D18 counts from the first send, whatever happened in between', async () => {
    const clock = new FakeClock();
    const hangs = (): Error => {
      clock.time += 10_000;
      return lost();
    };
    const { send, sent } = scripted(clock, hangs, busy(429, '20'), () => token);
    expect(await errorOf(requestToken(profile, fakePorts({ send, clock })))).toMatchObject({ code: 'rate_limited' });
    expect(sent).toHaveLength(2);
  });

  it('D18 is not repeated late because an attempt in between never left', async () => {
    const clock = new FakeClock();
    const hangs = (): Error => {
      clock.time += 10_000;
      return notSent();
    };
    const short = profileOf({ type: 'okta', ...refresh, url: 'http://localhost/', options: { grace: '12s' } });
    const { send, sent } = scripted(clock, lost, hangs, () => token);
    expect(await errorOf(requestToken(short, fakePorts({ send, clock })))).toMatchObject({ message: 'not sent' });
    expect(sent).toHaveLength(2);
  });

  it('D18 is not repeated by a machineProfile that slept past it', async () => {
    const clock = new FakeClock();
    clock.whileAsleep = () => {
      clock.time += 40_000;
    };
    const { send, sent } = scripted(clock, lost, () => token);
    expect(await errorOf(requestToken(profile, fakePorts({ send, clock })))).toMatchObject({ message: 'lost' });
    expect(sent).toHaveLength(1);
  });

  it('D18 may wait long when nothing was sent', async () => {
    const clock = new FakeClock();
    const { send, sent } = scripted(clock, busy(429, '60'), () => token);
    await requestToken(profile, fakePorts({ send, clock }));
    expect(sent.map(({ at }) => at)).toEqual([0, 60_000]);
  });
});

describe('private_key_jwt', () => {
  const authority = new Authority();
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key_file = authority.file('own.pem', privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
  const options = { client_auth: 'private_key_jwt', key_file, key_id: 'k-1' };
  const partsOf = (body: string) => {
    const form = new URLSearchParams(body);
    const [header = '', payload = '', signature = ''] = form.get('client_assertion')?.split('.') ?? [];
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    return { form, header: read(header), payload: read(payload), input: `${header}.${payload}`, signature };
  };

  it('D18 signs a new assertion for each attempt', async () => {
    const server = await failing(status(503), 2);
    await requestToken(profileOf({ ...machineProfile, url: server.url, options }), fakePorts());
    const all = server.requests.map(({ body }) => partsOf(body));
    expect(all).toHaveLength(3);
    expect(new Set(all.map(({ payload }) => payload.jti)).size).toBe(3);
    for (const { form, header, payload, input, signature } of all) {
      expect(header).toEqual({ alg: 'RS256', kid: 'k-1', typ: 'JWT' });
      expect(payload).toMatchObject({ iss: 'my-client', sub: 'my-client', aud: server.url });
      expect(verify('sha256', Buffer.from(input), publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
      expect(form.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
      expect(form.get('client_id')).toBe('my-client');
      expect(form.has('client_secret')).toBe(false);
    }
  });

  it('D12 microsoft gets PS256 and the thumbprint of the certificate', async () => {
    const own = authority.issue({ name: 'signer', usage: 'clientAuth' });
    const both = authority.file('both.pem', own.key + own.cert);
    const server = await serve();
    const microsoft = { type: 'microsoft', grant_type: 'client_credentials', client_id: 'my-client', url: server.url };
    await requestToken(profileOf({ ...microsoft, options }), fakePorts());
    await requestToken(profileOf({ ...microsoft, options: { ...options, key_file: both } }), fakePorts());
    const [rsa, ec] = server.requests.map(({ body }) => partsOf(body));
    expect(rsa?.header.alg).toBe('PS256');
    expect(ec?.header).toMatchObject({ alg: 'ES256', 'x5t#S256': expect.stringMatching(/^[\w-]{43}$/) });
    const key = { key: createPublicKey(own.cert), dsaEncoding: 'ieee-p1363' } as const;
    expect(verify('sha256', Buffer.from(ec?.input ?? ''), key, Buffer.from(ec?.signature ?? '', 'base64url'))).toBe(
      true,
    );
  });

  it('leaves alone an assertion that the profile brings along', async () => {
    const server = await serve();
    const { client_secret: _, ...given } = { ...machineProfile, client_assertion: 'c4n4ry.own.assertion' };
    await requestToken(profileOf({ ...given, url: server.url }), fakePorts());
    expect(new URLSearchParams(server.requests[0]?.body).get('client_assertion')).toBe('c4n4ry.own.assertion');
  });

  it('sends nothing with a key that cannot be used', async () => {
    const server = await serve();
    const bad = authority.file('bad.pem', 'no key');
    const profile = profileOf({ ...machineProfile, url: server.url, options: { ...options, key_file: bad } });
    const error = await errorOf(requestToken(profile, fakePorts()));
    expect(error).toMatchObject({ code: 'profile_invalid', issues: [{ variable: 'svc.options.key_file' }] });
    expect(server.connections).toBe(0);
  });
});

describe('an abort', () => {
  const reason = new Error('enough');

  it('before the call sends nothing', async () => {
    const server = await serve();
    const profile = profileOf({ ...machineProfile, url: server.url });
    const error = await errorOf(requestToken(profile, fakePorts(), AbortSignal.abort(reason)));
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(server.connections).toBe(0);
  });

  it('is heeded before each attempt, whatever signer, transport and clock make of it', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const { send, sent } = scripted(clock, notSent, () => token);
    clock.whileAsleep = () => controller.abort(reason);
    const profile = profileOf({ ...machineProfile, url: 'http://localhost/' });
    const asking = requestToken(profile, fakePorts({ send, clock }), controller.signal);
    expect(await errorOf(asking)).toMatchObject({ code: 'aborted', cause: reason });
    expect(sent).toHaveLength(1);
  });

  it('while a reply is awaited ends the call, and nothing is repeated', async () => {
    const controller = new AbortController();
    const server = await serve(() => controller.abort(reason));
    const ports = fakePorts();
    const error = await errorOf(
      requestToken(profileOf({ ...machineProfile, url: server.url }), ports, controller.signal),
    );
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(server.requests).toHaveLength(1);
    expect(ports.clock.slept).toEqual([]);
    await server.allClosed();
  });

  it('during the signing sends nothing', async () => {
    const controller = new AbortController();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const authority = new Authority();
    const key_file = authority.file('own.pem', privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
    const server = await serve();
    const ports = fakePorts();
    const sign: typeof ports.sign = (...args) => {
      controller.abort(reason);
      return ports.sign(...args);
    };
    const options = { client_auth: 'private_key_jwt', key_file };
    const profile = profileOf({ ...machineProfile, url: server.url, options });
    const error = await errorOf(requestToken(profile, fakePorts({ sign }), controller.signal));
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(server.connections).toBe(0);
  });

  it.each([
    ['at its beginning', (abort: () => void) => abort()],
    ['in the middle', (abort: () => void) => setImmediate(abort)],
  ])(
    'of a wait between attempts, %s, ends the call at once',
    async (_when, abort) => {
      const controller = new AbortController();
      const server = await serve((response) => giveJson(response, 429, {}, { 'Retry-After': '25' }));
      const log = () => {
        abort(() => controller.abort(reason));
      };
      const { clock } = composePorts({ env: {}, cwd: '/' });
      const profile = profileOf({ ...machineProfile, url: server.url });
      const error = await errorOf(requestToken(profile, fakePorts({ clock, log }), controller.signal));
      expect(error).toBeInstanceOf(OAuthProfileError);
      expect(error).toMatchObject({ code: 'aborted', cause: reason });
      expect(server.requests).toHaveLength(1);
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    },
    5000,
  );
});

it('gives back what the provider sent and what it means', async () => {
  const sent = { access_token: 'a', refresh_token: 'r', token_type: 'bearer', expires_in: '60', x: [1, { y: null }] };
  const server = await serve((response) => giveJson(response, 200, sent));
  const ports = fakePorts();
  const reply = await requestToken(profileOf({ ...machineProfile, url: server.url }), ports);
  expect(reply).toMatchObject({ response: sent, tokenType: 'bearer', expiresAt: ports.clock.time + 60_000 });
  expect(reply.accessToken.reveal()).toBe('a');
  expect(reply.refreshToken?.reveal()).toBe('r');
  expect(server.requests[0]?.headers['user-agent']).toBe('oauth-profile/1.2.3');
});
