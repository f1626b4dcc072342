import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { bits, explicit, integer, objectId, octets, sequence, set, tagged, time, truth, utf8 } from './der.ts';

const DAY_MS = 86_400_000;
const ecdsaWithSha256 = sequence(objectId('1.2.840.10045.4.3.2'));

/** A temporary certificate authority. Its key exists in memory only. */
export class CertificateAuthority {
  readonly #key: KeyObject;
  readonly #leafKey: KeyObject;
  readonly #leafPublic: Buffer;
  readonly #name: Buffer;
  readonly #keyId: Buffer;
  readonly #now: number;
  /** The CA certificate, PEM. */
  readonly certificate: string;
  /** The private key of all issued certificates, PEM. */
  readonly leafKeyPem: string;

  /** `name` is the common name of the authority. */
  constructor(name: string) {
    const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#key = own.privateKey;
    this.#leafKey = leaf.privateKey;
    this.#leafPublic = leaf.publicKey.export({ type: 'spki', format: 'der' });
    const publicKey = own.publicKey.export({ type: 'spki', format: 'der' });
    this.#name = commonName(name);
    // RFC 7093 §2.
    this.#keyId = createHash('sha256').update(publicKey).digest().subarray(0, 20);
    this.#now = Date.now();
    this.leafKeyPem = String(this.#leafKey.export({ type: 'pkcs8', format: 'pem' }));
    const extensions = [
      critical('2.5.29.19', sequence(truth())),
      // keyCertSign
      critical('2.5.29.15', bits(Buffer.from([0x04]), 2)),
      extension('2.5.29.14', octets(this.#keyId)),
    ];
    this.certificate = this.#make(this.#name, publicKey, extensions);
  }

  /** Issues a certificate for these host names and IP addresses, PEM. */
  issue(hosts: readonly string[]): string {
    const names = hosts.map((host) =>
      isIP(host) === 0 ? tagged(0x82, Buffer.from(host)) : tagged(0x87, ipBytes(host)),
    );
    const extensions = [
      extension('2.5.29.17', sequence(...names)),
      // serverAuth
      extension('2.5.29.37', sequence(objectId('1.3.6.1.5.5.7.3.1'))),
      // Python 3.13 and later require the key id of the issuer (VERIFY_X509_STRICT).
      extension('2.5.29.35', sequence(tagged(0x80, this.#keyId))),
    ];
    return this.#make(commonName(hosts[0] ?? 'localhost'), this.#leafPublic, extensions);
  }

  #make(subject: Buffer, publicKey: Buffer, extensions: readonly Buffer[]): string {
    const body = sequence(
      explicit(0, integer(Buffer.from([2]))),
      integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      ecdsaWithSha256,
      this.#name,
      sequence(time(this.#now - DAY_MS), time(this.#now + 30 * DAY_MS)),
      subject,
      publicKey,
      explicit(3, sequence(...extensions)),
    );
    const der = sequence(body, ecdsaWithSha256, bits(sign('sha256', body, this.#key)));
    const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
  }
}

function commonName(text: string): Buffer {
  return sequence(set(sequence(objectId('2.5.4.3'), utf8(text.slice(0, 64)))));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), octets(value));
}

function critical(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), truth(), octets(value));
}

function ipBytes(ip: string): Buffer {
  if (isIP(ip) === 4) return Buffer.from(ip.split('.').map(Number));
  const [head = '', tail] = ip.split('::');
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [left, right] = [parse(head), parse(tail ?? '')];
  const groups = [...left, ...Array(8 - left.length - right.length).fill(0), ...right];
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 255]));
}
