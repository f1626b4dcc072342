import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { InvalidProfileError } from '../../src/errors.ts';
import { checkTlsFiles } from '../../src/http/tls.ts';
import { Authority } from '../support/certificates.ts';
import { noTls } from '../support/wire-request.ts';

const authority = new Authority();
const ca = authority.ca.cert;
const { cert, key } = authority.issue({ name: 'client', usage: 'clientAuth' });
const other = authority.issue({ name: 'other', usage: 'clientAuth' });
const encrypted = createPrivateKey(key)
  .export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'secret' })
  .toString();
const ed25519 = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

describe('files that can be used', () => {
  it.each([
    ['none', noTls],
    ['an authority', { ...noTls, ca }],
    ['several authorities with words around', { ...noTls, ca: `# one\n${ca}\n# two\n${cert}` }],
    ['an authority with other line ends', { ...noTls, ca: ca.replaceAll('\n', '\r\n') }],
    ['a certificate and its key', { ca: undefined, cert, certKey: key }],
    ['both in one file', { ca, cert: key + cert, certKey: undefined }],
    ['a certificate with its chain', { ca, cert: cert + ca, certKey: key }],
  ])('pass: %s', (_what, files) => {
    expect(() => checkTlsFiles('svc', files)).not.toThrow();
  });
});

describe('files that cannot be used', () => {
  it.each([
    ['ca_file', 'of words', { ...noTls, ca: 'no certificate at all' }],
    ['ca_file', 'that is empty', { ...noTls, ca: '' }],
    ['ca_file', 'with a key', { ...noTls, ca: key }],
    ['ca_file', 'with a damaged certificate', { ...noTls, ca: ca.replace(/^MII.{20}/m, 'MII') }],
    ['ca_file', 'with a damaged certificate after a good one', { ...noTls, ca: ca + ca.replace(/^MII.{20}/m, 'MII') }],
    [
      'ca_file',
      'with an empty certificate',
      { ...noTls, ca: '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----' },
    ],
    ['cert_file', 'of words', { ca, cert: 'no certificate at all', certKey: key }],
    ['cert_file', 'with a key', { ca, cert: key, certKey: undefined }],
    ['cert_key_file', 'of words', { ca, cert, certKey: 'no key at all' }],
    ['cert_key_file', 'of another certificate', { ca, cert, certKey: other.key }],
    ['cert_key_file', 'of another kind', { ca, cert, certKey: ed25519 }],
    ['cert_key_file', 'that is encrypted', { ca, cert, certKey: encrypted }],
    ['cert_key_file', 'that is missing in a file for both', { ca, cert, certKey: undefined }],
  ])('are named and not quoted: %s %s', (option, _what, files) => {
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
        message: expect.stringMatching(/^names a file that cannot be used \([\w ]+\)$/),
        hint: expect.stringContaining('PEM'),
      },
    ]);
    const shown = inspect(error, { depth: 9, showHidden: true });
    for (const pem of [key, other.key, encrypted]) expect(shown).not.toContain(pem.split('\n')[1]);
  });
});
