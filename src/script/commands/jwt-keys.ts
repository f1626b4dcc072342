import { createPublicKey, type JsonWebKey, type KeyObject, X509Certificate } from 'node:crypto';
import { StepFailure } from '../step-context.ts';

/** A key that verifies signatures, and the algorithms that it may be used with. */
export interface VerifyingKey {
  readonly key: KeyObject | Uint8Array;
  readonly algorithms: readonly string[];
  readonly kid: string | undefined;
}

type Jwk = JsonWebKey & { alg?: string; kid?: string; use?: string };

const HINT =
  'pass the shared secret of HS256 tokens, or a public key or certificate (PEM), JWK or JWKS; RSA, P-256, P-384, P-521 or Ed25519';

const curves: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

/**
 * Parses the keys in a string. The type of the key determines the algorithms, never the header of a token: otherwise an attacker could
 * sign HS256 with the public key (RFC 8725 §2.1).
 */
export function parseVerifyingKeys(text: string): readonly VerifyingKey[] {
  if (/^\s*https?:\/\//i.test(text)) {
    throw new StepFailure('the key is a URL', {
      hint: 'request the keys with ws.get and pass the body of its response',
    });
  }
  const keys = parseKeys(text);
  if (keys.length === 0) throw new StepFailure('the key cannot be used', { hint: HINT });
  return keys;
}

function parseKeys(text: string): readonly VerifyingKey[] {
  if (/^\s*[{[]/.test(text)) return parseJwks(text);
  if (text.includes('-----BEGIN')) {
    // Environment variables often contain `\n` for a line break.
    return publicKey(tryOrUndefined(() => createPublicKey(text.replaceAll('\\n', '\n'))));
  }
  const bare = parseBareKey(text);
  return bare === undefined ? [sharedKey(new TextEncoder().encode(text))] : publicKey(bare);
}

/** Base64 without the PEM header and footer, as some servers publish their keys. */
function parseBareKey(text: string): KeyObject | undefined {
  if (!/^[A-Za-z0-9+/_=\s-]{40,}$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return (
    tryOrUndefined(() => createPublicKey({ key, format: 'der', type: 'spki' })) ??
    tryOrUndefined(() => createPublicKey({ key, format: 'der', type: 'pkcs1' })) ??
    tryOrUndefined(() => new X509Certificate(key).publicKey)
  );
}

/** Keys for encryption and keys that cannot be used are ignored. */
function parseJwks(text: string): readonly VerifyingKey[] {
  const parsed = tryOrUndefined(() => JSON.parse(text) as Jwk | Jwk[] | { keys: Jwk[] });
  if (parsed === undefined) return [];
  const keys = Array.isArray(parsed) ? parsed : 'keys' in parsed ? parsed.keys : [parsed];
  return Array.isArray(keys) ? keys.flatMap((jwk) => (jwk?.use === 'enc' ? [] : parseJwk(jwk))) : [];
}

function parseJwk(jwk: Jwk): readonly VerifyingKey[] {
  const { kty, k, kid, alg } = jwk ?? {};
  const shared = kty === 'oct' && typeof k === 'string' && k !== '';
  const found = shared
    ? [sharedKey(Buffer.from(k, 'base64url'))]
    : publicKey(tryOrUndefined(() => createPublicKey({ key: jwk, format: 'jwk' })));
  return found
    .map((one) => ({ ...one, kid, algorithms: one.algorithms.filter((name) => alg === undefined || name === alg) }))
    .filter(({ algorithms }) => algorithms.length > 0);
}

function sharedKey(key: Uint8Array): VerifyingKey {
  return { key, algorithms: ['HS256', 'HS384', 'HS512'], kid: undefined };
}

function publicKey(key: KeyObject | undefined): readonly VerifyingKey[] {
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

function tryOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
