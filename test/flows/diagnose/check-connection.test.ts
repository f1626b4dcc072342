import { describe, expect, it } from 'vitest';
import { OAuthProfileError, TransportError } from '../../../src/errors.ts';
import { checkCertificate, checkClock, checkFailure } from '../../../src/flows/diagnose/check-connection.ts';
import { profileOf } from '../../support/profile-of.ts';

const NOW = Date.UTC(2027, 0, 1);
const DAY_MS = 86_400_000;
const custom = profileOf({ type: 'custom', url: 'https://id.example.test:8443/token' });
const lab = profileOf({ type: 'gitlab', username: 'u', password: 'p' });
const seen = { issuer: 'Some CA', endsAt: NOW + 90 * DAY_MS, failure: undefined, proxy: undefined };

function untrusted(code: string | undefined, hint?: string): TransportError {
  return new TransportError('tls_failed', 'it is not trusted', {
    sent: false,
    ...(hint === undefined ? {} : { hint: hint }),
    ...(code === undefined ? {} : { cause: { code } }),
  });
}

describe('a certificate', () => {
  it('is told with its end and its issuer', () => {
    expect(checkCertificate(custom, seen, NOW)).toEqual({
      level: 'ok',
      about: 'certificate',
      where: 'id.example.test:8443',
      message: 'certified until 2027-04-01 by Some CA',
    });
  });

  it.each([
    [14 * DAY_MS, '14 days, on 2027-01-15'],
    [2 * DAY_MS - 1, '1 day, on 2027-01-02'],
    [DAY_MS - 1, '0 days, on 2027-01-01'],
    [-5 * DAY_MS, '0 days, on 2026-12-27'],
  ])('that ends in %i ms is a warning', (left, when) => {
    expect(checkCertificate(custom, { ...seen, endsAt: NOW + left }, NOW)).toEqual({
      level: 'warning',
      about: 'certificate',
      where: 'id.example.test:8443',
      message: `its certificate ends in ${when}`,
      hint: 'ask those who run the server whether it will be renewed',
    });
  });

  it('that is not trusted is a fault, with its issuer', () => {
    expect(checkCertificate(custom, { ...seen, failure: untrusted('UNABLE_TO_VERIFY', 'do this') }, NOW)).toEqual({
      level: 'fault',
      about: 'certificate',
      where: 'id.example.test:8443',
      message: 'it is not trusted; its certificate is from Some CA',
      hint: 'do this',
    });
  });

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', true],
    ['UNABLE_TO_GET_ISSUER_CERT', true],
    ['CERT_HAS_EXPIRED', false],
    [undefined, false],
  ])('of a provider that everybody knows hints at somebody who reads along: %s, %s', (code, hinted) => {
    const { hint } = checkCertificate(lab, { ...seen, failure: untrusted(code) }, NOW);
    expect(hint).toBe(
      hinted
        ? '; that of gitlab is known everywhere, so a proxy or a virus scanner reads along: ask those who run it for the certificate'
        : '',
    );
  });

  it('of another name of a provider’s domain hints at it too, of another domain not', () => {
    const failure = untrusted('SELF_SIGNED');
    const at = (url: string) => checkCertificate({ ...lab, url: new URL(url) }, { ...seen, failure }, NOW).hint;
    expect(at('https://sub.gitlab.com/oauth/token')).toContain('reads along');
    expect(at('https://gitlab.org/oauth/token')).toBe('');
    expect(at('https://mygitlab.com/oauth/token')).toBe('');
  });
});

describe('the clock of this machine', () => {
  const reply = (headers: Record<string, string>) => ({ status: 200, statusText: '', headers, body: new Uint8Array() });
  const judge = (seconds: number, headers = {}, profile = custom) =>
    checkClock(profile, 'id.test', reply({ date: new Date(NOW - seconds * 1000).toUTCString(), ...headers }), NOW);
  const clock = { about: 'clock', where: 'clock of this machine' };

  it.each([0, 60, -60])('%i s ahead agrees', (seconds) => {
    expect(judge(seconds)).toEqual([{ level: 'ok', ...clock, message: 'agrees with that of id.test' }]);
  });

  it.each([
    [61, '61 s ahead of that of id.test'],
    [-61, '61 s behind that of id.test'],
  ])('%i s ahead is a warning', (seconds, message) => {
    expect(judge(seconds)).toEqual([
      {
        level: 'warning',
        ...clock,
        message,
        hint: 'set it, best by NTP: tokens seem to live longer or shorter than they do',
      },
    ]);
  });

  it('matters more to who signs with it', () => {
    const signing = { ...custom, clientAuth: 'private_key_jwt' } as const;
    expect(judge(301, {}, signing)).toMatchObject([
      { level: 'fault', hint: 'set it, best by NTP: assertions signed with it are refused' },
    ]);
    expect(judge(300, {}, signing)).toMatchObject([{ level: 'warning' }]);
    expect(judge(301)).toMatchObject([{ level: 'warning' }]);
  });

  it.each([
    ['120', 'ok'],
    ['x120', 'warning'],
    ['120s', 'warning'],
    ['1234567890', 'warning'],
  ])('is held against the age of a cached answer: %s', (age, level) => {
    expect(judge(120, { age })).toMatchObject([{ level }]);
  });

  it('is not judged without a date', () => {
    expect(checkClock(custom, 'id.test', reply({}), NOW)).toEqual([]);
  });
});

describe('a request that failed', () => {
  const connection = { about: 'connection', where: 'id.example.test:8443', message: 'it failed' };
  const failed = (code: 'timeout' | 'connection_failed' | 'tls_failed' | 'not_emulated', sent: boolean) =>
    checkFailure(custom, new TransportError(code, 'it failed', { sent, hint: 'do this' }));

  it('after it was sent may only be a bad day of the server', () => {
    expect(failed('timeout', true)).toEqual({
      level: 'warning',
      ...connection,
      hint: 'try again later; if it stays so, ask those who run the server',
    });
  });

  it.each([
    ['timeout', false],
    ['tls_failed', true],
    ['not_emulated', true],
  ] as const)('with %s, sent %s, is a fault', (code, sent) => {
    expect(failed(code, sent)).toEqual({ level: 'fault', ...connection, hint: 'do this' });
  });

  it('by an error of another kind is a fault, and by what is no error of ours none', () => {
    const wrong = new OAuthProfileError('data_invalid', 'it failed', { hint: 'y' });
    expect(checkFailure(custom, wrong)).toEqual({ level: 'fault', ...connection, hint: 'y' });
    for (const other of [new OAuthProfileError('aborted', 'stop'), new TypeError('bug')]) {
      expect(() => checkFailure(custom, other)).toThrow(other);
    }
  });
});
