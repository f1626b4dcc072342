/** A reply's body, read as what it turns out to be, whatever its content type claims. */
export type ParsedBody =
  | { readonly kind: 'object'; readonly members: Readonly<Record<string, unknown>> }
  | { readonly kind: 'html' | 'text'; readonly text: string }
  | { readonly kind: 'empty' };

/** Reads a JSON object, a form-encoded body, or else text. */
export function parseBody(body: string): ParsedBody {
  // A byte order mark is a blank too.
  const text = body.trim();
  if (text === '') return { kind: 'empty' };
  if (text.startsWith('{')) {
    try {
      return { kind: 'object', members: JSON.parse(text) };
    } catch {
      return { kind: 'text', text };
    }
  }
  if (text.startsWith('<')) return { kind: 'html', text };
  // Some servers answer as GitHub does by default: access_token=…&token_type=bearer. One name and nothing else is base64.
  if (/^[\w.~%+-]+=[^\s<>]*$/.test(text) && !/^[^&=]*==?$/.test(text)) {
    return { kind: 'object', members: Object.fromEntries(new URLSearchParams(text)) };
  }
  return { kind: 'text', text };
}

/** Whether a body says no, even with status 200. */
export function isErrorBody(members: Readonly<Record<string, unknown>>): boolean {
  const { error, errors, errorCode } = members;
  return isPresent(error) || isPresent(errorCode) || (Array.isArray(errors) && errors.length > 0);
}

/** A member that is there, and says something. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}
