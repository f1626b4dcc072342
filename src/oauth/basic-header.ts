import { MASK, Secret } from '../redaction/secret.ts';

const utf8 = new TextEncoder();

/**
 * An HTTP Basic header (RFC 7617) of client id and secret. RFC 6749 §2.3.1 wants them form-encoded first; `encodeURIComponent` leaves
 * `-_.~` alone, so that ordinary keys also reach servers that never decode.
 */
export function buildBasicHeader(user: string | Secret, password: string | Secret, encoded: boolean): Secret {
  const clear = (value: string | Secret): string => {
    const text = typeof value === 'string' ? value : value.reveal();
    return encoded ? encodeURIComponent(text) : text;
  };
  const bytes = utf8.encode(`${clear(user)}:${clear(password)}`);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return new Secret(`Basic ${btoa(binary)}`, `Basic ${MASK}`);
}
