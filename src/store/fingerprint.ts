import { createHmac } from 'node:crypto';
import type { Secret } from '../redaction/secret.ts';

/**
 * HMAC for {@link TokenStore.fingerprint}. The default key is public, so that fingerprints survive a change of encryption keys. Stores never
 * write a fingerprint in plaintext: contents are encrypted, and names are HMACs with a secret key.
 */
export function fingerprint(value: string | Secret, key: string | Buffer = 'oauth-profile fingerprint 1'): string {
  const plaintext = typeof value === 'string' ? value : value.reveal();
  return createHmac('sha256', key).update(plaintext).digest('base64url');
}
