import { describe, expect, it } from 'vitest';
import { TransportError } from '../../../src/errors.ts';
import { type DeviceCodePrompt, loginWithDeviceCode } from '../../../src/flows/login/device-code.ts';
import type { HttpResponse } from '../../../src/oauth/http-response.ts';
import type { WireRequest } from '../../../src/ports.ts';
import { errorOf } from '../../support/errors.ts';
import { fakePorts } from '../../support/ports.ts';
import { loginProfileOf } from '../../support/profiles.ts';

const microsoft = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'app', scope: 'user.read' };
const gitlab = { type: 'gitlab', client_id: 'app', scope: 'read_user' };
const google = { type: 'google', client_id: 'a', client_secret: 'b', scope: 'c' };
const device = {
  device_code: 'secret-device-code',
  user_code: 'WDJB-MJHT',
  verification_uri: 'https://example.com/device',
  expires_in: 900,
  interval: 5,
};
const granted = { access_token: 'at-value', refresh_token: 'rt-value', token_type: 'Bearer', expires_in: 3600 };
const pending = { error: 'authorization_pending' };
const slowDown = { error: 'slow_down' };

/** A provider that sends these responses, one for each request; the last one is repeated. */
function createFixture(responses: readonly (HttpResponse | Error | object)[]) {
  const sent: WireRequest[] = [];
  const ports = fakePorts({
    send: async (request) => {
      sent.push(request);
      const response = responses[Math.min(sent.length, responses.length) - 1] ?? {};
      if (response instanceof Error) throw response;
      if ('status' in response && 'body' in response) return response as HttpResponse;
      return { status: 'error' in response ? 400 : 200, headers: {}, body: JSON.stringify(response) };
    },
  });
  const shown: unknown[] = [];
  const prompt: DeviceCodePrompt = {
    showCode: (code, leftMs) => void shown.push({ ...code, leftMs }),
    showWaiting: (leftMs) => void shown.push(leftMs),
  };
  const logIn = (fields: Readonly<Record<string, unknown>> = gitlab, signal?: AbortSignal) =>
    loginWithDeviceCode(loginProfileOf(fields), ports, prompt, signal);
  /** The tenant in the path of each request to Microsoft. */
  const tenants = () => sent.map(({ url }) => url.pathname.split('/')[1]);
  return { sent, ports, shown, logIn, tenants };
}

const lost = (code: 'timeout' | 'connection_failed') => new TransportError(code, 'no response', { sent: true });
const status = (code: number, headers = {}): HttpResponse => ({ status: code, headers, body: 'busy' });

describe('a device code', () => {
  it('R4.3 is shown with its page and its remaining time, and is exchanged for tokens', async () => {
    const { logIn, shown, tenants, ports } = createFixture([device, pending, pending, granted]);
    expect((await logIn(microsoft)).refreshToken?.reveal()).toBe('rt-value');
    expect(shown[0]).toMatchObject({
      userCode: 'WDJB-MJHT',
      verificationUri: 'https://example.com/device',
      leftMs: 900_000,
    });
    expect(shown.slice(1)).toEqual([900_000, 895_000, 890_000]);
    expect(ports.clock.slept).toEqual([5_000, 5_000, 5_000]);
    expect(tenants()).toEqual(Array(4).fill('organizations'));
  });

  it('is shown with the URL that contains the code, if the provider sends one', async () => {
    const complete = 'https://example.com/device?user_code=WDJB-MJHT';
    const { logIn, shown } = createFixture([{ ...device, verification_uri_complete: complete }, granted]);
    await logIn();
    expect(shown[0]).toMatchObject({ verificationUriComplete: complete });
  });

  it('is shown without control characters', async () => {
    const { logIn, shown } = createFixture([
      { ...device, user_code: '\u001b[2JAAAA\u202e', verification_uri: 'https://example.com/\u001b[31m' },
      granted,
    ]);
    await logIn();
    expect(Object.values(shown[0] as object).join()).not.toMatch(/[\u001b\u202e]/);
  });

  it.each([
    ['strings', '1800', '7', 1_800_000, 7_000],
    ['missing', undefined, undefined, 900_000, 5_000],
    ['invalid', -3, 'soon', 900_000, 5_000],
    ['zero', 900, 0, 900_000, 1_000],
  ])(
    'has a lifetime and an interval if the times in the response are %s',
    async (_, expires_in, interval, leftMs, waitMs) => {
      const { logIn, shown, ports } = createFixture([{ ...device, expires_in, interval }, granted]);
      await logIn();
      expect(shown[0]).toMatchObject({ leftMs });
      expect(ports.clock.slept).toEqual([waitMs]);
    },
  );

  it.each([
    ['no device code', { ...device, device_code: undefined }],
    ['no user code', { ...device, user_code: '' }],
    ['no page', { ...device, verification_uri: undefined }],
    ['a script as page', { ...device, verification_uri: 'javascript:alert(1)' }],
    ['a token instead', granted],
  ])('is not shown if the response has %s', async (_, response) => {
    const { logIn, shown } = createFixture([response]);
    expect(await errorOf(logIn())).toMatchObject({ code: 'response_unreadable' });
    expect(shown).toEqual([]);
  });

  it.each([
    ['a timeout', lost('timeout')],
    ['a lost connection', lost('connection_failed')],
    ['HTTP 429', status(429)],
    ['HTTP 503', status(503)],
  ])('is requested again after %s, at most three times', async (_, failure) => {
    const succeeding = createFixture([failure, failure, device, granted]);
    await succeeding.logIn();
    expect(succeeding.sent).toHaveLength(4);
    const failing = createFixture([failure]);
    await errorOf(failing.logIn());
    expect(failing.sent).toHaveLength(3);
  });

  it('cannot be requested without a device authorization URL', async () => {
    const { logIn, sent } = createFixture([]);
    const error = await errorOf(logIn(google));
    expect(error.code).toBe('profile_invalid');
    expect(error.hint).toContain('svc.options.device_authorization_url');
    expect(sent).toEqual([]);
  });

  it('is requested at options.device_authorization_url', async () => {
    const device_authorization_url = 'https://oauth2.googleapis.com/device/code';
    const { verification_uri, ...older } = device;
    const { logIn, sent } = createFixture([
      { ...older, verification_url: verification_uri },
      { status: 428, headers: {}, body: '{"error":"authorization_pending"}' },
      granted,
    ]);
    await logIn({ ...google, options: { device_authorization_url } });
    expect(sent[0]?.url.href).toBe(device_authorization_url);
    expect(sent).toHaveLength(3);
  });
});

describe('a poll', () => {
  it('RFC 8628 §3.5 follows after five seconds without an interval, and five seconds later for good after slow_down', async () => {
    const { interval: _, ...withoutInterval } = device;
    const { logIn, ports } = createFixture([withoutInterval, pending, slowDown, pending, slowDown, granted]);
    await logIn();
    expect(ports.clock.slept).toEqual([5_000, 5_000, 10_000, 10_000, 15_000]);
    expect(ports.lines).toEqual([expect.stringContaining('10 s'), expect.stringContaining('15 s')]);
  });

  it('RFC 8628 §3.5 follows after twice the interval when the connection failed', async () => {
    const { logIn, ports } = createFixture([device, lost('timeout'), lost('connection_failed'), pending, granted]);
    await logIn();
    expect(ports.clock.slept).toEqual([5_000, 10_000, 20_000, 20_000]);
  });

  it('follows after HTTP 5xx and 429, and not before Retry-After', async () => {
    const throttled = status(429, { 'retry-after': '60' });
    const { logIn, ports } = createFixture([device, status(503), throttled, pending, granted]);
    await logIn();
    expect(ports.clock.slept).toEqual([5_000, 10_000, 60_000, 15_000]);
  });

  it('is sent when the code expires, but not later', async () => {
    const inTime = createFixture([{ ...device, expires_in: 10 }, pending, granted]);
    expect((await inTime.logIn()).refreshToken?.reveal()).toBe('rt-value');
    expect(inTime.sent).toHaveLength(3);
    const expired = createFixture([{ ...device, expires_in: 12 }, pending]);
    const error = await errorOf(expired.logIn());
    expect(error.code).toBe('timeout');
    expect(error.hint).toContain('oauth-profile login svc');
    expect(expired.ports.clock.slept).toEqual([5_000, 5_000, 2_000]);
    expect(expired.sent).toHaveLength(3);
  });

  it.each([
    ['HTTP 500', status(500), 'provider_unavailable'],
    ['HTTP 429', status(429, { 'retry-after': '60' }), 'rate_limited'],
    ['a lost connection', lost('connection_failed'), 'connection_failed'],
  ])('that fails until the code expires is the error: %s', async (_, response, code) => {
    const { logIn } = createFixture([device, pending, response]);
    expect(await errorOf(logIn())).toMatchObject({ code });
  });

  it.each([
    ['expired_token', 'timeout', 'oauth-profile login svc'],
    ['access_denied', 'provider_rejected', 'oauth-profile login svc'],
    ['authorization_declined', 'provider_rejected', 'oauth-profile login svc'],
    ['bad_verification_code', 'provider_rejected', 'oauth-profile login svc'],
    ['invalid_grant', 'provider_rejected', 'oauth-profile login svc'],
    ['invalid_client', 'provider_rejected', 'svc.client_id'],
  ])('that is rejected with %s is the last one', async (error, code, hint) => {
    const { logIn, sent } = createFixture([device, { error }]);
    expect(await errorOf(logIn())).toMatchObject({ code, hint: expect.stringContaining(hint) });
    expect(sent).toHaveLength(2);
  });

  it('returns an access token without a refresh token', async () => {
    const { refresh_token: _token, ...response } = granted;
    const { logIn } = createFixture([device, response]);
    expect((await logIn()).refreshToken).toBeUndefined();
  });

  it('is not sent after an abort', async () => {
    const controller = new AbortController();
    const { logIn, ports, sent } = createFixture([device, pending]);
    ports.clock.whileAsleep = () => ports.clock.slept.length === 2 && controller.abort();
    expect(await errorOf(logIn(gitlab, controller.signal))).toMatchObject({ code: 'aborted' });
    expect(sent).toHaveLength(2);
  });
});

describe('the tenant of a microsoft profile', () => {
  it.each([
    ['AADSTS50194', { error: 'invalid_request', error_description: 'AADSTS50194: single tenant' }],
    ['AADSTS50059', { error: 'invalid_request', error_description: 'AADSTS50059: single tenant' }],
    ['one of several codes', { error: 'invalid_request', error_codes: [50194, 70000], error_description: 'no' }],
  ])('D23 is used if the endpoint for all organizations responds with %s', async (_, response) => {
    const { logIn, tenants, ports } = createFixture([response, device, granted]);
    await logIn(microsoft);
    expect(tenants()).toEqual(['organizations', 'contoso.com', 'contoso.com']);
    expect(ports.lines).toHaveLength(1);
  });

  it('D23 is also used if the error comes after the user logged in', async () => {
    const response = { error: 'invalid_grant', error_description: 'AADSTS50194: single tenant' };
    const { logIn, tenants, shown } = createFixture([device, response, { ...device, user_code: 'NEXT' }, granted]);
    await logIn(microsoft);
    expect(tenants()).toEqual(['organizations', 'organizations', 'contoso.com', 'contoso.com']);
    expect(shown.filter((one) => typeof one === 'object')).toHaveLength(2);
  });

  it.each([
    ['another code', { error: 'unauthorized_client', error_description: 'AADSTS700016: not found' }],
    ['no code', { error: 'invalid_client' }],
  ])('D23 is not used if the response has %s', async (_, response) => {
    const { logIn, sent } = createFixture([response]);
    expect(await errorOf(logIn(microsoft))).toMatchObject({ code: 'provider_rejected' });
    expect(sent).toHaveLength(1);
  });

  it('D23 is the last one to be used', async () => {
    const { logIn, sent } = createFixture([{ error: 'invalid_request', error_description: 'AADSTS50194' }]);
    expect(await errorOf(logIn(microsoft))).toMatchObject({ code: 'provider_rejected', provider: { status: 400 } });
    expect(sent).toHaveLength(2);
  });
});
