import { parseJson } from '../../../config/json.ts';
import { holdsSecret } from '../../../config/resolver.ts';
import { isCollection, isEmpty, RawScalar, type Scalar, toText, type Value } from '../../../config/value.ts';
import { wrapSecretsByName } from '../../../config/variables.ts';
import type { BodyPart, Files } from '../../../ports.ts';
import { Secret } from '../../../redaction/secret.ts';
import { display, numeralOf } from '../../compare.ts';
import type { StepContext } from '../../step-context.ts';
import { StepFailure } from '../../step-failure.ts';

/** What a request carries. */
export interface Body {
  readonly pieces: readonly BodyPart[];
  readonly contentType: string;
  /** Whether the body cannot be read under any other content type. */
  readonly fixedType?: boolean;
  /** Whether a secret is part of it. */
  readonly secret: boolean;
  /** The body as a person may see it; known secrets are not yet masked. */
  readonly shown: string;
}

const JSON_TYPE = 'application/json';

/** A body as a step gives it: text as it is, what has parts as JSON, `@path` the file's content, nothing where it is empty. */
export async function readBody(value: Value, context: StepContext, files: Files): Promise<Body | undefined> {
  if (isCollection(value)) return jsonBody(value);
  if (isEmpty(value)) return undefined;
  const path = filePath(value, context);
  if (path !== undefined) {
    const content = await files.open(path, context.source.directory);
    const contentType = mediaTypeOf(path);
    return { pieces: [content], contentType, secret: false, shown: `<${content.size} bytes of ${path}>` };
  }
  const text = unescaped(toText(value), context);
  return {
    pieces: [text],
    contentType: 'text/plain;charset=UTF-8',
    secret: text instanceof Secret,
    shown: String(text),
  };
}

/** A GraphQL request: the query's text, or a map of `query`, `variables` and `operationName`. */
export async function readGraphqlBody(value: Value, context: StepContext, files: Files): Promise<Body> {
  const request = isCollection(value) ? value : requestIn(await graphqlText(value, context, files));
  if (Array.isArray(request) || isEmpty((request as { readonly query?: Value }).query)) {
    throw new StepFailure('body holds no GraphQL query', {
      hint: "give the query's text, or a map of query, variables and operationName",
    });
  }
  return jsonBody(request);
}

/** A value as JSON. */
function jsonBody(value: Value): Body {
  const pieces: (string | Secret)[] = [];
  writeJson(value, pieces);
  return {
    pieces,
    contentType: JSON_TYPE,
    secret: holdsSecret(value),
    shown: display(wrapSecretsByName('', value)),
  };
}

/** The media type of a file, from its name. */
export function mediaTypeOf(path: string): string {
  const ending = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return mediaTypes.get(ending) ?? 'application/octet-stream';
}

const mediaTypes = new Map([
  ['json', JSON_TYPE],
  ['txt', 'text/plain'],
  ['log', 'text/plain'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['htm', 'text/html'],
  ['css', 'text/css'],
  ['md', 'text/markdown'],
  ['js', 'text/javascript'],
  ['xml', 'application/xml'],
  ['yaml', 'application/yaml'],
  ['yml', 'application/yaml'],
  ['graphql', 'application/graphql'],
  ['pdf', 'application/pdf'],
  ['zip', 'application/zip'],
  ['gz', 'application/gzip'],
  ['tar', 'application/x-tar'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['svg', 'image/svg+xml'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
]);

/** The file that a body names. The author must have written the `@`: a reply that begins with one must not have files sent. */
function filePath(value: Value, context: StepContext): string | undefined {
  if (typeof value !== 'string' || !/^@[^@]/.test(value)) return undefined;
  return isAuthorsAt(context) ? value.slice(1) : undefined;
}

function isAuthorsAt(context: StepContext): boolean {
  const written = context.written?.('body');
  return typeof written === 'string' && written.startsWith('@');
}

/** `@@` at the beginning is one `@` of the text. */
function unescaped(text: string | Secret, context: StepContext): string | Secret {
  return typeof text === 'string' && text.startsWith('@@') && isAuthorsAt(context) ? text.slice(1) : text;
}

async function graphqlText(value: Scalar, context: StepContext, files: Files): Promise<string | Secret> {
  const path = filePath(value, context);
  if (path === undefined) return unescaped(toText(value), context);
  return new TextDecoder().decode(await files.read(path, context.source.directory));
}

/** A text may be the whole request as JSON, or a query, which can begin with a brace too. */
function requestIn(text: string | Secret): Value {
  if (typeof text === 'string' && /^\s*\{\s*"/.test(text)) {
    try {
      return parseJson(text, 'body');
    } catch {
      // A query then.
    }
  }
  return { query: text };
}

/** Numbers keep their digits, which `JSON.stringify` would round away; secrets stay in their wrapper. */
function writeJson(value: Value, pieces: (string | Secret)[]): void {
  if (value instanceof Secret) pieces.push(value.map((clear) => JSON.stringify(clear)));
  else if (value instanceof RawScalar) pieces.push(numeralOf(value));
  else if (!isCollection(value)) pieces.push(JSON.stringify(value));
  else {
    const list = Array.isArray(value);
    pieces.push(list ? '[' : '{');
    for (const [index, [name, part]] of Object.entries(value).entries()) {
      pieces.push(`${index === 0 ? '' : ','}${list ? '' : `${JSON.stringify(name)}:`}`);
      writeJson(part, pieces);
    }
    pieces.push(list ? ']' : '}');
  }
}
