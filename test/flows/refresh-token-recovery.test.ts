import { describe, expect, it } from 'vitest';
import { OAuthProfileError } from '../../src/errors.ts';
import { serializeRecord } from '../../src/flows/records.ts';
import { findFamily } from '../../src/flows/token-family.ts';
import type { StoredRecord, TokenStore } from '../../src/ports.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { errorOf } from '../support/errors.ts';
import { settle } from '../support/ports.ts';
import { put, withLockFunctions } from '../support/store.ts';
import { createTokenFixture, familyOf, jsonResponse, refreshProfile, rotateFamily } from '../support/token-fixture.ts';

/** A fixture whose only access token has just expired. */
async function createExpired(options: Record<string, unknown> = {}) {
  const fixture = createTokenFixture({ ...refreshProfile, options });
  await fixture.start().get(fixture.profile);
  await fixture.clock.advance(3_600_000);
  return fixture;
}

/** Stores that the refresh token was sent some time ago, and that the outcome is unknown. */
async function storeAttempt(profile: Profile, store: TokenStore, agoMs: number): Promise<void> {
  const { key } = await findFamily(profile, store);
  const sentAt = store.now() - agoMs;
  const attempt = { sentAt, until: sentAt + 10_000 };
  await put(store, key, serializeRecord({ ...(await familyOf(profile, store)), attempt }));
}

/** Requests a token and lets the time of all retries pass. */
async function failAfterRetries({ start, profile, clock }: ReturnType<typeof createTokenFixture>) {
  const failed = errorOf(start().get(profile));
  for (let round = 0; round < 3; round++) {
    await settle();
    await clock.advance(2_000);
  }
  return failed;
}

describe('the journal of a refresh', () => {
  it('does not delay the next refresh if the clock was set back', async () => {
    const { start, profile, store, clock, provider } = await createExpired();
    await storeAttempt(profile, store, 5_000);
    clock.time -= 86_400_000;
    expect(await start().get(profile)).toBe('access-token-2');
    expect(provider.requests).toHaveLength(2);
  });

  it('is written before the request is sent', async () => {
    const { start, profile, provider, store, clock } = createTokenFixture();
    const { send } = provider;
    const startedAt = clock.time;
    const seen: unknown[] = [];
    provider.send = async (...args) => {
      seen.push((await familyOf(profile, store)).attempt);
      return send(...args);
    };
    await start().get(profile);
    expect(seen).toEqual([{ sentAt: startedAt, until: startedAt + 10_000 }]);
  });

  it('contains the latest time of a response, however long its own write takes', async () => {
    const { start, profile, provider, clock, store } = createTokenFixture();
    const slow = withLockFunctions(store, (lock) => ({
      write: async (next, options) => {
        clock.time += 4_000;
        return lock.write(next, options);
      },
    }));
    const deadlines: number[] = [];
    const { send } = provider;
    provider.send = (request, limits) => {
      deadlines.push(clock.time + limits.timeoutMs);
      return send(request, limits);
    };
    const startedAt = clock.time;
    await start(slow).get(profile);
    expect(deadlines).toEqual([startedAt + 10_000]);
  });

  it('stays after a lost response', async () => {
    const { start, profile, provider, store, clock } = createTokenFixture();
    provider.next.push('lose');
    await errorOf(start().get(profile));
    expect((await familyOf(profile, store)).attempt).toEqual({ sentAt: clock.time - 1, until: clock.time + 9_999 });
  });

  it('retains the time of the first send, however often the refresh token is sent again', async () => {
    const { start, profile, clock, provider, store } = createTokenFixture({
      ...refreshProfile,
      options: { refresh_token_reuse: 'rejected' },
    });
    provider.next.push('lose');
    await errorOf(start().get(profile));
    const sentAt = clock.time - 1;
    await clock.advance(60_000);
    provider.next.push('lose');
    await errorOf(start().get(profile));
    expect((await familyOf(profile, store)).attempt).toMatchObject({ sentAt });
  });

  it('stays if a later request is not sent', async () => {
    const fixture = createTokenFixture();
    const { start, profile, provider, clock, store } = fixture;
    provider.next.push('lose');
    await errorOf(start().get(profile));
    const sentAt = clock.time - 1;
    await clock.advance(60_000);
    provider.next.push('unreachable', 'unreachable', 'unreachable');
    expect(await failAfterRetries(fixture)).toMatchObject({ code: 'connection_failed' });
    expect((await familyOf(profile, store)).attempt).toMatchObject({ sentAt });
  });

  it.each([
    ['a request that is not sent', 'unreachable', 'connection_failed'],
    ['HTTP 429', jsonResponse(429, {}), 'rate_limited'],
  ] as const)('stays if a response was lost before %s', async (_, response, code) => {
    const fixture = await createExpired({ refresh_token_reuse: 'grace' });
    const sentAt = fixture.clock.time;
    fixture.provider.next.push('lose', response, response);
    expect(await failAfterRetries(fixture)).toMatchObject({ code });
    expect((await familyOf(fixture.profile, fixture.store)).attempt).toMatchObject({ sentAt });
  });

  it('stays if another process lost a response before HTTP 429', async () => {
    const fixture = await createExpired({ refresh_token_reuse: 'grace' });
    const { profile, store, clock, provider } = fixture;
    await storeAttempt(profile, store, 60_000);
    const sentAt = clock.time - 60_000;
    provider.next.push(...Array.from({ length: 3 }, () => jsonResponse(429, {})));
    expect(await failAfterRetries(fixture)).toMatchObject({ code: 'rate_limited' });
    expect((await familyOf(profile, store)).attempt).toMatchObject({ sentAt });
  });

  it('is cleared if the provider rejected the credentials', async () => {
    const { start, profile, provider, store } = await createExpired();
    await storeAttempt(profile, store, 60_000);
    provider.next.push(jsonResponse(500, { error: 'invalid_client' }));
    await errorOf(start().get(profile));
    expect((await familyOf(profile, store)).attempt).toBeUndefined();
  });

  it('is cleared if nothing was sent', async () => {
    const fixture = await createExpired();
    fixture.provider.next.push('unreachable', 'unreachable', 'unreachable');
    expect(await failAfterRetries(fixture)).toMatchObject({ code: 'connection_failed', sent: false });
    expect((await familyOf(fixture.profile, fixture.store)).attempt).toBeUndefined();
  });

  it.each([500, 502, 503, 504])('stays after HTTP %i, but other processes need not wait', async (status) => {
    const { start, profile, clock, provider, store } = createTokenFixture();
    await start().get(profile);
    await clock.advance(3_560_000);
    const sentAt = clock.time;
    provider.next.push(jsonResponse(status, {}));
    expect(await errorOf(start().get(profile, { forceRefresh: true }))).toMatchObject({ code: 'provider_unavailable' });
    expect((await familyOf(profile, store)).attempt).toEqual({ sentAt, until: clock.time });
    expect(await start().get(profile)).toBe('access-token-1');
    await clock.advance(40_000);
    expect(await start().get(profile)).toBe('access-token-2');
  });
});

describe('after a lost response', () => {
  it('the next caller waits until it can no longer arrive, if a second use revokes the family', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    provider.next.push('lose');
    expect(await errorOf(start().get(profile))).toMatchObject({ code: 'timeout' });
    const process = start();
    const later = errorOf(process.get(profile));
    await settle();
    expect(provider.requests).toHaveLength(1);
    expect(process.lines).toEqual([expect.stringContaining('10 s')]);
    await clock.advance(10_000);
    expect(await later).toMatchObject({ code: 'login_required' });
    expect(provider.requests).toHaveLength(2);
  });

  it('a valid access token is used until it expires, and the refresh token is not sent again', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    await start().get(profile);
    await clock.advance(3_560_000);
    provider.next.push('lose');
    const first = start();
    expect(await first.get(profile)).toBe('access-token-1');
    expect(first.warnings).toHaveLength(1);
    const second = start();
    expect(await second.get(profile)).toBe('access-token-1');
    expect(second.warnings).toEqual([]);
    expect(provider.requests).toHaveLength(2);
  });

  it.each([
    ['revokes_family', 1_000, 'access-token-1'],
    ['revokes_family', 60_000, 'access-token-1'],
    ['grace', 1_000, 'access-token-2'],
    ['grace', 30_000, 'access-token-2'],
    ['grace', 30_001, 'access-token-1'],
    ['allowed', 60_000, 'access-token-2'],
    ['rejected', 60_000, 'access-token-2'],
  ])('the access token is used up only if a refresh could revoke it: %s, %i ms ago', async (reuse, agoMs, token) => {
    const { start, profile, clock, store } = createTokenFixture({
      ...refreshProfile,
      options: { refresh_token_reuse: reuse, grace: '30s' },
    });
    await start().get(profile);
    await clock.advance(3_560_000);
    await storeAttempt(profile, store, agoMs);
    expect(await start().get(profile)).toBe(token);
  });

  it.each([
    [5_001, 'access-token-1'],
    [5_000, 'access-token-2'],
  ])('the access token is used up while it has more than five seconds left: %i ms', async (leftMs, token) => {
    const { start, profile, clock, store } = createTokenFixture();
    await start().get(profile);
    const [cached] = Object.values((await familyOf(profile, store)).tokens);
    await clock.advance((cached?.expiresAt ?? 0) - leftMs - clock.time);
    await storeAttempt(profile, store, 60_000);
    expect(await start().get(profile)).toBe(token);
  });

  it('an access token without a known expiry is not used', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.expiresIn = undefined;
    await start().get(profile);
    await storeAttempt(profile, store, 60_000);
    expect(await start().get(profile)).toBe('access-token-2');
  });

  it('an access token that an API rejected is not used', async () => {
    const { start, profile, clock, store } = createTokenFixture();
    const rejectedToken = new Secret(await start().get(profile));
    await clock.advance(3_560_000);
    await storeAttempt(profile, store, 60_000);
    expect(await start().get(profile, { rejectedToken })).toBe('access-token-2');
  });
});

describe('a refresh of another process that may be in progress', () => {
  it('is waited for if a second use revokes the family, and its access token is returned', async () => {
    const { start, profile, store, clock, provider } = await createExpired();
    await storeAttempt(profile, store, 2_000);
    const family = await familyOf(profile, store);
    const rotatedElsewhere = withLockFunctions(store, () => ({
      reload: async () => rotateFamily(family, 'rotated-elsewhere', store, 'token-of-the-other'),
    }));
    const process = start(rotatedElsewhere);
    const waiting = process.getToken(profile);
    await settle();
    expect(process.lines).toEqual([expect.stringContaining('8 s')]);
    await clock.advance(8_000);
    const { token, fromCache } = await waiting;
    expect([token.accessToken.reveal(), fromCache]).toEqual(['token-of-the-other', true]);
    expect(provider.requests).toHaveLength(1);
  });

  it('is waited for, and its refresh token is used if its access token is not usable', async () => {
    const { start, profile, store, clock, provider } = await createExpired();
    await storeAttempt(profile, store, 2_000);
    const family = await familyOf(profile, store);
    provider.current = 'rotated-elsewhere';
    const rotatedElsewhere = withLockFunctions(store, () => ({
      reload: async () => rotateFamily(family, 'rotated-elsewhere', store),
    }));
    const waiting = start(rotatedElsewhere).get(profile);
    await settle();
    await clock.advance(8_000);
    expect(await waiting).toBe('access-token-2');
    expect(provider.requests.at(-1)?.get('refresh_token')).toBe('rotated-elsewhere');
  });

  it.each(['allowed', 'grace', 'rejected'])('is not waited for with refresh_token_reuse: %s', async (reuse) => {
    const { start, profile, store, provider } = await createExpired({ refresh_token_reuse: reuse });
    await storeAttempt(profile, store, 2_000);
    const process = start();
    const refreshed = process.get(profile);
    await settle();
    expect(provider.requests).toHaveLength(2);
    expect(await refreshed).toBe('access-token-2');
    expect(process.lines).toEqual([]);
  });

  it('is waited for after an invalid_grant in every case, and its refresh token is used', async () => {
    const { start, profile, store, clock, provider } = await createExpired({ refresh_token_reuse: 'rejected' });
    await storeAttempt(profile, store, 2_000);
    const family = await familyOf(profile, store);
    provider.current = 'rotated-elsewhere';
    provider.next.push(jsonResponse(400, { error: 'invalid_grant' }));
    const writtenAt = clock.time + 8_000;
    const rotatedElsewhere = withLockFunctions(store, (lock) => ({
      reload: async () => (clock.time < writtenAt ? lock.reload() : rotateFamily(family, 'rotated-elsewhere', store)),
    }));
    const waiting = start(rotatedElsewhere).get(profile);
    await settle();
    expect(provider.requests).toHaveLength(2);
    await clock.advance(8_000);
    expect(await waiting).toBe('access-token-2');
    expect(provider.requests.map((form) => form.get('refresh_token')).slice(1)).toEqual([
      'rotated-refresh-token-1',
      'rotated-elsewhere',
    ]);
  });

  it('on a machine that lost its lock may rotate the token: after an invalid_grant the newer one is used', async () => {
    const { start, profile, provider, store } = await createExpired();
    const family = await familyOf(profile, store);
    let rotated: StoredRecord | undefined;
    const { send } = provider;
    provider.send = async (...args) => {
      if (rotated !== undefined) return send(...args);
      provider.current = 'rotated-elsewhere';
      rotated = rotateFamily(family, provider.current, store);
      return jsonResponse(400, { error: 'invalid_grant' });
    };
    const shared = withLockFunctions(store, (lock) => ({ reload: async () => rotated ?? lock.reload() }));
    expect(await start(shared).get(profile)).toBe('access-token-2');
    expect(provider.requests.at(-1)?.get('refresh_token')).toBe('rotated-elsewhere');
  });
});

describe('a write conflict', () => {
  /** Writes from the `first`-th on find that another owner changed the record. */
  function withConflicts(store: TokenStore, first: number): TokenStore {
    let writes = 0;
    return withLockFunctions(store, (lock) => ({
      write: async (...args) => (++writes >= first ? false : lock.write(...args)),
    }));
  }

  it('before the request stops it, and the record is left alone', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    const error = await errorOf(start(withConflicts(store, 1)).get(profile));
    expect(error.code).toBe('store_locked');
    expect(provider.requests).toHaveLength(0);
    expect(await store.list()).toEqual([]);
  });

  it('is not followed by a write of the failure', async () => {
    const { start, profile, store } = createTokenFixture();
    let writes = 0;
    const conflicting = withLockFunctions(store, (lock) => ({
      write: async (...args) => (++writes === 1 ? false : lock.write(...args)),
    }));
    expect(await errorOf(start(conflicting).get(profile))).toMatchObject({ code: 'store_locked' });
    expect(writes).toBe(1);
    expect(await store.list()).toEqual([]);
  });

  it('after the response leaves the record of the other owner, and the token is returned', async () => {
    const { start, profile, store } = createTokenFixture();
    const process = start(withConflicts(store, 2));
    expect(await process.get(profile)).toBe('access-token-1');
    expect(process.lines).toHaveLength(1);
  });

  it('is an error after four of them', async () => {
    const { start, profile, store, provider } = await createExpired();
    let family = await familyOf(profile, store);
    let reloads = 0;
    const conflicting = withLockFunctions(store, () => ({
      write: async () => false,
      reload: async (): Promise<StoredRecord | undefined> => {
        if (++reloads > 9) return undefined;
        const record = rotateFamily(family, `rotated-${reloads}`, store);
        family = { ...family, tokenHashes: [...family.tokenHashes, record.version] };
        return record;
      },
    }));
    expect(await errorOf(start(conflicting).get(profile))).toMatchObject({ code: 'store_locked' });
    expect(reloads).toBe(3);
    expect(provider.requests).toHaveLength(1);
  });

  it('is not looked for after an error response other than invalid_grant', async () => {
    const { start, profile, store, provider } = await createExpired();
    const family = await familyOf(profile, store);
    provider.next.push(jsonResponse(403, { error: 'access_denied' }));
    const changed = withLockFunctions(store, () => ({
      reload: async () => rotateFamily(family, 'rotated-elsewhere', store),
    }));
    expect(await errorOf(start(changed).get(profile))).toMatchObject({ provider: { error: 'access_denied' } });
    expect(provider.requests).toHaveLength(2);
  });
});

describe('a store that fails after the request was sent', () => {
  const unwritable = new OAuthProfileError('store_unwritable', 'the disk is full');
  const failingAfterSend = (store: TokenStore, error: Error): TokenStore =>
    withLockFunctions(store, (lock) => ({
      write: (next, options) => (options?.reserve ? lock.write(next, options) : Promise.reject(error)),
    }));

  it('does not hide the error response of the provider', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.next.push(jsonResponse(403, { error: 'access_denied' }));
    const process = start(failingAfterSend(store, unwritable));
    expect(await errorOf(process.get(profile))).toMatchObject({ provider: { error: 'access_denied' } });
    expect(process.lines).toEqual([expect.stringContaining('the disk is full')]);
  });

  it('is the error if the only valid refresh token is lost with it', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.next.push(jsonResponse(200, { refresh_token: 'the-only-valid-one' }));
    const process = start(failingAfterSend(store, unwritable));
    expect(await errorOf(process.get(profile))).toBe(unwritable);
    expect(process.lines).toEqual([]);
  });

  it('is the error if the token was received', async () => {
    const { start, profile, store } = createTokenFixture();
    expect(await errorOf(start(failingAfterSend(store, unwritable)).get(profile))).toBe(unwritable);
  });

  it('with a bug is not handled as a failure of the store', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    const bug = new TypeError('a bug');
    provider.next.push(jsonResponse(403, { error: 'access_denied' }));
    await expect(start(failingAfterSend(store, bug)).get(profile)).rejects.toBe(bug);
  });
});
