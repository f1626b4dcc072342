import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Fault, FaultKind } from '../../../src/emulator/faults.ts';
import { startEmulator } from '../../../src/emulator/start-emulator.ts';
import { basic, profiles, sendRequest, tokenUrls, useEmulator } from '../fixture.ts';

describe('a fault', () => {
  const server = useEmulator({ profiles, signing: { alg: 'ES256' }, clock: Date.now });
  const control = (method: string, path: string, body?: unknown) =>
    sendRequest(server.emulator, `${server.emulator.url}/_emulator${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
  const setFaults = (...faults: Fault[]) => control('PUT', '/faults', { faults });
  afterEach(() => setFaults());

  const okta = () => `${server.emulator.url}/acme.okta.com/oauth2/default/v1`;
  const client = basic('o', 'o-secret');
  const requestToken = async () => {
    const form = { grant_type: 'client_credentials', scope: 'read' };
    return String((await server.post(`${okta()}/token`, form, client)).json.access_token);
  };
  const remoteKeys = (options = {}) => createRemoteJWKSet(new URL(`${okta()}/keys`), options);

  it('rotated-jwks: an API that reads the JWKS again accepts the token, an API with the old JWKS does not', async () => {
    const [renewing, stale] = [remoteKeys({ cooldownDuration: 0 }), remoteKeys({ cooldownDuration: 600_000 })];
    const before = await requestToken();
    for (const keys of [renewing, stale]) await jwtVerify(before, keys);
    await setFaults({ kind: 'rotated-jwks', at: 1 });
    const after = await requestToken();
    await jwtVerify(after, renewing);
    await expect(jwtVerify(after, stale)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
    // The old key is no longer published.
    await expect(jwtVerify(before, remoteKeys())).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
    // Only the first request rotates the key.
    await jwtVerify(await requestToken(), renewing);
    await jwtVerify(after, remoteKeys());
  });

  it('rotated-jwks: the emulator recognises the tokens of concurrent rotations', async () => {
    await setFaults({ kind: 'rotated-jwks' });
    const tokens = await Promise.all(Array.from({ length: 4 }, requestToken));
    for (const token of tokens)
      expect((await control('POST', '/tokens/inspect', { token })).json).toMatchObject({ status: 'active' });
    expect((await control('GET', '/keys')).json.keys).toHaveLength(1);
  });

  it('revoked-token: a JWT has a valid signature, and introspection reports it as inactive', async () => {
    await setFaults({ kind: 'revoked-token', at: 1 });
    const [revoked, active] = [await requestToken(), await requestToken()];
    for (const token of [revoked, active]) await jwtVerify(token, remoteKeys());
    const introspect = async (token: string) => (await server.post(`${okta()}/introspect`, { token }, client)).json;
    expect(await introspect(revoked)).toEqual({ active: false });
    expect(await introspect(active)).toMatchObject({ active: true });
  });

  const opaque = {
    gitlab: { form: { grant_type: 'client_credentials', client_id: 'l', client_secret: 'gloas-secret' }, headers: {} },
    twitter: { form: { grant_type: 'client_credentials' }, headers: basic('key', 'x-secret') },
  };
  const resources = { gitlab: 'https://gitlab.com/api/v4/user', twitter: 'https://api.twitter.com/2/users/me' };
  it.each([
    ['revoked-token', 'gitlab'],
    ['revoked-token', 'twitter'],
    ['expired-token', 'gitlab'],
  ] as const)('%s: the opaque token of %s is rejected', async (kind, provider) => {
    const { form, headers } = opaque[provider];
    const statusOf = async () => {
      const { json } = await server.post(tokenUrls[provider], form, headers as Record<string, string>);
      return (await server.get(resources[provider], { Authorization: `Bearer ${json.access_token}` })).status;
    };
    await setFaults({ kind, at: 1 });
    expect(await statusOf()).toBe(401);
    expect(await statusOf()).toBe(200);
  });

  it('wrong-audience: introspection of an opaque token has another audience', async () => {
    const form = { grant_type: 'client_credentials', client_id: 'c', client_secret: 'c secret', audience: 'api' };
    const other = await startEmulator({
      profiles,
      providers: { custom: { access_token_format: 'opaque' } },
      faults: [{ kind: 'wrong-audience', at: 1 }],
    });
    onTestFinished(() => other.close());
    const audience = async () => {
      const { json } = await sendRequest(other, tokenUrls.custom, { form });
      const url = 'https://login.example.test/oauth/introspect';
      return (await sendRequest(other, url, { form: { ...form, token: json.access_token } })).json.aud;
    };
    expect(await audience()).toBe('https://wrong-audience.example');
    expect(await audience()).toBe('api');
  });

  const claimFaults: [FaultKind, string | RegExp][] = [
    ['wrong-audience', 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['wrong-issuer', 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['clock-skew', 'ERR_JWT_CLAIM_VALIDATION_FAILED'],
    ['expired-token', 'ERR_JWT_EXPIRED'],
    ['wrong-kid', 'ERR_JWKS_NO_MATCHING_KEY'],
    ['expired-signing-key', 'ERR_JWKS_NO_MATCHING_KEY'],
    ['bad-signature', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
  ];
  it.each(claimFaults)('%s: an id token of google is rejected with %s', async (kind, code) => {
    const form = { grant_type: 'refresh_token', client_id: 'g', client_secret: 'g-secret', refresh_token: 'g-rt' };
    const verify = async () => {
      const { json } = await server.post(`${server.emulator.url}/oauth2.googleapis.com/token`, {
        ...form,
        scope: 'openid email',
      });
      const keys = createRemoteJWKSet(new URL(`${server.emulator.url}/www.googleapis.com/oauth2/v3/certs`));
      const issuer = `${server.emulator.url}/accounts.google.com`;
      return jwtVerify(json.id_token, keys, { issuer, audience: 'g' });
    };
    await setFaults({ kind, at: 1 });
    await expect(verify()).rejects.toMatchObject({ code });
    await verify();
  });

  it('slow-jwks: an API with a shorter timeout cannot read the JWKS, and the token endpoint is not slow', async () => {
    await setFaults({ kind: 'slow-jwks', at: 1 });
    const keys = remoteKeys({ timeoutDuration: 1 });
    await expect(jwtVerify(await requestToken(), keys)).rejects.toMatchObject({ code: 'ERR_JWKS_TIMEOUT' });
    // Only the first request to the JWKS is slow.
    await jwtVerify(await requestToken(), remoteKeys());
  });
});

it('clock-skew: all times are ten minutes ahead', async () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const emulator = await startEmulator({ profiles, faults: [{ kind: 'clock-skew' }], clock: () => now });
  onTestFinished(() => emulator.close());
  const form = { grant_type: 'client_credentials', scope: 'read' };
  const { json } = await sendRequest(emulator, tokenUrls.okta, { form, headers: basic('o', 'o-secret') });
  const iat = now / 1000 + 600;
  expect(decodeJwt(json.access_token)).toMatchObject({ iat, nbf: iat, exp: iat + 3600 });
});

it('slow-jwks: the JWKS takes three seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let arrived = (): void => {};
  const handled = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const emulator = await startEmulator({ profiles, faults: [{ kind: 'slow-jwks' }], onRequest: () => arrived() });
  onTestFinished(() => emulator.close());
  let status: number | undefined;
  const response = sendRequest(emulator, 'https://acme.okta.com/oauth2/default/v1/keys').then((received) => {
    status = received.status;
  });
  await handled;
  /** After this round trip, the emulator has done everything that was due before it. */
  const settle = () => sendRequest(emulator, `${emulator.url}/_emulator/faults`);
  await settle();
  vi.advanceTimersByTime(2_999);
  await settle();
  expect(status).toBeUndefined();
  vi.advanceTimersByTime(1);
  await response;
  expect(status).toBe(200);
});
