import { holdsSecret } from '../../../config/resolver.ts';
import { isCollection, type Scalar, toText, type Value } from '../../../config/value.ts';
import type { BodyPart, Files } from '../../../ports.ts';
import { Secret } from '../../../redaction/secret.ts';
import { isSensitiveName } from '../../../redaction/sensitive-names.ts';
import { type StepContext, StepFailure } from '../../step-context.ts';
import { type Body, mediaTypeOf } from './body.ts';

type Fields = Readonly<Record<string, Value>>;

/** Builds a multipart form (RFC 7578) with names escaped as browsers do. Files are read while they are sent. */
export async function readForm(fields: Fields, fileParams: Fields, context: StepContext, files: Files): Promise<Body> {
  const boundary = `----oauth-profile-${crypto.randomUUID()}`;
  const pieces: BodyPart[] = [];
  const shown: string[] = [];
  const startPart = (name: string, more: string): void => {
    pieces.push(`--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(toCrlf(name))}"${more}\r\n\r\n`);
  };
  for (const [name, value] of fieldsOf(fields, 'body')) {
    const text = toText(value);
    startPart(name, '');
    pieces.push(typeof text === 'string' ? toCrlf(text) : text.map(toCrlf), '\r\n');
    shown.push(`${name}=${String(typeof text === 'string' && isSensitiveName(name) ? new Secret(text) : text)}`);
  }
  for (const [name, value] of fieldsOf(fileParams, 'fileParams')) {
    if (typeof value !== 'string') throw new StepFailure(`fileParams: ${name} must be the path of a file`);
    const path = value.replace(/^@/, '');
    const content = await files.open(path, context.source.directory);
    const filename = escapeName(path.split(/[\\/]/).at(-1) ?? '');
    startPart(name, `; filename="${filename}"\r\nContent-Type: ${mediaTypeOf(path)}`);
    pieces.push(content, '\r\n');
    shown.push(`${name}=<${content.size} bytes of ${path}>`);
  }
  if (shown.length === 0) throw new StepFailure('the form is empty', { hint: 'add a file to fileParams' });
  pieces.push(`--${boundary}--\r\n`);
  return {
    pieces,
    contentType: `multipart/form-data; boundary=${boundary}`,
    fixedType: true,
    secret: holdsSecret(fields),
    shown: shown.join('\n'),
  };
}

/** A list repeats its field. */
function* fieldsOf(map: Fields, parameter: string): Iterable<readonly [name: string, value: Scalar]> {
  for (const [name, values] of Object.entries(map)) {
    for (const value of Array.isArray(values) ? values : [values]) {
      if (isCollection(value))
        throw new StepFailure(`${parameter}: ${name} is a list or map and cannot be a form field`);
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
