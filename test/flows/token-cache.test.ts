import { describe, expect, it } from 'vitest';
import { expiryOf, reviveToken, toCachedToken } from '../../src/flows/token-cache.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { profileOf } from '../support/profile-of.ts';
import { RECEIVED_AT, receive, createResponse } from '../support/read-sample.ts';

const plain = profileOf({ type: 'custom', url: 'https://id.test/token' });
const nested = profileOf({ type: 'custom', url: 'https://id.test/token', 'options.token_path': 'data.list[0].token' });

/** Asked for at 1 s of the store's time, and received at 2 s. */
function kept(profile: typeof plain, body: object) {
  return toCachedToken(receive(profile, createResponse(200, body)), 1_000, { now: () => 2_000 }, { now: () => RECEIVED_AT });
}

describe('a token that is kept', () => {
  it('is the response without its refresh token, and its times', () => {
    const found = kept(plain, { access_token: 'a', refresh_token: 'r', expires_in: 60 });
    expect(JSON.parse(found.response.reveal())).toEqual({ access_token: 'a', expires_in: 60 });
    expect(found).toMatchObject({ hadRefreshToken: true, startedAt: 1_000, obtainedAt: 2_000, expiresAt: 62_000 });
  });

  it('is kept without a refresh token that stands beside it, too', () => {
    const list = [{ token: 'a', refresh_token: 'c4n4ry-refresh' }];
    const found = kept(nested, { data: { list, refresh_token: 'another' } });
    expect(found.response.reveal()).not.toContain('c4n4ry-refresh');
    expect(JSON.parse(found.response.reveal())).toMatchObject({ data: { refresh_token: 'another' } });
  });

  it('has no end where nobody knows it', () => {
    const found = kept(plain, { access_token: 'a' });
    expect(found).toMatchObject({ hadRefreshToken: false, expiresAt: undefined });
    expect(expiryOf(found, plain)).toBeUndefined();
    expect(expiryOf({ ...found, expiresAt: null as never }, plain)).toBeUndefined();
    const told = profileOf({ type: 'custom', url: 'https://id.test/token', 'options.default_ttl': '5s' });
    expect(expiryOf(found, told)).toBe(7_000);
    expect(expiryOf({ ...found, expiresAt: 3_000 }, told)).toBe(3_000);
  });
});

describe('a token that is handed out again', () => {
  it.each([
    [60, 2_000, 60],
    [60, 2_001, 59],
    [60, 32_000, 30],
    [60, 99_000, 0],
    ['60', 32_000, '30'],
  ])('with expires_in %j has at %i ms %j left', (expires_in, now, left) => {
    const reply = reviveToken(plain, kept(plain, { access_token: 'a', expires_in }), undefined, now);
    expect(reply?.response).toEqual({ access_token: 'a', expires_in: left });
    expect(reply?.expiresAt).toBe(now + Number(left) * 1000);
  });

  it('says nothing of its end where the response did not', () => {
    const silent = { ...kept(plain, { access_token: 'a' }), expiresAt: 62_000 };
    expect(reviveToken(plain, silent, undefined, 3_000)?.response).toEqual({ access_token: 'a' });
    const endless = { ...kept(plain, { access_token: 'a', expires_in: 60 }), expiresAt: undefined };
    expect(reviveToken(plain, endless, undefined, 3_000)?.response).toEqual({ access_token: 'a', expires_in: 60 });
  });

  it('has its seconds beside it, at the top and on the way', () => {
    const body = {
      expires_in: 60,
      data: { expires_in: '60', list: [{ token: 'a', expires_in: 60 }, { expires_in: 60 }] },
    };
    expect(reviveToken(nested, kept(nested, body), undefined, 12_000)?.response).toEqual({
      expires_in: 50,
      data: { expires_in: '50', list: [{ token: 'a', expires_in: 50 }, { expires_in: 60 }] },
    });
  });

  it('comes with the newest refresh token, where it came with one', () => {
    const newest = new Secret('newest');
    const had = reviveToken(plain, kept(plain, { access_token: 'a', refresh_token: 'r' }), newest, 3_000);
    expect([had?.response, had?.refreshToken?.reveal()]).toEqual([
      { access_token: 'a', refresh_token: 'newest' },
      'newest',
    ]);
    const lacked = reviveToken(plain, kept(plain, { access_token: 'a' }), newest, 3_000);
    expect([lacked?.response, lacked?.refreshToken]).toEqual([{ access_token: 'a' }, undefined]);
    const none = reviveToken(plain, kept(plain, { access_token: 'a', refresh_token: 'r' }), undefined, 3_000);
    expect([none?.response, none?.refreshToken]).toEqual([{ access_token: 'a' }, undefined]);
  });

  it('comes with the newest refresh token beside it, where it came so', () => {
    const found = kept(nested, { data: { list: [{ token: 'a', refresh_token: 'r' }] } });
    const had = reviveToken(nested, found, new Secret('newest'), 3_000);
    expect(had?.response).toEqual({ data: { list: [{ token: 'a', refresh_token: 'newest' }] } });
    expect(had?.refreshToken?.reveal()).toBe('newest');
    const none = reviveToken(nested, found, undefined, 3_000);
    expect([none?.response, none?.refreshToken]).toEqual([{ data: { list: [{ token: 'a' }] } }, undefined]);
  });

  it('is none where the profile looks for it in another place', () => {
    for (const data of [undefined, null, 'text', { list: null }]) {
      const found = kept(plain, { access_token: 'a', expires_in: 60, data });
      expect(reviveToken(nested, found, undefined, 3_000)).toBeUndefined();
    }
  });

  it('announces the other secrets of its response', () => {
    const reply = reviveToken(plain, kept(plain, { access_token: 'a', id_token: 'i' }), undefined, 3_000);
    expect(reply?.otherSecrets.map((secret) => secret.reveal())).toEqual(['i']);
  });
});
