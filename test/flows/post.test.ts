import { describe, expect, it } from 'vitest';
import { OAuthProfileError, ProviderError, TransportError } from '../../src/errors.ts';
import { type AttemptHooks, failureOf, isTransient, post } from '../../src/flows/request-token.ts';
import type { Failure } from '../../src/oauth/retry-policy.ts';
import type { Limits, WireRequest } from '../../src/ports.ts';
import { LoadedFile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { errorOf } from '../support/errors.ts';
import { fakePorts } from '../support/ports.ts';
import { profileOf } from '../support/profiles.ts';

const plain = profileOf({ type: 'custom', url: 'https://id.test/token', a: '1' });
const transportError = (code: TransportError['code'], sent: boolean) => new TransportError(code, 'no', { sent });
const providerError = (status: number, code: ProviderError['code'], error?: string) =>
  new ProviderError(code, 'no', { provider: { status, error } });

interface PostSettings {
  readonly profile?: typeof plain;
  readonly mayRetry?: (failure: Failure, sinceFirstSendMs: number) => boolean;
  readonly reuseConnection?: boolean;
  readonly signal?: AbortSignal;
  readonly hooks?: AttemptHooks;
}

/** A transport that fails with these errors, one after the other, and then succeeds. */
function createFixture(failures: readonly Error[] = []) {
  const sent: (WireRequest & Limits)[] = [];
  const signed: Limits[] = [];
  const ports = fakePorts({
    send: async (request, limits) => {
      sent.push({ ...request, ...limits });
      const failure = failures[sent.length - 1];
      if (failure !== undefined) throw failure;
      return { status: 200, headers: {}, body: 'yes' };
    },
    sign: async (_, name, limits) => {
      signed.push(limits);
      return new Secret(`assertion ${signed.length} of ${name}`);
    },
  });
  const run = ({ profile = plain, mayRetry = () => true, ...options }: PostSettings = {}) =>
    post(profile, ports, {
      parse: ({ request, response, receivedAt }) => [response.body, request.form.length, receivedAt],
      mayRetry,
      signal: undefined,
      ...options,
    });
  return { sent, signed, ports, run };
}

describe('a POST', () => {
  it('uses its own connection by default, and its response is parsed', async () => {
    const { sent, ports, run } = createFixture();
    expect(await run()).toEqual(['yes', 1, ports.clock.now()]);
    expect(sent).toMatchObject([
      { profile: 'svc', url: plain.url, body: 'a=1', reuseConnection: false, timeoutMs: 10_000 },
    ]);
    expect(sent[0]?.tls).toEqual({ ca: undefined, cert: undefined, certKey: undefined });
  });

  it('uses a keep-alive connection for the first attempt only', async () => {
    const { sent, run } = createFixture([transportError('connection_failed', true)]);
    await run({ reuseConnection: true });
    expect(sent.map(({ reuseConnection }) => reuseConnection)).toEqual([true, false]);
  });

  it('has the profile’s timeout if that is shorter than one attempt, and the profile’s certificates', async () => {
    const file = (text: string) => new LoadedFile(text, text);
    const options = { ...plain.options, timeoutMs: 4_000, ca: file('a'), cert: file('b'), certKey: file('c') };
    const { sent, run } = createFixture();
    await run({ profile: { ...plain, options } });
    expect(sent).toMatchObject([{ timeoutMs: 4_000, tls: { ca: 'a', cert: 'b', certKey: 'c' } }]);
  });

  it('signs a new assertion for each attempt', async () => {
    const options = { ...plain.options, key: new LoadedFile('k', 'k') };
    const fields = [...plain.fields, { name: 'client_id', value: 'me', source: '' }];
    const { sent, signed, run } = createFixture([transportError('timeout', false)]);
    await run({ profile: { ...plain, fields, options, clientAuth: 'private_key_jwt' } });
    expect(sent.map(({ body }) => new URLSearchParams(body).get('client_assertion'))).toEqual([
      'assertion 1 of svc',
      'assertion 2 of svc',
    ]);
    expect(signed).toMatchObject([{ timeoutMs: 10_000 }, { timeoutMs: 10_000 }]);
  });

  it('sends an assertion of the profile unchanged', async () => {
    const { sent, run } = createFixture();
    await run({ profile: { ...plain, fields: [{ name: 'client_assertion', value: 'own', source: '' }] } });
    expect(sent.map(({ body }) => body)).toEqual(['client_assertion=own']);
  });

  it.each<[Failure, Error]>([
    ['not_sent', transportError('connection_failed', false)],
    ['not_sent', transportError('timeout', false)],
    ['lost', transportError('connection_failed', true)],
    ['lost', transportError('timeout', true)],
    ['lost', providerError(503, 'provider_unavailable')],
    ['throttled', providerError(429, 'rate_limited')],
  ])('is sent three times if every failure is %s and may be retried, else once: %o', async (failure, error) => {
    for (const [mayRetry, times] of [
      [true, 3],
      [false, 1],
    ] as const) {
      const failures: Failure[] = [];
      const { sent, run } = createFixture([error, error, error, error]);
      const retry = (one: Failure): boolean => failures.push(one) > 0 && mayRetry;
      expect(await errorOf(run({ mayRetry: retry }))).toBe(error);
      expect(sent).toHaveLength(times);
      expect(new Set(failures)).toEqual(new Set([failure]));
    }
  });

  it('counts a response as lost although a later attempt was not sent', async () => {
    const failures: Failure[] = [];
    const { run } = createFixture([transportError('timeout', true), transportError('connection_failed', false)]);
    await run({ mayRetry: (failure) => failures.push(failure) > 0 });
    expect(new Set(failures)).toEqual(new Set(['lost']));
  });

  it('waits before each retry, and logs the wait', async () => {
    const { ports, run } = createFixture([transportError('timeout', true), transportError('timeout', true)]);
    await run();
    expect(ports.clock.slept).toEqual([375, 750]);
    expect(ports.lines).toEqual([expect.stringContaining('0.4 s'), expect.stringContaining('0.8 s')]);
  });

  it('passes to mayRetry the time since the first attempt', async () => {
    const times: number[] = [];
    const { run } = createFixture([transportError('timeout', true), transportError('timeout', true)]);
    await run({ mayRetry: (_, sinceFirstSendMs) => times.push(sinceFirstSendMs) > 0 });
    expect(times).toEqual([375, 375, 1_125, 1_125]);
  });

  it.each([
    ['a TLS error', transportError('tls_failed', false)],
    ['an error response', providerError(400, 'provider_rejected', 'invalid_grant')],
    ['rejected credentials with status 503', providerError(503, 'provider_unavailable', 'invalid_client')],
    ['another error', new OAuthProfileError('usage', 'x')],
    ['a bug', new TypeError('a bug')],
  ])('is not retried after %s', async (_, error) => {
    const { sent, run } = createFixture([error]);
    await expect(run()).rejects.toBe(error);
    expect(sent).toHaveLength(1);
    expect([failureOf(error), isTransient(error)]).toEqual([undefined, false]);
  });

  it('calls its hooks before each attempt, after a response, and after a lost response that is retried', async () => {
    const events: unknown[] = [];
    const hooks: AttemptHooks = {
      onSend: async (timeoutMs) => void events.push(timeoutMs),
      onResponse: ({ status }) => void events.push(status),
      onResponseLost: () => void events.push('lost'),
    };
    const { run } = createFixture([transportError('connection_failed', false), transportError('timeout', true)]);
    await run({ hooks });
    expect(events).toEqual([10_000, 10_000, 'lost', 10_000, 200]);
  });

  it('is not sent if a hook fails', async () => {
    const error = new OAuthProfileError('store_unwritable', 'no');
    const hooks: AttemptHooks = { onSend: () => Promise.reject(error), onResponse: () => {}, onResponseLost: () => {} };
    const { sent, run } = createFixture();
    expect(await errorOf(run({ hooks }))).toBe(error);
    expect(sent).toEqual([]);
  });

  it('is not sent if it was aborted before', async () => {
    const { sent, run } = createFixture();
    const error = await errorOf(run({ signal: AbortSignal.abort('reason') }));
    expect(error).toMatchObject({ code: 'aborted', cause: 'reason' });
    expect(sent).toEqual([]);
  });
});
