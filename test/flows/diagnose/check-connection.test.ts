import { describe, expect, it } from 'vitest';
import { OAuthProfileError, TransportError } from '../../../src/errors.ts';
import { checkCertificate, checkClock, checkFailure } from '../../../src/flows/diagnose/check-connection.ts';
import { profileOf } from '../../support/profiles.ts';

const NOW = Date.UTC(2027, 0, 1);
const DAY_MS = 86_400_000;
const custom = profileOf({ type: 'custom', url: 'https://id.example.test:8443/token' });
const gitlab = profileOf({ type: 'gitlab', username: 'u', password: 'p' });
const trusted = { issuer: 'Some CA', expiresAt: NOW + 90 * DAY_MS, failure: undefined, proxy: undefined };

const untrusted = (code: string | undefined, hint?: string): TransportError =>
  new TransportError('tls_failed', 'not trusted', { sent: false, hint, cause: code && { code } });

describe('a certificate', () => {
  const about = { about: 'certificate', where: 'id.example.test:8443' };

  it('that is trusted and valid for long is shown with its expiry and issuer', () => {
    const result = checkCertificate(custom, trusted, NOW);
    expect(result).toMatchObject({ level: 'ok', ...about, message: expect.stringMatching(/2027-04-01.*Some CA/) });
  });

  it.each([
    [14 * DAY_MS + 1, 'ok', /2027-01-15/],
    [14 * DAY_MS, 'warning', /14 days.*2027-01-15/],
    [2 * DAY_MS - 1, 'warning', /1 day,.*2027-01-02/],
    [DAY_MS - 1, 'warning', /0 days.*2027-01-01/],
    [-5 * DAY_MS, 'warning', /0 days.*2026-12-27/],
  ])('that expires in %i ms has the level %s', (leftMs, level, message) => {
    const result = checkCertificate(custom, { ...trusted, expiresAt: NOW + leftMs }, NOW);
    expect(result).toMatchObject({ level, ...about, message: expect.stringMatching(message) });
  });

  it('that is not trusted is an error, with its issuer', () => {
    const failure = untrusted('UNABLE_TO_VERIFY', 'the hint');
    const result = checkCertificate(custom, { ...trusted, failure }, NOW);
    expect(result).toMatchObject({ level: 'error', ...about, hint: 'the hint' });
    expect(result.message).toMatch(/not trusted.*Some CA/);
  });

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', true],
    ['UNABLE_TO_GET_ISSUER_CERT', true],
    ['CERT_HAS_EXPIRED', false],
    [undefined, false],
  ])('of a public provider that fails with %s suggests an intercepting proxy: %s', (code, isSuggested) => {
    const { hint } = checkCertificate(gitlab, { ...trusted, failure: untrusted(code) }, NOW);
    expect(hint?.includes('proxy')).toBe(isSuggested);
  });

  it.each([
    ['https://sub.gitlab.com/oauth/token', true],
    ['https://gitlab.org/oauth/token', false],
    ['https://mygitlab.com/oauth/token', false],
  ])('of %s is that of a public provider: %s', (url, isPublic) => {
    const failure = untrusted('SELF_SIGNED');
    const { hint } = checkCertificate({ ...gitlab, url: new URL(url) }, { ...trusted, failure }, NOW);
    expect(hint?.includes('proxy')).toBe(isPublic);
  });
});

describe('the clock of this machine', () => {
  const responseWith = (headers: Record<string, string>) => ({
    status: 200,
    statusText: '',
    headers,
    body: new Uint8Array(),
  });
  const check = (seconds: number, headers = {}, profile = custom) =>
    checkClock(
      profile,
      'id.test',
      responseWith({ date: new Date(NOW - seconds * 1000).toUTCString(), ...headers }),
      NOW,
    );

  it.each([
    [0, 'ok', /id\.test/],
    [60, 'ok', /id\.test/],
    [-60, 'ok', /id\.test/],
    [61, 'warning', /^61 s ahead.*id\.test/],
    [-61, 'warning', /^61 s behind.*id\.test/],
    [4_000, 'warning', /^4000 s ahead/],
  ])('that is %i s ahead has the level %s', (seconds, level, message) => {
    expect(check(seconds)).toMatchObject([{ level, about: 'clock', message: expect.stringMatching(message) }]);
  });

  it.each([
    [300, 'warning'],
    [301, 'error'],
    [-301, 'error'],
  ])('that is %i s ahead has the level %s for a profile with private_key_jwt', (seconds, level) => {
    const signing = { ...custom, clientAuth: 'private_key_jwt' } as const;
    expect(check(seconds, {}, signing)).toMatchObject([{ level, hint: expect.stringContaining('assertion') }]);
  });

  it.each([
    ['120', 'ok'],
    ['x120', 'warning'],
    ['120s', 'warning'],
    ['1234567890', 'warning'],
  ])('is compared with the time at which a cached response was created: Age %s', (age, level) => {
    expect(check(120, { age })).toMatchObject([{ level }]);
  });

  it.each([{}, { date: 'soon' }])('is not checked without a valid Date header: %o', (headers) => {
    expect(checkClock(custom, 'id.test', responseWith(headers), NOW)).toEqual([]);
  });
});

describe('a failed request', () => {
  const about = { about: 'connection', where: 'id.example.test:8443', message: 'it failed' };
  const failed = (code: 'timeout' | 'connection_failed' | 'tls_failed' | 'not_emulated', sent: boolean) =>
    new TransportError(code, 'it failed', { sent, hint: 'the hint' });

  it('is a warning if the server was reached', () => {
    expect(checkFailure(custom, failed('timeout', true))).toMatchObject({ level: 'warning', ...about });
  });

  it.each([
    ['was not sent', failed('timeout', false)],
    ['failed with TLS', failed('tls_failed', true)],
    ['has a host that is not emulated', failed('not_emulated', true)],
    ['has an invalid proxy', new OAuthProfileError('data_invalid', 'it failed', { hint: 'the hint' })],
  ])('is an error if it %s', (_, error) => {
    expect(checkFailure(custom, error)).toEqual({ level: 'error', ...about, hint: 'the hint' });
  });

  it.each([new OAuthProfileError('aborted', 'stop'), new TypeError('a bug')])('is thrown if it is %o', (error) => {
    expect(() => checkFailure(custom, error)).toThrow(error);
  });
});
