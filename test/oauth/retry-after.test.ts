import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../src/oauth/retry-after.ts';
import { RECEIVED_AT } from '../support/read-sample.ts';

const retryAfter = (value: string | string[]) => parseRetryAfter({ 'retry-after': value }, RECEIVED_AT);

describe('when a provider wants to be asked again', () => {
  it.each([
    ['0', 0],
    ['1', 1000],
    [' 120 ', 120_000],
    ['007', 7000],
  ])('D18 Retry-After %j counts seconds', (value, ms) => {
    expect(retryAfter(value)).toBe(RECEIVED_AT + ms);
  });

  it.each(['Tue, 01 Jan 2030 00:01:00 GMT', 'Tuesday, 01-Jan-30 00:01:00 GMT', '2030-01-01T00:01:00Z'])(
    'D18 Retry-After %j is a date',
    (value) => {
      expect(retryAfter(value)).toBe(RECEIVED_AT + 60_000);
    },
  );

  it('D18 a date that has passed means now', () => {
    expect(retryAfter('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(RECEIVED_AT);
  });

  it.each(['', 'soon', '-5', '1.5', '30 seconds', '120, 60', '1e3', 'NaN', 'Infinity', '5 Jan', 'Tue'])(
    'D18 Retry-After %j says nothing',
    (value) => {
      expect(retryAfter(value)).toBeUndefined();
    },
  );

  it.each(['9999999999', '9'.repeat(400)])('D18 Retry-After %.12s is far away, and still a date', (value) => {
    const retryAt = retryAfter(value) ?? 0;
    expect(retryAt).toBeGreaterThan(RECEIVED_AT + 365 * 86_400_000);
    expect(() => new Date(retryAt).toISOString()).not.toThrow();
  });

  it('D18 of several the first counts', () => {
    expect(retryAfter(['5', '60'])).toBe(RECEIVED_AT + 5000);
  });

  it("D18 Okta's and X's reset is in epoch seconds", () => {
    const reset = (value: string) => parseRetryAfter({ 'x-rate-limit-reset': value }, RECEIVED_AT);
    expect(reset(String(RECEIVED_AT / 1000 + 42))).toBe(RECEIVED_AT + 42_000);
    expect(reset('1500000000')).toBe(RECEIVED_AT);
    for (const value of ['', '60', 'soon', '-1', '1.5e9', '99999999999999']) expect(reset(value)).toBeUndefined();
  });

  it('D18 Retry-After comes before the reset, unless it says nothing', () => {
    const reset = String(RECEIVED_AT / 1000 + 42);
    expect(parseRetryAfter({ 'retry-after': '7', 'x-rate-limit-reset': reset }, RECEIVED_AT)).toBe(RECEIVED_AT + 7000);
    expect(parseRetryAfter({ 'retry-after': 'x', 'x-rate-limit-reset': reset }, RECEIVED_AT)).toBe(
      RECEIVED_AT + 42_000,
    );
  });

  it('D18 without a header nothing is known', () => {
    expect(parseRetryAfter({}, RECEIVED_AT)).toBeUndefined();
  });
});
