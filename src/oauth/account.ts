import { excerpt } from '../redaction/sanitize.ts';

/** Longer names are truncated, in characters. */
const MAX_LENGTH = 200;

/**
 * The user's name from the id token of a response: `preferred_username`, `email`, `upn` or `sub` (OpenID Connect Core
 * §5.1). The signature is not verified: the name is for display only, never for decisions.
 */
export function parseAccount(response: Readonly<Record<string, unknown>>): string | undefined {
  const claims = parseClaims(response['id_token']);
  for (const name of ['preferred_username', 'email', 'upn', 'sub']) {
    const value = claims[name];
    if (typeof value === 'string' && value !== '') return excerpt(value, MAX_LENGTH);
  }
  return undefined;
}

function parseClaims(token: unknown): Readonly<Record<string, unknown>> {
  const payload = typeof token === 'string' ? token.split('.')[1] : undefined;
  if (payload === undefined) return {};
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
      char.charCodeAt(0),
    );
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
