import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OAuthProfileError } from '../../src/errors.ts';
import { serializeRecord } from '../../src/flows/records.ts';
import { findFamily } from '../../src/flows/token-family.ts';
import type { StoredRecord, TokenStore } from '../../src/ports.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { settle } from '../support/manual-clock.ts';
import { profileOf } from '../support/profile-of.ts';
import { json } from '../support/rotating-provider.ts';
import {
  createTokenFixture,
  FIRST,
  familyOf,
  refreshProfile,
  rotateFamily,
  TestProcess,
  withLockFunctions,
} from '../support/token-fixture.ts';
import { errorOf } from '../support/wire-request.ts';

const HOUR = 3_600_000;

/** A family with one access token, at the time at which that ends. */
async function ended(options: Record<string, unknown> = {}) {
  const all = createTokenFixture({ ...refreshProfile, options });
  await all.start().get(all.profile);
  await all.clock.advance(HOUR);
  return all;
}

/** Somebody sent the refresh token so long ago, and its outcome is not known. */
async function noteAttempt(profile: Profile, store: TokenStore, agoMs: number): Promise<void> {
  const { name } = await findFamily(profile, store);
  const record = await familyOf(profile, store);
  const sentAt = store.now() - agoMs;
  const next = { ...record, attempt: { sentAt, until: sentAt + 10_000 } };
  const wait = { timeoutMs: 1_000, signal: undefined };
  await writeRecord(store, name, serializeRecord(next));
}

describe('an attempt of another process that may still be under way', () => {
  it('is waited for where a second use revokes everything, and what it brought serves', async () => {
    const { profile, store, clock, provider } = await ended();
    await noteAttempt(profile, store, 2_000);
    const record = await familyOf(profile, store);
    const late = withLockFunctions(store, () => ({
      reload: async () => rotateFamily(record, 'rotated-there', store, 'theirs'),
    }));
    const process = new TestProcess(provider, late, clock);
    const waiting = process.getToken(profile);
    await settle();
    expect(process.lines).toEqual(['another request with this refresh token may be under way: waiting 8 s']);
    await clock.advance(8_000);
    const { token, fromCache } = await waiting;
    expect([reply.accessToken.reveal(), fromCache]).toEqual(['theirs', true]);
    expect(provider.requests).toHaveLength(1);
  });

  it('leaves its refresh token to whoever waited for it, where its access token does not serve', async () => {
    const { profile, store, clock, provider } = await ended();
    await noteAttempt(profile, store, 2_000);
    const record = await familyOf(profile, store);
    provider.current = 'rotated-there';
    const late = withLockFunctions(store, () => ({ reload: async () => rotateFamily(record, 'rotated-there', store) }));
    const waiting = new TestProcess(provider, late, clock).get(profile);
    await settle();
    await clock.advance(8_000);
    expect(await waiting).toBe('access-token-2');
    expect(provider.requests.at(-1)?.get('refresh_token')).toBe('rotated-there');
  });

  it.each(['allowed', 'grace', 'rejected'])('is not waited for in class %s', async (replay) => {
    const { profile, store, provider, start } = await ended({ refresh_token_reuse: replay });
    await noteAttempt(profile, store, 2_000);
    const process = start();
    const asking = process.get(profile);
    await settle();
    expect(provider.requests).toHaveLength(2);
    expect(await asking).toBe('access-token-2');
    expect(process.lines).toEqual([]);
  });

  it('is waited for after a refusal in every class, and then its refresh token is used', async () => {
    const { profile, store, clock, provider } = await ended({ refresh_token_reuse: 'rejected' });
    await noteAttempt(profile, store, 2_000);
    const record = await familyOf(profile, store);
    provider.current = 'rotated-there';
    provider.next.push(json(400, { error: 'invalid_grant' }));
    const endsAt = clock.time + 8_000;
    const late = withLockFunctions(store, (held) => ({
      reload: async () => (clock.time < endsAt ? held.reload() : rotateFamily(record, 'rotated-there', store)),
    }));
    const waiting = new TestProcess(provider, late, clock).get(profile);
    await settle();
    expect(provider.requests).toHaveLength(2);
    await clock.advance(8_000);
    expect(await waiting).toBe('access-token-2');
    expect(provider.requests.map((form) => form.get('refresh_token')).slice(1)).toEqual([
      'rotated-refresh-token-1',
      'rotated-there',
    ]);
  });
});

describe('a family that others change all the time', () => {
  it('is tried four times, and then given up', async () => {
    const { profile, store, clock, provider } = await ended();
    let record = await familyOf(profile, store);
    let read = 0;
    const crowded = withLockFunctions(store, () => ({
      write: async () => false,
      reload: async (): Promise<StoredRecord | undefined> => {
        if (++read > 9) return undefined;
        const kept = rotateFamily(record, `of-others-${read}`, store);
        record = { ...record, tokenHashes: [...record.tokenHashes, kept.head] };
        return kept;
      },
    }));
    const error = await errorOf(new TestProcess(provider, crowded, clock).get(profile));
    expect(error).toMatchObject({ code: 'store_locked' });
    expect(read).toBe(3);
    expect(provider.requests).toHaveLength(1);
  });

  it('is left as it is by whoever could not even note its attempt', async () => {
    const { profile, store, clock, provider } = createTokenFixture();
    let writes = 0;
    const overtaken = withLockFunctions(store, (held) => ({
      write: async (...args) => (++writes === 1 ? false : held.write(...args)),
    }));
    expect(await errorOf(new TestProcess(provider, overtaken, clock).get(profile))).toMatchObject({
      code: 'store_locked',
    });
    expect(writes).toBe(1);
    expect(await store.list()).toEqual([]);
  });

  it('is no reason to send again after a refusal that does not mean the refresh token', async () => {
    const { profile, store, clock, provider } = await ended();
    const record = await familyOf(profile, store);
    provider.next.push(json(403, { error: 'access_denied' }));
    const changed = withLockFunctions(store, () => ({
      reload: async () => rotateFamily(record, 'rotated-there', store),
    }));
    const error = await errorOf(new TestProcess(provider, changed, clock).get(profile));
    expect(error).toMatchObject({ provider: { error: 'access_denied' } });
    expect(provider.requests).toHaveLength(2);
  });

  it('is gone for a login that ended meanwhile, and the person is told what to do', async () => {
    const { profile, provider, start } = createTokenFixture();
    expect(await errorOf(start().get({ ...profile, family: 'of-the-login' }))).toMatchObject({
      code: 'login_required',
      message: 'svc was signed out, or signed in anew, meanwhile',
      hint: 'try again, or run: oauth-profile login svc',
    });
    expect(provider.requests).toEqual([]);
  });
});

describe('an access token that is too old for the caller, after a lost reply', () => {
  it.each([
    ['revokes_family', 1_000, 'access-token-1'],
    ['revokes_family', 60_000, 'access-token-1'],
    ['grace', 1_000, 'access-token-2'],
    ['grace', 30_000, 'access-token-2'],
    ['grace', 30_001, 'access-token-1'],
    ['allowed', 60_000, 'access-token-2'],
    ['rejected', 60_000, 'access-token-2'],
  ])('is used up only where another use could revoke it: %s after %i ms', async (replay, agoMs, token) => {
    const { start, profile, clock, store } = createTokenFixture({
      ...refreshProfile,
      options: { refresh_token_reuse: replay, grace: '30s' },
    });
    await start().get(profile);
    await clock.advance(3_560_000);
    await noteAttempt(profile, store, agoMs);
    expect(await start().get(profile)).toBe(token);
  });

  it.each([
    [5_001, 'access-token-1'],
    [5_000, 'access-token-2'],
  ])('serves as long as it has more than five seconds left: %i ms', async (leftMs, token) => {
    const { start, profile, clock, store } = createTokenFixture();
    await start().get(profile);
    const [kept] = Object.values((await familyOf(profile, store)).tokens);
    await clock.advance((kept?.expiresAt ?? 0) - leftMs - clock.time);
    await noteAttempt(profile, store, 60_000);
    expect(await start().get(profile)).toBe(token);
  });

  it('does not serve where nobody knows when it ends', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.expiresIn = undefined;
    await start().get(profile);
    await noteAttempt(profile, store, 60_000);
    expect(await start().get(profile)).toBe('access-token-2');
  });

  it('does not serve whom an API has refused it', async () => {
    const { start, profile, clock, store } = createTokenFixture();
    const rejected = new Secret(await start().get(profile));
    await clock.advance(3_560_000);
    await noteAttempt(profile, store, 60_000);
    expect(await start().get(profile, { rejected })).toBe('access-token-2');
  });
});

describe('an answer that does not tell what became of the refresh token', () => {
  /** Asks, and lets time pass until that has failed. */
  async function failing({ start, profile, clock }: ReturnType<typeof world>) {
    const asking = errorOf(start().get(profile));
    for (let round = 0; round < 3; round++) {
      await settle();
      await clock.advance(2_000);
    }
    return asking;
  }

  it.each([500, 502, 503, 504])('leaves the attempt noted, and nobody to wait for: HTTP %i', async (status) => {
    const { start, profile, clock, provider, store } = createTokenFixture();
    await start().get(profile);
    await clock.advance(3_560_000);
    const sentAt = clock.time;
    provider.next.push(json(status, {}));
    expect(await errorOf(start().get(profile))).toMatchObject({ code: 'provider_unavailable' });
    expect((await familyOf(profile, store)).attempt).toEqual({ sentAt, until: clock.time });
    expect(await start().get(profile)).toBe('access-token-1');
    await clock.advance(40_000);
    expect(await start().get(profile)).toBe('access-token-2');
  });

  it.each([
    ['a request that never left', 'unreachable', 'connection_failed'],
    ['too many requests', json(429, {}), 'rate_limited'],
  ] as const)('settles nothing of what was lost just before: %s', async (_, answer, code) => {
    const all = await ended({ refresh_token_reuse: 'grace' });
    const sentAt = all.clock.time;
    all.provider.next.push('lose', answer, answer);
    expect(await failing(all)).toMatchObject({ code });
    expect((await familyOf(all.profile, all.store)).attempt).toMatchObject({ sentAt });
  });

  it('settles nothing of what another process lost', async () => {
    const all = await ended({ refresh_token_reuse: 'grace' });
    await noteAttempt(all.profile, all.store, 60_000);
    const sentAt = all.clock.time - 60_000;
    all.provider.next.push(...Array.from({ length: 3 }, () => json(429, {})));
    expect(await failing(all)).toMatchObject({ code: 'rate_limited' });
    expect((await familyOf(all.profile, all.store)).attempt).toMatchObject({ sentAt });
  });

  it('is none where the provider looked at the credentials', async () => {
    const { start, profile, provider, store } = await ended();
    await noteAttempt(profile, store, 60_000);
    provider.next.push(json(500, { error: 'invalid_client' }));
    await errorOf(start().get(profile));
    expect((await familyOf(profile, store)).attempt).toBeUndefined();
  });

  it('leaves nothing noted where nothing was sent', async () => {
    const all = await ended();
    all.provider.next.push('unreachable', 'unreachable', 'unreachable');
    expect(await failing(all)).toMatchObject({ code: 'connection_failed', sent: false });
    expect((await familyOf(all.profile, all.store)).attempt).toBeUndefined();
  });
});

describe('a refusal that is remembered', () => {
  it('stands for the same request only', async () => {
    const { start, profile, provider } = createTokenFixture();
    provider.next.push(json(400, { error: 'invalid_grant' }));
    await errorOf(start().get(profile));
    expect(await start().get(profileOf({ ...refreshProfile, refresh_token: FIRST, scope: 'other' }))).toBe(
      'access-token-1',
    );
  });

  it('ends after exactly five minutes', async () => {
    const { start, profile, provider, clock } = createTokenFixture();
    provider.next.push(json(400, { error: 'invalid_grant' }));
    await errorOf(start().get(profile));
    await clock.advance(299_999);
    expect(await errorOf(start().get(profile))).toMatchObject({ code: 'login_required' });
    expect(provider.requests).toHaveLength(1);
    await clock.advance(1);
    expect(await start().get(profile)).toBe('access-token-1');
  });
});

describe('what a refresh writes', () => {
  it('is the attempt with room for its answer, then the answer, each under the newest refresh token', async () => {
    const { profile, provider, store, clock } = createTokenFixture();
    const writes: unknown[] = [];
    const watched = withLockFunctions(store, (held) => ({
      write: async (next, options) => {
        writes.push([next.head, options?.reserve]);
        return held.write(next, options);
      },
    }));
    const process = new TestProcess(provider, watched, clock);
    await process.get(profile);
    expect(writes).toEqual([
      [store.fingerprint(FIRST), true],
      [store.fingerprint('rotated-refresh-token-1'), false],
    ]);
    expect(process.lines).toEqual([]);
  });

  it('has no end where the reply names none', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.expiresIn = undefined;
    await start().get(profile);
    const [token] = Object.values((await familyOf(profile, store)).tokens);
    expect(token).not.toHaveProperty('expiresAt');
  });

  it('holds no token that has ended by then', async () => {
    const { start, profile, clock, store } = createTokenFixture();
    await start().get(profile);
    const [key] = Object.keys((await familyOf(profile, store)).tokens);
    await clock.advance(HOUR - 1);
    await start().get(profileOf({ ...refreshProfile, refresh_token: FIRST, scope: 'other' }));
    const { tokens } = await familyOf(profile, store);
    expect(Object.keys(tokens)).toHaveLength(1);
    expect(tokens).not.toHaveProperty(key ?? '');
  });

  it('holds the tokens that came last, also one that replaced an earlier one', async () => {
    const { start, clock } = createTokenFixture();
    const other = (scope: string) => profileOf({ ...refreshProfile, refresh_token: FIRST, scope });
    const get = async (scope: string, anew = false) => {
      await start().get(other(scope), { forceRefresh: anew });
      await clock.advance(1_000);
    };
    for (let scope = 0; scope < 5; scope++) await get(`s${scope}`);
    await get('s0', true);
    for (let scope = 5; scope < 17; scope++) await get(`s${scope}`);
    expect((await start().getToken(other('s0'))).fromCache).toBe(true);
    expect((await start().getToken(other('s1'))).fromCache).toBe(false);
  });

  it('is nothing of a failure that is our own mistake', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    const mistake = new TypeError('a mistake');
    Object.assign(provider, { send: () => Promise.reject(mistake) });
    await expect(start().get(profile)).rejects.toBe(mistake);
    expect(await familyOf(profile, store)).toMatchObject({ attempt: { sentAt: store.now() } });
    expect((await familyOf(profile, store)).failure).toBeUndefined();
  });
});

describe('a store that fails after the request was sent', () => {
  const failing = (store: TokenStore, failure: Error): TokenStore =>
    withLockFunctions(store, (held) => ({
      write: (next, options) => (options?.reserve ? held.write(next, options) : Promise.reject(failure)),
    }));
  const full = new OAuthProfileError('store_unwritable', 'no room is left');

  it('does not hide why the provider refused', async () => {
    const { profile, provider, store, clock } = createTokenFixture();
    provider.next.push(json(403, { error: 'access_denied' }));
    const process = new TestProcess(provider, failing(store, full), clock);
    expect(await errorOf(process.get(profile))).toMatchObject({ provider: { error: 'access_denied' } });
    expect(process.lines).toEqual(['the failure is not kept: no room is left']);
  });

  it('is what the caller hears of where the only living refresh token is lost by it', async () => {
    const { profile, provider, store, clock } = createTokenFixture();
    provider.next.push(json(200, { refresh_token: 'the-only-living-one' }));
    const process = new TestProcess(provider, failing(store, full), clock);
    expect(await errorOf(process.get(profile))).toBe(full);
    expect(process.lines).toEqual([]);
  });

  it('is not taken for a failure of the store where it is our own mistake', async () => {
    const { profile, provider, store, clock } = createTokenFixture();
    const mistake = new TypeError('a mistake');
    provider.next.push(json(403, { error: 'access_denied' }));
    await expect(new TestProcess(provider, failing(store, mistake), clock).get(profile)).rejects.toBe(mistake);
  });
});

it('a refresh token in a reply of no other use is kept, even if the program was replaced and cannot tell what is wrong', async () => {
  const { profile, store, provider, start } = await ended();
  const explaining = '../../src/oauth/token-response.ts';
  vi.doMock(explaining, () => ({
    explainReply: () => {
      throw new TypeError('gone');
    },
  }));
  onTestFinished(() => void vi.doUnmock(explaining));
  provider.next.push(json(200, { refresh_token: 'the-successor' }));
  await expect(start().get(profile)).rejects.toThrow('gone');
  const { refreshToken, attempt, failure } = await familyOf(profile, store);
  expect([refreshToken.reveal(), attempt, failure]).toEqual(['the-successor', undefined, undefined]);
});
