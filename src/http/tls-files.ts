import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { InvalidProfileError } from '../errors.ts';
import type { TlsFiles } from '../ports.ts';

/** What is wrong with a file although TLS itself would take it. */
class FileProblem extends Error {}

/** Reads a profile's certificates and key as a connection would, and names the option whose file cannot be used. */
export function checkTlsFiles(profile: string, { ca, cert, certKey }: TlsFiles): void {
  const attempt = (option: string, hint: string, use: () => void): void => {
    try {
      use();
    } catch (error) {
      const { code = 'unreadable' } = error as NodeJS.ErrnoException;
      const why = error instanceof FileProblem ? error.message : code;
      throw new InvalidProfileError(profile, [
        { variable: `${profile}.options.${option}`, message: `names a file that cannot be used (${why})`, hint: hint },
      ]);
    }
  };
  if (ca !== undefined) attempt('ca_file', 'give certificates as PEM', () => readCertificates(ca));
  if (cert === undefined) return;
  const key = certKey ?? cert;
  attempt('cert_file', 'give the certificate as PEM, followed by its chain', () => createSecureContext({ cert }));
  attempt('cert_key_file', 'give the unencrypted key that belongs to the certificate, as PEM', () => {
    createSecureContext({ cert, key });
    // A key of another kind than the certificate's is taken, and then the certificate is never shown.
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) throw new FileProblem('another key');
  });
}

/** A secure context silently leaves out what it cannot read, and then trusts less than the profile says. */
function readCertificates(text: string): void {
  const found = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g);
  if (found === null) throw new FileProblem('no certificate in it');
  for (const pem of found) new X509Certificate(pem);
}
