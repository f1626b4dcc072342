import { createDecipheriv, createHash, createHmac, pbkdf2 } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type BerValue, bytesOf, hexOf, memberAt, numberOf, parseBer } from './ber.ts';

/** Iterations of all key derivations of one file: up to 10 seconds. Programs use 2,000 to 600,000 for each of three or four. */
const MAX_ITERATIONS = 3_000_000;
/** Iterations after which timers may run. */
const BATCH = 20_000;

const CONVERT = 'convert the file: openssl pkcs12 -legacy -in FILE -nodes -out key.pem';
const EXPORT = 'export the certificate again, with its private key and no other';
/** `{profile}` is replaced with the name of the profile. */
const PASSPHRASE = 'set {profile}.options.key_passphrase to the passphrase of the file, such as ${env:KEY_PASSPHRASE}';

/** `code` quotes nothing from the file, so that messages may contain it. */
class Pkcs12Error extends Error {
  constructor(
    readonly code: string,
    readonly hint: string,
  ) {
    super(code);
  }
}

// Object identifiers, as the hex of their encoding.
const PKCS = '2a864886f70d01';
const AES = '6086480165030401';
const DATA = `${PKCS}0701`;
const ENCRYPTED_DATA = `${PKCS}0706`;
const PBES2 = `${PKCS}050d`;
const PBKDF2 = `${PKCS}050c`;
/** Encryption with a key from SHA-1. The next byte is 3 for Triple DES; the others are mostly RC2, which OpenSSL 3 does not have. */
const PBE_SHA1 = `${PKCS}0c01`;
const KEY_BAG = `${PKCS}0c0a0101`;
const SHROUDED_KEY_BAG = `${PKCS}0c0a0102`;
const CERT_BAG = `${PKCS}0c0a0103`;
const X509_CERTIFICATE = `${PKCS}091601`;
const LOCAL_KEY_ID = `${PKCS}0915`;
const hashes = new Map([
  ['2b0e03021a', { name: 'sha1', length: 20, block: 64 }],
  ['608648016503040201', { name: 'sha256', length: 32, block: 64 }],
  ['608648016503040202', { name: 'sha384', length: 48, block: 128 }],
  ['608648016503040203', { name: 'sha512', length: 64, block: 128 }],
]);
const hmacs = new Map([
  ['2a864886f70d0207', 'sha1'],
  ['2a864886f70d0209', 'sha256'],
  ['2a864886f70d020a', 'sha384'],
  ['2a864886f70d020b', 'sha512'],
]);
const ciphers = new Map([
  [`${AES}02`, { name: 'aes-128-cbc', keyLength: 16 }],
  [`${AES}16`, { name: 'aes-192-cbc', keyLength: 24 }],
  [`${AES}2a`, { name: 'aes-256-cbc', keyLength: 32 }],
]);

/** A passphrase in the encodings of PBKDF2 and of PKCS #12, and the iterations that may still be used. */
interface Passphrase {
  readonly utf8: string;
  readonly utf16: Buffer;
  iterationsLeft: number;
}

/** Returns the private key and the certificates of a PKCS #12 file (RFC 7292) as PEM. Errors have a `code` and a `hint`. */
export async function readPkcs12(file: Buffer, passphrase: string): Promise<string> {
  try {
    return await readFile(file, passphrase);
  } catch (error) {
    if (error instanceof Pkcs12Error) throw error;
    throw new Pkcs12Error('the file is damaged', EXPORT);
  }
}

async function readFile(file: Buffer, passphrase: string): Promise<string> {
  const pfx = parseBer(file);
  const content = bytesOf(memberAt(pfx, 1, 1, 0));
  const secret = await verifyMac(pfx.items[2], content, passphrase);
  const keys: { der: Buffer; id: string | undefined }[] = [];
  const certificates: typeof keys = [];
  for (const info of parseBer(content).items) {
    const value = memberAt(info, 1, 0);
    const type = hexOf(memberAt(info, 0));
    if (type !== DATA && type !== ENCRYPTED_DATA) throw unsupported('encryption');
    const safe = type === DATA ? bytesOf(value) : await decrypt(secret, memberAt(value, 1, 1), memberAt(value, 1, 2));
    for (const bag of parseBer(safe).items) {
      const kind = hexOf(memberAt(bag, 0));
      const item = memberAt(bag, 1, 0);
      const attribute = bag.items[2]?.items.find((one) => hexOf(memberAt(one, 0)) === LOCAL_KEY_ID);
      const id = attribute && hexOf(memberAt(attribute, 1, 0));
      if (kind === KEY_BAG) keys.push({ der: item.raw, id });
      if (kind === SHROUDED_KEY_BAG)
        keys.push({ der: await decrypt(secret, memberAt(item, 0), memberAt(item, 1)), id });
      if (kind === CERT_BAG && hexOf(memberAt(item, 0)) === X509_CERTIFICATE)
        certificates.push({ der: bytesOf(memberAt(item, 1, 0)), id });
    }
  }
  if (keys.length === 0) throw new Pkcs12Error('the file contains no private key', EXPORT);
  const ids = new Set(certificates.map(({ id }) => id));
  const [key, ...others] = keys.length === 1 ? keys : keys.filter(({ id }) => id !== undefined && ids.has(id));
  if (key === undefined || others.length > 0) throw new Pkcs12Error('the file contains several private keys', EXPORT);
  return [toPem('PRIVATE KEY', key.der), ...certificates.map(({ der }) => toPem('CERTIFICATE', der))].join('');
}

function toPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** Finds the encoding of the passphrase with which the MAC is valid. A file without a MAC is as trustworthy as a PEM file. */
async function verifyMac(macData: BerValue | undefined, content: Buffer, utf8: string): Promise<Passphrase> {
  const utf16 = Buffer.from(`${utf8}\0`, 'utf16le').swap16();
  const secret = { utf8, utf16, iterationsLeft: MAX_ITERATIONS };
  if (macData === undefined) return secret;
  const hash = hashes.get(hexOf(memberAt(macData, 0, 0, 0)));
  if (hash === undefined) throw unsupported('MAC');
  const salt = bytesOf(memberAt(macData, 1));
  const iterations = macData.items[2] === undefined ? 1 : numberOf(macData.items[2]);
  // An empty passphrase is a zero character, but nothing at all for some programs.
  for (const candidate of utf8 === '' ? [utf16, Buffer.alloc(0)] : [utf16]) {
    const found = { ...secret, utf16: candidate };
    const key = await deriveKey(found, 3, hash, salt, iterations, hash.length);
    const mac = createHmac(hash.name, key).update(content).digest();
    if (mac.equals(bytesOf(memberAt(macData, 0, 1)))) return found;
  }
  throw new Pkcs12Error(`the passphrase is ${utf8 === '' ? 'missing' : 'wrong'}`, PASSPHRASE);
}

async function decrypt(secret: Passphrase, algorithm: BerValue, data: BerValue): Promise<Buffer> {
  const { name, key, iv } = await deriveCipher(secret, hexOf(memberAt(algorithm, 0)), memberAt(algorithm, 1));
  try {
    const decipher = createDecipheriv(name, key, iv);
    return Buffer.concat([decipher.update(bytesOf(data)), decipher.final()]);
  } catch {
    throw new Pkcs12Error('the passphrase is wrong, or the file is damaged', PASSPHRASE);
  }
}

async function deriveCipher(secret: Passphrase, type: string, parameters: BerValue) {
  if (type === `${PBE_SHA1}03`) {
    const sha1 = { name: 'sha1', length: 20, block: 64 };
    const salt = bytesOf(memberAt(parameters, 0));
    const iterations = numberOf(memberAt(parameters, 1));
    const key = await deriveKey(secret, 1, sha1, salt, iterations, 24);
    return { name: 'des-ede3-cbc', key, iv: await deriveKey(secret, 2, sha1, salt, iterations, 8) };
  }
  if (type !== PBES2) throw unsupported(type.startsWith(PBE_SHA1) ? 'encryption, such as RC2' : 'encryption');
  // RFC 8018 appendix A: salt, iterations, optional key length, optional pseudorandom function.
  const [kdf, scheme] = [memberAt(parameters, 0), memberAt(parameters, 1)];
  const prf = memberAt(kdf, 1).items.find(({ items }) => items.length > 0);
  const hash = prf === undefined ? 'sha1' : hmacs.get(hexOf(memberAt(prf, 0)));
  const cipher = ciphers.get(hexOf(memberAt(scheme, 0)));
  if (hexOf(memberAt(kdf, 0)) !== PBKDF2 || hash === undefined || cipher === undefined) throw unsupported('encryption');
  const iterations = numberOf(memberAt(kdf, 1, 1));
  spendIterations(secret, iterations);
  const salt = bytesOf(memberAt(kdf, 1, 0));
  const key = await promisify(pbkdf2)(secret.utf8, salt, iterations, cipher.keyLength, hash);
  return { name: cipher.name, key, iv: bytesOf(memberAt(scheme, 1)) };
}

/** RFC 7292 appendix B.2. `purpose` is 1 for a key, 2 for an initialization vector and 3 for a MAC. */
async function deriveKey(
  secret: Passphrase,
  purpose: number,
  hash: { readonly name: string; readonly length: number; readonly block: number },
  salt: Buffer,
  iterations: number,
  length: number,
): Promise<Buffer> {
  const { name, block } = hash;
  spendIterations(secret, iterations * Math.ceil(length / hash.length));
  const fill = (bytes: Buffer) => Buffer.alloc(Math.ceil(bytes.length / block) * block, bytes);
  const input = Buffer.concat([fill(salt), fill(secret.utf16)]);
  let result = Buffer.alloc(0);
  while (result.length < length) {
    let digest = createHash(name).update(Buffer.alloc(block, purpose)).update(input).digest();
    for (let done = 1; done < iterations; done += 1) {
      digest = createHash(name).update(digest).digest();
      if (done % BATCH === 0) await setImmediate();
    }
    result = Buffer.concat([result, digest]);
    const addend = Buffer.alloc(block, digest);
    // Each block of the input, as a number, is increased by the addend and 1.
    for (let start = 0; start < input.length; start += block) {
      for (let index = block - 1, carry = 1; index >= 0; index -= 1, carry >>= 8) {
        carry += (input[start + index] ?? 0) + (addend[index] ?? 0);
        input[start + index] = carry;
      }
    }
  }
  return result.subarray(0, length);
}

function spendIterations(secret: Passphrase, iterations: number): void {
  secret.iterationsLeft -= iterations;
  if (iterations < 1) throw new RangeError('no iterations');
  if (secret.iterationsLeft < 0)
    throw new Pkcs12Error(`the file requires more than ${MAX_ITERATIONS} iterations`, CONVERT);
}

function unsupported(what: string): Pkcs12Error {
  return new Pkcs12Error(`the file has an unsupported ${what}`, CONVERT);
}
