import { describe, expect, it } from 'vitest';
import { OAuthProfileError, TransportError } from '../../../src/errors.ts';
import { type DeviceCodePrompt, loginWithDeviceCode } from '../../../src/flows/login/device-code.ts';
import type { HttpResponse } from '../../../src/oauth/http-response.ts';
import type { WireRequest } from '../../../src/ports.ts';
import { fakePorts } from '../../support/fake-ports.ts';
import { loginProfileOf } from '../../support/profile-of.ts';

const graph = { type: 'microsoft', tenant_id: 'contoso.com', client_id: 'app', scope: 'user.read' };
const lab = { type: 'gitlab', client_id: 'app', scope: 'read_user' };
const device = {
  device_code: 'secret-device-code',
  user_code: 'WDJB-MJHT',
  verification_uri: 'https://example.com/device',
  expires_in: 900,
  interval: 5,
};
const granted = { access_token: 'at-value', refresh_token: 'rt-value', token_type: 'Bearer', expires_in: 3600 };
const pending = { error: 'authorization_pending' };

type Answer = HttpResponse | Error | object;

/** Answers one request after the other, the last for ever. */
function createTokenFixture(answers: readonly Answer[]) {
  const sent: WireRequest[] = [];
  const ports = fakePorts({
    send: async (request) => {
      sent.push(request);
      const answer = answers[Math.min(sent.length, answers.length) - 1] ?? {};
      if (answer instanceof Error) throw answer;
      if ('status' in answer && 'body' in answer) return answer as HttpResponse;
      return { status: 'error' in answer ? 400 : 200, headers: {}, body: JSON.stringify(answer) };
    },
  });
  const shown: unknown[] = [];
  const person: DeviceCodePrompt = {
    showCode: (code, leftMs) => void shown.push({ ...code, leftMs }),
    showWaiting: (leftMs) => void shown.push(leftMs),
  };
  const login = (fields: object = lab, signal?: AbortSignal) =>
    loginWithDeviceCode(loginProfileOf(fields as Record<string, unknown>), ports, person, signal);
  return { sent, ports, shown, login };
}

const failure = async (promise: Promise<unknown>): Promise<OAuthProfileError> => {
  const error = await promise.then(
    () => undefined,
    (thrown) => thrown,
  );
  if (!(error instanceof OAuthProfileError)) expect.fail(`no error of ours: ${String(error)}`);
  return error;
};
const lost = (code: 'timeout' | 'connection_failed') => new TransportError(code, 'gone', { sent: true });
const status = (code: number, headers = {}): HttpResponse => ({ status: code, headers, body: 'busy' });

describe('a device code', () => {
  it.each([
    ['is out of order', status(500), 'provider_unavailable'],
    ['takes no more requests', status(429, { 'retry-after': '60' }), 'rate_limited'],
    ['breaks every connection', lost('connection_failed'), 'connection_failed'],
  ])(
    'ends with what is wrong, not with nobody having entered it, where the provider %s to the end',
    async (_, answer, code) => {
      const { login } = createTokenFixture([device, pending, answer]);
      expect(await failure(login())).toMatchObject({ code });
    },
  );

  it('R4.3 is shown with its page and the time that is left, and brings the tokens', async () => {
    const { login, shown, sent, ports } = createTokenFixture([device, pending, pending, granted]);
    const reply = await login(graph);
    expect(reply.refreshToken.reveal()).toBe('rt-value');
    expect(shown[0]).toMatchObject({
      userCode: 'WDJB-MJHT',
      verificationUri: 'https://example.com/device',
      leftMs: 900_000,
    });
    expect(shown.slice(1)).toEqual([900_000, 895_000, 890_000]);
    expect(ports.clock.slept).toEqual([5_000, 5_000, 5_000]);
    expect(sent.map(({ url }) => url.pathname.split('/')[1])).toEqual(Array(4).fill('organizations'));
  });

  it('is shown with the address that has the code in it, where the provider gives one', async () => {
    const complete = 'https://example.com/device?user_code=WDJB-MJHT';
    const { login, shown } = createTokenFixture([{ ...device, verification_uri_complete: complete }, granted]);
    await login();
    expect(shown[0]).toMatchObject({ verificationUriComplete: complete });
  });

  it('RFC 8628 §3.5 waits five seconds where the provider says nothing, and longer for good after slow_down', async () => {
    const { interval: _, ...silent } = device;
    const { login, ports } = createTokenFixture([
      silent,
      pending,
      { error: 'slow_down' },
      pending,
      { error: 'slow_down' },
      granted,
    ]);
    await login();
    expect(ports.clock.slept).toEqual([5_000, 5_000, 10_000, 10_000, 15_000]);
    expect(ports.lines).toEqual([
      'asking every 10 s from now on: gitlab refused profile svc (HTTP 400, slow_down)',
      'asking every 15 s from now on: gitlab refused profile svc (HTTP 400, slow_down)',
    ]);
  });

  it('RFC 8628 §3.5 asks half as often after each time-out of the connection', async () => {
    const { login, ports } = createTokenFixture([device, lost('timeout'), lost('connection_failed'), pending, granted]);
    await login();
    expect(ports.clock.slept).toEqual([5_000, 10_000, 20_000, 20_000]);
  });

  it('goes on after 5xx and 429, and waits as long as the provider wants', async () => {
    const { login, ports } = createTokenFixture([
      device,
      status(503),
      status(429, { 'retry-after': '60' }),
      pending,
      granted,
    ]);
    await login();
    expect(ports.clock.slept).toEqual([5_000, 10_000, 60_000, 15_000]);
  });

  it('ends when its time is over, without asking once more', async () => {
    const { login, sent, ports } = createTokenFixture([{ ...device, expires_in: 12 }, pending]);
    expect(await failure(login())).toMatchObject({
      code: 'timeout',
      message: 'nobody entered the code in time',
      hint: 'run again: oauth-profile login svc',
    });
    expect(ports.clock.slept).toEqual([5_000, 5_000, 2_000]);
    expect(sent).toHaveLength(3);
  });

  it('is asked about once more in the moment in which its time ends', async () => {
    const { login, sent } = createTokenFixture([{ ...device, expires_in: 10 }, pending, granted]);
    expect((await login()).refreshToken.reveal()).toBe('rt-value');
    expect(sent).toHaveLength(3);
  });

  it.each([
    ['expired_token', 'timeout', /run: oauth-profile login svc/],
    ['access_denied', 'provider_rejected', /said no; to try again, run: oauth-profile login svc/],
    ['authorization_declined', 'provider_rejected', /said no; to try again, run: oauth-profile login svc/],
    ['bad_verification_code', 'provider_rejected', /get a new one, run: oauth-profile login svc/],
    ['invalid_grant', 'provider_rejected', /get a new one, run: oauth-profile login svc/],
    ['invalid_client', 'provider_rejected', /svc\.client_id/],
  ])('ends at %s, and says what to do', async (error, code, hint) => {
    const { login, sent } = createTokenFixture([device, { error }]);
    expect(await failure(login())).toMatchObject({ code, hint: expect.stringMatching(hint) });
    expect(sent).toHaveLength(2);
  });

  it.each(['AADSTS50194', 'AADSTS50059'])('D23 %s asks the own tenant of the profile', async (code) => {
    const refusal = { error: 'invalid_request', error_description: `${code}: single tenant` };
    const { login, sent, ports } = createTokenFixture([refusal, device, granted]);
    await login(graph);
    expect(sent.map(({ url }) => url.pathname.split('/')[1])).toEqual(['organizations', 'contoso.com', 'contoso.com']);
    expect(ports.lines.join()).toContain('own tenant');
  });

  it('D23 asks the own tenant too where the refusal comes after the person signed in', async () => {
    const refusal = { error: 'invalid_grant', error_description: 'AADSTS50194: single tenant' };
    const { login, sent, shown } = createTokenFixture([device, refusal, { ...device, user_code: 'NEXT' }, granted]);
    await login(graph);
    expect(sent.map(({ url }) => url.pathname.split('/')[1])).toEqual([
      'organizations',
      'organizations',
      'contoso.com',
      'contoso.com',
    ]);
    expect(shown.filter((one) => typeof one === 'object')).toHaveLength(2);
  });

  it('D23 has no other tenant to ask for any other refusal, nor a third', async () => {
    const unknown = { error: 'unauthorized_client', error_description: 'AADSTS700016: not found' };
    const first = createTokenFixture([unknown]);
    expect(await failure(first.login(graph))).toMatchObject({ code: 'provider_rejected' });
    expect(first.sent).toHaveLength(1);
    const single = { error: 'invalid_request', error_description: 'AADSTS50194' };
    const second = createTokenFixture([single]);
    expect(await failure(second.login(graph))).toMatchObject({ code: 'provider_rejected', provider: { status: 400 } });
    expect(second.sent).toHaveLength(2);
  });

  it('D23 asks the own tenant where one of several reasons is that', async () => {
    const refusal = { error: 'invalid_request', error_codes: [50194, 70000], error_description: 'no' };
    const { login, sent } = createTokenFixture([refusal, device, granted]);
    await login(graph);
    expect(sent.map(({ url }) => url.pathname.split('/')[1])).toEqual(['organizations', 'contoso.com', 'contoso.com']);
  });

  it('D23 does not ask the own tenant where no reason has a number', async () => {
    const { login, sent } = createTokenFixture([{ error: 'invalid_client' }]);
    expect(await failure(login(graph))).toMatchObject({ code: 'provider_rejected' });
    expect(sent).toHaveLength(1);
  });

  it('is asked for again where the network fails, because nothing is lost by that', async () => {
    const { login, sent } = createTokenFixture([lost('timeout'), lost('connection_failed'), device, granted]);
    await login();
    expect(sent).toHaveLength(4);
  });

  it.each([
    ['no device code', { ...device, device_code: undefined }],
    ['no user code', { ...device, user_code: '' }],
    ['no page', { ...device, verification_uri: undefined }],
    ['a script for a page', { ...device, verification_uri: 'javascript:alert(1)' }],
    ['a token instead', granted],
  ])('cannot be used with %s', async (_, reply) => {
    const { login, shown } = createTokenFixture([reply]);
    expect(await failure(login())).toMatchObject({ code: 'response_unreadable' });
    expect(shown).toEqual([]);
  });

  it('cannot speak to the terminal', async () => {
    const { login, shown } = createTokenFixture([
      { ...device, user_code: '\u001b[2JAAAA\u202e', verification_uri: 'https://example.com/\u001b[31m' },
      granted,
    ]);
    await login();
    expect(Object.values(shown[0] as object).join()).not.toMatch(/[\u001b\u202e]/);
  });

  it.each([
    ['as texts', '1800', '7', 1_800_000, 7_000],
    ['not at all', undefined, undefined, 900_000, 5_000],
    ['as nonsense', -3, 'soon', 900_000, 5_000],
    ['as zero', 900, 0, 900_000, 1_000],
  ])('takes its times %s', async (_, expires_in, interval, leftMs, waitMs) => {
    const { login, shown, ports } = createTokenFixture([{ ...device, expires_in, interval }, granted]);
    await login();
    expect(shown[0]).toMatchObject({ leftMs });
    expect(ports.clock.slept).toEqual([waitMs]);
  });

  it.each([
    ['gitlab', lab, /offline_access, or to clients/],
    ['microsoft', graph, /does not allow offline_access/],
  ])('says what is missing where %s sends no refresh token', async (_, fields, hint) => {
    const { refresh_token: __, ...without } = granted;
    const { login } = createTokenFixture([device, without]);
    expect(await failure(login(fields))).toMatchObject({
      message: expect.stringContaining('sent no refresh token'),
      hint: expect.stringMatching(hint),
    });
  });

  it('is given up when the person does', async () => {
    const controller = new AbortController();
    const { login, ports, sent } = createTokenFixture([device, pending]);
    ports.clock.whileAsleep = () => ports.clock.slept.length === 2 && controller.abort();
    expect(await failure(login(lab, controller.signal))).toMatchObject({ code: 'aborted' });
    expect(sent).toHaveLength(2);
  });

  it('needs an address to be asked of', async () => {
    const google = { type: 'google', client_id: 'a', client_secret: 'b', scope: 'c' };
    expect(await failure(createTokenFixture([]).login(google))).toMatchObject({
      code: 'profile_invalid',
      message: 'svc has no address that device codes are asked of',
      hint: 'set svc.options.device_authorization_url, or use --browser',
    });
  });

  it('is asked of the address that the options name', async () => {
    const google = {
      type: 'google',
      client_id: 'a',
      client_secret: 'b',
      scope: 'c',
      options: { device_authorization_url: 'https://oauth2.googleapis.com/device/code' },
    };
    const { verification_uri, ...older } = device;
    const { login, sent } = createTokenFixture([
      { ...older, verification_url: verification_uri },
      { status: 428, headers: {}, body: '{"error":"authorization_pending"}' },
      granted,
    ]);
    await login(google);
    expect(sent[0]?.url.href).toBe('https://oauth2.googleapis.com/device/code');
    expect(sent).toHaveLength(3);
  });
});
