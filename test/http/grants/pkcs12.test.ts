import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { integer, objectId, octets, sequence, set, tagged } from '../../../src/certificates/der.ts';
import { signAssertion } from '../../../src/http/client-assertion.ts';
import { readPkcs12 } from '../../../src/http/grants/pkcs12.ts';
import { LoadedFile } from '../../../src/profile/profile.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { Authority } from '../../support/certificates.ts';
import { errorOf } from '../../support/errors.ts';
import { bounds } from '../../support/ports.ts';

const DATA = '1.2.840.113549.1.7.1';
const SHA1_3DES = '1.2.840.113549.1.12.1.3';
const TOO_MANY = 'the file requires more than 3000000 iterations';
const PASSPHRASE = 'c4n4ry pässphräse 🔑';
const authority = new Authority();
const robot = authority.issue({ name: 'robot', usage: 'clientAuth' });
const other = authority.issue({ name: 'other', usage: 'clientAuth' });
authority.file('robot.pem', robot.key + robot.cert);
authority.file('robot.cer', robot.cert);

/** The file that `openssl pkcs12 -export` writes. */
function exportFile(options: string, passphrase = PASSPHRASE): Buffer {
  const args = ['pkcs12', '-export', '-in', 'robot.pem', '-passout', 'env:PASS', '-out', 'robot.pfx'];
  const env = { ...process.env, PASS: passphrase, LC_ALL: 'C.UTF-8' };
  const more = options.split(' ').filter(Boolean);
  execFileSync('openssl', [...args, ...more], { cwd: authority.directory, env, stdio: 'pipe' });
  return readFileSync(join(authority.directory, 'robot.pfx'));
}

const standard = exportFile('');

/** The key and the certificates in PEM, in a form that can be compared. */
function contentOf(pem: string) {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return {
    key: createPrivateKey(pem).export({ format: 'jwk' }),
    certificates: certificates.map((one) => new X509Certificate(one).fingerprint256).sort(),
  };
}

const TRIPLE_DES = '-keypbe PBE-SHA1-3DES -certpbe PBE-SHA1-3DES -macalg sha1';
const aes = (bits: number) => `-keypbe AES-${bits}-CBC -certpbe AES-${bits}-CBC`;

describe('readPkcs12()', () => {
  it.each([
    ['the default of OpenSSL', ''],
    ['Triple DES, as in exports of Windows', TRIPLE_DES],
    ['AES-128 and a MAC with SHA-384', `${aes(128)} -macalg sha384`],
    ['AES-192 and a MAC with SHA-512', `${aes(192)} -macalg sha512`],
    ['many iterations', `${aes(256)} -iter 100000`],
    ['one iteration', '-noiter -nomaciter'],
    ['no MAC', '-nomac'],
    ['no encryption', '-keypbe NONE -certpbe NONE'],
    ['Triple DES and no MAC', `${TRIPLE_DES} -nomac`],
  ])('reads a file with %s', async (_, options) => {
    expect(contentOf(await readPkcs12(exportFile(options), PASSPHRASE))).toEqual(contentOf(robot.key + robot.cert));
  });

  it.each(['', TRIPLE_DES, '-nomac', '-keypbe NONE -certpbe NONE -nomac'])(
    'reads a file with an empty passphrase (%s)',
    async (options) => {
      expect(contentOf(await readPkcs12(exportFile(options, ''), ''))).toEqual(contentOf(robot.key + robot.cert));
    },
  );

  it('reads all certificates', async () => {
    const pem = await readPkcs12(exportFile('-certfile ca.pem'), PASSPHRASE);
    expect(contentOf(pem)).toEqual(contentOf(robot.key + robot.cert + authority.ca.cert));
  });

  it('reads indefinite lengths and strings in parts', async () => {
    const [key, cert] = [der(robot.key), der(robot.cert)];
    const safe = sequence(keyBag(key), certBag(cert));
    const parts = indefinite(0x24, octets(safe.subarray(0, 50)), octets(safe.subarray(50)));
    const info = indefinite(0x30, objectId(DATA), indefinite(0xa0, parts));
    const content = octets(indefinite(0x30, info));
    const file = indefinite(0x30, integer(Buffer.from([3])), sequence(objectId(DATA), tagged(0xa0, content)));
    expect(contentOf(await readPkcs12(file, ''))).toEqual(contentOf(robot.key + robot.cert));
  });

  it('chooses the key of the certificate among several', async () => {
    const [first, second] = [der(other.key), der(robot.key)];
    const cert = certBag(der(robot.cert), 2);
    const file = pfx(keyBag(first, 1), keyBag(second, 2), cert);
    expect(contentOf(await readPkcs12(file, ''))).toEqual(contentOf(robot.key + robot.cert));
    const several = { code: 'the file contains several private keys' };
    await expect(readPkcs12(pfx(keyBag(first), keyBag(second), cert), '')).rejects.toMatchObject(several);
    await expect(readPkcs12(pfx(keyBag(first, 2), keyBag(second, 2), cert), '')).rejects.toMatchObject(several);
  });

  it.each<[string, () => Buffer, string, string]>([
    ['another passphrase', () => standard, 'wrong', 'the passphrase is wrong'],
    ['no passphrase', () => standard, '', 'the passphrase is missing'],
    ['no key', () => exportFile('-nokeys -in robot.cer'), PASSPHRASE, 'the file contains no private key'],
    ['a truncated file', () => standard.subarray(0, -1), PASSPHRASE, 'the file is damaged'],
    ['an empty file', () => Buffer.alloc(0), PASSPHRASE, 'the file is damaged'],
    ['a DER file of another kind', () => der(robot.cert), PASSPHRASE, 'the file is damaged'],
    ['endless nesting', () => Buffer.alloc(100_000, Buffer.from([0x30, 0x80])), '', 'the file is damaged'],
    [
      'RC2',
      () => pfx(shroudedBag('1.2.840.113549.1.12.1.6', 1)),
      '',
      'the file has an unsupported encryption, such as RC2',
    ],
    ['unknown encryption', () => pfx(shroudedBag('1.2.3', 1)), '', 'the file has an unsupported encryption'],
    ['no iterations', () => pfx(shroudedBag(SHA1_3DES, 0)), '', 'the file is damaged'],
    ['too many iterations', () => pfx(shroudedBag(SHA1_3DES, 3_000_001)), '', TOO_MANY],
    // The key consists of two parts, each of which requires all iterations.
    ['too many iterations together', () => pfx(shroudedBag(SHA1_3DES, 1_500_001)), '', TOO_MANY],
  ])('rejects %s', async (_, file, passphrase, code) => {
    await expect(readPkcs12(file(), passphrase)).rejects.toMatchObject({ code, hint: expect.stringMatching(/./) });
  });

  it('rejects a file without a MAC if the passphrase is wrong', async () => {
    await expect(readPkcs12(exportFile('-nomac'), 'wrong')).rejects.toHaveProperty('hint');
  });

  it('rejects or reads any damaged file, and always ends', async () => {
    const plain = pfx(keyBag(der(robot.key), 1), certBag(der(robot.cert), 1));
    const edit = fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(255));
    const seeds = fc.constantFrom(standard, plain, exportFile(TRIPLE_DES), exportFile('-nomac'));
    await fc.assert(
      fc.asyncProperty(seeds, fc.array(edit, { minLength: 1, maxLength: 4 }), fc.nat(3), async (seed, edits, cut) => {
        const file = Buffer.from(cut === 0 ? seed.subarray(0, seed.length * (edits[0]?.[0] ?? 0)) : seed);
        // The first bytes are the structure, and the last ones the MAC.
        for (const [place, byte] of edits) file[Math.floor(place ** 2 * file.length)] = byte;
        const result = await readPkcs12(file, PASSPHRASE).catch((error: unknown) => error);
        if (typeof result === 'string') expect(result).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
        else expect(result).toMatchObject({ code: expect.any(String), hint: expect.any(String) });
      }),
      { numRuns: 300, seed: 7 },
    );
    // A changed number of iterations may take long.
  }, 60_000);
});

describe('signAssertion() with a PKCS #12 file', () => {
  const sign = async (key: LoadedFile) => {
    const spec = {
      clientId: 'me',
      audience: 'https://login.example.test/',
      keyId: undefined,
      rsaAlgorithm: 'PS256' as const,
    };
    return (await signAssertion({ ...spec, key, sendsCertificate: true }, 'svc', bounds())).reveal();
  };
  const load = (file: Buffer, passphrase?: string) =>
    new LoadedFile('robot.pfx', file.toString('base64'), passphrase === undefined ? undefined : new Secret(passphrase));

  it('has the same header as with the PEM file', async () => {
    const header = decodeProtectedHeader(
      await sign(new LoadedFile('robot.pem', robot.key + robot.cert + authority.ca.cert)),
    );
    expect(header).toMatchObject({ 'x5t#S256': expect.any(String), x5c: [expect.any(String), expect.any(String)] });
    const file = exportFile('-certfile ca.pem');
    expect(decodeProtectedHeader(await sign(load(file, PASSPHRASE)))).toEqual(header);
  });

  it('reports a wrong passphrase without quoting it', async () => {
    const error = await errorOf(sign(load(standard, 'wr0ng-c4n4ry')));
    expect(error).toMatchObject({ code: 'profile_invalid', issues: [{ variable: 'svc.options.key_file' }] });
    expect(JSON.stringify(error)).toContain('key_passphrase');
    expect(JSON.stringify(error)).not.toContain('wr0ng');
  });
});

function der(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
}

function indefinite(tag: number, ...contents: Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([tag, 0x80]), ...contents, Buffer.alloc(2)]);
}

/** A bag with a local key ID. */
function bag(type: number, value: Buffer, id?: number): Buffer {
  const key = objectId('1.2.840.113549.1.9.21');
  const attributes = id === undefined ? [] : [set(sequence(key, set(octets(Buffer.from([id])))))];
  return sequence(objectId(`1.2.840.113549.1.12.10.1.${type}`), tagged(0xa0, value), ...attributes);
}

const keyBag = (key: Buffer, id?: number) => bag(1, key, id);

function certBag(cert: Buffer, id?: number): Buffer {
  return bag(3, sequence(objectId('1.2.840.113549.1.9.22.1'), tagged(0xa0, octets(cert))), id);
}

/** A key that is encrypted with an algorithm that has a salt and iterations. */
function shroudedBag(algorithm: string, iterations: number): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(iterations);
  const parameters = sequence(octets(Buffer.alloc(8)), integer(count));
  return bag(2, sequence(sequence(objectId(algorithm), parameters), octets(Buffer.alloc(16))));
}

/** A file without a MAC. */
function pfx(...bags: Buffer[]): Buffer {
  const info = sequence(objectId(DATA), tagged(0xa0, octets(sequence(...bags))));
  return sequence(integer(Buffer.from([3])), sequence(objectId(DATA), tagged(0xa0, octets(sequence(info)))));
}
