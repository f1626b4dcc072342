import { describe, expect, it } from 'vitest';
import { abortError, OAuthProfileError } from '../src/errors.ts';
import { parseRecordOf } from '../src/flows/records.ts';
import type { TokenStore } from '../src/ports.ts';
import { Secret } from '../src/redaction/secret.ts';
import { errorOf } from './support/errors.ts';
import { settle } from './support/ports.ts';
import { profileOf } from './support/profiles.ts';
import { withLockFunctions } from './support/store.ts';
import { createTokenFixture, jsonResponse, machineProfile, refreshProfile } from './support/token-fixture.ts';

/** The only record of a store, which must be that of a grant other than `refresh_token`. */
async function onlyTokenRecord(store: TokenStore) {
  const records = await store.list();
  expect(records).toHaveLength(1);
  const record = parseRecordOf('token', records[0]);
  if (record === undefined) expect.fail('the record is not a token record');
  return record;
}

describe('a cached token', () => {
  it.each([refreshProfile, machineProfile])(
    'is returned with its remaining lifetime while it is usable (D4, $grant_type)',
    async (fields) => {
      const { start, profile, clock, provider } = createTokenFixture(fields);
      expect(await start().getToken(profile)).toMatchObject({ fromCache: false });
      await clock.advance(1_000_000);
      const { token, fromCache } = await start().getToken(profile);
      expect(fromCache).toBe(true);
      expect(token.response).toMatchObject({ access_token: 'access-token-1', expires_in: 2600 });
      expect(provider.requests).toHaveLength(1);
    },
  );

  it('is returned with the newest refresh token', async () => {
    const { start, profile, provider } = createTokenFixture();
    await start().get(profile);
    const { token } = await start().getToken(profile);
    expect(token.response['refresh_token']).toBe(provider.current);
    expect(token.refreshToken?.reveal()).toBe(provider.current);
  });

  it('has its expiry converted to the local clock if the clock of the store differs', async () => {
    const { start, profile, store, clock } = createTokenFixture();
    await start().get(profile);
    const skewed = { ...store, now: () => store.now() + 1_800_000 };
    const cached = await start(skewed).getToken(profile);
    expect(cached.fromCache).toBe(true);
    expect(cached.token.expiresAt).toBe(clock.time + Number(cached.token.response['expires_in']) * 1000);
    const requested = await start(skewed).getToken(profile, { forceRefresh: true });
    expect(requested.fromCache).toBe(false);
    expect(requested.token.expiresAt).toBe(clock.time + 3_600_000);
  });

  it.each([
    ['60 s for a long lifetime', 3600, {}, undefined, 60],
    ['half of a lifetime that is shorter than twice min_ttl', 90, {}, undefined, 45],
    ['options.min_ttl', 3600, { min_ttl: '5m' }, undefined, 300],
    ['half of the lifetime if options.min_ttl is longer', 3600, { min_ttl: '1h' }, undefined, 1800],
    ['the caller’s minimum instead of options.min_ttl', 3600, { min_ttl: '5m' }, 120_000, 120],
    ['zero if the caller requires nothing', 3600, {}, 0, 0],
  ])('is replaced when its remaining lifetime is %s', async (_, expiresIn, options, minTtlMs, marginSeconds) => {
    const { start, profile, clock, provider } = createTokenFixture({ ...machineProfile, options });
    provider.expiresIn = expiresIn;
    await start().get(profile);
    await clock.advance((expiresIn - marginSeconds) * 1000 - 1);
    expect(await start().getToken(profile, { minTtlMs })).toMatchObject({ fromCache: true });
    await clock.advance(1);
    expect(await start().getToken(profile, { minTtlMs })).toMatchObject({ fromCache: false });
    expect(provider.requests).toHaveLength(2);
  });

  it.each([refreshProfile, machineProfile])(
    'is not returned if the clock was set back ($grant_type)',
    async (fields) => {
      const { start, profile, clock, provider } = createTokenFixture(fields);
      await start().get(profile);
      clock.time -= 86_400_000;
      expect(await start().getToken(profile)).toMatchObject({ fromCache: false });
      expect(await start().getToken(profile)).toMatchObject({ fromCache: true });
      expect(provider.requests).toHaveLength(2);
    },
  );

  it('without expires_in is not reused unless options.default_ttl defines its lifetime', async () => {
    const unknown = createTokenFixture(machineProfile);
    unknown.provider.expiresIn = undefined;
    await unknown.start().get(unknown.profile);
    await unknown.start().get(unknown.profile);
    expect(unknown.provider.requests).toHaveLength(2);
    const defined = createTokenFixture({ ...machineProfile, options: { default_ttl: '1h' } });
    defined.provider.expiresIn = undefined;
    await defined.start().get(defined.profile);
    const { token, fromCache } = await defined.start().getToken(defined.profile);
    expect([token.expiresAt, fromCache]).toEqual([undefined, true]);
    expect(defined.provider.requests).toHaveLength(1);
  });

  it.each([
    ['scope', { scope: 'other' }],
    ['client', { client_id: 'other' }],
    ['URL', { url: 'https://other.test/token' }],
    ['field', { audience: 'other' }],
  ])('is not returned for another %s', async (_, change) => {
    const { start, profile, provider } = createTokenFixture(machineProfile);
    await start().get(profile);
    await start().get(profileOf({ ...machineProfile, ...change }));
    expect(provider.requests).toHaveLength(2);
  });

  it('is not returned if the profile now expects the access token at another path', async () => {
    const { start, profile, provider } = createTokenFixture(machineProfile);
    await start().get(profile);
    const moved = profileOf({ ...machineProfile, options: { token_path: 'data.token' } });
    provider.next.push(jsonResponse(200, { data: { token: 'moved' } }));
    expect(await start().get(moved, { rejectedToken: new Secret('another token') })).toBe('moved');
  });

  it('is stored with its expiry in the time of the store', async () => {
    const { start, profile, store, clock } = createTokenFixture(machineProfile);
    await start({ ...store, now: () => store.now() + 1_800_000 }).get(profile);
    const { tokens, failure } = await onlyTokenRecord(store);
    expect(Object.values(tokens)).toMatchObject([
      { startedAt: clock.time - 1 + 1_800_000, expiresAt: clock.time + 1_800_000 + 3_600_000 },
    ]);
    expect(failure).toBeUndefined();
  });

  it('of a password grant is stored without its refresh token', async () => {
    const { start, profile, provider, store } = createTokenFixture({
      ...machineProfile,
      grant_type: 'password',
      username: 'ada',
      password: 'pass-word-1',
    });
    provider.next.push(
      jsonResponse(200, { access_token: 'a-1', refresh_token: 'must-not-be-stored', expires_in: 3600 }),
    );
    await start().get(profile);
    const contents = (await store.list()).map(({ content }) => content.reveal());
    expect(contents).toHaveLength(1);
    expect(contents.join()).not.toContain('must-not-be-stored');
  });
});

describe('reuse', () => {
  it('is off by default, and the store is not used', async () => {
    const { start, profile, provider, store } = createTokenFixture(machineProfile);
    for (let call = 0; call < 2; call++)
      expect(await start().getToken(profile, { reuse: undefined })).toMatchObject({ fromCache: false });
    expect(provider.requests).toHaveLength(2);
    expect(await store.list()).toEqual([]);
  });

  it('is off by default for a refresh token, whose rotation is stored all the same', async () => {
    const { start, profile, provider } = createTokenFixture();
    for (let call = 0; call < 3; call++)
      expect(await start().getToken(profile, { reuse: false })).toMatchObject({ fromCache: false });
    expect(provider.requests).toHaveLength(3);
    expect(provider.revoked).toBe(false);
  });

  it('is on by default where a refresh revokes the earlier access tokens', async () => {
    const { start, profile, provider } = createTokenFixture({
      type: 'gitlab',
      grant_type: 'refresh_token',
      client_id: 'app',
      client_secret: 'app-secret-1',
    });
    await start().get(profile, { reuse: undefined });
    expect(await start().getToken(profile, { reuse: undefined })).toMatchObject({ fromCache: true });
    expect(provider.requests).toHaveLength(1);
  });

  it.each([true, false])('follows options.reuse: %s rather than the caller', async (reuse) => {
    const { start, profile } = createTokenFixture({ ...machineProfile, options: { reuse } });
    await start().get(profile, { reuse: !reuse });
    expect(await start().getToken(profile, { reuse: !reuse })).toMatchObject({ fromCache: reuse });
  });

  it.each([{ refresh_token: '' }, {}])('may be off for the refresh grant without a refresh token: %o', async (none) => {
    const { start, provider, store } = createTokenFixture();
    provider.next.push(jsonResponse(200, { access_token: 'a' }));
    expect(await start().get(profileOf({ ...refreshProfile, ...none }), { reuse: false })).toBe('a');
    expect(await store.list()).toEqual([]);
  });

  it('may be off for another grant that sends a refresh token', async () => {
    const { start, store } = createTokenFixture();
    const profile = profileOf({ ...machineProfile, refresh_token: 'an additional field' });
    expect(await start().get(profile, { reuse: false })).toBe('access-token-1');
    expect(await store.list()).toEqual([]);
  });
});

describe('a temporary failure', () => {
  const failures = [
    ['no connection', 'unreachable', 'connection_failed'],
    ['a lost response', 'lose', 'timeout'],
    ['HTTP 429', jsonResponse(429, {}), 'rate_limited'],
    ['HTTP 503', jsonResponse(503, {}), 'provider_unavailable'],
  ] as const;

  /** A fixture whose token is no longer usable but still valid, and whose provider fails. */
  async function createFailing(fields: typeof refreshProfile, failure: (typeof failures)[number][1]) {
    const fixture = createTokenFixture(fields);
    const { start, profile, clock, provider } = fixture;
    await start().get(profile);
    await clock.advance(3_560_000);
    provider.next.push(failure, failure, failure);
    /** Lets the time of all retries pass. */
    const afterRetries = async <T>(work: Promise<T>): Promise<T> => {
      for (let round = 0; round < 3; round++) {
        await settle();
        await clock.advance(2_000);
      }
      return work;
    };
    return { ...fixture, afterRetries };
  }

  it.each(
    [refreshProfile, machineProfile].flatMap((fields) =>
      failures.map((row) => [fields.grant_type, ...row, fields] as const),
    ),
  )(
    'returns the cached token of the grant %s with a warning while it is valid: %s',
    async (_grant, _what, failure, _code, fields) => {
      const { start, profile, afterRetries } = await createFailing(fields, failure);
      const process = start();
      const { token, fromCache } = await afterRetries(process.getToken(profile));
      expect([token.accessToken.reveal(), fromCache]).toEqual(['access-token-1', true]);
      expect(Number(token.response['expires_in'])).toBeLessThan(60);
      expect(process.warnings).toEqual([expect.stringContaining('svc')]);
    },
  );

  it.each(failures)('is an error if a new token was requested explicitly: %s', async (_, failure, code) => {
    const { start, profile, afterRetries } = await createFailing(machineProfile, failure);
    const process = start();
    expect(await afterRetries(errorOf(process.get(profile, { forceRefresh: true })))).toMatchObject({ code });
    expect(process.warnings).toEqual([]);
  });

  it('is an error if an API rejected the cached token', async () => {
    const { start, profile, afterRetries } = await createFailing(machineProfile, jsonResponse(503, {}));
    const rejectedToken = new Secret('access-token-1');
    expect(await afterRetries(errorOf(start().get(profile, { rejectedToken })))).toMatchObject({
      code: 'provider_unavailable',
    });
  });

  it('is an error if the cached token has expired', async () => {
    const { start, profile, clock, afterRetries } = await createFailing(machineProfile, jsonResponse(503, {}));
    await clock.advance(40_000);
    expect(await afterRetries(errorOf(start().get(profile)))).toMatchObject({ code: 'provider_unavailable' });
  });

  it('is an error if no token is cached', async () => {
    const { start, profile, provider } = createTokenFixture();
    provider.next.push(jsonResponse(503, {}));
    expect(await errorOf(start().get(profile))).toMatchObject({ code: 'provider_unavailable' });
  });

  it.each([
    jsonResponse(400, { error: 'invalid_grant' }),
    jsonResponse(401, { error: 'invalid_client' }),
    jsonResponse(200, { token: 'x' }),
  ])('is not an error response or an unreadable one: the cached token is not returned ($status)', async (response) => {
    const { start, profile } = await createFailing(machineProfile, response);
    const process = start();
    expect((await errorOf(process.get(profile))).code).toMatch(/provider_rejected|response_unreadable/);
    expect(process.warnings).toEqual([]);
  });
});

describe('a failed request', () => {
  it('is stored for the callers that are queued', async () => {
    const { start, profile, store, provider, clock } = createTokenFixture(machineProfile);
    provider.next.push(jsonResponse(403, { error: 'access_denied' }));
    await errorOf(start().get(profile));
    expect(await onlyTokenRecord(store)).toMatchObject({
      tokens: {},
      failure: { startedAt: clock.time - 1, error: { code: 'provider_rejected' } },
    });
  });

  it('is reported without a warning if it cannot be stored', async () => {
    const { start, profile, store, provider } = createTokenFixture(machineProfile);
    provider.next.push(jsonResponse(403, { error: 'access_denied' }));
    const process = start(withWriteError(store, new OAuthProfileError('store_unwritable', 'the disk is full')));
    expect(await errorOf(process.get(profile))).toMatchObject({ code: 'provider_rejected' });
    expect(process.warnings).toEqual([]);
  });

  it('is not stored if it is a bug, and a bug is not reported as a failure of the store', async () => {
    const { start, profile, store, provider } = createTokenFixture(machineProfile);
    const bug = new TypeError('a bug');
    const process = start(withWriteError(store, bug));
    await expect(process.get(profile)).rejects.toBe(bug);
    expect(process.warnings).toEqual([]);
    provider.send = () => Promise.reject(bug);
    await expect(start().get(profile)).rejects.toBe(bug);
    expect(await store.list()).toEqual([]);
  });

  it('is cancelled and not stored when every caller has left', async () => {
    const { start, profile, store, provider } = createTokenFixture(machineProfile);
    let received: AbortSignal | undefined;
    provider.send = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        received = signal;
        signal?.addEventListener('abort', () => reject(abortError(signal)));
      });
    const controller = new AbortController();
    const left = errorOf(start().get(profile, { signal: controller.signal }));
    await settle();
    controller.abort();
    expect(await left).toMatchObject({ code: 'aborted' });
    await settle();
    expect(received?.aborted).toBe(true);
    expect(await store.list()).toEqual([]);
  });
});

describe('a store that fails', () => {
  const unwritable = new OAuthProfileError('store_unwritable', 'the disk is full');
  const withoutLocks = (store: TokenStore): TokenStore => ({ ...store, lock: () => Promise.reject(unwritable) });

  it('stops a refresh before anything is sent', async () => {
    const { start, profile, provider, store } = createTokenFixture();
    expect(await errorOf(start(withoutLocks(store)).get(profile))).toMatchObject({ code: 'store_unwritable' });
    expect(provider.requests).toHaveLength(0);
  });

  it('causes a warning for other grants, which continue', async () => {
    const { start, profile, store } = createTokenFixture(machineProfile);
    const process = start(withoutLocks(store));
    expect(await process.get(profile)).toBe('access-token-1');
    expect(process.warnings).toEqual([expect.stringContaining('the disk is full')]);
  });

  it('causes the same warning if only the write fails, and one request is sent', async () => {
    const { start, profile, provider, store } = createTokenFixture(machineProfile);
    const process = start(withWriteError(store, unwritable));
    expect(await process.get(profile)).toBe('access-token-1');
    expect(process.warnings).toEqual([expect.stringContaining('the disk is full')]);
    expect(provider.requests).toHaveLength(1);
  });

  it.each(['store_locked', 'store_unreadable'] as const)('with %s stops every grant', async (code) => {
    const { start, profile, provider, store } = createTokenFixture(machineProfile);
    const failing: TokenStore = { ...store, lock: () => Promise.reject(new OAuthProfileError(code, 'no')) };
    expect(await errorOf(start(failing).get(profile))).toMatchObject({ code });
    expect(provider.requests).toHaveLength(0);
  });

  it.each([
    ['a token', [], undefined],
    ['an error response', [jsonResponse(403, { error: 'access_denied' })], 'provider_rejected'],
    ['an exception', [], 'bug'],
  ])('is never left locked: after %s', async (_, responses, outcome) => {
    for (const fields of [refreshProfile, machineProfile]) {
      const { start, profile, provider, store } = createTokenFixture(fields);
      let [acquired, released] = [0, 0];
      const counted: TokenStore = {
        ...store,
        lock: async (...args) => {
          acquired++;
          return store.lock(...args);
        },
      };
      provider.next.push(...responses);
      if (outcome === 'bug') provider.send = () => Promise.reject(new TypeError('a bug'));
      const process = start(
        withLockFunctions(counted, ({ release }) => ({
          release: async () => {
            released++;
            await release();
          },
        })),
      );
      await process.get(profile).catch(() => {});
      await settle();
      expect([acquired, released]).toEqual([1, 1]);
    }
  });
});

/** A store that cannot write. */
function withWriteError(store: TokenStore, error: Error): TokenStore {
  return withLockFunctions(store, () => ({ write: () => Promise.reject(error) }));
}
