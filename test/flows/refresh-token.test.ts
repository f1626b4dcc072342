import { describe, expect, it } from 'vitest';
import { familyKey } from '../../src/flows/token-family.ts';
import type { TokenStore } from '../../src/ports.ts';
import { errorOf } from '../support/errors.ts';
import { settle } from '../support/ports.ts';
import { profileOf } from '../support/profiles.ts';
import { withLockFunctions } from '../support/store.ts';
import {
  createGate,
  createTokenFixture,
  FIRST,
  familyOf,
  jsonResponse,
  refreshProfile,
} from '../support/token-fixture.ts';

const withScope = (scope: string) => profileOf({ ...refreshProfile, refresh_token: FIRST, scope });

describe('a refresh token', () => {
  it('is followed through its rotations, whichever member of the family is configured', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    await start().get(profile);
    const second = provider.current;
    await clock.advance(3_600_000);
    await start().get(profile);
    await clock.advance(3_600_000);
    expect(await start().get(profileOf({ ...refreshProfile, refresh_token: second }))).toBe('access-token-3');
    expect(provider.revoked).toBe(false);
  });

  it('is not sent for another client or to another server', async () => {
    const { start, profile, provider } = createTokenFixture();
    await start().get(profile);
    for (const change of [{ client_id: 'other' }, { url: 'https://other.test/token' }]) {
      await errorOf(start().get(profileOf({ ...refreshProfile, refresh_token: FIRST, ...change })));
      expect(provider.requests.at(-1)?.get('refresh_token')).toBe(FIRST);
    }
  });

  it('stays stored if the response has none', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    provider.next.push(jsonResponse(200, { access_token: 'a-1', expires_in: 3600 }));
    await start().get(profile);
    await clock.advance(3_600_000);
    await start().get(profile);
    expect(provider.requests.map((form) => form.get('refresh_token'))).toEqual([FIRST, FIRST]);
  });

  it.each([
    ['at the top', {}, { refresh_token: 'the-only-valid-one' }],
    [
      'next to the expected access token',
      { token_path: 'data.token' },
      { data: { refresh_token: 'the-only-valid-one' } },
    ],
  ])('in an otherwise unusable response is stored: %s', async (_, options, body) => {
    const { start, profile, provider, store } = createTokenFixture({ ...refreshProfile, options });
    provider.next.push(jsonResponse(200, body));
    expect(await errorOf(start().get(profile))).toMatchObject({ code: 'response_unreadable' });
    const { refreshToken, attempt } = await familyOf(profile, store);
    expect([refreshToken?.reveal(), attempt]).toEqual(['the-only-valid-one', undefined]);
  });

  it('in a response that a bug keeps from being parsed is stored', async () => {
    const { start, profile, clock, provider, store } = createTokenFixture();
    const bug = new TypeError('a bug');
    const { send } = provider;
    provider.send = async (...args) => {
      const response = await send(...args);
      const { now } = clock;
      clock.now = () => {
        clock.now = now;
        throw bug;
      };
      return response;
    };
    await expect(start().get(profile)).rejects.toBe(bug);
    const { refreshToken, attempt, failure } = await familyOf(profile, store);
    expect([refreshToken?.reveal(), attempt, failure]).toEqual([provider.current, undefined, undefined]);
  });

  it('is exchanged and its successor stored although every caller has left', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    const gate = createGate();
    provider.gate = gate.promise;
    const controller = new AbortController();
    const left = errorOf(start().get(profile, { signal: controller.signal }));
    await settle();
    controller.abort();
    expect(await left).toMatchObject({ code: 'aborted' });
    gate.open();
    provider.gate = undefined;
    await settle();
    expect(await start().get(profile)).toBe('access-token-1');
    await clock.advance(3_600_000);
    expect(await start().get(profile)).toBe('access-token-2');
    expect(provider.revoked).toBe(false);
  });

  it('is not sent for a caller that left before', async () => {
    const { start, profile, provider } = createTokenFixture();
    const signal = AbortSignal.abort();
    expect(await errorOf(start().get(profile, { signal }))).toMatchObject({ code: 'aborted' });
    await settle();
    expect(provider.requests).toHaveLength(0);
  });

  it('of gitlab invalidates the other access tokens of the family', async () => {
    const fields = { type: 'gitlab', client_id: 'app', refresh_token: FIRST, client_secret: 'app-secret-1' };
    const { start, provider } = createTokenFixture(fields);
    for (const scope of ['api', 'read_user', 'api']) await start().get(profileOf({ ...fields, scope }));
    expect(provider.requests).toHaveLength(3);
  });

  it('of a login that was deleted in the meantime is not sent', async () => {
    const { profile, provider, start } = createTokenFixture();
    const error = await errorOf(start().get({ ...profile, family: 'of-the-login' }));
    expect(error.code).toBe('login_required');
    expect(error.hint).toContain('oauth-profile login svc');
    expect(provider.requests).toEqual([]);
  });
});

const hashOf = (token: string, store: TokenStore): string =>
  familyKey({ origin: 'https://id.test', clientId: 'app' }, token, store);

describe('the record of a refresh', () => {
  it('contains the successor, the token and its scope, and no attempt', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.next.push(jsonResponse(200, { access_token: 'a', refresh_token: 'next', expires_in: 60, scope: 'read' }));
    await start().get(profile);
    const record = await familyOf(profile, store);
    expect(record).toMatchObject({
      profile: 'svc',
      origin: 'https://id.test',
      client: store.fingerprint('app'),
      tokenHashes: [hashOf(FIRST, store), hashOf('next', store)],
      scope: 'read',
    });
    expect(record.refreshToken?.reveal()).toBe('next');
    expect([record.attempt, record.failure, record.cachedError, record.account]).toEqual(Array(4).fill(undefined));
    expect(Object.keys(record.tokens)).toHaveLength(1);
  });

  it('is written before the request, with space for the result, and after the response', async () => {
    const { start, profile, store } = createTokenFixture();
    const writes: unknown[] = [];
    const recording = withLockFunctions(store, (lock) => ({
      write: async (next, options) => {
        writes.push([next.version, options?.reserve]);
        return lock.write(next, options);
      },
    }));
    const process = start(recording);
    await process.get(profile);
    expect(writes).toEqual([
      [hashOf(FIRST, store), true],
      [hashOf('rotated-refresh-token-1', store), false],
    ]);
    expect(process.lines).toEqual([]);
  });

  it('retains the scope if the response has none', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.next.push(jsonResponse(200, { access_token: 'a', expires_in: 60, scope: 'read' }));
    await start().get(profile);
    await start().get(profile, { forceRefresh: true });
    expect((await familyOf(profile, store)).scope).toBe('read');
  });

  it('has no expiry if the response has no expires_in', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.expiresIn = undefined;
    await start().get(profile);
    const [token] = Object.values((await familyOf(profile, store)).tokens);
    expect(token).not.toHaveProperty('expiresAt');
  });

  it('contains the hashes of the last 32 refresh tokens, each once', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.next.push(jsonResponse(200, { access_token: 'a', refresh_token: FIRST }));
    await start().get(profile, { forceRefresh: true });
    expect((await familyOf(profile, store)).tokenHashes).toHaveLength(1);
    for (let time = 0; time < 33; time++) await start().get(profile, { forceRefresh: true });
    const { tokenHashes } = await familyOf(profile, store);
    expect(tokenHashes).toHaveLength(32);
    expect(tokenHashes.at(-1)).toBe(hashOf(provider.current, store));
    expect(tokenHashes).not.toContain(hashOf(FIRST, store));
  });

  it('contains the newest 16 tokens that have not expired', async () => {
    const { start, clock, store, profile } = createTokenFixture();
    await start().get(withScope('expired'));
    await clock.advance(3_600_000);
    for (let scope = 0; scope < 17; scope++) {
      await start().get(withScope(`s${scope}`));
      await clock.advance(1_000);
    }
    expect(Object.keys((await familyOf(profile, store)).tokens)).toHaveLength(16);
    expect((await start().getToken(withScope('s1'))).fromCache).toBe(true);
    expect((await start().getToken(withScope('s0'))).fromCache).toBe(false);
  });

  it('orders tokens by the time of their last refresh', async () => {
    const { start, clock } = createTokenFixture();
    const get = async (scope: string, forceRefresh = false) => {
      await start().get(withScope(scope), { forceRefresh });
      await clock.advance(1_000);
    };
    for (let scope = 0; scope < 5; scope++) await get(`s${scope}`);
    await get('s0', true);
    for (let scope = 5; scope < 17; scope++) await get(`s${scope}`);
    expect((await start().getToken(withScope('s0'))).fromCache).toBe(true);
    expect((await start().getToken(withScope('s1'))).fromCache).toBe(false);
  });

  it('does not contain a token that expires during the refresh', async () => {
    const { start, profile, clock, store } = createTokenFixture();
    await start().get(profile);
    const [key = ''] = Object.keys((await familyOf(profile, store)).tokens);
    await clock.advance(3_600_000 - 1);
    await start().get(withScope('other'));
    const { tokens } = await familyOf(profile, store);
    expect(Object.keys(tokens)).toHaveLength(1);
    expect(tokens).not.toHaveProperty(key);
  });

  it('contains an invalid_grant until it expires, and the failed attempt', async () => {
    const { start, profile, provider, store, clock } = createTokenFixture();
    provider.next.push(jsonResponse(400, { error: 'invalid_grant' }));
    await errorOf(start().get(profile));
    const record = await familyOf(profile, store);
    const error = { code: 'login_required', provider: { status: 400, error: 'invalid_grant' } };
    expect(record.cachedError).toMatchObject({ until: clock.time + 300_000, error });
    expect(record.failure).toMatchObject({ key: record.cachedError?.key, error });
    expect(record.attempt).toBeUndefined();
  });

  it('contains the attempt but no failure after a bug', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    const bug = new TypeError('a bug');
    provider.send = () => Promise.reject(bug);
    await expect(start().get(profile)).rejects.toBe(bug);
    const { attempt, failure } = await familyOf(profile, store);
    expect(attempt).toMatchObject({ sentAt: store.now() });
    expect(failure).toBeUndefined();
  });
});

describe('a cached error', () => {
  it('is not returned if the clock was set back', async () => {
    const { start, profile, provider, clock } = createTokenFixture();
    provider.next.push(jsonResponse(400, { error: 'invalid_grant' }));
    await expect(start().get(profile)).rejects.toMatchObject({ code: 'login_required' });
    clock.time -= 86_400_000;
    expect(await start().get(profile)).toBe('access-token-1');
  });

  it('is returned for exactly five minutes, and the same request is not sent again', async () => {
    const { start, profile, provider, clock } = createTokenFixture();
    provider.next.push(jsonResponse(400, { error: 'invalid_grant' }));
    for (const waitMs of [0, 100_000, 199_999]) {
      expect(await errorOf(start().get(profile))).toMatchObject({ code: 'login_required' });
      await clock.advance(waitMs);
    }
    expect(await errorOf(start().get(profile))).toMatchObject({ code: 'login_required' });
    expect(provider.requests).toHaveLength(1);
    await clock.advance(1);
    expect(await start().get(profile)).toBe('access-token-1');
  });

  it('is returned to callers that do not reuse tokens', async () => {
    const { start, profile, provider } = createTokenFixture();
    provider.next.push(jsonResponse(400, { error: 'invalid_grant' }));
    await errorOf(start().get(profile));
    expect(await errorOf(start().get(profile, { reuse: false }))).toMatchObject({ code: 'login_required' });
    expect(provider.requests).toHaveLength(1);
  });

  it('is ignored by a caller that forces a refresh', async () => {
    const { start, profile, provider } = createTokenFixture();
    provider.next.push(jsonResponse(400, { error: 'invalid_grant' }));
    await errorOf(start().get(profile));
    expect(await start().get(profile, { forceRefresh: true })).toBe('access-token-1');
    expect(await start().getToken(profile)).toMatchObject({ fromCache: true });
    expect(provider.requests).toHaveLength(2);
  });

  it('is returned for the same request only', async () => {
    const { start, profile, provider } = createTokenFixture();
    provider.next.push(jsonResponse(400, { error: 'invalid_grant' }));
    await errorOf(start().get(profile));
    expect(await start().get(withScope('other'))).toBe('access-token-1');
  });

  it.each([
    ['with a suberror', jsonResponse(400, { error: 'invalid_grant', suberror: 'basic_action' })],
    ['with claims', jsonResponse(400, { error: 'invalid_grant', claims: '{"access_token":{}}' })],
    ['with another status', jsonResponse(401, { error: 'invalid_grant' })],
    ['other than invalid_grant', jsonResponse(400, { error: 'invalid_client' })],
  ])('is never one that the user can fix at the provider: an error %s', async (_, response) => {
    const { start, profile, provider, store } = createTokenFixture();
    provider.next.push(response);
    await errorOf(start().get(profile));
    expect((await familyOf(profile, store)).cachedError).toBeUndefined();
    expect(await start().get(profile)).toBe('access-token-1');
  });
});
