import { holdsSecret } from '../../../config/resolver.ts';
import type { ApiResponse } from '../../../ports.ts';
import { truncate } from '../../../redaction/sanitize.ts';
import { MASK, type Secret } from '../../../redaction/secret.ts';
import { display } from '../../compare.ts';
import type { Exchange } from '../../result.ts';
import type { StepContext } from '../../step-context.ts';
import { isSecretHeader } from './headers.ts';
import { contentOf, isTextual, mediaTypeIn } from './response.ts';
import { showUrl } from './url.ts';

const MAX_SHOWN = 16_384;
/** Searching more for secrets would take longer than the request. */
const MAX_SEARCHED = 1_048_576;

/** A request as it went over the wire, with its texts as a person may see them. */
export interface SentRequest {
  readonly method: string;
  readonly shownUrl: string;
  readonly headers: readonly (readonly [name: string, value: string | Secret])[];
  readonly shownBody: string | undefined;
}

/** What a report shows of a request and its reply: secrets masked first, then cut. */
export function toExchange(
  { method, shownUrl, headers, shownBody }: SentRequest,
  reply: ApiResponse | undefined,
  elapsedMs: number,
  context: StepContext,
): Exchange {
  const shownHeaders = (list: Iterable<readonly [string, unknown]>): [string, string][] =>
    Array.from(list, ([name, value]) => [name, showHeader(name, String(value), context)]);
  return {
    request: {
      method,
      url: masked(shownUrl, context),
      headers: shownHeaders(headers),
      ...(shownBody !== undefined && { body: showText(shownBody, 'text', MAX_SHOWN, context) }),
    },
    ...(reply !== undefined && {
      response: {
        status: reply.status,
        headers: shownHeaders(Object.entries(reply.headers)),
        ...(reply.body.length > 0 && { body: showBody(reply, MAX_SHOWN, context) }),
      },
    }),
    elapsedMs,
  };
}

/** The beginning of a reply's body; of what is no text the size. */
export function showBody(reply: ApiResponse, length: number, context: StepContext): string {
  const type = mediaTypeIn(reply) || 'unknown type';
  if (!isTextual(reply) || reply.body.length > MAX_SEARCHED) return `<${reply.body.length} bytes of ${type}>`;
  const { text, body } = contentOf(reply);
  return showText(holdsSecret(body) ? display(body) : text, type, length, context);
}

/** The beginning of a text, secrets masked before it is cut. */
export function showText(text: string, type: string, length: number, context: StepContext): string {
  if (text.length > MAX_SEARCHED) return `<${text.length} characters of ${type}>`;
  const safe = masked(text, context);
  return safe.length <= length ? safe : `${truncate(safe, length - 1)}…`;
}

function showHeader(name: string, value: string, context: StepContext): string {
  if (isSecretHeader(name)) return MASK;
  return masked(
    /^(?:content-)?location$/i.test(name) && URL.canParse(value) ? showUrl(new URL(value)) : value,
    context,
  );
}

function masked(text: string, context: StepContext): string {
  return context.redact?.(text) ?? text;
}
