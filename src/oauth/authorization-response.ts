import { excerpt } from '../redaction/sanitize.ts';
import { Secret } from '../redaction/secret.ts';

/** What a browser brought back from a sign-in page. */
export type AuthorizationResponse =
  | { readonly kind: 'code'; readonly code: Secret; readonly issuer: string | undefined }
  | {
      readonly kind: 'refused';
      readonly error: string;
      readonly description: string | undefined;
      readonly issuer: string | undefined;
    }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Whether a query answers our request: it names our state, once (RFC 6749 §10.12). */
export function matchesState(query: string, state: string): boolean {
  const found = new URLSearchParams(query).getAll('state');
  return found.length === 1 && isSame(found[0] ?? '', state);
}

/** Reads the query of a redirect (RFC 6749 §4.1.2). */
export function parseAuthorizationResponse(query: string): AuthorizationResponse {
  const parameters = new URLSearchParams(query);
  const names = [...parameters.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return { kind: 'unreadable', why: `it names ${excerpt(twice, 40)} twice` };
  const issuer = parameters.get('iss') ?? undefined;
  const error = parameters.get('error') ?? '';
  const code = parameters.get('code') ?? '';
  if (error !== '') {
    const words = excerpt(parameters.get('error_description') ?? '', 400);
    return { kind: 'refused', error: excerpt(error, 100), description: words === '' ? undefined : words, issuer };
  }
  if (code === '') return { kind: 'unreadable', why: 'it brings neither a code nor an error' };
  return { kind: 'code', code: new Secret(code), issuer };
}

/** Takes as long for a wrong text as for the right one. */
function isSame(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < other.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}
