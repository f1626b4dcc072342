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
  if (isCollection(json)) return { value: json, text: stringifyValue(json), hidden: false };
  const hidden = json instanceof Secret;
  if (typeof json !== 'string' && !hidden) return { value: json, text: JSON.stringify(json), hidden };
  let value: Value = null;
  testString(json, (clear) => {
    try {
      const parsed = parseJson(clear, what);
      value = hidden ? wrapSecret(parsed) : wrapSecretsByName('', parsed);
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
    if (error instanceof StepFailure) throw error;
    const why = error instanceof RangeError ? 'the document is too deep' : escapeControls((error as Error).message);
    throw new StepFailure(`the JSONPath ${path} cannot be evaluated: ${why}`);
  }
  return locations.map((location) => member(value, location)).filter((found) => found !== undefined);
}
