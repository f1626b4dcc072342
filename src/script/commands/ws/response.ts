import { parseJson } from '../../../config/json.ts';
import { member } from '../../../config/resolver.ts';
import { HeaderMap, isCollection, type Value } from '../../../config/value.ts';
import { wrapSecretsByName } from '../../../config/variables.ts';
import type { ApiResponse } from '../../../ports.ts';
import type { StepContext } from '../../step-context.ts';
import { StepFailure } from '../../step-failure.ts';

const MAX_DEPTH = 64;
/** Larger documents are read by the quicker parser, which rounds numbers beyond 2^53. */
const MAX_EXACT = 2 * 1_048_576;
/** Bytes that are kept for `ws.saveResponsePayload`, all variables together. */
const MAX_KEPT = 64 * 1_048_576;

/** The variable that a request leaves behind. */
export function toResponse(reply: ApiResponse, elapsedMs: number): { readonly [member: string]: Value } {
  const { text, body } = contentOf(reply);
  const { status, statusText } = reply;
  const headers = Object.entries(reply.headers).flatMap(([name, value]): [string, Value][] =>
    value === undefined ? [] : [[name, value]],
  );
  return { status, statusText, headers: new HeaderMap(headers), body, text, elapsedMs };
}

/** A response that an earlier step left in a variable. */
export function responseIn(name: string, context: StepContext): { status: number; statusText: string; body: Value } {
  const value = context.get(name);
  const status = value === undefined ? undefined : member(value, ['status']);
  if (value === undefined || typeof status !== 'number') {
    throw new StepFailure(
      value === undefined ? `there is no variable ${name}` : `${name} is not the response of a request`,
      { hint: 'name the variable that a request such as ws.get wrote' },
    );
  }
  const statusText = member(value, ['statusText']);
  return {
    status,
    statusText: typeof statusText === 'string' ? statusText : '',
    body: member(value, ['body']) ?? '',
  };
}

interface Content {
  readonly text: string;
  readonly body: Value;
}

const contents = new WeakMap<ApiResponse, Content>();

/** A reply's body as text, and what it turns out to be; secrets are hidden at once, so that the step itself does not show them. */
export function contentOf(reply: ApiResponse): Content {
  let content = contents.get(reply);
  if (content === undefined) {
    const text = textIn(reply);
    content = { text, body: wrapSecretsByName('', bodyIn(reply, text)) };
    contents.set(reply, content);
  }
  return content;
}

/** A body as text, by its charset; UTF-8 where it names none that is known. */
function textIn({ body, headers }: ApiResponse): string {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(String(headers['content-type'] ?? ''))?.[1];
  return decoder(charset ?? markedCharset(body)).decode(body);
}

/** `image/png`, in lower case; empty where the reply does not say. */
export function mediaTypeIn({ headers }: ApiResponse): string {
  return (
    String(headers['content-type'] ?? '')
      .split(/[;,]/)[0]
      ?.trim()
      .toLowerCase() ?? ''
  );
}

/** Whether a body is meant to be read; one without a type is if it holds no NUL. */
export function isTextual(reply: ApiResponse): boolean {
  const type = mediaTypeIn(reply);
  if (type === '') return !reply.body.subarray(0, 4096).includes(0);
  return (
    /^text\/|[/+](?:json|xml|yaml)$|^application\/(?:x-)?(?:javascript|www-form-urlencoded|ndjson|graphql)/.test(
      type,
    ) || type.startsWith('multipart/')
  );
}

interface Payload {
  readonly text: Value;
  readonly bytes: Uint8Array;
}

const KEY = Symbol('payloads of ws');

/** Keeps a reply's bytes beside its variable: text that was decoded cannot be turned back into them. */
export function keepPayload(
  name: string,
  response: { readonly text?: Value },
  bytes: Uint8Array,
  context: StepContext,
): void {
  const kept = context.state(KEY, () => new Map<string, Payload>());
  kept.delete(name);
  kept.set(name, { text: response.text ?? '', bytes });
  let size = 0;
  for (const payload of kept.values()) size += payload.bytes.length;
  for (const [other, payload] of kept) {
    if (size <= MAX_KEPT || other === name) break;
    kept.delete(other);
    size -= payload.bytes.length;
  }
}

/** The bytes of the reply that a variable holds, as they were received. */
export function payloadOf(name: string, context: StepContext): Uint8Array {
  responseIn(name, context);
  const payload = context.state(KEY, () => new Map<string, Payload>()).get(name);
  // The variable may have been given another value since.
  if (payload !== undefined && member(context.get(name) ?? '', ['text']) === payload.text) return payload.bytes;
  throw new StepFailure(`the bytes of ${name} are not kept any more`, {
    hint: 'save a payload right after its request, or use ws.download',
  });
}

function bodyIn(reply: ApiResponse, text: string): Value {
  const saysJson = /[/+]json$/.test(mediaTypeIn(reply));
  if (!saysJson && !(isTextual(reply) && /^\s*[[{]/.test(text))) return text;
  const parsed = text.length > MAX_EXACT ? undefined : readExactly(text);
  return parsed ?? readLeniently(text) ?? text;
}

function readExactly(text: string): Value | undefined {
  try {
    return parseJson(text, 'body');
  } catch {
    return undefined;
  }
}

/** JSON in which a name stands twice, or that is very long; what is nested without end stays text. */
function readLeniently(text: string): Value | undefined {
  try {
    const value = JSON.parse(text) as Value;
    return isDeeper(value, MAX_DEPTH) ? undefined : value;
  } catch {
    return undefined;
  }
}

function isDeeper(value: Value, depth: number): boolean {
  if (!isCollection(value)) return false;
  return depth === 0 || Object.values(value).some((part) => isDeeper(part, depth - 1));
}

function decoder(charset: string): { decode(bytes: Uint8Array): string } {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

/** What a byte order mark says. */
function markedCharset([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
