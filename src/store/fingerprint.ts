import { createHmac } from 'node:crypto';
import type { Secret } from '../redaction/secret.ts';

/**
 * The digest behind {@link TokenStore.fingerprint} of stores that outlive the process. Its key is public: it must survive a change of keys,
 * and it is never kept in clear, since stores seal contents and key the names once more.
 */
export function fingerprint(text: string | Secret, key: string | Buffer = 'oauth-profile fingerprint 1'): string {
  const clear = typeof text === 'string' ? text : text.reveal();
  return createHmac('sha256', key).update(clear).digest('base64url');
}
