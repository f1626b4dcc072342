import { createHash } from 'node:crypto';
import { type EmulatorRequest, parseUrl } from '../messages.ts';

/** A proof is accepted for this time before and after its creation, in seconds. */
const MAX_AGE_SECONDS = 300;

/**
 * Verifies the proof of a request (RFC 9449 §4.3); with `accessToken`, of a request to an API. Returns the thumbprint of its key, or `undefined` if the
 * proof is not valid. Nonces are not emulated.
 */
export async function verifyProof(
  { method, host, path, headers }: EmulatorRequest,
  now: number,
  accessToken?: string,
): Promise<string | undefined> {
  const { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } = await import('jose');
  try {
    const { payload, protectedHeader } = await jwtVerify(String(headers['dpop']), EmbeddedJWK, { typ: 'dpop+jwt' });
    const { htm, htu, iat = 0, jti, ath } = payload;
    const url = parseUrl(String(htu));
    // On loopback, the host is the first part of the path.
    const isForUrl = `${url?.host}${url?.pathname}` === host + path || url?.pathname === `/${host}${path}`;
    const isRecent = Math.abs(now / 1000 - iat) <= MAX_AGE_SECONDS;
    const hash = accessToken && createHash('sha256').update(accessToken).digest('base64url');
    const isValid = htm === method && isForUrl && isRecent && typeof jti === 'string' && ath === hash;
    return isValid ? await calculateJwkThumbprint(protectedHeader.jwk ?? {}) : undefined;
  } catch {
    return undefined;
  }
}
