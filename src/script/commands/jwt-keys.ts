import { createPublicKey, type JsonWebKey, type KeyObject, X509Certificate } from 'node:crypto';
import { StepFailure } from '../step-failure.ts';

/** A key that a signature can be checked with, and the only algorithms that it is good for. */
export interface VerifyingKey {
  readonly key: KeyObject | Uint8Array;
  readonly algorithms: readonly string[];
  readonly kid: string | undefined;
}

type Jwk = JsonWebKey & { alg?: string; kid?: string; use?: string };

const ADVICE =
  'give the text that HS256 tokens are signed with, or a public key or certificate (PEM), JWK or JWKS; RSA, P-256, P-384, P-521 or Ed25519';

const curves: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

/**
 * Reads the keys in a text. What the text is decides the algorithms, never what a token says of itself: else somebody could sign HS256
 * with a public key, which everybody has (RFC 8725 §2.1).
 */
export function readVerifyingKeys(text: string): readonly VerifyingKey[] {
  if (/^\s*https?:\/\//i.test(text)) {
    throw new StepFailure('the key is a URL, which anybody could sign with', {
      hint: 'fetch the keys with ws.get and give its body',
    });
  }
  const keys = findKeys(text);
  if (keys.length === 0) throw new StepFailure('the key cannot be used', { hint: ADVICE });
  return keys;
}

function findKeys(text: string): readonly VerifyingKey[] {
  if (/^\s*[{[]/.test(text)) return readJwks(text);
  if (text.includes('-----BEGIN')) {
    // As it stands in an environment variable.
    return fromPublic(attempt(() => createPublicKey(text.replaceAll('\\n', '\n'))));
  }
  const bare = readBareKey(text);
  return bare === undefined ? [fromShared(new TextEncoder().encode(text))] : fromPublic(bare);
}

/** Base64 without its PEM lines, as some servers show their public keys. */
function readBareKey(text: string): KeyObject | undefined {
  if (!/^[A-Za-z0-9+/_=\s-]{40,}$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return (
    attempt(() => createPublicKey({ key, format: 'der', type: 'spki' })) ??
    attempt(() => createPublicKey({ key, format: 'der', type: 'pkcs1' })) ??
    attempt(() => new X509Certificate(key).publicKey)
  );
}

/** Keys of a set that are for something else are passed over. */
function readJwks(text: string): readonly VerifyingKey[] {
  const parsed = attempt(() => JSON.parse(text) as Jwk | Jwk[] | { keys: Jwk[] });
  if (parsed === undefined) return [];
  const keys = Array.isArray(parsed) ? parsed : 'keys' in parsed ? parsed.keys : [parsed];
  return Array.isArray(keys) ? keys.flatMap((jwk) => (jwk?.use === 'enc' ? [] : fromJwk(jwk))) : [];
}

function fromJwk(jwk: Jwk): readonly VerifyingKey[] {
  const { kty, k, kid, alg } = jwk ?? {};
  const shared = kty === 'oct' && typeof k === 'string' && k !== '';
  const found = shared
    ? [fromShared(Buffer.from(k, 'base64url'))]
    : fromPublic(attempt(() => createPublicKey({ key: jwk, format: 'jwk' })));
  return found
    .map((one) => ({ ...one, kid, algorithms: one.algorithms.filter((name) => alg === undefined || name === alg) }))
    .filter(({ algorithms }) => algorithms.length > 0);
}

function fromShared(key: Uint8Array): VerifyingKey {
  return { key, algorithms: ['HS256', 'HS384', 'HS512'], kid: undefined };
}

function fromPublic(key: KeyObject | undefined): readonly VerifyingKey[] {
  const algorithms = key === undefined ? [] : algorithmsOf(key);
  return key === undefined || algorithms.length === 0 ? [] : [{ key, algorithms, kid: undefined }];
}

function algorithmsOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): readonly string[] {
  switch (asymmetricKeyType) {
    case 'rsa':
      // RFC 7518 §3.3.
      if ((asymmetricKeyDetails?.modulusLength ?? 0) < 2048) return [];
      return ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
    case 'ec': {
      const algorithm = curves[asymmetricKeyDetails?.namedCurve ?? ''];
      return algorithm === undefined ? [] : [algorithm];
    }
    case 'ed25519':
      return ['EdDSA', 'Ed25519'];
    default:
      return [];
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
