import type { ErrorResponse } from '../errors.ts';
import type { HttpResponse } from './http-response.ts';
import { type Quote, truncateBeforeSecret } from './redacted-quote.ts';
import { isPresent, type ParsedBody } from './response-body.ts';

const CORRELATION_HEADERS = [
  'x-ms-request-id',
  'x-okta-request-id',
  'x-request-id',
  'x-correlation-id',
  'x-transaction-id',
  'x-gitlab-meta-correlation-id',
];
const SHORT = 100;
const LONG = 400;
const MAX_CODES = 8;

/** A refusal in one shape, from any of the shapes that providers use; the provider's words pass through `quote`. */
export function parseErrorResponse(reply: HttpResponse, body: ParsedBody, quote: Quote): ErrorResponse {
  const text = (value: unknown, length: number): string | undefined =>
    typeof value === 'string' || typeof value === 'number' ? quote(String(value), length) || undefined : undefined;
  const id = CORRELATION_HEADERS.map((name) => reply.headers[name]).find((value) => typeof value === 'string');
  const base = { status: reply.status, correlationId: text(id, SHORT) };
  switch (body.kind) {
    case 'empty':
      return base;
    case 'html':
      // Searched for secrets as a whole: a title may end, or be cut, in the middle of one.
      return { ...base, description: text(titleOf(quote(body.text, Number.POSITIVE_INFINITY)), LONG) };
    case 'text':
      return { ...base, description: text(truncateBeforeSecret(body.text), LONG) };
    case 'object': {
      const { correlation_id, errorId, trace_id } = body.members;
      return {
        ...base,
        correlationId: text(correlation_id ?? errorId ?? trace_id ?? id, SHORT),
        ...shapes(body.members, text),
      };
    }
  }
}

type Text = (value: unknown, length: number) => string | undefined;

function shapes(
  members: Readonly<Record<string, unknown>>,
  text: Text,
): Omit<ErrorResponse, 'status' | 'correlationId'> {
  const { error, errors, errorCode } = members;
  if (typeof error === 'string' || typeof error === 'number') return oauthShape(error, members, text);
  // Google's APIs and Facebook: {"error": {"code", "message", "status"}}.
  if (isObject(error)) {
    return {
      error: text(error['status'] ?? error['type'] ?? error['code'], SHORT),
      description: text(error['message'], LONG),
    };
  }
  // Okta's platform around the token endpoint.
  if (isPresent(errorCode)) {
    const code = text(errorCode, SHORT);
    return {
      error: code,
      codes: code === undefined ? undefined : [code],
      description: text(members['errorSummary'], LONG),
    };
  }
  // X: {"errors": [{"code", "label", "message"}]}; elsewhere a list of sentences.
  if (Array.isArray(errors)) {
    const [first] = errors;
    if (!isObject(first)) return { description: text(first, LONG) };
    const codes = errors.slice(0, MAX_CODES).map((one) => text(one?.code, SHORT));
    return {
      error: text(first['label'] ?? first['code'], SHORT),
      codes: codes.filter((code) => code !== undefined),
      description: text(first['message'], LONG),
    };
  }
  // RFC 9457 and its relatives.
  return {
    error: text(members['title'] ?? members['code'], SHORT),
    description: text(members['detail'] ?? members['message'] ?? members['error_description'], LONG),
  };
}

/** RFC 6749 §5.2, with Microsoft's `error_codes` and `suberror`. */
function oauthShape(
  error: string | number,
  members: Readonly<Record<string, unknown>>,
  text: Text,
): Omit<ErrorResponse, 'status' | 'correlationId'> {
  const description = text(members['error_description'] ?? members['message'], LONG);
  const listed: unknown[] = Array.isArray(members['error_codes']) ? members['error_codes'].slice(0, MAX_CODES) : [];
  const codes = [
    ...listed
      .map((code) => text(code, SHORT) ?? '')
      .filter((code) => /^\d+$/.test(code))
      .map((code) => `AADSTS${code}`),
    ...(description?.match(/\bAADSTS\d+/g) ?? []),
  ];
  return {
    error: text(error, SHORT),
    description,
    codes: codes.length === 0 ? undefined : [...new Set(codes)],
    suberror: text(members['suberror'] ?? members['error_subtype'], SHORT),
    claims: members['claims'] === undefined ? undefined : true,
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** All that is worth showing of an HTML page. */
function titleOf(html: string): string {
  return /<title[^<>]*>([^<]+)/i.exec(html)?.[1] ?? 'an HTML page without a title';
}
