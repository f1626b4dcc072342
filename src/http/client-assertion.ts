import { createHash, createPrivateKey, type JsonWebKey, type KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import {
  type ClientAuth,
  ClientSecretJwt,
  issueRequestObject,
  type ModifyAssertionOptions,
  modifyAssertion,
  PrivateKeyJwt,
} from 'oauth4webapi';
import { InvalidProfileError, OAuthProfileError, TransportError } from '../errors.ts';
import type { AssertionSpec } from '../oauth/token-request.ts';
import type { Sign } from '../ports.ts';
import { isPkcs12, type LoadedFile } from '../profile/profile.ts';
import { Secret } from '../redaction/secret.ts';
import { withLimits } from './limits.ts';

type Jwk = JsonWebKey & { alg?: string; kid?: string; 'x5t#S256'?: string };

/** A private key with the metadata of its file. */
interface SigningKey {
  readonly key: webcrypto.CryptoKey;
  readonly kid: string | undefined;
  /** Algorithm name for the JWT header, if it differs from the library's. */
  readonly alg: string | undefined;
  /** SHA-256 thumbprint of the certificate in the file. Microsoft identifies the key by it. */
  readonly thumbprint: string | undefined;
  /** Certificates in base64, for `x5c`. */
  readonly certificates: readonly string[];
}

const FORMATS =
  'use an unencrypted PEM file (PKCS #8, PKCS #1 or SEC 1), a private JWK or a .pfx file, with an RSA, P-256, P-384, P-521 or Ed25519 key';
const RENEW = 'create a new certificate, upload it to the provider and put it into the file';

/** A key that was parsed but must not be used. */
class UnusableKey extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** Signs an assertion with the key of a PEM, JWK or PKCS #12 file, or with a client secret (RFC 7523 §2.1, §2.2, §3). */
export const signAssertion: Sign = async (spec, profile, limits) => {
  const { key } = spec;
  if (key instanceof Secret) return signWith(spec, (changes) => ClientSecretJwt(key.reveal(), changes));
  try {
    // Signing runs on another thread.
    const timeout = (): TransportError => timeoutError(key);
    return await withLimits(limits, timeout, () => signWithFile(key, spec));
  } catch (error) {
    if (error instanceof OAuthProfileError) throw error;
    // The message may quote the file; the code does not.
    const { code, hint = FORMATS } = error as { code?: unknown; hint?: string };
    const reason = error instanceof UnusableKey ? error.message : typeof code === 'string' ? code : 'not a private key';
    throw new InvalidProfileError(profile, [
      {
        variable: `${profile}.options.key_file`,
        message: `${key.path} is not a usable private key (${reason})`,
        hint: hint.replaceAll('{profile}', profile),
      },
    ]);
  }
};

function timeoutError(key: LoadedFile): TransportError {
  return new TransportError('timeout', `signing with ${key.path} timed out`, {
    sent: false,
    hint: 'try again, or use a smaller key: the machine is busy, or the key is very large',
  });
}

async function signWithFile(file: LoadedFile, spec: AssertionSpec): Promise<Secret> {
  const { key, kid, alg, thumbprint, certificates } = await importKey(file, spec);
  const signingKey = kid === undefined ? key : { key, kid };
  const header = {
    ...(alg !== undefined && { alg }),
    ...(thumbprint !== undefined && { 'x5t#S256': thumbprint }),
    ...(certificates.length > 0 && { x5c: certificates }),
  };
  if (spec.requestParameters === undefined)
    return signWith(spec, (changes) => PrivateKeyJwt(signingKey, changes), header);
  const { audience, clientId, requestParameters, lifetimeMs = 60_000 } = spec;
  const client = { client_id: typeof clientId === 'string' ? clientId : clientId.reveal() };
  const jwt = await issueRequestObject({ issuer: audience }, client, requestParameters, signingKey, {
    [modifyAssertion](jwtHeader, payload) {
      Object.assign(jwtHeader, header);
      payload['exp'] = Number(payload['iat']) + Math.ceil(lifetimeMs / 1000);
    },
  });
  return new Secret(jwt);
}

/** `header` is added to the header of the JWT. */
async function signWith(
  { audience, clientId, claims, omitsId, backdatedMs = 0, lifetimeMs = 60_000 }: AssertionSpec,
  createSigner: (changes: ModifyAssertionOptions) => ClientAuth,
  header: Readonly<Record<string, unknown>> = {},
): Promise<Secret> {
  const authenticate = createSigner({
    [modifyAssertion](jwtHeader, payload) {
      Object.assign(jwtHeader, { typ: 'JWT' }, header);
      if (audience === '') delete payload['aud'];
      else payload['aud'] = audience;
      payload['iat'] = Number(payload['iat']) - backdatedMs / 1000;
      payload['exp'] = Number(payload['iat']) + Math.ceil(lifetimeMs / 1000);
      if (claims === undefined) return;
      delete payload['sub'];
      // A server whose clock is behind would reject it.
      delete payload['nbf'];
      if (omitsId) delete payload['jti'];
      for (const [name, value] of Object.entries(claims))
        payload[name] = typeof value === 'string' ? value : value.reveal();
    },
  });
  const body = new URLSearchParams();
  const client_id = typeof clientId === 'string' ? clientId : clientId.reveal();
  await authenticate({ issuer: audience }, { client_id }, body, new Headers());
  return new Secret(body.get('client_assertion') ?? '');
}

async function importKey(file: LoadedFile, spec: AssertionSpec): Promise<SigningKey> {
  const text = isPkcs12(file.path) ? await convertPkcs12(file) : file.text;
  const jwk: Jwk | undefined = text.trimStart().startsWith('{') ? JSON.parse(text) : undefined;
  const keyObject = jwk === undefined ? createPrivateKey(text) : createPrivateKey({ key: jwk, format: 'jwk' });
  const certificates = readCertificates(text, keyObject);
  const [certificate] = certificates;
  const algorithm = algorithmOf(keyObject, jwk?.alg, spec.rsaAlgorithm);
  const der = keyObject.export({ format: 'der', type: 'pkcs8' });
  if (keyObject.asymmetricKeyType === 'rsa') checkRsaNumbers(keyObject, der);
  return {
    key: await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']),
    kid: spec.keyId ?? jwk?.kid,
    // The library uses the name Ed25519 (RFC 9864), which few servers support yet.
    alg: jwk?.alg ?? (keyObject.asymmetricKeyType === 'ed25519' ? 'EdDSA' : undefined),
    thumbprint: jwk?.['x5t#S256'] ?? (certificate && createHash('sha256').update(certificate.raw).digest('base64url')),
    certificates: spec.sendsCertificate ? certificates.map(({ raw }) => raw.toString('base64')) : [],
  };
}

async function convertPkcs12({ text, passphrase }: LoadedFile): Promise<string> {
  const { readPkcs12 } = await import('./grants/pkcs12.ts');
  return readPkcs12(Buffer.from(text, 'base64'), passphrase?.reveal() ?? '');
}

type ImportAlgorithm = webcrypto.RsaHashedImportParams | webcrypto.EcKeyImportParams | webcrypto.Algorithm;

/** Signing time grows with the cube of the length: with 32,768 bits, one signature would exceed every timeout. */
const MAX_RSA_BITS = 8192;
const WRONG_ALG = 'alg does not match the key';
const curves: Readonly<Record<string, { namedCurve: string; alg: string }>> = {
  prime256v1: { namedCurve: 'P-256', alg: 'ES256' },
  secp384r1: { namedCurve: 'P-384', alg: 'ES384' },
  secp521r1: { namedCurve: 'P-521', alg: 'ES512' },
};

/** Returns the algorithm to import the key with. `requested` is the `alg` of a JWK. */
function algorithmOf(key: KeyObject, requested: string | undefined, rsaDefault: string): ImportAlgorithm {
  switch (key.asymmetricKeyType) {
    case 'rsa': {
      const alg = requested ?? rsaDefault;
      if (!/^[RP]S(?:256|384|512)$/.test(alg)) throw new UnusableKey(WRONG_ALG);
      const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
      // RFC 7518 §3.3.
      if (bits < 2048) throw new UnusableKey('RSA with fewer than 2048 bits');
      if (bits > MAX_RSA_BITS) throw new UnusableKey(`RSA with more than ${MAX_RSA_BITS} bits`);
      return { name: alg.startsWith('PS') ? 'RSA-PSS' : 'RSASSA-PKCS1-v1_5', hash: `SHA-${alg.slice(2)}` };
    }
    case 'ec': {
      const curve = curves[key.asymmetricKeyDetails?.namedCurve ?? ''];
      if (curve === undefined) break;
      if ((requested ?? curve.alg) !== curve.alg) throw new UnusableKey(WRONG_ALG);
      return { name: 'ECDSA', namedCurve: curve.namedCurve };
    }
    case 'ed25519':
      if (requested !== undefined && requested !== 'EdDSA' && requested !== 'Ed25519') throw new UnusableKey(WRONG_ALG);
      return { name: 'Ed25519' };
  }
  throw new UnusableKey('unsupported key type');
}

/** OpenSSL does not check that the other numbers match the modulus; with a prime of 30,000 bits, signing would take a minute. */
function checkRsaNumbers(key: KeyObject, der: Buffer): void {
  const { n = '', e = '', d = '', p = '', q = '', dp = '', dq = '', qi = '' } = key.export({ format: 'jwk' });
  const tooLong = [e, d, p, q, dp, dq, qi].some((number) => number.length > n.length);
  // `n` is base64url, so this is six times the modulus in bytes. A key with two primes is about 4.5 times; a longer one has more primes.
  if (tooLong || der.length > 4.5 * n.length) throw new UnusableKey('RSA numbers do not match the modulus');
}

/** The certificates in the file, that of the key first (RFC 7515 §4.1.6). Certificates without that of the key are a mistake. */
function readCertificates(text: string, key: KeyObject): X509Certificate[] {
  const pems = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const certificates = pems.map((pem) => new X509Certificate(pem));
  const own = certificates.find((candidate) => candidate.checkPrivateKey(key));
  if (own === undefined) {
    if (certificates.length > 0) throw new UnusableKey('the certificate in the file belongs to another key');
    return [];
  }
  const expiresAt = new Date(own.validTo);
  if (expiresAt.getTime() < Date.now())
    throw new UnusableKey(`its certificate expired on ${expiresAt.toISOString().slice(0, 10)}`, RENEW);
  return [own, ...certificates.filter((other) => other !== own)];
}
