import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { decodeJwt } from 'jose/jwt/decode';
import type { Secret } from '../redaction/secret.ts';

/** The readable parts of a token. The signature is neither verified nor included. */
export type DecodedToken =
  | { readonly format: 'jwt'; readonly header: object; readonly claims: Readonly<Record<string, unknown>> }
  /** RFC 7516: only the API can decrypt the claims. */
  | { readonly format: 'encrypted_jwt'; readonly header: object }
  /** Only the authorization server knows its meaning. */
  | { readonly format: 'opaque' };

/** Decodes a token if it is a JWT (RFC 7519 §7.2). */
export function decodeToken(token: Secret): DecodedToken {
  const text = token.reveal();
  try {
    const header = decodeProtectedHeader(text);
    if (text.split('.').length === 5) return { format: 'encrypted_jwt', header };
    return { format: 'jwt', header, claims: decodeJwt(text) };
  } catch {
    return { format: 'opaque' };
  }
}
