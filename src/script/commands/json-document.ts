import { parseJson } from '../../config/json.ts';
import { member } from '../../config/resolver.ts';
import { isCollection, type Value } from '../../config/value.ts';
import { wrapSecret, wrapSecretsByName } from '../../config/variables.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { Secret } from '../../redaction/secret.ts';
import { textValue, withValue } from '../compare.ts';
import { StepFailure } from '../step-failure.ts';
import { runWithTimeLimit } from './bounded.ts';

/** More of them are a mistake in the path. */
const MAX_MATCHES = 100_000;
/** Deeper than anything that was read from a text. */
const MAX_DEPTH = 500;

/** JSON that a step was given, as a value whose secrets are hidden and as a text that questions can be asked of. */
export interface JsonDocument {
  readonly value: Value;
  readonly text: string | Secret;
  /** The text itself was a secret: not even its names may be shown. */
  readonly hidden: boolean;
}

/** Takes a value as it is and reads a text as JSON. `what` names it in a failure. */
export function readDocument(json: Value, what: string): JsonDocument {
  if (typeof json === 'string') return { value: wrapSecretsByName('', parse(json, what)), text: json, hidden: false };
  if (json instanceof Secret) return { value: readSecret(json, what), text: json, hidden: true };
  return { value: json, text: isCollection(json) ? textValue(json) : JSON.stringify(json), hidden: false };
}

/** All values that a JSON path (RFC 9535) finds; a secret stays one. */
export async function query({ value, text }: JsonDocument, path: string): Promise<readonly Value[]> {
  const { JSONPathEnvironment } = await import('json-p3');
  const environment = new JSONPathEnvironment({ maxRecursionDepth: MAX_DEPTH });
  const places: (string | number)[][] = [];
  // The path is followed through a copy in clear that is forgotten; only where it led is kept.
  const follow = (clear: string): boolean => {
    for (const { location } of environment.lazyQuery(path, JSON.parse(clear))) {
      if (places.length === MAX_MATCHES) throw new StepFailure(`${path} finds more than ${MAX_MATCHES} elements`);
      places.push(location);
    }
    return true;
  };
  try {
    runWithTimeLimit(`the JSON path ${path}`, () => withValue(text, follow));
  } catch (error) {
    throw error instanceof StepFailure ? error : notAPath(path, error);
  }
  return places.map((place) => member(value, place)).filter((found) => found !== undefined);
}

function notAPath(path: string, error: unknown): StepFailure {
  const why = error instanceof RangeError ? 'too much to search' : escapeControls((error as Error).message);
  return new StepFailure(`the JSON path ${path} cannot be followed: ${why}`);
}

function parse(text: string, what: string): Value {
  try {
    return parseJson(text, what);
  } catch (error) {
    throw new StepFailure(escapeControls((error as Error).message));
  }
}

function readSecret(text: Secret, what: string): Value {
  let value: Value = null;
  text.test((clear) => {
    try {
      value = wrapSecret(parseJson(clear, what));
    } catch {
      // A name that stands twice would be quoted.
      throw new StepFailure(`${what}: is not valid JSON`);
    }
    return true;
  });
  return value;
}
