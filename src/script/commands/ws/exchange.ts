import { holdsSecret } from '../../../config/resolver.ts';
import type { ApiResponse } from '../../../ports.ts';
import { truncate } from '../../../redaction/sanitize.ts';
import { MASK, type Secret } from '../../../redaction/secret.ts';
import { displayValue } from '../../compare.ts';
import type { Exchange } from '../../result.ts';
import type { StepContext } from '../../step-context.ts';
import { isSecretHeader } from './headers.ts';
import { decodeBody, isTextual, mediaTypeOfResponse } from './response.ts';
import { showUrl } from './url.ts';

const MAX_SHOWN = 16_384;
/** Redacting a longer body would take longer than the request itself. */
const MAX_REDACTED = 1_048_576;

/** Describes a request and its response for reports. Secrets are masked before bodies are truncated. */
export function toExchange(
  {
    method,
    shownUrl,
    headers,
    shownBody,
  }: {
    method: string;
    shownUrl: string;
    headers: readonly (readonly [name: string, value: string | Secret])[];
    shownBody: string | undefined;
  },
  response: ApiResponse | undefined,
  elapsedMs: number,
  context: StepContext,
): Exchange {
  const shownHeaders = (list: Iterable<readonly [string, unknown]>): [string, string][] =>
    Array.from(list, ([name, value]) => [name, showHeader(name, String(value), context)]);
  return {
    request: {
      method,
      url: context.redact(shownUrl),
      headers: shownHeaders(headers),
      ...(shownBody !== undefined && { body: showText(shownBody, 'text', MAX_SHOWN, context) }),
    },
    ...(response !== undefined && {
      response: {
        status: response.status,
        headers: shownHeaders(Object.entries(response.headers)),
        ...(response.body.length > 0 && { body: showBody(response, MAX_SHOWN, context) }),
      },
    }),
    elapsedMs,
  };
}

/** Returns the start of a response body; for binary data its size and type. */
export function showBody(response: ApiResponse, length: number, context: StepContext): string {
  const type = mediaTypeOfResponse(response) || 'unknown type';
  if (!isTextual(response) || response.body.length > MAX_REDACTED) return `<${response.body.length} bytes of ${type}>`;
  const { text, body } = decodeBody(response);
  return showText(holdsSecret(body) ? displayValue(body) : text, type, length, context);
}

/** Truncates a string after its secrets were masked. */
export function showText(text: string, type: string, length: number, context: StepContext): string {
  if (text.length > MAX_REDACTED) return `<${text.length} characters of ${type}>`;
  const safe = context.redact(text);
  return safe.length <= length ? safe : `${truncate(safe, length - 1)}…`;
}

function showHeader(name: string, value: string, context: StepContext): string {
  if (isSecretHeader(name)) return MASK;
  const isUrl = /^(?:content-)?location$/i.test(name) && URL.canParse(value);
  return context.redact(isUrl ? showUrl(new URL(value)) : value);
}
