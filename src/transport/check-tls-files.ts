import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { InvalidProfileError } from '../errors.ts';
import type { TlsFiles } from '../ports.ts';

/** Reads a profile's certificates and key as a connection would, and names the option whose file cannot be used. */
export function checkTlsFiles(profile: string, { ca, cert, certKey }: TlsFiles): void {
  const attempt = (option: string, advice: string, use: () => void): void => {
    try {
      use();
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'no certificate in it';
      throw new InvalidProfileError(profile, [
        { variable: `${profile}.options.${option}`, message: `names a file that cannot be used (${code})`, advice },
      ]);
    }
  };
  if (ca !== undefined) attempt('ca_file', 'give certificates as PEM', () => readCertificates(ca));
  if (cert === undefined) return;
  attempt('cert_file', 'give the certificate as PEM, followed by its chain', () => createSecureContext({ cert }));
  attempt('cert_key_file', 'give the unencrypted key that belongs to the certificate, as PEM', () =>
    createSecureContext({ cert, key: certKey ?? cert }),
  );
}

/** A secure context would silently leave out what it cannot read, and then trust less than the profile says. */
function readCertificates(text: string): void {
  const found = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g);
  if (found === null) throw new Error('no certificate');
  for (const pem of found) new X509Certificate(pem);
}
