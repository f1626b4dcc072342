import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { cacheKey, encodeTuple, getRefreshToken, withRefreshToken } from '../../src/oauth/cache-key.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { readAcme, reveal, samples } from '../support/profiles.ts';
import { createSources } from '../support/variables.ts';

const { custom, google } = samples;
const basic = { user: 'u', password: 'p' };
const keyOf = (fields: DataObject): string =>
  cacheKey(readAcme(fields, createSources({ c: 'PRIVATE KEY-----', d: 'PRIVATE KEY-----' }))).reveal();

describe('cacheKey()', () => {
  it('contains everything that determines the token', () => {
    expect(JSON.parse(keyOf({ ...custom, basic, scope: 's', options: { audience: 'a', cert_file: 'c' } }))).toEqual([
      'https://id.example.com/token',
      'custom',
      'client_secret_basic',
      'a',
      'c',
      'u',
      'p',
      ...['grant_type', 'client_credentials', 'client_id', 'me', 'client_secret', custom.client_secret, 'scope', 's'],
    ]);
  });

  it('contains an empty string for each value that is not set', () => {
    expect(JSON.parse(keyOf({ type: 'custom', url: custom.url }))).toEqual([
      custom.url,
      'custom',
      'passthrough',
      '',
      '',
      '',
      '',
    ]);
  });

  it.each([
    ['URL', { url: 'https://id.example.com/other' }],
    ['scope', { scope: 'x' }],
    ['client', { client_id: 'you' }],
    ['secret', { client_secret: 'x' }],
    ['basic.user', { basic: { ...basic, user: 'x' } }],
    ['basic.password', { basic: { ...basic, password: 'x' } }],
    ['audience', { options: { audience: 'x' } }],
    ['certificate', { options: { cert_file: 'd' } }],
    ['client authentication', { options: { client_auth: 'client_secret_basic' } }],
  ])('differs with another %s', (_, change) => {
    const first = { ...custom, ...('basic' in change ? { basic } : {}), options: {} };
    expect(keyOf({ ...first, ...change })).not.toBe(keyOf(first));
  });

  it('does not depend on the refresh token of a refresh request', () => {
    expect(keyOf({ ...google, refresh_token: 'next' })).toBe(keyOf(google));
    expect(JSON.parse(keyOf(google)).slice(7)).toEqual([
      ...['grant_type', 'refresh_token', 'client_id', google.client_id, 'client_secret', google.client_secret],
    ]);
  });

  it('depends on a refresh token that is sent with another grant', () => {
    const other = { ...custom, grant_type: 'urn:example:exchange', refresh_token: 'one' };
    expect(keyOf({ ...other, refresh_token: 'two' })).not.toBe(keyOf(other));
  });
});

describe('encodeTuple()', () => {
  it('encodes strings and secrets alike', () => {
    expect(encodeTuple(['a', new Secret('b')]).reveal()).toBe('["a","b"]');
  });

  it('gives different results for different lists', () => {
    const list = fc.array(fc.string());
    fc.assert(
      fc.property(list, list, (one, other) => {
        const isEqual = encodeTuple(one).reveal() === encodeTuple(other).reveal();
        expect(isEqual).toBe(one.length === other.length && one.every((part, index) => part === other[index]));
      }),
    );
    expect(encodeTuple(['a', 'b,c']).reveal()).not.toBe(encodeTuple(['a,b', 'c']).reveal());
  });
});

describe('getRefreshToken()', () => {
  it('returns the refresh token that is sent', () => {
    expect(reveal(getRefreshToken(readAcme(google)))).toBe(google.refresh_token);
    expect(getRefreshToken(readAcme(custom))).toBeUndefined();
  });
});

describe('withRefreshToken()', () => {
  it('replaces the refresh token and nothing else', () => {
    const profile = readAcme(google);
    const next = withRefreshToken(profile, new Secret('next'));
    expect(reveal(getRefreshToken(next))).toBe('next');
    expect(next.fields.filter(({ name }) => name !== 'refresh_token')).toEqual(
      profile.fields.filter(({ name }) => name !== 'refresh_token'),
    );
    expect(next).toMatchObject({ name: 'acme', url: profile.url });
  });
});
