import { createHash, createPrivateKey, type JsonWebKey, type KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { modifyAssertion, PrivateKeyJwt } from 'oauth4webapi';
import { InvalidProfileError } from '../errors.ts';
import type { Sign } from '../ports.ts';
import { Secret } from '../secret/secret.ts';
import type { AssertionSpec } from '../token/build-request.ts';

type Jwk = JsonWebKey & { alg?: string; kid?: string; 'x5t#S256'?: string };

/** A private key with what its file says about it. */
interface SigningKey {
  readonly key: webcrypto.CryptoKey;
  readonly kid: string | undefined;
  /** Thumbprint of the certificate beside the key: Microsoft finds the key by it. */
  readonly thumbprint: string | undefined;
}

/** Signs a client assertion with the key of a PEM or JWK file (RFC 7523 §2.2, §3). */
export const signAssertion: Sign = async (spec, profile) => {
  const { key, kid, thumbprint } = await readKey(spec, profile);
  const authenticate = PrivateKeyJwt(kid === undefined ? key : { key, kid }, {
    [modifyAssertion](header, payload) {
      header['typ'] = 'JWT';
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
};

async function readKey(spec: AssertionSpec, profile: string): Promise<SigningKey> {
  const { text, path } = spec.key;
  try {
    const given: Jwk | undefined = text.trimStart().startsWith('{') ? JSON.parse(text) : undefined;
    const keyObject = given === undefined ? createPrivateKey(text) : createPrivateKey({ key: given, format: 'jwk' });
    const algorithm = algorithmOf(keyObject, given?.alg, spec.rsaAlgorithm);
    const der = keyObject.export({ format: 'der', type: 'pkcs8' });
    const key = await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
    return { key, kid: spec.keyId ?? given?.kid, thumbprint: given?.['x5t#S256'] ?? thumbprintOf(text) };
  } catch (error) {
    // The library's message may quote the file; its code cannot.
    const code = (error as NodeJS.ErrnoException).code ?? 'not a private key';
    throw new InvalidProfileError(profile, [
      {
        variable: `${profile}.options.key_file`,
        message: `${path} holds no usable private key (${code})`,
        advice:
          'give an unencrypted PEM (PKCS #8, PKCS #1 or SEC 1) or a JWK with its private members; RSA, P-256, P-384, P-521 or Ed25519',
      },
    ]);
  }
}

type ImportAlgorithm = webcrypto.RsaHashedImportParams | webcrypto.EcKeyImportParams | webcrypto.Algorithm;

function algorithmOf(key: KeyObject, asked: string | undefined, rsaDefault: string): ImportAlgorithm {
  switch (key.asymmetricKeyType) {
    case 'rsa':
    case 'rsa-pss': {
      const alg = asked ?? rsaDefault;
      return { name: alg.startsWith('PS') ? 'RSA-PSS' : 'RSASSA-PKCS1-v1_5', hash: `SHA-${alg.slice(2)}` };
    }
    case 'ec': {
      const curves: Record<string, string> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };
      return { name: 'ECDSA', namedCurve: curves[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? 'unknown' };
    }
    default:
      return { name: 'Ed25519' };
  }
}

function thumbprintOf(text: string): string | undefined {
  const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(text)?.[0];
  if (pem === undefined) return undefined;
  return createHash('sha256').update(new X509Certificate(pem).raw).digest('base64url');
}
