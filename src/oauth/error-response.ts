import type { ErrorResponse } from '../errors.ts';
import type { HttpResponse, ParsedBody } from './http-response.ts';
import { isPresent } from './http-response.ts';
import { type Quote, truncateBeforeSecret } from './redacted-quote.ts';

/** Headers that contain a correlation id, in order of preference. */
const CORRELATION_HEADERS = [
  'x-ms-request-id',
  'x-okta-request-id',
  'x-request-id',
  'x-correlation-id',
  'x-transaction-id',
  'x-gitlab-meta-correlation-id',
];
/** Limits of codes and ids, and of descriptions, in characters. */
const MAX_CODE_LENGTH = 100;
const MAX_DESCRIPTION_LENGTH = 400;
const MAX_CODES = 8;

/**
 * Parses an error response (RFC 6749 §5.2) in any of the formats that providers use. Everything the provider sent
 * passes through `quote`, which removes secrets.
 */
export function parseErrorResponse(response: HttpResponse, body: ParsedBody, quote: Quote): ErrorResponse {
  const text = (value: unknown, length: number): string | undefined =>
    typeof value === 'string' || typeof value === 'number' ? quote(String(value), length) || undefined : undefined;
  const id = CORRELATION_HEADERS.map((name) => response.headers[name]).find((value) => typeof value === 'string');
  const base = { status: response.status, correlationId: text(id, MAX_CODE_LENGTH) };
  switch (body.kind) {
    case 'empty':
      return base;
    case 'html':
      // The whole page is redacted first: a title may end, or be truncated, in the middle of a secret.
      return {
        ...base,
        description: text(findTitle(quote(body.text, Number.POSITIVE_INFINITY)), MAX_DESCRIPTION_LENGTH),
      };
    case 'text':
      return { ...base, description: text(truncateBeforeSecret(body.text), MAX_DESCRIPTION_LENGTH) };
    case 'object': {
      const { correlation_id, errorId, trace_id } = body.members;
      return {
        ...base,
        correlationId: text(correlation_id ?? errorId ?? trace_id ?? id, MAX_CODE_LENGTH),
        ...parseMembers(body.members, text),
      };
    }
  }
}

type ToText = (value: unknown, length: number) => string | undefined;
type Members = Readonly<Record<string, unknown>>;

function parseMembers(members: Members, text: ToText): Omit<ErrorResponse, 'status' | 'correlationId'> {
  const { error, errors, errorCode } = members;
  if (typeof error === 'string' || typeof error === 'number') return parseOAuthError(error, members, text);
  // Google's APIs and Facebook: {"error": {"code", "message", "status"}}.
  if (isObject(error)) {
    return {
      error: text(error['status'] ?? error['type'] ?? error['code'], MAX_CODE_LENGTH),
      description: text(error['message'], MAX_DESCRIPTION_LENGTH),
    };
  }
  // Okta's platform: {"errorCode", "errorSummary", "errorId"}.
  if (isPresent(errorCode)) {
    const code = text(errorCode, MAX_CODE_LENGTH);
    return {
      error: code,
      codes: code === undefined ? undefined : [code],
      description: text(members['errorSummary'], MAX_DESCRIPTION_LENGTH),
    };
  }
  // X: {"errors": [{"code", "label", "message"}]}; other servers send a list of strings.
  if (Array.isArray(errors)) {
    const [first] = errors;
    if (!isObject(first)) return { description: text(first, MAX_DESCRIPTION_LENGTH) };
    const codes = errors.slice(0, MAX_CODES).map((one) => text(one?.code, MAX_CODE_LENGTH));
    return {
      error: text(first['label'] ?? first['code'], MAX_CODE_LENGTH),
      codes: codes.filter((code) => code !== undefined),
      description: text(first['message'], MAX_DESCRIPTION_LENGTH),
    };
  }
  // Problem details (RFC 9457 §3.1) and similar formats.
  return {
    error: text(members['title'] ?? members['code'], MAX_CODE_LENGTH),
    description: text(members['detail'] ?? members['message'] ?? members['error_description'], MAX_DESCRIPTION_LENGTH),
  };
}

/** RFC 6749 §5.2, with Microsoft's `error_codes` and `suberror`, and Google's `error_subtype`. */
function parseOAuthError(
  error: string | number,
  members: Members,
  text: ToText,
): Omit<ErrorResponse, 'status' | 'correlationId'> {
  const description = text(members['error_description'] ?? members['message'], MAX_DESCRIPTION_LENGTH);
  const listed: unknown[] = Array.isArray(members['error_codes']) ? members['error_codes'].slice(0, MAX_CODES) : [];
  const codes = [
    ...listed
      .map((code) => text(code, MAX_CODE_LENGTH) ?? '')
      .filter((code) => /^\d+$/.test(code))
      .map((code) => `AADSTS${code}`),
    ...(description?.match(/\bAADSTS\d+/g) ?? []),
  ];
  return {
    error: text(error, MAX_CODE_LENGTH),
    description,
    codes: codes.length === 0 ? undefined : [...new Set(codes)],
    suberror: text(members['suberror'] ?? members['error_subtype'], MAX_CODE_LENGTH),
    claims: members['claims'] === undefined ? undefined : true,
  };
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

/** Only the title of an HTML page is shown. */
function findTitle(html: string): string {
  return /<title[^<>]*>([^<]+)/i.exec(html)?.[1] ?? 'an HTML page without a title';
}
