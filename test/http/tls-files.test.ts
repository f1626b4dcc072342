import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { InvalidProfileError } from '../../src/errors.ts';
import { checkTlsFiles } from '../../src/http/tls.ts';
import { Authority } from '../support/certificates.ts';
import { noTls } from '../support/ports.ts';

const authority = new Authority();
const ca = authority.ca.cert;
const { cert, key } = authority.issue({ name: 'client', usage: 'clientAuth' });
const other = authority.issue({ name: 'other', usage: 'clientAuth' });
const encrypted = createPrivateKey(key)
  .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'secret' })
  .toString();
const ed25519 = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

describe('a usable TLS file', () => {
  it.each([
    ['no files', noTls],
    ['a CA certificate', { ...noTls, ca }],
    ['several certificates with comments', { ...noTls, ca: `# one\n${ca}\n# two\n${cert}` }],
    ['a CA certificate with CRLF line ends', { ...noTls, ca: ca.replaceAll('\n', '\r\n') }],
    ['a certificate and its key', { ca: undefined, cert, certKey: key }],
    ['both in one file', { ca, cert: key + cert, certKey: undefined }],
    ['a certificate with its intermediate certificate', { ca, cert: cert + ca, certKey: key }],
  ])('is accepted: %s', (_what, files) => {
    expect(() => checkTlsFiles('svc', files)).not.toThrow();
  });
});

describe('an unusable TLS file', () => {
  it.each([
    ['ca_file', 'that is not PEM', { ...noTls, ca: 'not a certificate' }],
    ['ca_file', 'that is empty', { ...noTls, ca: '' }],
    ['ca_file', 'that is a key', { ...noTls, ca: key }],
    ['ca_file', 'with a damaged certificate', { ...noTls, ca: ca.replace(/^MII.{20}/m, 'MII') }],
    ['ca_file', 'with a damaged certificate after a good one', { ...noTls, ca: ca + ca.replace(/^MII.{20}/m, 'MII') }],
    [
      'ca_file',
      'with an empty certificate',
      { ...noTls, ca: '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----' },
    ],
    ['cert_file', 'that is not PEM', { ca, cert: 'not a certificate', certKey: key }],
    ['cert_file', 'that is a key', { ca, cert: key, certKey: undefined }],
    ['cert_key_file', 'that is not PEM', { ca, cert, certKey: 'not a key' }],
    ['cert_key_file', 'of another certificate', { ca, cert, certKey: other.key }],
    ['cert_key_file', 'of another type', { ca, cert, certKey: ed25519 }],
    ['cert_key_file', 'that is encrypted', { ca, cert, certKey: encrypted }],
    ['cert_key_file', 'that is not in the file of the certificate', { ca, cert, certKey: undefined }],
  ])('is named in the error, without its content: %s %s', (option, _what, files) => {
    const error = (() => {
      try {
        checkTlsFiles('svc', files);
      } catch (thrown) {
        return thrown;
      }
      return undefined;
    })();
    expect(error).toBeInstanceOf(InvalidProfileError);
    expect((error as InvalidProfileError).issues).toEqual([
      {
        variable: `svc.options.${option}`,
        message: expect.stringMatching(/\([\w ]+\)$/),
        hint: expect.stringContaining('PEM'),
      },
    ]);
    const shown = inspect(error, { depth: 9, showHidden: true });
    for (const pem of [key, other.key, encrypted]) expect(shown).not.toContain(pem.split('\n')[1]);
  });
});
