import { decodeJwt } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import type { HttpResponse } from '../../src/oauth/http-response.ts';
import type { Secret } from '../../src/redaction/secret.ts';
import { errorOf } from '../support/errors.ts';
import type { ManualClock } from '../support/ports.ts';
import {
  createTokenFixture,
  FIRST,
  familyOf,
  jsonResponse,
  machineProfile,
  refreshProfile,
} from '../support/token-fixture.ts';

let nonces = 0;
/** The response of a server that requires a nonce, which is a new one each time. */
function nonceChallenge(): HttpResponse {
  const response = jsonResponse(400, { error: 'use_dpop_nonce' });
  return { ...response, headers: { ...response.headers, 'dpop-nonce': `nonce-${++nonces}` } };
}

/** A profile with `options.dpop`, whose provider issues tokens with a key. `nonces` are those of the proofs. */
function createFixture(fields: Record<string, unknown> = refreshProfile) {
  const fixture = createTokenFixture({ ...fields, options: { dpop: 'true' } });
  const { provider } = fixture;
  const { send } = provider;
  const sent: (unknown | undefined)[] = [];
  provider.send = async (request, limits) => {
    const proof = request.headers['DPoP'] as Secret | undefined;
    sent.push(proof && decodeJwt(proof.reveal())['nonce']);
    const response = await send(request, limits);
    return { ...response, body: response.body.replace('"Bearer"', '"DPoP"') };
  };
  return { ...fixture, nonces: sent };
}

/** Waits until a request waits before it is repeated, and ends that wait. */
async function endWait(clock: ManualClock): Promise<void> {
  await vi.waitUntil(() => clock.pending.length > 0, { timeout: 20_000 });
  await clock.advance(2_000);
}

describe('a refresh with DPoP', () => {
  it('is repeated once with the nonce of the server, and stores the key with the token family', async () => {
    const { start, profile, provider, store, nonces } = createFixture();
    provider.next.push(nonceChallenge());
    const { token, profile: bound } = await start().getToken(profile);
    expect(token.tokenType).toBe('DPoP');
    expect(nonces).toEqual([undefined, expect.stringMatching(/^nonce-/)]);
    const family = await familyOf(profile, store);
    expect([family.attempt, family.refreshToken?.reveal()]).toEqual([undefined, provider.current]);
    expect(bound.dpopKey?.reveal()).toBe(family.dpopKey?.reveal());
    // Another process uses the same key for the cached token.
    const cached = await start().getToken(profile);
    expect(cached).toMatchObject({ fromCache: true });
    expect(cached.profile.dpopKey?.reveal()).toBe(family.dpopKey?.reveal());
  });

  it('is not repeated twice, and does not count as a use of the refresh token', async () => {
    const { start, profile, provider, store, nonces } = createFixture();
    provider.next.push(nonceChallenge(), nonceChallenge());
    expect(await errorOf(start().get(profile))).toMatchObject({ code: 'provider_rejected' });
    expect(nonces).toHaveLength(2);
    const family = await familyOf(profile, store);
    expect([family.attempt, family.cachedError, family.refreshToken?.reveal()]).toEqual([undefined, undefined, FIRST]);
    const key = family.dpopKey?.reveal();
    expect(await start().get(profile)).toBe('access-token-1');
    expect((await familyOf(profile, store)).dpopKey?.reveal()).toBe(key);
  });

  it.each(['use_dpop_nonce', 'invalid_dpop_proof'])(
    'that is rejected with %s does not make an earlier lost response harmless',
    async (error) => {
      const { start, profile, provider, store, clock } = createFixture();
      provider.next.push('lose');
      await errorOf(start().get(profile));
      const { attempt } = await familyOf(profile, store);
      expect(attempt).toBeDefined();
      await clock.advance(60_000);
      provider.next.push(jsonResponse(400, { error }));
      await errorOf(start().get(profile));
      expect((await familyOf(profile, store)).attempt?.sentAt).toBe(attempt?.sentAt);
    },
  );

  it('whose response is lost after a nonce was required is journaled', async () => {
    const { start, profile, provider, store } = createFixture();
    provider.next.push(nonceChallenge(), 'lose');
    await errorOf(start().get(profile));
    expect((await familyOf(profile, store)).attempt).toBeDefined();
  });

  it('that is not connected after a nonce was required leaves no journal entry', async () => {
    const { start, profile, provider, store, clock } = createFixture();
    provider.next.push(nonceChallenge(), 'unreachable', 'unreachable', 'unreachable');
    const failed = errorOf(start().get(profile));
    for (let retry = 0; retry < 2; retry++) await endWait(clock);
    expect(await failed).toMatchObject({ code: 'connection_failed' });
    expect((await familyOf(profile, store)).attempt).toBeUndefined();
  });

  it('RFC 9449 §5 discards a Bearer token, but stores the refresh token that came with it', async () => {
    const { start, profile, provider, store } = createFixture();
    provider.next.push(jsonResponse(200, { access_token: 'a', token_type: 'bearer', refresh_token: 'successor' }));
    expect(await errorOf(start().get(profile))).toMatchObject({ code: 'response_unreadable' });
    expect((await familyOf(profile, store)).refreshToken?.reveal()).toBe('successor');
  });
});

describe('another grant with DPoP', () => {
  it('gets a new key for each token, which is cached with it', async () => {
    const { start, profile, clock } = createFixture(machineProfile);
    const first = await start().getToken(profile);
    const cached = await start().getToken(profile);
    expect(cached.fromCache).toBe(true);
    expect(cached.profile.dpopKey?.reveal()).toBe(first.profile.dpopKey?.reveal());
    await clock.advance(3_600_000);
    const second = await start().getToken(profile);
    expect(second.profile.dpopKey?.reveal()).not.toBe(first.profile.dpopKey?.reveal());
  });

  it('is repeated with a nonce once, whatever the other attempts return', async () => {
    const { start, profile, provider, nonces, clock } = createFixture(machineProfile);
    provider.next.push(nonceChallenge(), jsonResponse(503, {}), nonceChallenge());
    const failed = errorOf(start().get(profile));
    await endWait(clock);
    expect(await failed).toMatchObject({ provider: { error: 'use_dpop_nonce' } });
    expect(nonces).toHaveLength(3);
  });
});

it('a profile without options.dpop sends no proof', async () => {
  const { start, profile, provider } = createTokenFixture(machineProfile);
  const { send } = provider;
  provider.send = (request, limits) => {
    expect(request.headers).not.toHaveProperty('DPoP');
    return send(request, limits);
  };
  expect((await start().getToken(profile)).profile.dpopKey).toBeUndefined();
});
