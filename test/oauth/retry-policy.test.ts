import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ATTEMPT_MS,
  backoffMs,
  isSafeToRetry,
  MAX_ATTEMPTS,
  mayReuseConnection,
  rejectsCredentials,
} from '../../src/oauth/retry-policy.ts';
import type { RefreshTokenReuse } from '../../src/providers/provider.ts';
import { readAcme } from '../support/read-sample.ts';
import { samples } from '../support/sample-profiles.ts';

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
const classes: RefreshTokenReuse[] = ['allowed', 'grace', 'rejected', 'revokes_family'];
const withGrant = (grant_type: string, replay: RefreshTokenReuse, grace = '30s') =>
  readAcme({ ...samples.custom, grant_type, options: { refresh_token_reuse: replay, grace } });

describe('another attempt', () => {
  it('D17 D18 there are three of 10 s', () => {
    expect([MAX_ATTEMPTS, ATTEMPT_MS]).toEqual([3, 10_000]);
  });

  it.each(grants)('D18 with grant %j follows a connection that never was, and a 429', (grant) => {
    for (const replay of classes) {
      for (const since of [0, 10_000, 1_000_000]) {
        expect(isSafeToRetry('not_sent', withGrant(grant, replay), since)).toBe(true);
        expect(isSafeToRetry('throttled', withGrant(grant, replay), since)).toBe(true);
      }
    }
  });

  it.each(grants.filter((grant) => grant !== 'refresh_token'))('D18 with grant %j after a lost reply', (grant) => {
    const harmless = grant === 'client_credentials' || grant === 'password';
    for (const replay of classes) expect(isSafeToRetry('lost', withGrant(grant, replay), 0)).toBe(harmless);
  });

  it.each([
    ['allowed', 0, true],
    ['allowed', 1_000_000, true],
    ['grace', 0, true],
    ['grace', 24_999, true],
    ['grace', 25_000, false],
    ['grace', 30_000, false],
    ['rejected', 0, false],
    ['revokes_family', 0, false],
  ] as const)('D18 with a refresh token after a lost reply, class %s, %i ms after the first', (replay, since, may) => {
    expect(isSafeToRetry('lost', withGrant('refresh_token', replay), since)).toBe(may);
  });

  it('D18 a grace of five seconds or less leaves no time for one', () => {
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
  ] as const)('D18 %s after a lost reply', (name, may) => {
    expect(isSafeToRetry('lost', readAcme(samples[name]), 0)).toBe(may);
  });

  it('D18 options.refresh_token_reuse overrides what is known of the provider', () => {
    const told = (replay: RefreshTokenReuse) =>
      readAcme({ ...samples.google, options: { refresh_token_reuse: replay } });
    expect(isSafeToRetry('lost', told('revokes_family'), 0)).toBe(false);
    expect(isSafeToRetry('lost', told('allowed'), 0)).toBe(true);
  });

  it('D18 a refresh token, and what cannot be repeated, never goes over a kept connection', () => {
    for (const replay of classes) {
      for (const grant of grants) {
        const kept = grant === 'client_credentials' || grant === 'password';
        expect(mayReuseConnection(withGrant(grant, replay))).toBe(kept);
      }
    }
  });
});

describe('a provider that looked at the credentials', () => {
  it.each([
    ['RFC 6749', ['invalid_grant', 'invalid_client', 'unauthorized_client', 'access_denied']],
    ['OpenID Connect', ['interaction_required', 'login_required', 'consent_required']],
    ['Microsoft', ['bad_token']],
    ['Okta', ['E0000004']],
    ['X', ['authenticity_token_error']],
    ['others', ['invalid_credentials']],
  ])('and says no in the words of %s is not asked again: %j', (_, words) => {
    for (const error of words) expect(rejectsCredentials({ status: 500, error })).toBe(true);
  });

  it.each(['server_error', 'temporarily_unavailable', undefined])('does not say %s', (error) => {
    expect(rejectsCredentials({ status: 500, error })).toBe(false);
  });
});

describe('the pause before it', () => {
  it('D18 doubles, half of it left to chance', () => {
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
