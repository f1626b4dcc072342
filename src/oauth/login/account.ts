import { decodeJwt } from 'jose/jwt/decode';
import { excerpt } from '../../redaction/sanitize.ts';

/** Longer names are truncated, in characters. */
const MAX_LENGTH = 200;

/**
 * The user's name from the id token of a response: `preferred_username`, `email`, `upn` or `sub` (OpenID Connect Core
 * §5.1). The signature is not verified: the name is for display only, never for decisions.
 */
export function parseAccount(response: Readonly<Record<string, unknown>>): string | undefined {
  try {
    const { preferred_username, email, upn, sub } = decodeJwt(String(response['id_token']));
    const name = [preferred_username, email, upn, sub].find((value) => typeof value === 'string' && value !== '');
    return name === undefined ? undefined : excerpt(String(name), MAX_LENGTH);
  } catch {
    return undefined;
  }
}
