import { hasReference } from '../config/reference.ts';
import { closestMatch } from '../config/suggestions.ts';
import { isCollection, isEmpty, RawScalar, toText, type Value } from '../config/value.ts';
import { parseDuration } from '../profile/options/options.ts';
import { Secret } from '../redaction/secret.ts';
import { testString } from './compare.ts';
import { MAX_REDIRECTS, type RequestSettings, requestKeys } from './keys.ts';

/** Name of a parameter kind. */
export type Kind = keyof typeof kinds;

/** Type of the argument that a command receives for a parameter of this kind. */
export type ValueOf<K extends Kind> = (typeof kinds)[K] extends { read(value: Value): infer T }
  ? Exclude<T, InvalidArgument>
  : never;

/** An invalid value; `expected` completes "must be …". */
export class InvalidArgument {
  constructor(readonly expected: string) {}
}

/** Prefixes of references, and names with a meaning in JavaScript. */
const reserved = new Set(['env', 'file', 'vault', '__proto__', 'constructor', 'prototype']);

/** Defines a kind; `read` returns `undefined` for an invalid value. */
function defineKind<T>(
  help: string,
  schema: Readonly<Record<string, unknown>>,
  expected: string,
  read: (value: Value) => T | InvalidArgument | undefined,
) {
  return {
    help,
    schema,
    read(value: Value): T | InvalidArgument {
      const found = read(value);
      return found === undefined ? new InvalidArgument(expected) : found;
    },
  };
}

/**
 * Validation and conversion of each kind of parameter. `read` checks a literal when the script is parsed, and a value with references when
 * its step runs. `schema` is the JSON Schema for editors.
 */
export const kinds = {
  /** A scalar as a string, with its original spelling. */
  text: defineKind(
    'string',
    { type: ['string', 'number', 'boolean', 'null'] },
    'a string, not a list or map',
    (value): string | Secret | undefined => (isCollection(value) ? undefined : toText(value)),
  ),
  value: defineKind('any value', {}, 'a value', (value): Value => value),
  variable: defineKind(
    'variable name',
    { type: 'string' },
    'a variable name: letters, digits and _, but not env, file or vault',
    (value) => (typeof value === 'string' && isPlainName(value) ? value : undefined),
  ),
  dottedVariable: defineKind(
    'variable name, with dots for the fields of a profile',
    { type: 'string' },
    'a variable name: letters, digits and _, joined with dots',
    (value) => (typeof value === 'string' && value.split('.').every(isPlainName) ? value : undefined),
  ),
  names: defineKind(
    'names, as a list or separated by commas',
    { type: ['string', 'array'], items: { type: 'string' } },
    'names, as a list or separated by commas',
    (value): readonly string[] | undefined => {
      const parts = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value;
      const isName = (part: unknown): part is string => typeof part === 'string' && part !== '';
      return Array.isArray(parts) && parts.length > 0 && parts.every(isName) ? parts : undefined;
    },
  ),
  number: defineKind('number', { type: ['number', 'string'] }, 'a number', toNumber),
  count: defineKind('non-negative integer', { type: ['integer', 'string'] }, 'a non-negative integer', (value) => {
    const number = toNumber(value);
    return number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
  }),
  flag: defineKind('true or false', { type: ['boolean', 'string'] }, 'true or false', (value) => {
    const text = isCollection(value) ? '' : String(value instanceof RawScalar ? value.value : toText(value));
    return text === 'true' || text === 'false' ? text === 'true' : undefined;
  }),
  regex: defineKind('JavaScript regular expression, flag u', { type: 'string' }, 'a regular expression', (value) => {
    try {
      return typeof value === 'string' ? new RegExp(value, 'u') : undefined;
    } catch (error) {
      return new InvalidArgument(`a regular expression (${(error as Error).message.replace(/^.*: /, '')})`);
    }
  }),
  jsonpath: defineKind('JSONPath (RFC 9535), a leading $. may be omitted', { type: 'string' }, 'a JSONPath', (value) =>
    typeof value === 'string' && value !== '' ? withRoot(value) : undefined,
  ),
  statuses: defineKind(
    'HTTP status such as 200, or 200-204,301',
    { type: ['integer', 'string'] },
    'an HTTP status such as 200, or statuses such as 200-204,301',
    (value): readonly (readonly [from: number, to: number])[] | undefined => {
      const text = isCollection(value) ? '' : String(toText(value));
      const ranges = text.split(',').map((part) => /^\s*(\d{3})(?:\s*-\s*(\d{3}))?\s*$/.exec(part));
      const found = ranges.map((range): [number, number] => [Number(range?.[1]), Number(range?.[2] ?? range?.[1])]);
      return found.every(([from, to]) => from <= to) ? found : undefined;
    },
  ),
  map: defineKind(
    'map, or lines of name=value',
    { type: ['object', 'string', 'null'] },
    'a map, or lines of name=value',
    (value): Readonly<Record<string, Value>> | undefined => {
      if (isEmpty(value)) return {};
      if (isCollection(value)) return Array.isArray(value) ? undefined : (value as Readonly<Record<string, Value>>);
      return typeof value === 'string' || value instanceof Secret ? parseLines(value) : undefined;
    },
  ),
  options: defineKind(
    `map of ${Object.keys(requestKeys).join(', ')}`,
    {
      type: ['object', 'string', 'null'],
      maxLength: 0,
      properties: Object.fromEntries(Object.entries(requestKeys).map(([key, { schema }]) => [key, schema])),
      additionalProperties: false,
    },
    `a map of ${Object.keys(requestKeys).join(', ')}`,
    readOptions,
  ),
} as const;

function readOptions(value: Value): RequestSettings | InvalidArgument | undefined {
  if (isEmpty(value)) return {};
  if (!isCollection(value) || Array.isArray(value)) return undefined;
  const known = Object.keys(requestKeys);
  const given = value as Readonly<Record<string, Value>>;
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const near = closestMatch(unknown, known);
    const hint = near === undefined ? '' : `: did you mean ${near}?`;
    return new InvalidArgument(`a map of ${known.join(', ')}${hint}`);
  }
  const text = (name: keyof typeof requestKeys): string | undefined => {
    const found = given[name];
    return found === undefined || isCollection(found) ? undefined : String(toText(found));
  };
  const redirects = given['redirects'] === undefined ? undefined : toNumber(given['redirects']);
  const timeoutMs = text('timeout') === undefined ? undefined : parseDuration(text('timeout') ?? '');
  const isInRange = Number.isInteger(redirects) && Number(redirects) >= 0 && Number(redirects) <= MAX_REDIRECTS;
  if (given['redirects'] !== undefined && !isInRange)
    return new InvalidArgument(`a map in which redirects is an integer from 0 to ${MAX_REDIRECTS}`);
  if (given['timeout'] !== undefined && timeoutMs === undefined)
    return new InvalidArgument('a map in which timeout is a duration such as 30s, 500ms or 2m');
  const files = { caFile: text('ca_file'), certFile: text('cert_file'), certKeyFile: text('cert_key_file') };
  const settings: RequestSettings = { redirects, timeoutMs, ...files };
  return Object.fromEntries(Object.entries(settings).filter(([, one]) => one !== undefined));
}

/** Returns whether a step may set a variable of this name (D3). */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !reserved.has(name);
}

/** Converts a number, or a string that contains one, to a number; else `undefined`. */
export function toNumber(value: Value): number | undefined {
  const found = value instanceof RawScalar ? value.value : typeof value === 'string' ? parseNumber(value) : value;
  return typeof found === 'number' && !Number.isNaN(found) ? found : undefined;
}

function parseNumber(text: string): number | undefined {
  return /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : undefined;
}

function withRoot(path: string): string {
  if (/^\$(?:$|[.[])/.test(path)) return path;
  return path.startsWith('[') ? `$${path}` : `$.${path}`;
}

/** Splits lines of name=value into a map before references are resolved, so that a resolved value cannot add lines. */
export function splitLines(raw: Value): Value {
  const lines = typeof raw === 'string' && hasReference(raw) ? parseLines(raw) : undefined;
  return lines === undefined || Object.keys(lines).some(hasReference) ? raw : lines;
}

function parseLines(text: string | Secret): Record<string, Value> | undefined {
  const map: Record<string, Value> = Object.create(null);
  const isValid = testString(text, (clear) =>
    clear.split(/\r?\n/).every((line) => {
      if (line.trim() === '') return true;
      const end = line.indexOf('=');
      const name = line.slice(0, Math.max(0, end)).trim();
      if (name === '' || name in map) return false;
      const value = line.slice(end + 1).trim();
      // Any of the lines may contain the secret, so all values are secrets.
      map[name] = typeof text === 'string' ? value : new Secret(value);
      return true;
    }),
  );
  return isValid ? { ...map } : undefined;
}
