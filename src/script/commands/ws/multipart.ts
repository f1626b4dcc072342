import { holdsSecret } from '../../../config/resolver.ts';
import { isCollection, type Scalar, toText, type Value } from '../../../config/value.ts';
import type { BodyPart, Files } from '../../../ports.ts';
import { Secret } from '../../../redaction/secret.ts';
import { isSensitiveName } from '../../../redaction/sensitive-names.ts';
import type { StepContext } from '../../step-context.ts';
import { StepFailure } from '../../step-failure.ts';
import { type Body, mediaTypeOf } from './body.ts';

type Fields = Readonly<Record<string, Value>>;

/** A form with files (RFC 7578), names escaped as browsers do; the files are read while they are sent. */
export async function readForm(fields: Fields, fileParams: Fields, context: StepContext, files: Files): Promise<Body> {
  const boundary = `----oauth-profile-${crypto.randomUUID()}`;
  const pieces: BodyPart[] = [];
  const shown: string[] = [];
  const begin = (name: string, more: string): void => {
    pieces.push(`--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(lineEnds(name))}"${more}\r\n\r\n`);
  };
  for (const [name, value] of partsOf(fields, 'body')) {
    const text = toText(value);
    begin(name, '');
    pieces.push(typeof text === 'string' ? lineEnds(text) : text.map(lineEnds), '\r\n');
    shown.push(`${name}=${String(typeof text === 'string' && isSensitiveName(name) ? new Secret(text) : text)}`);
  }
  for (const [name, value] of partsOf(fileParams, 'fileParams')) {
    if (typeof value !== 'string') throw new StepFailure(`fileParams: ${name} is not the path of a file`);
    const path = value.replace(/^@/, '');
    const content = await files.open(path, context.source.directory);
    const filename = escapeName(path.split(/[\\/]/).at(-1) ?? '');
    begin(name, `; filename="${filename}"\r\nContent-Type: ${mediaTypeOf(path)}`);
    pieces.push(content, '\r\n');
    shown.push(`${name}=<${content.size} bytes of ${path}>`);
  }
  if (shown.length === 0) throw new StepFailure('there is nothing to upload', { hint: 'name a file in fileParams' });
  pieces.push(`--${boundary}--\r\n`);
  return {
    pieces,
    contentType: `multipart/form-data; boundary=${boundary}`,
    fixedType: true,
    secret: holdsSecret(fields),
    shown: shown.join('\n'),
  };
}

/** A list is one name several times. */
function* partsOf(map: Fields, parameter: string): Iterable<readonly [name: string, value: Scalar]> {
  for (const [name, values] of Object.entries(map)) {
    for (const value of Array.isArray(values) ? values : [values]) {
      if (isCollection(value)) throw new StepFailure(`${parameter}: ${name} has parts and cannot be a field of a form`);
      yield [name, value];
    }
  }
}

/** As the HTML standard has it: every line end of a name or value is CRLF. */
function lineEnds(text: string): string {
  return text.replace(/\r\n?|\n/g, '\r\n');
}

function escapeName(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}
