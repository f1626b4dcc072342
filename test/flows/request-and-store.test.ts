import { describe, expect, it } from 'vitest';
import { abortError, OAuthProfileError } from '../../src/errors.ts';
import { parseRecord } from '../../src/flows/records.ts';
import type { Send, TokenStore } from '../../src/ports.ts';
import { settle } from '../support/manual-clock.ts';
import { json } from '../support/rotating-provider.ts';
import { createTokenFixture, machineProfile, TestProcess, withLockFunctions } from '../support/token-fixture.ts';
import { errorOf } from '../support/wire-request.ts';

const failing = (store: TokenStore, failure: Error): TokenStore =>
  withLockFunctions(store, () => ({ write: () => Promise.reject(failure) }));

/** The only record of a store. */
async function onlyRecord(store: TokenStore) {
  const [one, ...more] = await store.list();
  expect(more).toEqual([]);
  const record = one && parseRecord(one.kept);
  if (record?.kind !== 'token') expect.fail('no token is kept');
  return record;
}

describe('a token of a grant that is no refresh', () => {
  it('is new at first, and handed out again until it has no more than min_ttl left', async () => {
    const { start, profile, clock, provider } = createTokenFixture(machineProfile);
    expect(await start().getToken(profile)).toMatchObject({ fromCache: false });
    await clock.advance(3_539_999);
    const { token, fromCache } = await start().getToken(profile);
    expect([reply.response['expires_in'], fromCache]).toEqual([60, true]);
    await clock.advance(1);
    expect(await start().getToken(profile)).toMatchObject({ fromCache: false });
    expect(provider.requests).toHaveLength(2);
  });

  it('is kept with its end in the time of the store, whatever the clock of this machineProfile says', async () => {
    const { profile, store, clock, provider } = createTokenFixture(machineProfile);
    const skewed = { ...store, now: () => store.now() + 1_800_000 };
    await new TestProcess(provider, skewed, clock).get(profile);
    const { tokens, failure } = await onlyRecord(store);
    expect(Object.values(tokens)).toMatchObject([
      { startedAt: clock.time - 1 + 1_800_000, expiresAt: clock.time + 1_800_000 + 3_600_000 },
    ]);
    expect(failure).toBeUndefined();
  });

  it('is kept without an end where the reply names none', async () => {
    const { start, profile, store, provider } = createTokenFixture(machineProfile);
    provider.expiresIn = undefined;
    await start().get(profile);
    const [token] = Object.values((await onlyRecord(store)).tokens);
    expect(token).not.toHaveProperty('expiresAt');
  });
});

describe('a failure', () => {
  it('is kept for those who queued', async () => {
    const { start, profile, store, provider, clock } = createTokenFixture(machineProfile);
    provider.next.push(json(403, { error: 'access_denied' }));
    await errorOf(start().get(profile));
    expect(await onlyRecord(store)).toMatchObject({
      tokens: {},
      failure: { startedAt: clock.time - 1, error: { code: 'provider_rejected' } },
    });
  });

  it('that cannot be kept is told as it is, and draws no warning', async () => {
    const { profile, store, provider, clock } = createTokenFixture(machineProfile);
    provider.next.push(json(403, { error: 'access_denied' }));
    const full = failing(store, new OAuthProfileError('store_unwritable', 'no room is left'));
    const process = new TestProcess(provider, full, clock);
    expect(await errorOf(process.get(profile))).toMatchObject({ code: 'provider_rejected' });
    expect(process.warnings).toEqual([]);
  });

  it('of our own is neither kept nor taken for one of the store', async () => {
    const { start, profile, store, provider, clock } = createTokenFixture(machineProfile);
    const mistake = new TypeError('a mistake');
    const process = new TestProcess(provider, failing(store, mistake), clock);
    await expect(process.get(profile)).rejects.toBe(mistake);
    expect(process.warnings).toEqual([]);
    Object.assign(provider, { send: () => Promise.reject(mistake) });
    await expect(start().get(profile)).rejects.toBe(mistake);
    expect(await store.list()).toEqual([]);
  });

  it('is none where everybody has left, and nothing is kept of it', async () => {
    const { start, profile, store, provider } = createTokenFixture(machineProfile);
    const send: Send = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(abortError(signal)));
      });
    Object.assign(provider, { send });
    const controller = new AbortController();
    const left = errorOf(start().get(profile, { signal: controller.signal }));
    await settle();
    controller.abort();
    expect(await left).toMatchObject({ code: 'aborted' });
    await settle();
    expect(await store.list()).toEqual([]);
  });
});
