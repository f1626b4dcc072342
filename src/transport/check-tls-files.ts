import { createSecureContext } from 'node:tls';
import { InvalidProfileError } from '../errors.ts';
import type { TlsFiles } from '../ports.ts';

/** Reads a profile's certificates and key as a connection would, and names the option whose file cannot be used. */
export function checkTlsFiles(profile: string, { ca, cert, certKey }: TlsFiles): void {
  const attempt = (option: string, advice: string, options: Parameters<typeof createSecureContext>[0]): void => {
    try {
      createSecureContext(options);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unreadable';
      throw new InvalidProfileError(profile, [
        { variable: `${profile}.options.${option}`, message: `names a file that cannot be used (${code})`, advice },
      ]);
    }
  };
  if (ca !== undefined) {
    if (!ca.includes('-----BEGIN CERTIFICATE-----')) {
      attempt('ca_file', 'give certificates as PEM', { ca: '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----' });
    }
    attempt('ca_file', 'give certificates as PEM', { ca });
  }
  if (cert === undefined) return;
  attempt('cert_file', 'give the certificate as PEM, followed by its chain', { cert });
  attempt('cert_key_file', 'give the unencrypted key that belongs to the certificate, as PEM', {
    cert,
    key: certKey ?? cert,
  });
}
