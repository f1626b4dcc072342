import type { Profile } from '../profile/profile.ts';
import type { Secret } from '../redaction/secret.ts';
import type { TokenRequest } from './token-request.ts';

/** An HTTP response as received, before its body is parsed. */
export interface HttpResponse {
  readonly status: number;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Secrets that the HTTP client added to the request, such as proxy credentials: the response may repeat them. */
  readonly secrets?: readonly Secret[] | undefined;
}

/** A request that was sent for a profile, and its response. */
export interface Exchange {
  readonly profile: Profile;
  readonly request: TokenRequest;
  readonly response: HttpResponse;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}

/** Whether the status is 2xx. The body may still be an error response: see {@link isErrorBody}. */
export function isSuccess({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300;
}

/** A response body. Its format is detected from its content; the content type is ignored. */
export type ParsedBody =
  | { readonly kind: 'object'; readonly members: Readonly<Record<string, unknown>> }
  | { readonly kind: 'html' | 'text'; readonly text: string }
  | { readonly kind: 'empty' };

/** Parses a body that is a JSON object or form-encoded; any other body is HTML or text. */
export function parseBody(body: string): ParsedBody {
  // trim() also removes a byte order mark.
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
  // GitHub sends access_token=…&token_type=bearer by default. A single name followed by = or == is base64, not a form.
  if (/^[\w.~%+-]+=[^\s<>]*$/.test(text) && !/^[^&=]*==?$/.test(text)) {
    return { kind: 'object', members: Object.fromEntries(new URLSearchParams(text)) };
  }
  return { kind: 'text', text };
}

/** Whether a parsed body is an error response: `error` (RFC 6749 §5.2), Okta's `errorCode`, X's `errors`. */
export function isErrorBody(members: Readonly<Record<string, unknown>>): boolean {
  const { error, errors, errorCode } = members;
  return isPresent(error) || isPresent(errorCode) || (Array.isArray(errors) && errors.length > 0);
}

/** Whether a member has a value other than `null`, `false` and the empty string. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}
