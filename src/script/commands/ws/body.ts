import { parseJson } from '../../../config/json.ts';
import { holdsSecret } from '../../../config/resolver.ts';
import { isCollection, isEmpty, type Scalar, toText, type Value } from '../../../config/value.ts';
import type { BodyPart, Files } from '../../../ports.ts';
import { MASK, Secret } from '../../../redaction/secret.ts';
import { isSensitiveName } from '../../../redaction/sensitive-names.ts';
import { attempt } from '../../attempt.ts';
import { displayValue, stringifyValue, toJson } from '../../compare.ts';
import { isSecretMember } from '../../engine/api-secrets.ts';
import type { Exchange } from '../../result.ts';
import { assertStep, type StepContext, StepFailure } from '../../step-context.ts';
import { headersOf } from './headers.ts';
import { isTokenEndpoint } from './url.ts';

/** Body of a request. */
export interface Body {
  readonly pieces: readonly BodyPart[];
  readonly contentType: string;
  /** The content type cannot be overridden by a header of the script. */
  readonly fixedType?: boolean;
  /** Whether the body contains a secret. */
  readonly secret: boolean;
  /** The body for reports; known secrets are not yet masked. */
  readonly shown: string;
  /** Parts of a body with files; known secrets are not yet masked. */
  readonly parts?: Exchange['request']['parts'];
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const TEMPLATE_PREFIX = 'template:';

/**
 * Reads a body parameter: a string is sent unchanged; a map as JSON, or as a form if that is the Content-Type of the script; a list as JSON.
 * `@path` is the content of a file, `@template:path` the content after its references were resolved, an empty value no body.
 */
export async function readBody(
  value: Value,
  context: StepContext,
  files: Files,
  target: URL,
): Promise<Body | undefined> {
  if (isCollection(value)) {
    const isForm = !Array.isArray(value) && headersOf(context).contentType(target.origin) === FORM_TYPE;
    return isForm ? formBody(value as Fields, context, target) : jsonBody(value, context);
  }
  if (isEmpty(value)) return undefined;
  const path = filePath(value, context);
  if (path?.startsWith(TEMPLATE_PREFIX)) return readTemplate(path.slice(TEMPLATE_PREFIX.length), context, files);
  if (path !== undefined) {
    const content = await files.open(path, context.source.directory);
    const contentType = mediaTypeOf(path);
    const shown = `<${content.size} bytes of ${path}>`;
    return { pieces: [content], contentType, secret: false, shown, parts: [{ file: path }] };
  }
  const text = unescapeAt(toText(value), context);
  const contentType = 'text/plain;charset=UTF-8';
  return { pieces: [text], contentType, secret: text instanceof Secret, shown: String(text) };
}

async function readTemplate(path: string, context: StepContext, files: Files): Promise<Body> {
  const template = new TextDecoder().decode(await files.read(path, context.source.directory));
  const text = stringifyValue(context.resolve(template));
  return { pieces: [text], contentType: mediaTypeOf(path), secret: text instanceof Secret, shown: String(text) };
}

/** Encodes a map as `application/x-www-form-urlencoded`; a list repeats its field. */
export function formBody(fields: Fields, { apiSecrets }: StepContext, target: URL): Body {
  const parts: (string | Secret)[] = [];
  const shown: string[] = [];
  for (const [name, value] of fieldsOf(fields, 'body')) {
    const text = toText(value);
    parts.push(`${parts.length === 0 ? '' : '&'}${encodeField(name)}=`);
    parts.push(typeof text === 'string' ? encodeField(text) : text.map(encodeField));
    const isSecret = isTokenEndpoint(target) ? isSensitiveName(name) : isSecretMember(name, text);
    if (isSecret && typeof text === 'string') apiSecrets.add(text);
    const isMasked = text instanceof Secret || (isSecret && !isEmpty(text));
    shown.push(`${encodeField(name)}=${isMasked ? MASK : encodeField(text)}`);
  }
  return { pieces: parts, contentType: FORM_TYPE, secret: holdsSecret(fields), shown: shown.join('&') };
}

/** The encoding of forms in browsers: a space is a plus. */
function encodeField(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** Reads a GraphQL body: the query, or a map of `query`, `variables` and `operationName`. */
export async function readGraphqlBody(value: Value, context: StepContext, files: Files): Promise<Body> {
  const request = isCollection(value) ? value : parseGraphqlRequest(await readGraphqlText(value, context, files));
  const hasQuery = !Array.isArray(request) && !isEmpty((request as { readonly query?: Value }).query);
  const hint = 'pass the query, or a map of query, variables and operationName';
  assertStep(hasQuery, 'body contains no GraphQL query', { hint });
  return jsonBody(request, context);
}

function jsonBody(value: Value, { apiSecrets }: StepContext): Body {
  const shown = displayValue(apiSecrets.wrap(value, 'body'));
  return { pieces: toJson(value), contentType: JSON_TYPE, secret: holdsSecret(value), shown };
}

function mediaTypeOf(path: string): string {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const found = Object.entries(mediaTypes).find(([, extensions]) => extensions.split(' ').includes(extension));
  return found?.[0] ?? 'application/octet-stream';
}

const mediaTypes = {
  [JSON_TYPE]: 'json',
  'text/plain': 'txt log',
  'text/csv': 'csv',
  'text/html': 'html htm',
  'application/xml': 'xml',
  'application/yaml': 'yaml yml',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'image/png': 'png',
  'image/jpeg': 'jpg jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'video/mp4': 'mp4',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};

/** Returns the path in `@path`. The `@` must be written in the script: a resolved value that starts with `@` must not send a file. */
function filePath(value: Value, context: StepContext): string | undefined {
  if (typeof value !== 'string' || !/^@[^@]/.test(value)) return undefined;
  return isAtWritten(context) ? value.slice(1) : undefined;
}

function isAtWritten(context: StepContext): boolean {
  const raw = context.rawParameter('body');
  return typeof raw === 'string' && raw.startsWith('@');
}

/** `@@` at the start of a string stands for `@`. */
function unescapeAt(text: string | Secret, context: StepContext): string | Secret {
  return typeof text === 'string' && text.startsWith('@@') && isAtWritten(context) ? text.slice(1) : text;
}

async function readGraphqlText(value: Scalar, context: StepContext, files: Files): Promise<string | Secret> {
  const path = filePath(value, context);
  if (path === undefined) return unescapeAt(toText(value), context);
  return new TextDecoder().decode(await files.read(path, context.source.directory));
}

/** A string is the whole request as JSON, or a query, which can start with a brace too. */
function parseGraphqlRequest(text: string | Secret): Value {
  const isObject = typeof text === 'string' && /^\s*\{\s*"/.test(text);
  return (isObject ? attempt(() => parseJson(text, 'body')) : undefined) ?? { query: text };
}

type Fields = Readonly<Record<string, Value>>;

/** Builds a multipart form (RFC 7578) with names escaped as browsers do. Files are read while they are sent. */
export async function readForm(fields: Fields, fileParams: Fields, context: StepContext, files: Files): Promise<Body> {
  const boundary = `----oauth-profile-${crypto.randomUUID()}`;
  const pieces: BodyPart[] = [];
  const shown: string[] = [];
  const parts: { name: string; value?: string; file?: string }[] = [];
  const startPart = (name: string, more: string): void => {
    pieces.push(`--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(toCrlf(name))}"${more}\r\n\r\n`);
  };
  for (const [name, value] of fieldsOf(fields, 'body')) {
    const text = toText(value);
    startPart(name, '');
    pieces.push(typeof text === 'string' ? toCrlf(text) : text.map(toCrlf), '\r\n');
    const shownValue = String(isSecretMember(name, text) ? MASK : text);
    shown.push(`${name}=${shownValue}`);
    parts.push({ name, value: shownValue });
  }
  for (const [name, value] of fieldsOf(fileParams, 'fileParams')) {
    if (typeof value !== 'string') throw new StepFailure(`fileParams: ${name} must be the path of a file`);
    const path = value.replace(/^@/, '');
    const content = await files.open(path, context.source.directory);
    const filename = escapeName(path.split(/[\\/]/).at(-1) ?? '');
    startPart(name, `; filename="${filename}"\r\nContent-Type: ${mediaTypeOf(path)}`);
    pieces.push(content, '\r\n');
    shown.push(`${name}=<${content.size} bytes of ${path}>`);
    parts.push({ name, file: path });
  }
  if (shown.length === 0) throw new StepFailure('the form is empty', { hint: 'add a file to fileParams' });
  pieces.push(`--${boundary}--\r\n`);
  return {
    pieces,
    contentType: `multipart/form-data; boundary=${boundary}`,
    fixedType: true,
    secret: holdsSecret(fields),
    shown: shown.join('\n'),
    parts,
  };
}

/** A list repeats its field. */
function* fieldsOf(map: Fields, parameter: string): Iterable<readonly [name: string, value: Scalar]> {
  for (const [name, values] of Object.entries(map)) {
    for (const value of Array.isArray(values) ? values : [values]) {
      assertStep(!isCollection(value), `${parameter}: ${name} is a list or map and cannot be a form field`);
      yield [name, value];
    }
  }
}

/** Line breaks in names and values are CRLF (HTML standard, multipart/form-data encoding). */
function toCrlf(text: string): string {
  return text.replace(/\r\n?|\n/g, '\r\n');
}

function escapeName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}
