import { parseJson } from '../../config/json.ts';
import { member } from '../../config/resolver.ts';
import { isCollection, type Value } from '../../config/value.ts';
import { wrapSecret, wrapSecretsByName } from '../../config/variables.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { Secret } from '../../redaction/secret.ts';
import { stringifyValue, testString } from '../compare.ts';
import { StepFailure } from '../step-context.ts';
import { runWithTimeLimit } from './time-limit.ts';

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
export function readDocument(json: Value, what: string): JsonDocument {
  if (typeof json === 'string')
    return { value: wrapSecretsByName('', parseText(json, what)), text: json, hidden: false };
  if (json instanceof Secret) return { value: parseSecret(json, what), text: json, hidden: true };
  return { value: json, text: isCollection(json) ? stringifyValue(json) : JSON.stringify(json), hidden: false };
}

/** Returns all values that a JSONPath (RFC 9535) matches; secrets stay wrapped. */
export async function queryDocument({ value, text }: JsonDocument, path: string): Promise<readonly Value[]> {
  const { JSONPathEnvironment } = await import('json-p3');
  const environment = new JSONPathEnvironment({ maxRecursionDepth: MAX_DEPTH });
  const locations: (string | number)[][] = [];
  // The query runs on an unmasked copy; only the locations of the matches are used, so that secrets stay wrapped.
  const runQuery = (clear: string): boolean => {
    for (const { location } of environment.lazyQuery(path, JSON.parse(clear))) {
      if (locations.length === MAX_MATCHES) throw new StepFailure(`${path} matches more than ${MAX_MATCHES} elements`);
      locations.push(location);
    }
    return true;
  };
  try {
    runWithTimeLimit(`the JSONPath ${path}`, () => testString(text, runQuery));
  } catch (error) {
    throw error instanceof StepFailure ? error : queryFailure(path, error);
  }
  return locations.map((location) => member(value, location)).filter((found) => found !== undefined);
}

function queryFailure(path: string, error: unknown): StepFailure {
  const why = error instanceof RangeError ? 'the document is too deep' : escapeControls((error as Error).message);
  return new StepFailure(`the JSONPath ${path} cannot be evaluated: ${why}`);
}

function parseText(text: string, what: string): Value {
  try {
    return parseJson(text, what);
  } catch (error) {
    throw new StepFailure(escapeControls((error as Error).message));
  }
}

function parseSecret(text: Secret, what: string): Value {
  let value: Value = null;
  text.test((clear) => {
    try {
      value = wrapSecret(parseJson(clear, what));
    } catch {
      // The parser's message could quote a member name.
      throw new StepFailure(`${what} is not valid JSON`);
    }
    return true;
  });
  return value;
}
