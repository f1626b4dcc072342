import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeTokenFile } from '../../src/cli/commands/long-running/watch.ts';
import { OAuthProfileError, TransportError } from '../../src/errors.ts';
import { autoRefresh, type FreshToken } from '../../src/flows/auto-refresh.ts';
import { usableUntil } from '../../src/flows/token-cache.ts';
import { Secret } from '../../src/redaction/secret.ts';
import { FakeClock, settle } from '../support/ports.ts';
import { createTokenFixture, type TestProcess } from '../support/token-fixture.ts';

const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** A fixture whose provider issues tokens for 3 seconds and records when each expires. */
function createShortLivedFixture() {
  const fixture = createTokenFixture();
  const { provider, clock, profile } = fixture;
  provider.expiresIn = 3;
  const expiries = new Map<string, number>();
  const getFresh = async (process: TestProcess): Promise<FreshToken> => {
    const { token } = await process.getToken(profile);
    const expiresAt = token.expiresAt ?? 0;
    if (!expiries.has(token.accessToken.reveal())) expiries.set(token.accessToken.reveal(), expiresAt);
    return { value: token.accessToken, usableUntil: usableUntil(expiresAt, clock.now(), profile.options.minTtlMs) };
  };
  return { ...fixture, expiries, getFresh };
}

describe('autoRefresh', () => {
  it('a reader of the file never sees an expired token during 200 refreshes', async () => {
    const { provider, clock, start, expiries, getFresh } = createShortLivedFixture();
    const file = join(directory, 'token');
    const ended = new AbortController();
    const process = start();
    const getToken = () => getFresh(process);
    const onToken = ({ value }: FreshToken): void => writeTokenFile(file, value);
    const first = await getToken();
    onToken(first);
    const work = autoRefresh(first, { clock, signal: ended.signal, getToken, onToken, warn: expect.fail });
    const expired: number[] = [];
    while (provider.requests.length <= 200) {
      await settle();
      await clock.advance(100);
      const expiry = expiries.get(readFileSync(file, 'utf8')) ?? 0;
      if (expiry <= clock.now()) expired.push(clock.now());
    }
    ended.abort();
    await expect(work).rejects.toMatchObject({ code: 'aborted' });
    expect(expired).toEqual([]);
    expect(new Set(provider.requests.map((form) => form.get('refresh_token'))).size).toBe(provider.requests.length);
  });

  it('eight processes cause one refresh in each period', async () => {
    const { provider, clock, start, expiries, getFresh } = createShortLivedFixture();
    const ended = new AbortController();
    const { signal } = ended;
    const current = new Map<number, string>();
    const work = Array.from({ length: 8 }, async (_, index) => {
      const process = start();
      const onToken = ({ value }: FreshToken): void => void current.set(index, value.reveal());
      const first = await getFresh(process);
      onToken(first);
      return autoRefresh(first, { clock, signal, getToken: () => getFresh(process), onToken, warn: expect.fail });
    });
    const counts: number[] = [];
    for (let period = 0; period < 10; period++) {
      for (let step = 0; step < 15; step++) {
        await settle();
        await clock.advance(100);
      }
      counts.push(provider.requests.length);
      expect([...current.values()].every((token) => (expiries.get(token) ?? 0) > clock.now())).toBe(true);
    }
    ended.abort();
    await Promise.allSettled(work);
    const refreshes = counts.slice(1).map((count, index) => count - (counts[index] ?? 0));
    expect(refreshes).toEqual(refreshes.map(() => 1));
  });

  it('replaces the token at the first look at the clock after the machine was suspended', async () => {
    const clock = new FakeClock();
    const ended = new AbortController();
    const first = { value: new Secret('first-token'), usableUntil: clock.now() + 3_000_000 };
    clock.whileAsleep = () => {
      clock.time += 7_200_000;
    };
    const getToken = async () => ({ value: new Secret('second-token'), usableUntil: undefined });
    const onToken = (): void => ended.abort();
    clock.sleep = stopWhenAborted(clock, ended.signal);
    await autoRefresh(first, { clock, signal: ended.signal, getToken, onToken, warn: () => {} }).catch(() => {});
    expect(clock.slept).toEqual([1_000]);
  });

  it('retries temporary errors with growing pauses and throws all others', async () => {
    const clock = new FakeClock();
    const warnings: string[] = [];
    const failures = [
      ...Array.from({ length: 6 }, () => new TransportError('connection_failed', 'unreachable', { sent: false })),
      new OAuthProfileError('login_required', 'the refresh token was revoked'),
    ];
    const attempts: number[] = [];
    const getToken = (): Promise<FreshToken> => {
      attempts.push(clock.now());
      return Promise.reject(failures.shift());
    };
    const first = { value: new Secret('only-token'), usableUntil: clock.now() };
    const { signal } = new AbortController();
    const work = autoRefresh(first, {
      clock,
      signal,
      getToken,
      onToken: () => expect.fail(),
      warn: (one) => warnings.push(one),
    });
    await expect(work).rejects.toMatchObject({ code: 'login_required' });
    const pauses = attempts.slice(1).map((time, index) => (time - (attempts[index] ?? 0)) / 1000);
    expect(pauses).toEqual([2, 4, 8, 16, 30, 30]);
    expect(warnings).toHaveLength(6);
  });

  it('warns about a token of unknown lifetime and does not replace it', async () => {
    const clock = new FakeClock();
    const ended = new AbortController();
    const warnings: string[] = [];
    clock.whileAsleep = () => clock.slept.length === 100 && ended.abort();
    clock.sleep = stopWhenAborted(clock, ended.signal);
    const first = { value: new Secret('only-token'), usableUntil: undefined };
    const options = { getToken: () => expect.fail(), onToken: () => {}, warn: (one: string) => warnings.push(one) };
    await autoRefresh(first, { clock, signal: ended.signal, ...options }).catch(() => {});
    expect(clock.slept).toHaveLength(100);
    expect(warnings).toHaveLength(1);
  });
});

/** The sleep of a fake clock, which rejects after an abort. */
function stopWhenAborted(clock: FakeClock, signal: AbortSignal): FakeClock['sleep'] {
  const sleep = FakeClock.prototype.sleep.bind(clock);
  return (ms) => (signal.aborted ? Promise.reject(signal.reason) : sleep(ms));
}
