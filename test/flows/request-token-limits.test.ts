import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client.ts';
import { OAuthProfileError, TransportError } from '../../src/errors.ts';
import { requestToken } from '../../src/flows/request-token.ts';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import type { Limits, Ports, Send, WireRequest } from '../../src/ports.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { Authority } from '../support/certificates.ts';
import { errorOf } from '../support/errors.ts';
import { FakeClock, fakePorts } from '../support/ports.ts';
import { profileOf } from '../support/profiles.ts';
import { giveJson, giveToken, serve } from '../support/server.ts';

const client = { client_id: 'my-client', client_secret: 'c4n4ry-client-secret' };
const machine = { type: 'custom', grant_type: 'client_credentials', ...client };
const refresh = { ...client, refresh_token: 'c4n4ry-refresh-token' };

/** A transport that takes these steps, one for each request, and records when it is used. */
function scripted(clock: FakeClock, ...steps: ((request: WireRequest, limits: Limits) => HttpResponse | Error)[]) {
  const sent: { at: number; timeoutMs: number; request: WireRequest }[] = [];
  const start = clock.time;
  const send: Send = async (request, limits) => {
    sent.push({ at: clock.time - start, timeoutMs: limits.timeoutMs, request });
    const result = steps[sent.length - 1]?.(request, limits) ?? new Error('too many requests');
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

describe('time limits', () => {
  const taking = (clock: FakeClock, ms: number, result: () => HttpResponse | Error) => (): HttpResponse | Error => {
    clock.time += ms;
    return result();
  };

  it('D17 one attempt has 10 s, the last the rest of 30 s', async () => {
    const clock = new FakeClock();
    const { send, sent } = scripted(clock, taking(clock, 10_000, lost), taking(clock, 12_000, lost), () => token);
    await requestToken(
      profileOf({ ...machine, url: 'http://localhost/' }),
      fakePorts({ send, clock, random: () => 0 }),
    );
    expect(sent.map(({ at, timeoutMs }) => [at, timeoutMs])).toEqual([
      [0, 10_000],
      [10_250, 10_000],
      [22_750, 7250],
    ]);
  });

  it('D17 options.timeout is the total time', async () => {
    const clock = new FakeClock();
    const { send, sent } = scripted(clock, taking(clock, 100, lost), taking(clock, 100, lost), () => token);
    const profile = profileOf({ ...machine, url: 'http://localhost/', options: { timeout: '2s' } });
    await requestToken(profile, fakePorts({ send, clock, random: () => 0 }));
    expect(sent.map(({ timeoutMs }) => timeoutMs)).toEqual([2000, 1650, 1050]);
  });

  it('D17 nothing is sent if the wait would end after the deadline', async () => {
    const clock = new FakeClock();
    const { send, sent } = scripted(clock, taking(clock, 29_800, lost), () => token);
    const error = await errorOf(
      requestToken(profileOf({ ...machine, url: 'http://localhost/' }), fakePorts({ send, clock })),
    );
    expect(error).toMatchObject({ code: 'connection_failed', sent: true });
    expect(sent).toHaveLength(1);
    expect(clock.slept).toEqual([]);
  });

  it('D17 nothing is sent if the machine was suspended beyond the deadline', async () => {
    const clock = new FakeClock();
    clock.whileAsleep = () => {
      clock.time += 3_600_000;
    };
    const { send, sent } = scripted(clock, lost, () => token);
    const error = await errorOf(
      requestToken(profileOf({ ...machine, url: 'http://localhost/' }), fakePorts({ send, clock })),
    );
    expect(error).toMatchObject({ code: 'connection_failed', sent: true });
    expect(sent).toHaveLength(1);
  });

  it('D17 nothing is sent if signing took all the time', async () => {
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
    const profile = profileOf({ ...machine, url: 'http://localhost/', options });
    const error = await errorOf(requestToken(profile, fakePorts({ send, sign, clock })));
    expect(error).toMatchObject({ code: 'timeout', sent: false });
    expect(error.hint).toContain('svc.options.timeout');
    expect(sent).toHaveLength(0);
  });

  it('D17 the hook is not called if signing took all the time', async () => {
    const clock = new FakeClock();
    const { send } = scripted(clock, () => token);
    const sign: Ports['sign'] = async () => {
      clock.time += 4_000;
      return new Secret('signed');
    };
    const key_file = new Authority().file('own.pem', 'not read');
    const options = { client_auth: 'private_key_jwt', key_file, timeout: '4s' };
    const profile = profileOf({ ...machine, url: 'http://localhost/', options });
    const calls: number[] = [];
    const onSend = async (timeoutMs: number) => void calls.push(timeoutMs);
    const hooks = { onSend, onResponse: () => {}, onResponseLost: () => {} };
    await errorOf(requestToken(profile, fakePorts({ send, sign, clock }), undefined, hooks));
    expect(calls).toEqual([]);
  });

  it.each([
    [3_999, 1],
    [4_000, 0],
    [4_001, 0],
  ])('D17 nothing is sent if the hook took all the time: %i of 4000 ms', async (ms, times) => {
    const clock = new FakeClock();
    const { send, sent } = scripted(clock, () => token);
    const profile = profileOf({ ...machine, url: 'http://localhost/', options: { timeout: '4s' } });
    const onSend = async (): Promise<void> => {
      clock.time += ms;
    };
    const hooks = { onSend, onResponse: () => {}, onResponseLost: () => {} };
    const requested = requestToken(profile, fakePorts({ send, clock }), undefined, hooks);
    if (times === 0) expect(await errorOf(requested)).toMatchObject({ code: 'timeout', sent: false });
    else await requested;
    expect(sent).toHaveLength(times);
  });

  it('D17 signing has the time of an attempt, or the rest of the total time', async () => {
    const clock = new FakeClock();
    const { send } = scripted(
      clock,
      () => token,
      () => token,
    );
    const received: unknown[] = [];
    const sign: Ports['sign'] = async (...[, , limits]) => {
      received.push(limits);
      return new Secret('signed');
    };
    const key_file = new Authority().file('own.pem', 'not read');
    const { signal } = new AbortController();
    for (const timeout of ['30s', '4s']) {
      const options = { client_auth: 'private_key_jwt', key_file, timeout };
      const profile = profileOf({ ...machine, url: 'http://localhost/', options });
      await requestToken(profile, fakePorts({ send, sign, clock }), signal);
    }
    expect(received).toEqual([
      { timeoutMs: 10_000, signal },
      { timeoutMs: 4_000, signal },
    ]);
  });

  it('D17 the total time applies to a real connection', async () => {
    const server = await serve(() => {});
    const profile = profileOf({ ...machine, url: server.url, options: { timeout: '300ms' } });
    const error = await errorOf(requestToken(profile, createClient({ environment: { env: {}, cwd: '/' } }).ports));
    expect(error.code).toBe('timeout');
    expect(server.requests).toHaveLength(1);
    await server.allClosed();
  });

  it('the lifetime of a token begins when it is received', async () => {
    const clock = new FakeClock();
    const start = clock.time;
    const { send } = scripted(
      clock,
      taking(clock, 5000, () => token),
    );
    const { expiresAt } = await requestToken(
      profileOf({ ...machine, url: 'http://localhost/' }),
      fakePorts({ send, clock }),
    );
    expect(expiresAt).toBe(start + 5000 + 3_600_000);
  });
});

describe('a refresh token with a grace period of 30 s', () => {
  const profile = profileOf({ type: 'okta', ...refresh, url: 'http://localhost/', options: { timeout: '2m' } });

  it.each([
    ['24', 2],
    ['25', 1],
    ['29', 1],
    ['60', 1],
  ])('D18 is sent again only within the grace period: after %s s', async (seconds, times) => {
    const clock = new FakeClock();
    const { send, sent } = scripted(clock, busy(503, seconds), () => token);
    await requestToken(profile, fakePorts({ send, clock })).catch(() => {});
    expect(sent).toHaveLength(times);
  });

  it('D18 is not sent again if the grace period since the first attempt is over', async () => {
    const clock = new FakeClock();
    const hangs = (): Error => {
      clock.time += 10_000;
      return lost();
    };
    const { send, sent } = scripted(clock, hangs, busy(429, '20'), () => token);
    expect(await errorOf(requestToken(profile, fakePorts({ send, clock })))).toMatchObject({ code: 'rate_limited' });
    expect(sent).toHaveLength(2);
  });

  it('D18 is not sent again after the grace period, although the last attempt was not sent', async () => {
    const clock = new FakeClock();
    const hangs = (): Error => {
      clock.time += 10_000;
      return notSent();
    };
    const short = profileOf({ type: 'okta', ...refresh, url: 'http://localhost/', options: { grace: '12s' } });
    const { send, sent } = scripted(clock, lost, hangs, () => token);
    expect(await errorOf(requestToken(short, fakePorts({ send, clock })))).toMatchObject({ sent: false });
    expect(sent).toHaveLength(2);
  });

  it('D18 is not sent again if the machine was suspended beyond the grace period', async () => {
    const clock = new FakeClock();
    clock.whileAsleep = () => {
      clock.time += 40_000;
    };
    const { send, sent } = scripted(clock, lost, () => token);
    expect(await errorOf(requestToken(profile, fakePorts({ send, clock })))).toMatchObject({ sent: true });
    expect(sent).toHaveLength(1);
  });

  it('D18 may be sent again after the grace period if it was not processed before', async () => {
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
    const server = await serve((response, { number }) =>
      number <= 2 ? giveJson(response, 503, {}) : giveToken(response),
    );
    await requestToken(profileOf({ ...machine, url: server.url, options }), fakePorts());
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

  it('is not used if the profile has its own assertion', async () => {
    const server = await serve();
    const { client_secret: _, ...given } = { ...machine, client_assertion: 'c4n4ry.own.assertion' };
    await requestToken(profileOf({ ...given, url: server.url }), fakePorts());
    expect(new URLSearchParams(server.requests[0]?.body).get('client_assertion')).toBe('c4n4ry.own.assertion');
  });

  it('sends nothing if the key is invalid', async () => {
    const server = await serve();
    const bad = authority.file('bad.pem', 'not a key');
    const profile = profileOf({ ...machine, url: server.url, options: { ...options, key_file: bad } });
    const error = await errorOf(requestToken(profile, fakePorts()));
    expect(error).toMatchObject({ code: 'profile_invalid', issues: [{ variable: 'svc.options.key_file' }] });
    expect(server.connections).toBe(0);
  });
});

describe('an abort', () => {
  const reason = new Error('the reason');

  it('before the call sends nothing', async () => {
    const server = await serve();
    const profile = profileOf({ ...machine, url: server.url });
    const error = await errorOf(requestToken(profile, fakePorts(), AbortSignal.abort(reason)));
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(server.connections).toBe(0);
  });

  it('is checked before each attempt, even if signer, transport and clock ignore it', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const { send, sent } = scripted(clock, notSent, () => token);
    clock.whileAsleep = () => controller.abort(reason);
    const profile = profileOf({ ...machine, url: 'http://localhost/' });
    const requested = requestToken(profile, fakePorts({ send, clock }), controller.signal);
    expect(await errorOf(requested)).toMatchObject({ code: 'aborted', cause: reason });
    expect(sent).toHaveLength(1);
  });

  it('during a request ends the call, and nothing is retried', async () => {
    const controller = new AbortController();
    const server = await serve(() => controller.abort(reason));
    const ports = fakePorts();
    const error = await errorOf(requestToken(profileOf({ ...machine, url: server.url }), ports, controller.signal));
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(server.requests).toHaveLength(1);
    expect(ports.clock.slept).toEqual([]);
    await server.allClosed();
  });

  it('during the signing prevents the request', async () => {
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
    const profile = profileOf({ ...machine, url: server.url, options });
    const error = await errorOf(requestToken(profile, fakePorts({ sign }), controller.signal));
    expect(error).toMatchObject({ code: 'aborted', cause: reason });
    expect(server.connections).toBe(0);
  });

  it.each([
    ['at its start', (abort: () => void) => abort()],
    ['in the middle', (abort: () => void) => setImmediate(abort)],
  ])(
    'during the wait between attempts, %s, ends the call at once',
    async (_when, abort) => {
      const controller = new AbortController();
      const server = await serve((response) => giveJson(response, 429, {}, { 'Retry-After': '25' }));
      const log = () => {
        abort(() => controller.abort(reason));
      };
      const { clock } = createClient({ environment: { env: {}, cwd: '/' } }).ports;
      const profile = profileOf({ ...machine, url: server.url });
      const error = await errorOf(requestToken(profile, fakePorts({ clock, log }), controller.signal));
      expect(error).toBeInstanceOf(OAuthProfileError);
      expect(error).toMatchObject({ code: 'aborted', cause: reason });
      expect(server.requests).toHaveLength(1);
      expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    },
    5000,
  );
});
