import { describe, expect, it } from 'vitest';
import type { CachedToken, FamilyRecord, TokenRecord } from '../../src/flows/records.ts';
import { expiryOf, restoreToken, type TokenTask, toCachedToken } from '../../src/flows/token-cache.ts';
import { createFamily } from '../../src/flows/token-family.ts';
import type { ParsedToken } from '../../src/oauth/token-response.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { fakePorts } from '../support/ports.ts';
import { createResponse, parseResponse, profileOf, RECEIVED_AT } from '../support/profiles.ts';
import { createPlainMemoryStore } from '../support/store.ts';

const plain = profileOf({ type: 'custom', url: 'https://id.test/token' });
const nested = profileOf({ type: 'custom', url: 'https://id.test/token', 'options.token_path': 'data.list[0].token' });

/** A token that was requested at 1 s and received at 2 s of the store's time. */
function cache(profile: typeof plain, body: object): CachedToken {
  const token = parseResponse(profile, createResponse(200, body));
  return toCachedToken(token, 1_000, { now: () => 2_000 }, { now: () => RECEIVED_AT });
}

/** Restores a cached token at `now`; with a refresh token, from the record of its family. */
function restore(
  profile: typeof plain,
  cached: CachedToken,
  now: number,
  { refreshToken, rejectedToken }: { refreshToken?: string; rejectedToken?: string } = {},
): ParsedToken | undefined {
  const store = createPlainMemoryStore({ now: () => now });
  const tokens = { key: cached };
  const record: TokenRecord | FamilyRecord =
    refreshToken === undefined
      ? { kind: 'token', profile: 'svc', tokens, failure: undefined }
      : { ...createFamily(profile, new Secret(refreshToken), store), tokens };
  const task: TokenTask = {
    profile,
    key: 'key',
    criteria: {
      minTtlMs: 0,
      forceRefresh: false,
      ignoreCachedError: false,
      rejectedToken: rejectedToken === undefined ? undefined : new Secret(rejectedToken),
    },
    ports: fakePorts(),
    store,
    warn: () => {},
  };
  return restoreToken(task, record)?.token;
}

describe('a token in the cache', () => {
  it('consists of the response without its refresh token, and of its times', () => {
    const cached = cache(plain, { access_token: 'a', refresh_token: 'r', expires_in: 60 });
    expect(JSON.parse(cached.response.reveal())).toEqual({ access_token: 'a', expires_in: 60 });
    expect(cached).toMatchObject({ hadRefreshToken: true, startedAt: 1_000, receivedAt: 2_000, expiresAt: 62_000 });
  });

  it('does not contain a refresh token that is nested next to the access token', () => {
    const list = [{ token: 'a', refresh_token: 'c4n4ry-refresh' }];
    const cached = cache(nested, { data: { list, refresh_token: 'another' } });
    expect(cached.response.reveal()).not.toContain('c4n4ry-refresh');
    expect(JSON.parse(cached.response.reveal())).toMatchObject({ data: { refresh_token: 'another' } });
  });

  it('expires after expires_in of its response, else after options.default_ttl', () => {
    const cached = cache(plain, { access_token: 'a' });
    expect(cached).toMatchObject({ hadRefreshToken: false, expiresAt: undefined });
    expect(expiryOf(cached, plain)).toBeUndefined();
    const withDefault = profileOf({ type: 'custom', url: 'https://id.test/token', 'options.default_ttl': '5s' });
    expect(expiryOf(cached, withDefault)).toBe(7_000);
    expect(expiryOf({ ...cached, expiresAt: 3_000 }, withDefault)).toBe(3_000);
  });
});

describe('a restored token', () => {
  it.each([
    [60, 2_000, 60],
    [60, 2_001, 59],
    [60, 32_000, 30],
    [60, 99_000, 0],
    ['60', 32_000, '30'],
  ])('that had expires_in %j has at %i ms %j left', (expires_in, now, left) => {
    const token = restore(plain, cache(plain, { access_token: 'a', expires_in }), now);
    expect(token?.response).toEqual({ access_token: 'a', expires_in: left });
    expect(token?.expiresAt).toBe(now + Number(left) * 1000);
  });

  it('has expires_in only if the response had it', () => {
    const without = { ...cache(plain, { access_token: 'a' }), expiresAt: 62_000 };
    expect(restore(plain, without, 3_000)?.response).toEqual({ access_token: 'a' });
    const unlimited = { ...cache(plain, { access_token: 'a', expires_in: 60 }), expiresAt: undefined };
    expect(restore(plain, unlimited, 3_000)?.response).toEqual({ access_token: 'a', expires_in: 60 });
  });

  it('has its remaining seconds at the top and in every object on the way to a nested token', () => {
    const body = {
      expires_in: 60,
      data: { expires_in: '60', list: [{ token: 'a', expires_in: 60 }, { expires_in: 60 }] },
    };
    expect(restore(nested, cache(nested, body), 12_000)?.response).toEqual({
      expires_in: 50,
      data: { expires_in: '50', list: [{ token: 'a', expires_in: 50 }, { expires_in: 60 }] },
    });
  });

  it('has the newest refresh token if the response had one', () => {
    const had = cache(plain, { access_token: 'a', refresh_token: 'r' });
    const newest = restore(plain, had, 3_000, { refreshToken: 'newest' });
    expect(newest?.response).toEqual({ access_token: 'a', refresh_token: 'newest' });
    expect(newest?.refreshToken?.reveal()).toBe('newest');
    const lacked = restore(plain, cache(plain, { access_token: 'a' }), 3_000, { refreshToken: 'newest' });
    expect([lacked?.response, lacked?.refreshToken]).toEqual([{ access_token: 'a' }, undefined]);
    const none = restore(plain, had, 3_000);
    expect([none?.response, none?.refreshToken]).toEqual([{ access_token: 'a' }, undefined]);
  });

  it('has the newest refresh token next to the access token if the response had it there', () => {
    const cached = cache(nested, { data: { list: [{ token: 'a', refresh_token: 'r' }] } });
    const newest = restore(nested, cached, 3_000, { refreshToken: 'newest' });
    expect(newest?.response).toEqual({ data: { list: [{ token: 'a', refresh_token: 'newest' }] } });
    expect(newest?.refreshToken?.reveal()).toBe('newest');
    const none = restore(nested, cached, 3_000);
    expect([none?.response, none?.refreshToken]).toEqual([{ data: { list: [{ token: 'a' }] } }, undefined]);
  });

  it.each([undefined, null, 'text', { list: null }])(
    'does not exist if the profile expects it elsewhere: %j',
    (data) => {
      expect(restore(nested, cache(plain, { access_token: 'a', expires_in: 60, data }), 3_000)).toBeUndefined();
    },
  );

  it('does not exist if an API rejected it', () => {
    const cached = cache(plain, { access_token: 'a' });
    expect(restore(plain, cached, 3_000, { rejectedToken: 'a' })).toBeUndefined();
    expect(restore(plain, cached, 3_000, { rejectedToken: 'b' })).toBeDefined();
  });

  it('has the other secrets of its response', () => {
    const token = restore(plain, cache(plain, { access_token: 'a', id_token: 'i' }), 3_000);
    expect(token?.otherSecrets.map((secret) => secret.reveal())).toEqual(['i']);
  });
});
