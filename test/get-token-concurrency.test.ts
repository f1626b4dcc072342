import { describe, expect, it } from 'vitest';
import type { TokenStore } from '../src/ports.ts';
import { Secret } from '../src/redaction/secret.ts';
import { errorOf } from './support/errors.ts';
import { settle } from './support/ports.ts';
import { profileOf } from './support/profiles.ts';
import {
  createGate,
  createTokenFixture,
  jsonResponse,
  machineProfile,
  refreshProfile,
} from './support/token-fixture.ts';

describe('concurrent callers', () => {
  it.each([refreshProfile, machineProfile])('in eight processes cause one request ($grant_type)', async (fields) => {
    const { start, profile, provider } = createTokenFixture(fields);
    const processes = Array.from({ length: 8 }, () => start());
    const tokens = await Promise.all(processes.flatMap((one) => Array.from({ length: 20 }, () => one.get(profile))));
    expect(new Set(tokens)).toEqual(new Set(['access-token-1']));
    expect(provider.requests).toHaveLength(1);
    expect(provider.revoked).toBe(false);
  });

  it('that were queued before an attempt began share its failure', async () => {
    const { start, profile, provider } = createTokenFixture({ ...machineProfile, options: { timeout: '5s' } });
    provider.next.push(jsonResponse(403, { error: 'access_denied' }));
    const processes = Array.from({ length: 4 }, () => start());
    const errors = await Promise.all(
      processes.flatMap((one) => [errorOf(one.get(profile)), errorOf(one.get(profile))]),
    );
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['provider_rejected']));
    expect(provider.requests).toHaveLength(1);
  });

  it('that force a refresh share an attempt that began after their calls, but no earlier one', async () => {
    const { start, profile, provider } = createTokenFixture();
    const process = start();
    const force = () => process.get(profile, { forceRefresh: true });
    const tokens = await Promise.all([force(), force()]);
    expect(new Set(tokens).size).toBe(1);
    expect(await force()).toBe('access-token-2');
    expect(provider.revoked).toBe(false);
  });

  it('of one process do not share a request if they want different tokens', async () => {
    const { start, profile } = createTokenFixture(machineProfile);
    const process = start();
    const profiles = [profile, profileOf({ ...machineProfile, scope: 'other' })];
    expect(await Promise.all(profiles.map((one) => process.get(one)))).toEqual(['access-token-1', 'access-token-2']);
  });

  it('of one process do not share a request if an API rejected the token that the other would accept', async () => {
    const { start, profile, store } = createTokenFixture();
    const gate = createGate();
    const slow: TokenStore = { ...store, lock: (...args) => gate.promise.then(() => store.lock(...args)) };
    const process = start(slow);
    const accepting = process.get(profile);
    await settle();
    const rejectedToken = new Secret(await start().get(profile));
    const rejecting = process.get(profile, { rejectedToken });
    await settle();
    gate.open();
    expect(await Promise.all([accepting, rejecting])).toEqual(['access-token-1', 'access-token-2']);
  });

  it('whose token was rejected by an API cause one refresh', async () => {
    const { start, profile, provider } = createTokenFixture();
    const rejectedToken = new Secret(await start().get(profile));
    const [one, other] = [start(), start()];
    const tokens = await Promise.all([one, one, other].map((process) => process.get(profile, { rejectedToken })));
    expect(new Set(tokens)).toEqual(new Set(['access-token-2']));
    expect(provider.requests).toHaveLength(2);
  });

  it('that come during an attempt share its result', async () => {
    const { start, profile, clock, provider } = createTokenFixture();
    const gate = createGate();
    provider.gate = gate.promise;
    const first = start().get(profile);
    await settle();
    await clock.advance(1_000);
    const second = start().getToken(profile);
    await settle();
    gate.open();
    expect(await first).toBe('access-token-1');
    expect(await second).toMatchObject({ fromCache: true });
    expect(provider.requests).toHaveLength(1);
  });

  it('accept a new token whose lifetime is shorter than their minimum', async () => {
    const { start, profile, provider } = createTokenFixture();
    provider.expiresIn = 30;
    const processes = Array.from({ length: 4 }, () => start());
    await Promise.all(processes.map((process) => process.get(profile, { minTtlMs: 3_600_000 })));
    expect(provider.requests).toHaveLength(1);
  });
});

describe('a waiting caller', () => {
  it('gets an error two seconds after the timeout of the profile', async () => {
    const { start, clock, provider, profile } = createTokenFixture({ ...refreshProfile, options: { timeout: '5s' } });
    provider.gate = new Promise(() => {});
    let ended = false;
    const waiting = errorOf(start().get(profile)).finally(() => {
      ended = true;
    });
    await settle();
    await clock.advance(6_998);
    expect(ended).toBe(false);
    await clock.advance(1);
    const error = await waiting;
    expect(error).toMatchObject({ code: 'timeout', sent: false });
    expect(error.hint).toContain('svc.options.timeout');
  });

  it.each([
    ['is not', machineProfile, 499, 8_000],
    ['is', machineProfile, 500, 7_500],
    ['is', machineProfile, 3_000, 5_000],
    ['is not', refreshProfile, 499, 8_000],
    ['is not', refreshProfile, 3_000, 8_000],
  ])('has a wait for the lock that %s deducted from the timeout: %o, %i ms', async (_, fields, waitedMs, leftMs) => {
    const { start, profile, provider, store, clock } = createTokenFixture({ ...fields, options: { timeout: '8s' } });
    const busy: TokenStore = {
      ...store,
      lock: (...args) => {
        clock.time += waitedMs;
        return store.lock(...args);
      },
    };
    const timeouts: number[] = [];
    const { send } = provider;
    provider.send = (request, limits) => {
      timeouts.push(limits.timeoutMs);
      return send(request, limits);
    };
    await start(busy).get(profile);
    expect(timeouts).toEqual([leftMs]);
  });
});

describe('a caller whose store reads the record while it waits for the lock', () => {
  /** A store that calls `acceptIf` once, when the gate opens, and counts the locks that are acquired nevertheless. */
  function createWaiting(fields: typeof refreshProfile = refreshProfile) {
    const fixture = createTokenFixture(fields);
    const gate = createGate();
    const timeouts: number[] = [];
    let acquired = 0;
    const store: TokenStore = {
      ...fixture.store,
      async lock(key, options) {
        const queuedAt = fixture.clock.now();
        timeouts.push(options.timeoutMs);
        await gate.promise;
        const record = await fixture.store.read(key);
        const accepted = options.acceptIf?.(record, queuedAt);
        if (accepted !== undefined) return { ...(await fixture.store.lock(key, options)), accepted, record, queuedAt };
        acquired++;
        return fixture.store.lock(key, options);
      },
    };
    return { ...fixture, process: fixture.start(store), open: gate.open, timeouts, acquired: () => acquired };
  }

  it.each([refreshProfile, machineProfile])('accepts a newer token without the lock ($grant_type)', async (fields) => {
    const { process, profile, provider, start, open, acquired } = createWaiting(fields);
    const waiting = process.getToken(profile, { forceRefresh: true });
    await settle();
    await start().get(profile);
    open();
    const { token, fromCache } = await waiting;
    expect([token.accessToken.reveal(), fromCache]).toEqual(['access-token-1', true]);
    expect([provider.requests.length, acquired()]).toEqual([1, 0]);
  });

  it('shares a newer failure without the lock', async () => {
    const { process, profile, provider, start, open, acquired } = createWaiting(machineProfile);
    const waiting = errorOf(process.get(profile));
    await settle();
    provider.next.push(jsonResponse(403, { error: 'access_denied' }));
    await errorOf(start().get(profile));
    open();
    expect(await waiting).toMatchObject({ code: 'provider_rejected' });
    expect([provider.requests.length, acquired()]).toEqual([1, 0]);
  });

  it('acquires the lock within the timeout of the profile if nothing is newer', async () => {
    const { process, profile, open, acquired, timeouts } = createWaiting();
    const waiting = process.get(profile);
    open();
    expect(await waiting).toBe('access-token-1');
    expect([acquired(), timeouts]).toEqual([1, [30_000]]);
  });
});
