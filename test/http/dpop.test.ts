import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { createDpop } from '../../src/http/dpop.ts';
import { Secret } from '../../src/redaction/secret.ts';

const url = new URL('https://id.example.com/token?tenant=a#part');
const accessToken = new Secret('Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU');

/** Verifies a proof with its own key and returns its content. */
async function verify(proof: Secret) {
  const { payload, protectedHeader } = await jwtVerify(proof.reveal(), EmbeddedJWK, {
    typ: 'dpop+jwt',
    algorithms: ['ES256'],
  });
  return { payload, jwk: protectedHeader.jwk ?? {} };
}

describe('a proof', () => {
  const dpop = createDpop({ now: Date.now });

  it('RFC 9449 §4.2 contains the method, the URL without query and fragment, a unique id and the public key', async () => {
    const key = dpop.createKey();
    const { payload, jwk } = await verify(dpop.createProof(key, 'POST', url));
    expect(payload).toEqual({
      jti: expect.any(String),
      htm: 'POST',
      htu: 'https://id.example.com/token',
      iat: expect.any(Number),
    });
    expect(Object.keys(jwk).sort()).toEqual(['crv', 'kty', 'x', 'y']);
    expect(dpop.thumbprint(key)).toBe(await calculateJwkThumbprint(jwk));
    const second = await verify(dpop.createProof(key, 'POST', url));
    expect(second.payload.jti).not.toBe(payload.jti);
    expect(second.jwk).toEqual(jwk);
    expect((await verify(dpop.createProof(dpop.createKey(), 'POST', url))).jwk).not.toEqual(jwk);
  });

  it('RFC 9449 §7.1 contains the hash of the access token, as in the example of the RFC', async () => {
    const { payload } = await verify(dpop.createProof(dpop.createKey(), 'GET', url, accessToken));
    expect(payload['ath']).toBe('fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo');
  });

  it('has a key that is the same after it was stored', async () => {
    const key = dpop.createKey();
    const restored = new Secret(key.reveal());
    expect(createDpop({ now: Date.now }).thumbprint(restored)).toBe(dpop.thumbprint(key));
    expect(String(key)).toBe('••••');
  });
});

describe('a nonce', () => {
  const challenge = (nonce: string | undefined, more: object = {}) => ({
    status: 400,
    headers: nonce === undefined ? {} : { 'dpop-nonce': nonce },
    body: '{"error":"use_dpop_nonce"}',
    ...more,
  });
  const nonceOf = async (dpop: ReturnType<typeof createDpop>, target = url) =>
    (await verify(dpop.createProof(dpop.createKey(), 'POST', target))).payload['nonce'];

  it('RFC 9449 §8 is sent to its origin from then on, until the server sends another one', async () => {
    const dpop = createDpop({ now: Date.now });
    expect(dpop.acceptNonce(url, challenge('n-1'))).toBe(true);
    expect(await nonceOf(dpop, new URL('/other', url))).toBe('n-1');
    expect(await nonceOf(dpop, new URL('https://api.example.com/'))).toBeUndefined();
    expect(dpop.acceptNonce(url, { status: 200, headers: { 'dpop-nonce': 'n-2' }, body: '{}' })).toBe(false);
    expect(await nonceOf(dpop)).toBe('n-2');
  });

  it.each([
    [true, 'the body of a token endpoint', challenge('n')],
    [
      true,
      'the challenge of an API',
      {
        status: 401,
        headers: { 'dpop-nonce': 'n', 'www-authenticate': 'Bearer realm="x", DPoP error="use_dpop_nonce"' },
      },
    ],
    [false, 'another error', challenge('n', { body: '{"error":"invalid_grant"}' })],
    [false, 'no nonce', challenge(undefined)],
    [false, 'a nonce with characters that are not allowed', challenge('a b')],
    [false, 'another status', challenge('n', { status: 200 })],
    [
      false,
      'another scheme',
      { status: 401, headers: { 'dpop-nonce': 'n', 'www-authenticate': 'Bearer error="use_dpop_nonce"' } },
    ],
  ])('is required (%s) by %s', (expected, _, response) => {
    expect(createDpop({ now: Date.now }).acceptNonce(url, response)).toBe(expected);
  });
});
