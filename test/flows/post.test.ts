import { describe, expect, it } from 'vitest';
import { OAuthProfileError, TransportError } from '../../src/errors.ts';
import { isPassing, postForm, type Repeat } from '../../src/flows/post-form.ts';
import type { Limits, WireRequest } from '../../src/ports.ts';
import { LoadedFile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { fakePorts } from '../support/fake-ports.ts';
import { profileOf } from '../support/profile-of.ts';
import { errorOf } from '../support/wire-request.ts';

const plain = profileOf({ type: 'custom', url: 'https://id.test/token', a: '1' });
const lost = (code: TransportError['code'], sent: boolean) => new TransportError(code, 'gone', { sent });

/** Fails with these one after the other, then succeeds. */
function createTokenFixture(failures: readonly Error[] = [], profile = plain) {
  const sent: (WireRequest & Limits)[] = [];
  const signed: Limits[] = [];
  const ports = fakePorts({
    send: async (request, bounds) => {
      sent.push({ ...request, ...bounds });
      const failure = failures[sent.length - 1];
      if (failure !== undefined) throw failure;
      return { status: 200, headers: {}, body: 'yes' };
    },
    sign: async (_, name, bounds) => {
      signed.push(bounds);
      return new Secret(`assertion ${signed.length} of ${name}`);
    },
  });
  const post = (repeat: Repeat = 'any', signal?: AbortSignal) =>
    postForm(profile, (_, request, { body }, at) => [body, request.form.length, at], repeat, ports, signal);
  return { sent, signed, ports, post };
}

describe('a form of a sign-in', () => {
  it('goes over a connection of its own, and its reply is read', async () => {
    const { sent, ports, post } = createTokenFixture();
    expect(await post()).toEqual(['yes', 1, ports.clock.now()]);
    expect(sent).toMatchObject([
      { profile: 'svc', url: plain.url, body: 'a=1', reuseConnection: false, timeoutMs: 10_000 },
    ]);
    expect(sent[0]?.tls).toEqual({ ca: undefined, cert: undefined, certKey: undefined });
  });

  it('has the time of the profile where that is shorter, and its certificates', async () => {
    const file = (text: string) => new LoadedFile(text, text);
    const options = { ...plain.options, timeoutMs: 4_000, ca: file('a'), cert: file('b'), certKey: file('c') };
    const { sent, post } = createTokenFixture([], { ...plain, options });
    await post();
    expect(sent).toMatchObject([{ timeoutMs: 4_000, tls: { ca: 'a', cert: 'b', certKey: 'c' } }]);
  });

  it('is signed anew for each attempt', async () => {
    const options = { ...plain.options, key: new LoadedFile('k', 'k') };
    const fields = [...plain.fields, { name: 'client_id', value: 'me', source: '' }];
    const { sent, signed, post } = createTokenFixture([lost('timeout', false)], {
      ...plain,
      fields,
      options,
      clientAuth: 'private_key_jwt',
    });
    await post();
    expect(sent.map(({ body }) => new URLSearchParams(body).get('client_assertion'))).toEqual([
      'assertion 1 of svc',
      'assertion 2 of svc',
    ]);
    expect(signed).toMatchObject([{ timeoutMs: 10_000 }, { timeoutMs: 10_000 }]);
  });

  it('leaves alone an assertion that the profile brings along', async () => {
    const fields = [{ name: 'client_assertion', value: 'own', source: '' }];
    const { sent, post } = createTokenFixture([], { ...plain, fields });
    await post();
    expect(sent.map(({ body }) => body)).toEqual(['client_assertion=own']);
  });

  it.each<[Repeat, boolean, number]>([
    ['any', true, 3],
    ['any', false, 3],
    ['unsent', false, 3],
    ['unsent', true, 1],
    ['never', false, 1],
    ['never', true, 1],
  ])('that may be repeated %s, and was sent %s, is sent %i times at most', async (repeat, wasSent, times) => {
    const failure = lost('connection_failed', wasSent);
    const { sent, post } = createTokenFixture([failure, failure, failure, failure]);
    expect(await errorOf(post(repeat))).toBe(failure);
    expect(sent).toHaveLength(times);
  });

  it('waits before each repeat, and says so', async () => {
    const { ports, post } = createTokenFixture([lost('timeout', true), lost('timeout', true)]);
    await post();
    expect(ports.clock.slept).toEqual([375, 750]);
    expect(ports.lines).toEqual(['attempt 1: gone; again in 0.4 s', 'attempt 2: gone; again in 0.8 s']);
  });

  it.each([
    ['TLS that fails', lost('tls_failed', false)],
    ['an error of another kind', new OAuthProfileError('usage', 'x')],
    ['a bug', new TypeError('bug')],
  ])('is not repeated after %s', async (_, failure) => {
    const { sent, post } = createTokenFixture([failure]);
    await expect(post()).rejects.toBe(failure);
    expect(sent).toHaveLength(1);
    expect(isPassing(failure)).toBe(false);
  });

  it('is not sent for who has left', async () => {
    const { sent, post } = createTokenFixture();
    expect(await errorOf(post('any', AbortSignal.abort('enough')))).toMatchObject({
      code: 'aborted',
      message: 'the sign-in was interrupted',
      cause: 'enough',
    });
    expect(sent).toEqual([]);
  });
});
