import type { Ajv, AnySchema, ErrorObject, Options, ValidateFunction } from 'ajv';
import { member } from '../../config/resolver.ts';
import { isCollection } from '../../config/value.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { MASK, Secret } from '../../redaction/secret.ts';
import { textValue, withValue, withValues } from '../compare.ts';
import { StepFailure } from '../step-failure.ts';
import { runWithTimeLimit } from './bounded.ts';
import type { JsonDocument } from './json-document.ts';

type Dialect = new (options: Options) => Pick<Ajv, 'compile' | 'validateSchema' | 'errors' | 'errorsText'>;

const NEWEST = 'https://json-schema.org/draft/2020-12/schema';

/** By what a schema calls itself in `$schema`. */
const dialects: Readonly<Record<string, () => Promise<Dialect>>> = {
  [NEWEST]: async () => (await import('ajv/dist/2020.js')).Ajv2020,
  'https://json-schema.org/draft/2019-09/schema': async () => (await import('ajv/dist/2019.js')).Ajv2019,
  'http://json-schema.org/draft-07/schema': async () => (await import('ajv')).Ajv,
};

/** A format is a note by the standard's default; only own members count, or everything would have a `constructor`. */
const options = {
  allErrors: true,
  strict: false,
  validateFormats: false,
  ownProperties: true,
  logger: false,
} as const satisfies Options;

/** To prepare for the schemas of a dialect takes fifty times as long as to compile one. */
const checkers = new Map<Dialect, InstanceType<Dialect>>();

/** Everything in a document that a JSON Schema does not allow, each with its place; a `$ref` to elsewhere is not fetched. */
export async function findSchemaErrors(document: JsonDocument, schema: JsonDocument): Promise<readonly string[]> {
  if (typeof schema.value !== 'boolean' && (!isCollection(schema.value) || Array.isArray(schema.value))) {
    throw new StepFailure('the schema must be a map, true or false');
  }
  const Dialect = await loadDialect(schema);
  const checker = checkers.get(Dialect) ?? new Dialect(options);
  checker.validateSchema({});
  checkers.set(Dialect, checker);
  const isSecret = schema.text instanceof Secret;
  let errors: readonly ErrorObject[] = [];
  runWithTimeLimit('the schema', () =>
    withValues(document.text, schema.text, (clear, schemaText) => {
      const validate = compile(JSON.parse(schemaText), Dialect, checker, isSecret);
      validate(JSON.parse(clear));
      errors = validate.errors ?? [];
      return true;
    }),
  );
  return errors.map((error) => tell(error, document.hidden, isSecret));
}

async function loadDialect({ value }: JsonDocument): Promise<Dialect> {
  const named = textValue(member(value, ['$schema']) ?? NEWEST);
  const load = Object.entries(dialects).find(([uri]) =>
    withValue(named, (clear) => clear.replace(/#$/, '') === uri),
  )?.[1];
  if (load !== undefined) return load();
  throw new StepFailure('the schema is of a kind that is not known', {
    expected: Object.keys(dialects),
    actual: named,
  });
}

/** A new compiler for each schema, so that none finds the names of another. */
function compile(
  schema: AnySchema,
  Dialect: Dialect,
  checker: InstanceType<Dialect>,
  isSecret: boolean,
): ValidateFunction {
  try {
    if (!checker.validateSchema(schema)) throw new Error(checker.errorsText(checker.errors, { dataVar: 'schema' }));
    const validate = new Dialect({ ...options, validateSchema: false }).compile(schema);
    if ('$async' in validate) throw new Error('$async is not part of JSON Schema');
    return validate;
  } catch (error) {
    throw new StepFailure(`the schema is not valid${isSecret ? '' : `: ${escapeControls((error as Error).message)}`}`);
  }
}

/** The library's sentences quote the schema but never the document; names of members are added where they help. */
function tell({ instancePath, keyword, message, params }: ErrorObject, hidden: boolean, secret: boolean): string {
  const place = hidden ? MASK : instancePath === '' ? 'the document' : instancePath;
  if (secret) return escapeControls(`${place} does not fit ${keyword}`);
  const { additionalProperty, unevaluatedProperty, allowedValues, allowedValue } = params as Record<string, unknown>;
  const name = additionalProperty ?? unevaluatedProperty;
  const allowed = allowedValues ?? allowedValue;
  const more =
    name !== undefined ? ` (${hidden ? MASK : name})` : allowed !== undefined ? `: ${JSON.stringify(allowed)}` : '';
  return escapeControls(`${place} ${message ?? `does not fit ${keyword}`}${more}`);
}
