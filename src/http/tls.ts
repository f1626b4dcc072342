import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import { InvalidProfileError } from '../errors.ts';
import type { Environment, TlsFiles } from '../ports.ts';

/**
 * Options of TLS connections that use the files of a profile. Throws `profile_invalid` if a file is unusable.
 * `rejectUnauthorized` is explicit, because `NODE_TLS_REJECT_UNAUTHORIZED=0` would disable it.
 */
export function tlsOptions(
  { profile, tls: files }: { readonly profile: string | undefined; readonly tls: TlsFiles },
  env: Environment,
): tls.ConnectionOptions {
  if (files.ca === undefined && files.cert === undefined) return { rejectUnauthorized: true };
  checkTlsFiles(profile ?? '', files);
  return { rejectUnauthorized: true, secureContext: tls.createSecureContext(secureContextOptions(files, env)) };
}

/** Certificates and key for a secure context. Node's `ca` replaces the default roots, so they are included. */
export function secureContextOptions({ ca, cert, certKey }: TlsFiles, env: Environment): tls.SecureContextOptions {
  return {
    ...(ca !== undefined && { ca: [...defaultRoots(env), ca] }),
    ...(cert !== undefined && { cert, key: certKey ?? cert }),
  };
}

function defaultRoots(env: Environment): readonly string[] {
  // Node 22.15 and later; before, NODE_EXTRA_CA_CERTS has to be read again.
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] };
  if (getCACertificates !== undefined) return getCACertificates('default');
  const extra = env['NODE_EXTRA_CA_CERTS'];
  if (!extra) return tls.rootCertificates;
  try {
    return [...tls.rootCertificates, readFileSync(extra, 'utf8')];
  } catch {
    // Node printed a warning at start-up.
    return tls.rootCertificates;
  }
}

/** A file that OpenSSL would accept, or ignore, although it is unusable. */
class UnusableFile extends Error {}

/** Loads certificates and key as a connection would. Throws `profile_invalid` with the option whose file is unusable. */
export function checkTlsFiles(profile: string, { ca, cert, certKey }: TlsFiles): void {
  const check = (option: string, hint: string, load: () => void): void => {
    try {
      load();
    } catch (error) {
      // OpenSSL's message may quote the file; its code does not.
      const { code = 'unreadable' } = error as NodeJS.ErrnoException;
      const reason = error instanceof UnusableFile ? error.message : code;
      throw new InvalidProfileError(profile, [
        { variable: `${profile}.options.${option}`, message: `names an unusable file (${reason})`, hint },
      ]);
    }
  };
  if (ca !== undefined) check('ca_file', 'the file must contain PEM certificates', () => checkCertificates(ca));
  if (cert === undefined) return;
  const key = certKey ?? cert;
  check('cert_file', 'the file must contain the PEM certificate, followed by its intermediate certificates', () =>
    tls.createSecureContext({ cert }),
  );
  check('cert_key_file', 'the file must contain the unencrypted PEM key of the certificate', () => {
    tls.createSecureContext({ cert, key });
    // OpenSSL accepts a key of another type, and then never sends the certificate.
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) throw new UnusableFile('another key');
  });
}

/** A secure context silently skips certificates that it cannot parse. */
function checkCertificates(pem: string): void {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g);
  if (certificates === null) throw new UnusableFile('no certificate');
  for (const certificate of certificates) new X509Certificate(certificate);
}
