import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { buildProof, findNonce, type ProofKey, rejectsNonce, thumbprintInput } from '../oauth/dpop.ts';
import type { Clock, Dpop } from '../ports.ts';
import { Secret } from '../redaction/secret.ts';

/** Creates the {@link Dpop} port. Nonces are remembered by origin, as long as the process runs. */
export function createDpop(clock: Pick<Clock, 'now'>): Dpop {
  const nonces = new Map<string, string>();
  const parsed = new WeakMap<Secret, { readonly jwk: ProofKey; readonly key: KeyObject }>();
  const parse = (secret: Secret) => {
    const known = parsed.get(secret);
    if (known !== undefined) return known;
    const jwk: ProofKey = JSON.parse(secret.reveal());
    const read = { jwk, key: createPrivateKey({ key: { ...jwk }, format: 'jwk' }) };
    parsed.set(secret, read);
    return read;
  };
  return {
    createKey() {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return new Secret(JSON.stringify(privateKey.export({ format: 'jwk' })));
    },
    thumbprint: (secret) => sha256(thumbprintInput(parse(secret).jwk)),
    createProof(secret, method, url, accessToken) {
      const { jwk, key } = parse(secret);
      const { header, claims } = buildProof(jwk, {
        method,
        url,
        id: randomUUID(),
        createdAt: clock.now(),
        nonce: nonces.get(url.origin),
        tokenHash: accessToken && sha256(accessToken.reveal()),
      });
      const input = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
      // RFC 7518 §3.4: both numbers of the signature in fixed length, not DER.
      const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
      return Secret.untracked(`${input}.${signature.toString('base64url')}`);
    },
    acceptNonce({ origin }, response) {
      const nonce = findNonce(response);
      if (nonce !== undefined) nonces.set(origin, nonce);
      return nonce !== undefined && rejectsNonce(response);
    },
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
