import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { promisify } from 'node:util';
import { ConfigError } from '../settings.ts';

/** Algorithms that tokens can be signed with (RFC 7518 §3.1). */
export const signingAlgorithms = ['RS256', 'PS256', 'ES256'] as const;

/** One of {@link signingAlgorithms}. */
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** A key for signatures of tokens. */
export interface SigningKey {
  readonly alg: SigningAlgorithm;
  /** The thumbprint of the public key (RFC 7638). */
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The entry of the JWKS. */
  readonly jwk: Readonly<Record<string, unknown>>;
}

const generate = promisify(generateKeyPair);
const signAsync = promisify(sign);
/** Retired keys that the emulator itself still accepts. */
const MAX_RETIRED = 10;

/** The keys of one emulator. The first one is generated when it is needed. */
export class SigningKeys {
  readonly #alg: SigningAlgorithm;
  readonly #fixed: Promise<SigningKey> | undefined;
  #current: Promise<SigningKey> | undefined;
  #previous: SigningKey[] = [];
  #retired: SigningKey[] = [];

  /** `pem` is a fixed private key (PEM or JWK). Default: a random key per process. */
  constructor(alg: SigningAlgorithm | undefined, pem: string | undefined) {
    const fixed = pem === undefined ? undefined : importKey(pem, alg);
    this.#alg = fixed?.alg ?? alg ?? 'RS256';
    if (fixed !== undefined) this.#fixed = Promise.resolve(fixed);
  }

  get alg(): SigningAlgorithm {
    return this.#alg;
  }

  /** The key for signatures of new tokens. */
  current(): Promise<SigningKey> {
    this.#current ??= this.#fixed ?? processKey(this.#alg);
    return this.#current;
  }

  /** Returns to the first key. */
  reset(): void {
    this.#current = undefined;
    this.#previous = [];
    this.#retired = [];
  }

  /** A key that signed tokens once and is no longer published. */
  async retired(): Promise<SigningKey> {
    const [key] = this.#retired;
    if (key !== undefined) return key;
    const created = await generateKey(this.#alg);
    this.#retired.push(created);
    return created;
  }

  /** Replaces the current key. The old one stays in the JWKS if `publishOld` is set. */
  rotate(publishOld: boolean): Promise<SigningKey> {
    const rotated = Promise.all([this.current(), generateKey(this.#alg)]).then(([old, next]) => {
      if (publishOld) this.#previous.unshift(old);
      else this.#retired.unshift(old, ...this.#previous.splice(0));
      this.#retired.unshift(...this.#previous.splice(MAX_RETIRED));
      this.#retired.splice(MAX_RETIRED);
      return next;
    });
    // A concurrent rotation retires this key.
    this.#current = rotated;
    return rotated;
  }

  /** The JSON Web Key Set (RFC 7517 §5). */
  async jwks(): Promise<{ keys: SigningKey['jwk'][] }> {
    return { keys: [await this.current(), ...this.#previous].map(({ jwk }) => jwk) };
  }

  /** The claims of a JWT that one of the keys signed, published or not. */
  async verify(jwt: string): Promise<Record<string, unknown> | undefined> {
    const [header = '', payload = '', signature = '', ...rest] = jwt.split('.');
    if (rest.length > 0) return undefined;
    try {
      const { kid } = parseJson(header);
      const keys = [await this.current(), ...this.#previous, ...this.#retired];
      const key = keys.find((candidate) => candidate.kid === kid);
      if (key === undefined) return undefined;
      const bytes = Buffer.from(signature, 'base64url');
      const isValid = verify('sha256', Buffer.from(`${header}.${payload}`), signOptions(key.alg, key.publicKey), bytes);
      return isValid ? parseJson(payload) : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Signs claims as a JWT (RFC 7515 §3.1). Signatures are computed on other threads, so that all cores are used. */
export async function signJwt(key: SigningKey, header: object, claims: object): Promise<string> {
  const data = `${encodeJson(header)}.${encodeJson(claims)}`;
  const signature = await signAsync('sha256', Buffer.from(data), signOptions(key.alg, key.privateKey));
  return `${data}.${signature.toString('base64url')}`;
}

function signOptions(alg: SigningAlgorithm, key: KeyObject) {
  if (alg === 'ES256') return { key, dsaEncoding: 'ieee-p1363' as const };
  // RSASSA-PSS with a salt as long as the hash (RFC 7518 §3.5).
  return alg === 'PS256' ? { key, padding: 6, saltLength: 32 } : { key, padding: 1 };
}

const processKeys = new Map<SigningAlgorithm, Promise<SigningKey>>();

/**
 * Generating an RSA key takes up to a second, and much longer on a busy machine, so the emulators of a process share one. Token ids tell their tokens
 * apart. `OAUTH_PROFILE_EMULATOR_KEY` replaces it, for programs that start many emulators.
 */
function processKey(alg: SigningAlgorithm): Promise<SigningKey> {
  const given = process.env['OAUTH_PROFILE_EMULATOR_KEY'];
  const create = async (): Promise<SigningKey> => (given && alg !== 'ES256' ? importKey(given, alg) : generateKey(alg));
  const key = processKeys.get(alg) ?? create();
  processKeys.set(alg, key);
  return key;
}

async function generateKey(alg: SigningAlgorithm): Promise<SigningKey> {
  const { privateKey } =
    alg === 'ES256' ? await generate('ec', { namedCurve: 'P-256' }) : await generate('rsa', { modulusLength: 2048 });
  return describeKey(privateKey, alg);
}

/** Reads a private key from a PEM or JWK. */
function importKey(pem: string, alg: SigningAlgorithm | undefined): SigningKey {
  const { key, kid } = readPrivateKey(pem);
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = key;
  const isP256 = type === 'ec' && details.namedCurve === 'prime256v1';
  if (!isP256 && (type !== 'rsa' || (details.modulusLength ?? 0) < 2048))
    throw new ConfigError('the signing key must be RSA with 2048 bits or more, or EC on the curve P-256');
  const natural = isP256 ? 'ES256' : 'RS256';
  if (alg !== undefined && (alg === 'ES256') !== isP256) throw new ConfigError(`the signing key does not fit ${alg}`);
  return describeKey(key, alg ?? natural, kid);
}

function readPrivateKey(pem: string): { key: KeyObject; kid?: string } {
  try {
    const jwk = pem.trimStart().startsWith('{') ? JSON.parse(pem) : undefined;
    return { key: createPrivateKey(jwk === undefined ? pem : { key: jwk, format: 'jwk' }), kid: jwk?.kid };
  } catch {
    // The cause could contain a part of the key.
    throw new ConfigError('the signing key is neither an unencrypted PEM private key nor a private JWK');
  }
}

function describeKey(privateKey: KeyObject, alg: SigningAlgorithm, kid?: string): SigningKey {
  const publicKey = createPublicKey(privateKey);
  const { kty, n, e, crv, x, y } = publicKey.export({ format: 'jwk' });
  const members = kty === 'EC' ? { crv, kty, x, y } : { e, kty, n };
  const id = kid ?? createHash('sha256').update(JSON.stringify(members)).digest('base64url');
  return { alg, kid: id, privateKey, publicKey, jwk: { ...members, use: 'sig', alg, kid: id } };
}

function encodeJson(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function parseJson(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}
