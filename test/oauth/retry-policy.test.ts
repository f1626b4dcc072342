import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ATTEMPT_MS,
  backoffMs,
  isSafeToRetry,
  MAX_ATTEMPTS,
  mayReuseConnection,
  parseRetryAfter,
  rejectsCredentials,
} from '../../src/oauth/retry-policy.ts';
import type { RefreshTokenReuse } from '../../src/providers/provider.ts';
import { RECEIVED_AT, readAcme, samples } from '../support/profiles.ts';

const grants = [
  'client_credentials',
  'password',
  'refresh_token',
  'authorization_code',
  'urn:ietf:params:oauth:grant-type:device_code',
  'urn:ietf:params:oauth:grant-type:jwt-bearer',
  'urn:ietf:params:oauth:grant-type:token-exchange',
  'anything',
  '',
];
const reuseValues: RefreshTokenReuse[] = ['allowed', 'grace', 'rejected', 'revokes_family'];
const withGrant = (grant_type: string, refresh_token_reuse: RefreshTokenReuse, grace = '30s') =>
  readAcme({
    ...samples.custom,
    grant_type,
    assertion: 'a.b.c',
    subject_token: 's',
    options: { refresh_token_reuse, grace },
  });

it('D17 D18 allows three attempts of 10 s', () => {
  expect([MAX_ATTEMPTS, ATTEMPT_MS]).toEqual([3, 10_000]);
});

describe('isSafeToRetry()', () => {
  it.each(grants)('D18 allows grant %j after a failed connection and after 429', (grant) => {
    for (const reuse of reuseValues) {
      for (const since of [0, 10_000, 1_000_000]) {
        expect(isSafeToRetry('not_sent', withGrant(grant, reuse), since)).toBe(true);
        expect(isSafeToRetry('throttled', withGrant(grant, reuse), since)).toBe(true);
      }
    }
  });

  it.each(grants.filter((grant) => grant !== 'refresh_token'))(
    'D18 allows grant %j after a lost response only if it is client_credentials or password',
    (grant) => {
      const expected = grant === 'client_credentials' || grant === 'password';
      for (const reuse of reuseValues) expect(isSafeToRetry('lost', withGrant(grant, reuse), 0)).toBe(expected);
    },
  );

  it.each([
    ['allowed', 0, true],
    ['allowed', 1_000_000, true],
    ['grace', 0, true],
    ['grace', 24_999, true],
    ['grace', 25_000, false],
    ['grace', 30_000, false],
    ['rejected', 0, false],
    ['revokes_family', 0, false],
  ] as const)(
    'D18 with refresh_token_reuse %s, %i ms after the first attempt of a lost refresh, returns %s',
    (reuse, since, expected) => {
      expect(isSafeToRetry('lost', withGrant('refresh_token', reuse), since)).toBe(expected);
    },
  );

  it('D18 requires more than five seconds of the grace period', () => {
    expect(isSafeToRetry('lost', withGrant('refresh_token', 'grace', '5s'), 0)).toBe(false);
    expect(isSafeToRetry('lost', withGrant('refresh_token', 'grace', '6s'), 999)).toBe(true);
  });

  it.each([
    ['microsoftRefresh', true],
    ['google', true],
    ['oktaRefresh', true],
    ['gitlabRefresh', false],
    ['microsoftPassword', true],
    ['twitter', true],
  ] as const)('D18 with the default of %s after a lost response returns %s', (name, expected) => {
    expect(isSafeToRetry('lost', readAcme(samples[name]), 0)).toBe(expected);
  });

  it("D18 uses options.refresh_token_reuse instead of the provider's default", () => {
    const configured = (refresh_token_reuse: RefreshTokenReuse) =>
      readAcme({ ...samples.google, options: { refresh_token_reuse } });
    expect(isSafeToRetry('lost', configured('revokes_family'), 0)).toBe(false);
    expect(isSafeToRetry('lost', configured('allowed'), 0)).toBe(true);
  });
});

describe('mayReuseConnection()', () => {
  it('D18 allows client_credentials and password only', () => {
    for (const reuse of reuseValues) {
      for (const grant of grants) {
        const expected = grant === 'client_credentials' || grant === 'password';
        expect(mayReuseConnection(withGrant(grant, reuse))).toBe(expected);
      }
    }
  });
});

describe('rejectsCredentials()', () => {
  it.each([
    ['RFC 6749', ['invalid_grant', 'invalid_client', 'unauthorized_client', 'access_denied']],
    ['OpenID Connect', ['interaction_required', 'login_required', 'consent_required']],
    ['Microsoft', ['bad_token']],
    ['Okta', ['E0000004']],
    ['X', ['authenticity_token_error']],
    ['other servers', ['invalid_credentials']],
  ])('recognizes the errors of %s: %j', (_, errors) => {
    for (const error of errors) expect(rejectsCredentials({ status: 500, error })).toBe(true);
  });

  it.each(['server_error', 'temporarily_unavailable', undefined])('returns false for %s', (error) => {
    expect(rejectsCredentials({ status: 500, error })).toBe(false);
  });
});

describe('backoffMs()', () => {
  it('D18 doubles with each attempt and has 50 % jitter', () => {
    expect([backoffMs(2, 0), backoffMs(2, 1), backoffMs(3, 0), backoffMs(3, 1)]).toEqual([250, 500, 500, 1000]);
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: MAX_ATTEMPTS }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, random) => {
          const ms = backoffMs(attempt, random);
          expect(ms).toBeGreaterThanOrEqual(125 * 2 ** (attempt - 1));
          expect(ms).toBeLessThanOrEqual(250 * 2 ** (attempt - 1));
        },
      ),
    );
  });
});

describe('parseRetryAfter()', () => {
  const parse = (value: string | string[]) => parseRetryAfter({ 'retry-after': value }, RECEIVED_AT);

  it.each([
    ['0', 0],
    ['1', 1000],
    [' 120 ', 120_000],
    ['007', 7000],
  ])('D18 parses Retry-After %j as seconds', (value, ms) => {
    expect(parse(value)).toBe(RECEIVED_AT + ms);
  });

  it('D18 adds any number of seconds to the time of the response', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000_000), (seconds) => {
        expect(parse(String(seconds))).toBe(RECEIVED_AT + seconds * 1000);
      }),
    );
  });

  it.each(['Tue, 01 Jan 2030 00:01:00 GMT', 'Tuesday, 01-Jan-30 00:01:00 GMT', '2030-01-01T00:01:00Z'])(
    'D18 parses Retry-After %j as a date',
    (value) => {
      expect(parse(value)).toBe(RECEIVED_AT + 60_000);
    },
  );

  it('D18 parses any HTTP date, and never returns a time before the response', () => {
    const dates = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, (date) => {
        const seconds = Math.floor(date.getTime() / 1000) * 1000;
        expect(parse(date.toUTCString())).toBe(Math.max(seconds, RECEIVED_AT));
      }),
    );
  });

  it('D18 returns the time of the response for a date in the past', () => {
    expect(parse('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(RECEIVED_AT);
  });

  it.each(['', 'soon', '-5', '1.5', '30 seconds', '120, 60', '1e3', 'NaN', 'Infinity', '5 Jan', 'Tue', 'Tue, x'])(
    'D18 ignores Retry-After %j',
    (value) => {
      expect(parse(value)).toBeUndefined();
    },
  );

  it('D18 returns a valid date or undefined for any header', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (retryAfter, reset) => {
        const headers = { 'retry-after': retryAfter, 'x-rate-limit-reset': reset };
        const retryAt = parseRetryAfter(headers, RECEIVED_AT) ?? RECEIVED_AT;
        expect(retryAt).toBeGreaterThanOrEqual(RECEIVED_AT);
        expect(Number.isNaN(new Date(retryAt).getTime())).toBe(false);
      }),
    );
  });

  it.each(['9999999999', '9'.repeat(400)])('D18 limits Retry-After %.12s to a valid date', (value) => {
    expect(parse(value)).toBe(RECEIVED_AT + 1_000_000_000_000);
    expect(() => new Date(parse(value) ?? 0).toISOString()).not.toThrow();
  });

  it('D18 uses the first of several values', () => {
    expect(parse(['5', '60'])).toBe(RECEIVED_AT + 5000);
  });

  it('D18 parses X-Rate-Limit-Reset of Okta and X as epoch seconds', () => {
    const parseReset = (value: string) => parseRetryAfter({ 'x-rate-limit-reset': value }, RECEIVED_AT);
    expect(parseReset(String(RECEIVED_AT / 1000 + 42))).toBe(RECEIVED_AT + 42_000);
    expect(parseReset('1500000000')).toBe(RECEIVED_AT);
    for (const value of ['', '60', 'soon', '-1', '1.5e9', '99999999999999', ' x1900000000']) {
      expect(parseReset(value)).toBeUndefined();
    }
  });

  it('D18 prefers a valid Retry-After to X-Rate-Limit-Reset', () => {
    const reset = String(RECEIVED_AT / 1000 + 42);
    expect(parseRetryAfter({ 'retry-after': '7', 'x-rate-limit-reset': reset }, RECEIVED_AT)).toBe(RECEIVED_AT + 7000);
    expect(parseRetryAfter({ 'retry-after': 'x', 'x-rate-limit-reset': reset }, RECEIVED_AT)).toBe(
      RECEIVED_AT + 42_000,
    );
  });

  it('D18 returns undefined without a header', () => {
    expect(parseRetryAfter({}, RECEIVED_AT)).toBeUndefined();
  });
});
