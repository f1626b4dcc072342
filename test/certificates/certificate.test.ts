import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CertificateAuthority } from '../../src/certificates/certificate.ts';
import { createTestDirectory } from '../support/directory.ts';

test('OpenSSL accepts an issued certificate with its strict checks', () => {
  const directory = createTestDirectory();
  const authority = new CertificateAuthority('a temporary CA');
  const [ca, leaf] = [join(directory, 'ca.pem'), join(directory, 'leaf.pem')];
  writeFileSync(ca, authority.certificate);
  writeFileSync(leaf, authority.issue(['api.example.test', '127.0.0.1', '::1']));
  const args = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca, leaf];
  expect(execFileSync('openssl', args, { encoding: 'utf8' })).toBe(`${leaf}: OK\n`);
});

test('an issued certificate names its hosts, its issuer and a time of less than 32 days', () => {
  const authority = new CertificateAuthority('a temporary CA');
  const leaf = new X509Certificate(authority.issue(['api.example.test', '127.0.0.1', '::1']));
  expect(leaf.issuer).toBe('CN=a temporary CA');
  expect(leaf.checkHost('api.example.test')).toBe('api.example.test');
  expect(leaf.checkHost('example.test')).toBeUndefined();
  expect([leaf.checkIP('127.0.0.1'), leaf.checkIP('::1'), leaf.checkIP('127.0.0.2')]).toEqual([
    '127.0.0.1',
    '::1',
    undefined,
  ]);
  const days = (Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / 86_400_000;
  expect(days).toBe(31);
});
