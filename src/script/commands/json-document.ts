import type { Ajv, AnySchema, ErrorObject, Options, ValidateFunction } from 'ajv';
import type { JSONPathQuery } from 'json-p3';
import { parseJson } from '../../config/json.ts';
import { member } from '../../config/resolver.ts';
import { isCollection, type Value } from '../../config/value.ts';
import { wrapSecret } from '../../config/variables.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { MASK, Secret } from '../../redaction/secret.ts';
import { stringifyValue, testString, testStrings } from '../compare.ts';
import { type StepContext, StepFailure } from '../step-context.ts';
import { runWithTimeLimit } from '../time-limit.ts';

/** A path with more matches is a mistake. */
const MAX_MATCHES = 100_000;
/** Exceeds the depth of every parsed document. */
const MAX_DEPTH = 500;

/** A JSON parameter as a value with its secrets wrapped, and as JSON text. */
export interface JsonDocument {
  readonly value: Value;
  readonly text: string | Secret;
  /** The JSON text itself is a secret: not even member names may be shown. */
  readonly hidden: boolean;
}

/** Returns a JSON parameter as a document; a string is parsed. `what` names it in failures. */
export function readDocument(json: Value, what: string, { apiSecrets }: StepContext): JsonDocument {
  if (isCollection(json)) return { value: json, text: stringifyValue(json), hidden: false };
  const hidden = json instanceof Secret;
  if (typeof json !== 'string' && !hidden) return { value: json, text: JSON.stringify(json), hidden };
  let value: Value = null;
  testString(json, (clear) => {
    try {
      const parsed = parseJson(clear, what);
      value = hidden ? wrapSecret(parsed) : apiSecrets.wrap(parsed, 'body');
    } catch (error) {
      // The parser's message could quote a member name of a secret document.
      throw new StepFailure(hidden ? `${what} is not valid JSON` : escapeControls((error as Error).message));
    }
    return true;
  });
  return { value, text: json, hidden };
}

/** Returns all values that a JSONPath (RFC 9535) matches; secrets stay wrapped. */
export async function queryDocument({ value, text }: JsonDocument, path: string): Promise<readonly Value[]> {
  const { JSONPathEnvironment } = await import('json-p3');
  const locations: (string | number)[][] = [];
  // The query runs on an unmasked copy; only the locations of the matches are used, so that secrets stay wrapped.
  const runQuery = (query: JSONPathQuery, clear: string): boolean => {
    for (const { location } of query.lazyQuery(JSON.parse(clear))) {
      if (locations.length === MAX_MATCHES) throw new StepFailure(`${path} matches more than ${MAX_MATCHES} elements`);
      locations.push(location);
    }
    return true;
  };
  try {
    const query = new JSONPathEnvironment({ maxRecursionDepth: MAX_DEPTH }).compile(path);
    const search = () => testString(text, (clear) => runQuery(query, clear));
    // A path of names and indexes takes linear time.
    if (query.singularQuery()) search();
    else runWithTimeLimit(`the JSONPath ${path}`, search);
  } catch (error) {
    if (error instanceof StepFailure) throw error;
    const why =
      error instanceof RangeError ? 'the document is nested too deeply' : escapeControls((error as Error).message);
    throw new StepFailure(`the JSONPath ${path} cannot be evaluated: ${why}`);
  }
  return locations.map((location) => member(value, location)).filter((found) => found !== undefined);
}

type Dialect = new (options: Options) => Pick<Ajv, 'compile' | 'validateSchema' | 'errors' | 'errorsText'>;

const NEWEST = 'https://json-schema.org/draft/2020-12/schema';

/** Validators by the value of `$schema`. */
const dialects: Readonly<Record<string, () => Promise<Dialect>>> = {
  [NEWEST]: async () => (await import('ajv/dist/2020.js')).Ajv2020,
  'https://json-schema.org/draft/2019-09/schema': async () => (await import('ajv/dist/2019.js')).Ajv2019,
  'http://json-schema.org/draft-07/schema': async () => (await import('ajv')).Ajv,
};

/** `format` is an annotation by default (JSON Schema 2020-12, section 7.2). Without `ownProperties` every object would have a `constructor`. */
const options: Options = { allErrors: true, strict: false, validateFormats: false, ownProperties: true, logger: false };

/** Reused, because compiling a meta-schema takes about 100 ms, 50 times as long as compiling a schema. */
const metaValidators = new Map<Dialect, InstanceType<Dialect>>();

/** Validates a document against a JSON Schema; returns one message per error. Remote `$ref`s are not fetched. */
export async function findSchemaErrors(document: JsonDocument, schema: JsonDocument): Promise<readonly string[]> {
  if (typeof schema.value !== 'boolean' && (!isCollection(schema.value) || Array.isArray(schema.value)))
    throw new StepFailure('the schema must be a map, true or false');
  const Dialect = await loadDialect(schema);
  const checker = metaValidators.get(Dialect) ?? new Dialect(options);
  // Compiles the meta-schema now, so that the time limit applies only to the schema itself.
  checker.validateSchema({});
  metaValidators.set(Dialect, checker);
  const isSecret = schema.text instanceof Secret;
  let errors: readonly ErrorObject[] = [];
  const validateText = (clear: string, schemaText: string): boolean => {
    let validate: ValidateFunction;
    try {
      validate = compile(JSON.parse(schemaText), Dialect, checker);
    } catch (error) {
      throw new StepFailure(`invalid schema${isSecret ? '' : `: ${escapeControls((error as Error).message)}`}`);
    }
    validate(JSON.parse(clear));
    errors = validate.errors ?? [];
    return true;
  };
  runWithTimeLimit('the schema', () => testStrings(document.text, schema.text, validateText));
  return errors.map((error) => describeError(error, document.hidden, isSecret));
}

async function loadDialect({ value }: JsonDocument): Promise<Dialect> {
  const uri = stringifyValue(member(value, ['$schema']) ?? NEWEST);
  const load = Object.entries(dialects).find(([known]) =>
    testString(uri, (clear) => clear.replace(/#$/, '') === known),
  )?.[1];
  if (load !== undefined) return load();
  throw new StepFailure('unknown $schema', { expected: Object.keys(dialects), actual: uri });
}

/** Each schema gets a new compiler, so that its `$id`s are not visible to other schemas. */
function compile(schema: AnySchema, Dialect: Dialect, checker: InstanceType<Dialect>): ValidateFunction {
  if (!checker.validateSchema(schema)) throw new Error(checker.errorsText(checker.errors, { dataVar: 'schema' }));
  const validate = new Dialect({ ...options, validateSchema: false }).compile(schema);
  if ('$async' in validate) throw new Error('$async is not part of JSON Schema');
  return validate;
}

/** Ajv's messages quote the schema but never the document. Member names are added unless the document is a secret. */
function describeError({ instancePath, keyword, message, params }: ErrorObject, hidden: boolean, secret: boolean) {
  const location = hidden ? MASK : instancePath === '' ? 'the document' : instancePath;
  if (secret) return escapeControls(`${location} does not match ${keyword}`);
  const { additionalProperty, unevaluatedProperty, allowedValues, allowedValue } = params as Record<string, unknown>;
  const name = additionalProperty ?? unevaluatedProperty;
  const allowed = allowedValues ?? allowedValue;
  const more =
    name !== undefined ? ` (${hidden ? MASK : name})` : allowed !== undefined ? `: ${JSON.stringify(allowed)}` : '';
  return escapeControls(`${location} ${message ?? `does not match ${keyword}`}${more}`);
}
