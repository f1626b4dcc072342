import { describe, expect, it } from 'vitest';
import type { DataObject } from '../../src/config/flatten.ts';
import { cacheKey, encodeTuple, getRefreshToken, withRefreshToken } from '../../src/oauth/cache-key.ts';
import { getClientId } from '../../src/profile/profile.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { clear, outsideWith, readAcme } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

const keyOf = (fields: DataObject): string =>
  cacheKey(readAcme(fields, outsideWith({ c: 'PRIVATE KEY-----', d: 'PRIVATE KEY-----' }))).reveal();

describe('what a token is known by', () => {
  const { custom, google } = samples;
  const basic = { user: 'u', password: 'p' };

  it('is all that shapes it', () => {
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

  it('has a place for what is not there', () => {
    expect(JSON.parse(keyOf({ type: 'custom', url: custom.url }))).toEqual([
      custom.url,
      'custom',
      'as_given',
      '',
      '',
      '',
      '',
    ]);
  });

  it.each([
    ['another address', { url: 'https://id.example.com/other' }],
    ['another scope', { scope: 'x' }],
    ['another client', { client_id: 'you' }],
    ['another secret', { client_secret: 'x' }],
    ['another user of a Basic header', { basic: { ...basic, user: 'x' } }],
    ['another password of a Basic header', { basic: { ...basic, password: 'x' } }],
    ['another audience', { options: { audience: 'x' } }],
    ['another certificate', { options: { cert_file: 'd' } }],
    ['another client authentication', { options: { client_auth: 'client_secret_basic' } }],
  ])('differs with %s', (_, change) => {
    const first = { ...custom, ...('basic' in change ? { basic } : {}), options: {} };
    expect(keyOf({ ...first, ...change })).not.toBe(keyOf(first));
  });

  it('does not change with the refresh token, which its family stands for', () => {
    expect(keyOf({ ...google, refresh_token: 'next' })).toBe(keyOf(google));
    expect(JSON.parse(keyOf(google)).slice(7)).toEqual([
      ...['grant_type', 'refresh_token', 'client_id', google.client_id, 'client_secret', google.client_secret],
    ]);
  });

  it('differs with a refresh token that is sent for something else', () => {
    const other = { ...custom, grant_type: 'urn:example:exchange', refresh_token: 'one' };
    expect(keyOf({ ...other, refresh_token: 'two' })).not.toBe(keyOf(other));
  });

  it('cannot be the same for two lists', () => {
    expect(encodeTuple(['a', 'b,c']).reveal()).not.toBe(encodeTuple(['a,b', 'c']).reveal());
    expect(encodeTuple(['a', new Secret('b')]).reveal()).toBe('["a","b"]');
  });
});

describe('the client and the refresh token of a request', () => {
  it('are where they are sent', () => {
    expect(getClientId(readAcme(samples.custom))).toBe('me');
    expect(getClientId(readAcme({ ...samples.custom, basic: { user: 'u', password: 'p' } }))).toBe('u');
    expect(getClientId(readAcme(samples.gitlabPassword))).toBe('');
    expect(clear(getRefreshToken(readAcme(samples.google)))).toBe(samples.google.refresh_token);
    expect(getRefreshToken(readAcme(samples.custom))).toBeUndefined();
  });

  it('a new refresh token takes the place of the old one, and nothing else changes', () => {
    const profile = readAcme(samples.google);
    const next = withRefreshToken(profile, new Secret('next'));
    expect(clear(getRefreshToken(next))).toBe('next');
    expect(next.fields.filter(({ name }) => name !== 'refresh_token')).toEqual(
      profile.fields.filter(({ name }) => name !== 'refresh_token'),
    );
    expect(next).toMatchObject({ name: 'acme', url: profile.url });
  });
});
