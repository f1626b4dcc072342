import { expect, test } from 'vitest';
import { Variables } from '../../src/config/variables.ts';
import { createTokenHeaders } from '../../src/proxy/token-headers.ts';
import { createTokenFixture } from '../support/token-fixture.ts';

test('eight proxies never send an expired token during 200 refreshes, and share each refresh', async () => {
  const { provider, clock, start, profile } = createTokenFixture();
  provider.expiresIn = 3;
  const proxies = Array.from({ length: 8 }, () => {
    const client = { ...start().client, loadProfile: async () => profile };
    return createTokenHeaders(client, profile, new Variables(''));
  });
  const url = new URL('https://api.test/orders');
  const issuedAt = new Map<string, number>();
  const refreshTimes: number[] = [];
  while (provider.requests.length < 200) {
    const before = provider.requests.length;
    const sent = await Promise.all(proxies.map((proxy) => proxy.authorize('GET', url)));
    const [token = '', ...others] = new Set(sent.map(({ headers }) => String(headers[1])));
    expect(others).toEqual([]);
    if (!issuedAt.has(token)) issuedAt.set(token, clock.now());
    expect(clock.now() - (issuedAt.get(token) ?? 0)).toBeLessThan(3_000);
    expect(provider.requests.length - before).toBeLessThanOrEqual(1);
    if (provider.requests.length > before) refreshTimes.push(clock.now());
    await clock.advance(100);
  }
  expect(issuedAt.size).toBe(200);
  // Half of the lifetime: `min_ttl` is longer than these tokens live.
  const periods = refreshTimes.slice(1).map((time, index) => time - (refreshTimes[index] ?? 0));
  expect(Math.min(...periods)).toBeGreaterThanOrEqual(1_500);
});
