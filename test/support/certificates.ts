import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import {
  bits,
  explicit,
  integer,
  objectId,
  octets,
  sequence,
  set,
  tagged,
  time,
  truth,
  utf8,
} from '../../src/certificates/der.ts';

/** A certificate with its key, as PEM. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

interface CertificateProperties {
  readonly name: string;
  /** In OpenSSL's notation: `DNS:localhost,IP:127.0.0.1`. */
  readonly hosts?: string;
  readonly usage?: 'serverAuth' | 'clientAuth';
  /** Start and end of the validity in days from now. Default: yesterday to 30 days from now. */
  readonly days?: readonly [from: number, to: number];
  /** Whether the key is RSA. Default: P-256. */
  readonly isRsa?: boolean;
}

const DAY_MS = 86_400_000;
const usages = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' };
const algorithm = sequence(objectId('1.2.840.10045.4.3.2'));

/** A certificate authority with a temporary directory, which is removed after the test file. */
export class Authority {
  readonly directory = mkdtempSync(join(tmpdir(), 'oauth-profile-ca-'));
  readonly ca: Pair;
  readonly #key: KeyObject;
  readonly #name: Buffer;

  constructor(name = 'Test CA') {
    afterAll(() => rmSync(this.directory, { recursive: true, force: true }));
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#key = privateKey;
    this.#name = commonName(name);
    const constraints = sequence(objectId('2.5.29.19'), truth(), octets(sequence(truth())));
    this.ca = { cert: this.#certify(this.#name, publicKey, [constraints], [-1, 30]), key: pkcs8(privateKey) };
    this.file('ca.pem', this.ca.cert);
  }

  /** Issues a certificate. */
  issue({ name, hosts, usage = 'serverAuth', days = [-1, 30], isRsa }: CertificateProperties): Pair {
    const { privateKey, publicKey } = isRsa
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const extensions = [sequence(objectId('2.5.29.37'), octets(sequence(objectId(usages[usage]))))];
    if (hosts !== undefined) {
      const names = hosts.split(',').map((host) => {
        const value = host.slice(host.indexOf(':') + 1);
        return host.startsWith('IP:')
          ? tagged(0x87, Buffer.from(value.split('.').map(Number)))
          : tagged(0x82, Buffer.from(value));
      });
      extensions.push(sequence(objectId('2.5.29.17'), octets(sequence(...names))));
    }
    return { cert: this.#certify(commonName(name), publicKey, extensions, days), key: pkcs8(privateKey) };
  }

  /** Writes a file into the directory and returns its path. */
  file(name: string, content: string): string {
    const path = join(this.directory, name);
    writeFileSync(path, content);
    return path;
  }

  get caFile(): string {
    return join(this.directory, 'ca.pem');
  }

  #certify(
    subject: Buffer,
    key: KeyObject,
    extensions: readonly Buffer[],
    [from, to]: readonly [number, number],
  ): string {
    const body = sequence(
      explicit(0, integer(Buffer.from([2]))),
      integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
      algorithm,
      this.#name,
      sequence(time(Date.now() + from * DAY_MS), time(Date.now() + to * DAY_MS)),
      subject,
      key.export({ type: 'spki', format: 'der' }),
      explicit(3, sequence(...extensions)),
    );
    const der = sequence(body, algorithm, bits(sign('sha256', body, this.#key)));
    return `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`;
  }
}

function commonName(text: string): Buffer {
  return sequence(set(sequence(objectId('2.5.4.3'), utf8(text))));
}

function pkcs8(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Names of local test servers; only test proxies resolve the last one. */
export const SERVER_NAMES = 'DNS:localhost,IP:127.0.0.1,DNS:login.example.test';
