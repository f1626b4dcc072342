import { parseJson } from '../../../config/json.ts';
import { holdsSecret, member } from '../../../config/resolver.ts';
import { HeaderMap, isCollection, type Value } from '../../../config/value.ts';
import { wrapSecretsByName } from '../../../config/variables.ts';
import type { ApiResponse } from '../../../ports.ts';
import { parseUrl } from '../../../profile/url.ts';
import type { Secret } from '../../../redaction/secret.ts';
import { attempt } from '../../attempt.ts';
import { displayText, displayValue, MAX_REDACTED } from '../../compare.ts';
import { parseCsv } from '../../engine/csv.ts';
import { type StepContext, StepFailure } from '../../step-context.ts';
import type { Body } from './body.ts';
import { isSecretHeader, showSecretHeader } from './headers.ts';
import { isTokenEndpoint, showUrl } from './url.ts';

const MAX_DEPTH = 64;
/** Larger documents are parsed with `JSON.parse`, which is faster but rounds numbers beyond 2^53. */
const MAX_EXACT = 2 * 1_048_576;
/** Maximum size of the bodies that are stored for `ws.saveResponsePayload`, of all variables together, in bytes. */
const MAX_STORED = 64 * 1_048_576;

/** Creates the value of a response variable. */
export function toResponse(
  response: ApiResponse,
  { text, body }: DecodedBody,
  elapsedMs: number,
): { readonly [member: string]: Value } {
  const { status, statusText } = response;
  const headers = Object.entries(response.headers).flatMap(([name, value]): [string, Value][] =>
    value === undefined ? [] : [[name, value]],
  );
  return { status, statusText, headers: new HeaderMap(headers), body, text, elapsedMs };
}

/** Returns the response that an earlier step saved in a variable. */
export function getResponse(name: string, context: StepContext) {
  const value = context.get(name);
  const status = value === undefined ? undefined : member(value, ['status']);
  if (value === undefined || typeof status !== 'number') {
    throw new StepFailure(value === undefined ? `the variable ${name} is not defined` : `${name} is not a response`, {
      hint: 'pass the variable that a request such as ws.get has set',
    });
  }
  const statusText = member(value, ['statusText']);
  return {
    status,
    statusText: typeof statusText === 'string' ? statusText : '',
    headers: member(value, ['headers']) ?? {},
    body: member(value, ['body']) ?? '',
    elapsedMs: Number(member(value, ['elapsedMs'])),
  };
}

/** A body as text, and parsed if it is JSON. */
export interface DecodedBody {
  readonly text: string;
  readonly body: Value;
}

/** Decodes the body of a response from a URL. Secrets are wrapped at once, so that this step masks them too. */
export function decodeBody(response: ApiResponse, url: URL, { apiSecrets }: StepContext): DecodedBody {
  const text = decodeText(response);
  const body = parseBody(response, text);
  return { text, body: apiSecrets.wrap(isTokenEndpoint(url) ? wrapSecretsByName('', body) : body, 'body') };
}

/** Decodes a body by its charset; by default UTF-8. */
function decodeText({ body, headers }: ApiResponse): string {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(String(headers['content-type'] ?? ''))?.[1];
  const decoder = attempt(() => new TextDecoder(charset ?? charsetOfBom(body))) ?? new TextDecoder();
  return decoder.decode(body);
}

/** Returns the media type in lower case: `image/png`; empty if the response has none. */
function mediaTypeOfResponse({ headers }: ApiResponse): string {
  const [type = ''] = String(headers['content-type'] ?? '').split(/[;,]/, 1);
  return type.trim().toLowerCase();
}

/** Returns whether a body is text; without a media type, whether it contains no NUL byte. */
function isTextual(response: ApiResponse): boolean {
  const type = mediaTypeOfResponse(response);
  if (type === '') return !response.body.subarray(0, 4096).includes(0);
  return /^(?:text|multipart)\/|[/+](?:json|xml|yaml)$|^application\/(?:x-)?(?:javascript|www-form-urlencoded|ndjson|graphql)/.test(
    type,
  );
}

interface Payload {
  readonly text: Value;
  readonly bytes: Uint8Array;
}

const STATE_KEY = Symbol('ws payloads');

/** Stores the bytes of a response: they cannot be restored from the decoded text of its variable. */
export function storePayload(name: string, text: Value, bytes: Uint8Array, context: StepContext): void {
  const payloads = context.state(STATE_KEY, () => new Map<string, Payload>());
  payloads.delete(name);
  payloads.set(name, { text, bytes });
  let size = 0;
  for (const payload of payloads.values()) size += payload.bytes.length;
  for (const [other, payload] of payloads) {
    if (size <= MAX_STORED || other === name) break;
    payloads.delete(other);
    size -= payload.bytes.length;
  }
}

/** Returns the bytes of the response in a variable, as received. */
export function getPayload(name: string, context: StepContext): Uint8Array {
  getResponse(name, context);
  const payload = context.state(STATE_KEY, () => new Map<string, Payload>()).get(name);
  // The variable may have been set again since.
  if (payload !== undefined && member(context.get(name) ?? '', ['text']) === payload.text) return payload.bytes;
  throw new StepFailure(`the bytes of ${name} are no longer stored`, {
    hint: 'save the payload right after its request, or use ws.download',
  });
}

function parseBody(response: ApiResponse, text: string): Value {
  const type = mediaTypeOfResponse(response);
  if (type === 'text/csv') return attempt(() => parseCsv(text, 'body')) ?? text;
  const isJson = /[/+]json$/.test(type);
  if (!isJson && !(isTextual(response) && /^\s*[[{]/.test(text))) return text;
  const exact = text.length > MAX_EXACT ? undefined : attempt(() => parseJson(text, 'body'));
  if (exact !== undefined) return exact;
  // JSON that is very long or has duplicate names is parsed too; JSON that is nested too deep stays text.
  const value = attempt(() => JSON.parse(text) as Value);
  return value === undefined || isDeeper(value, MAX_DEPTH) ? text : value;
}

function isDeeper(value: Value, depth: number): boolean {
  if (!isCollection(value)) return false;
  return depth === 0 || Object.values(value).some((part) => isDeeper(part, depth - 1));
}

function charsetOfBom([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Maximum length of a body in a report, in characters. */
export const MAX_SHOWN = 16_384;

/** A request for reports; known secrets are not yet masked. */
interface SentRequest {
  readonly method: string;
  readonly shownUrl: string;
  readonly headers: readonly (readonly [name: string, value: string | Secret])[];
  readonly body: Body | undefined;
}

/** Describes a request for reports. Secrets are masked before bodies are truncated. */
export function describeRequest({ method, shownUrl, headers, body }: SentRequest, context: StepContext) {
  const { redact } = context;
  return {
    method,
    url: redact(shownUrl),
    headers: showHeaders(headers, context),
    ...(body !== undefined && { body: displayText(body.shown, MAX_SHOWN, redact) }),
    ...(body?.parts !== undefined && {
      parts: body.parts.map((part) => ({ ...part, ...(part.value && { value: redact(part.value) }) })),
    }),
  };
}

/** Describes a response for reports. */
export function describeResponse(response: ApiResponse, decoded: DecodedBody | undefined, context: StepContext) {
  const body = response.body.length > 0 ? { body: showBody(response, decoded, MAX_SHOWN, context.redact) } : {};
  return { status: response.status, headers: showHeaders(Object.entries(response.headers), context), ...body };
}

/** Returns the start of a response body; for binary data its size and type. */
export function showBody(
  response: ApiResponse,
  decoded: DecodedBody | undefined,
  length: number,
  redact: (text: string) => string,
): string {
  if (decoded === undefined || !isTextual(response) || response.body.length > MAX_REDACTED)
    return `<${response.body.length} bytes of ${mediaTypeOfResponse(response) || 'unknown type'}>`;
  const { text, body } = decoded;
  return displayText(holdsSecret(body) ? displayValue(body) : text, length, redact);
}

/** Formats headers for reports; only the scheme of credentials is shown. */
export function showHeaders(headers: Iterable<readonly [string, unknown]>, context: StepContext): [string, string][] {
  return Array.from(headers, ([name, value]) => [name, showHeader(name, value, context)]);
}

function showHeader(name: string, value: unknown, context: StepContext): string {
  if (isSecretHeader(name)) return showSecretHeader(value);
  const text = String(value);
  const url = /^(?:content-)?location$/i.test(name) ? parseUrl(text) : undefined;
  return context.redact(url === undefined ? text : showUrl(url, context));
}
