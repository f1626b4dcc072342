import { createHash, createPrivateKey, type JsonWebKey, type KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { modifyAssertion, PrivateKeyJwt } from 'oauth4webapi';
import { abortError, InvalidProfileError, OAuthProfileError, TransportError } from '../errors.ts';
import type { AssertionSpec } from '../oauth/token-request.ts';
import type { Limits, Sign } from '../ports.ts';
import { Secret } from '../redaction/secret.ts';

type Jwk = JsonWebKey & { alg?: string; kid?: string; 'x5t#S256'?: string };

/** A private key with what its file says about it. */
interface SigningKey {
  readonly key: webcrypto.CryptoKey;
  readonly kid: string | undefined;
  /** What the file wants the algorithm to be called. */
  readonly alg: string | undefined;
  /** Thumbprint of the certificate beside the key: Microsoft finds the key by it. */
  readonly thumbprint: string | undefined;
}

/** What is wrong with a key that could be read. */
class KeyProblem extends Error {}

/** Signs a client assertion with the key of a PEM or JWK file (RFC 7523 §2.2, §3). */
export const signAssertion: Sign = async (spec, profile, bounds) => {
  try {
    return await within(bounds, spec, async () => sign(spec, await readKey(spec)));
  } catch (error) {
    if (error instanceof OAuthProfileError) throw error;
    // The library's message may quote the file; its code cannot.
    const { code } = error as { code?: unknown };
    const why = error instanceof KeyProblem ? error.message : typeof code === 'string' ? code : 'not a private key';
    throw new InvalidProfileError(profile, [
      {
        variable: `${profile}.options.key_file`,
        message: `${spec.key.path} holds no usable private key (${why})`,
        hint: 'give an unencrypted PEM (PKCS #8, PKCS #1 or SEC 1) or a JWK with its private members; RSA, P-256, P-384, P-521 or Ed25519',
      },
    ]);
  }
};

/** A signature is made beside the program's own thread, so that a time-out or an abort needs not wait for it. */
function within<T>({ timeoutMs, signal }: Limits, { key }: AssertionSpec, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortError(signal));
    if (signal?.aborted) return onAbort();
    const timer = setTimeout(() => {
      const hint = 'the machine is busy, or the key is larger than it needs to be: try again, or use a smaller one';
      reject(new TransportError('timeout', `signing with ${key.path} took too long`, { sent: false, hint: hint }));
    }, timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      });
  });
}

async function sign(spec: AssertionSpec, { key, kid, alg, thumbprint }: SigningKey): Promise<Secret> {
  const authenticate = PrivateKeyJwt(kid === undefined ? key : { key, kid }, {
    [modifyAssertion](header, payload) {
      header['typ'] = 'JWT';
      if (alg !== undefined) header['alg'] = alg;
      if (thumbprint !== undefined) header['x5t#S256'] = thumbprint;
      payload['aud'] = spec.audience;
    },
  });
  const body = new URLSearchParams();
  await authenticate(
    { issuer: spec.audience },
    { client_id: typeof spec.clientId === 'string' ? spec.clientId : spec.clientId.reveal() },
    body,
    new Headers(),
  );
  return new Secret(body.get('client_assertion') ?? '');
}

async function readKey(spec: AssertionSpec): Promise<SigningKey> {
  const { text } = spec.key;
  const given: Jwk | undefined = text.trimStart().startsWith('{') ? JSON.parse(text) : undefined;
  const keyObject = given === undefined ? createPrivateKey(text) : createPrivateKey({ key: given, format: 'jwk' });
  const algorithm = algorithmOf(keyObject, given?.alg, spec.rsaAlgorithm);
  const der = keyObject.export({ format: 'der', type: 'pkcs8' });
  if (keyObject.asymmetricKeyType === 'rsa') refuseMisshapen(keyObject, der);
  return {
    key: await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']),
    kid: spec.keyId ?? given?.kid,
    // The library names the curve (RFC 9864), which few servers know yet.
    alg: given?.alg ?? (keyObject.asymmetricKeyType === 'ed25519' ? 'EdDSA' : undefined),
    thumbprint: given?.['x5t#S256'] ?? thumbprintOf(text, keyObject),
  };
}

type ImportAlgorithm = webcrypto.RsaHashedImportParams | webcrypto.EcKeyImportParams | webcrypto.Algorithm;

/** Time grows with the third power of the length: four times as many bits, and one signature outlasts every time-out. */
const MAX_RSA_BITS = 8192;
const WRONG_ALG = 'its alg does not fit';
const curves: Readonly<Record<string, { namedCurve: string; alg: string }>> = {
  prime256v1: { namedCurve: 'P-256', alg: 'ES256' },
  secp384r1: { namedCurve: 'P-384', alg: 'ES384' },
  secp521r1: { namedCurve: 'P-521', alg: 'ES512' },
};

/** How the key signs; a file that asks for what its key cannot do is refused. */
function algorithmOf(key: KeyObject, asked: string | undefined, rsaDefault: string): ImportAlgorithm {
  switch (key.asymmetricKeyType) {
    case 'rsa': {
      const alg = asked ?? rsaDefault;
      if (!/^[RP]S(?:256|384|512)$/.test(alg)) throw new KeyProblem(WRONG_ALG);
      const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
      // RFC 7518 §3.3.
      if (bits < 2048) throw new KeyProblem('RSA with less than 2048 bits');
      if (bits > MAX_RSA_BITS) throw new KeyProblem(`RSA with more than ${MAX_RSA_BITS} bits`);
      return { name: alg.startsWith('PS') ? 'RSA-PSS' : 'RSASSA-PKCS1-v1_5', hash: `SHA-${alg.slice(2)}` };
    }
    case 'ec': {
      const curve = curves[key.asymmetricKeyDetails?.namedCurve ?? ''];
      if (curve === undefined) break;
      if ((asked ?? curve.alg) !== curve.alg) throw new KeyProblem(WRONG_ALG);
      return { name: 'ECDSA', namedCurve: curve.namedCurve };
    }
    case 'ed25519':
      if (asked !== undefined && asked !== 'EdDSA' && asked !== 'Ed25519') throw new KeyProblem(WRONG_ALG);
      return { name: 'Ed25519' };
  }
  throw new KeyProblem('of another kind');
}

/** Nothing checks that the other numbers fit the modulus, and a prime of 30,000 bits would sign for a minute. */
function refuseMisshapen(key: KeyObject, der: Buffer): void {
  const { n = '', e = '', d = '', p = '', q = '', dp = '', dq = '', qi = '' } = key.export({ format: 'jwk' });
  const misshapen = [e, d, p, q, dp, dq, qi].some((member) => member.length > n.length);
  // Six numbers of the modulus' size, one more than there are of it in all; what is longer has further primes.
  if (misshapen || der.length > 4.5 * n.length) throw new KeyProblem('RSA with numbers that do not fit its modulus');
}

/** A file may hold a whole chain; only the key's own certificate counts. */
function thumbprintOf(text: string, key: KeyObject): string | undefined {
  const pems = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const own = pems.map((pem) => new X509Certificate(pem)).find((certificate) => certificate.checkPrivateKey(key));
  return own && createHash('sha256').update(own.raw).digest('base64url');
}
