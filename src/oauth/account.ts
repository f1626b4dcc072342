import { excerpt } from '../redaction/sanitize.ts';

const MAX_LENGTH = 200;

/** Who signed in, as the id token of a response says. It is not verified: it is for a person to read, and nothing is decided by it. */
export function parseAccount(response: Readonly<Record<string, unknown>>): string | undefined {
  const claims = claimsOf(response['id_token']);
  for (const name of ['preferred_username', 'email', 'upn', 'sub']) {
    const value = claims[name];
    if (typeof value === 'string' && value !== '') return excerpt(value, MAX_LENGTH);
  }
  return undefined;
}

function claimsOf(token: unknown): Readonly<Record<string, unknown>> {
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
