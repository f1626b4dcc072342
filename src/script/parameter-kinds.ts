import { hasReference } from '../config/reference.ts';
import { isCollection, isEmpty, RawScalar, toText, type Value } from '../config/value.ts';
import { Secret } from '../redaction/secret.ts';
import { testString } from './compare.ts';

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

const scalar = { type: ['string', 'number', 'boolean', 'null'] };
const anything = {};
const isStringOrSecret = (value: Value): value is string | Secret =>
  typeof value === 'string' || value instanceof Secret;

/**
 * Validation and conversion of each kind of parameter. `read` checks a literal when the script is parsed, and a value with references when
 * its step runs. `schema` is the JSON Schema for editors.
 */
export const kinds = {
  /** A scalar as a string, with its original spelling. */
  text: {
    help: 'string',
    schema: scalar,
    read: (value: Value): string | Secret | InvalidArgument =>
      isCollection(value) ? new InvalidArgument('a string, not a list or map') : toText(value),
  },
  value: { help: 'any value', schema: anything, read: (value: Value): Value => value },
  /** The name of a variable to set (D3). */
  variable: {
    help: 'variable name',
    schema: { type: 'string' },
    read: (value: Value): string | InvalidArgument =>
      typeof value === 'string' && isPlainName(value)
        ? value
        : new InvalidArgument('a variable name: letters, digits and _, but not env, file or vault'),
  },
  /** The name of a variable that may be a field of a profile. */
  dottedVariable: {
    help: 'variable name, with dots for the fields of a profile',
    schema: { type: 'string' },
    read: (value: Value): string | InvalidArgument =>
      typeof value === 'string' && value.split('.').every((part) => isPlainName(part))
        ? value
        : new InvalidArgument('a variable name: letters, digits and _, joined with dots'),
  },
  /** Names as a list, or as a string with commas. */
  names: {
    help: 'names, as a list or separated by commas',
    schema: { type: ['string', 'array'], items: { type: 'string' } },
    read: (value: Value): readonly string[] | InvalidArgument => {
      const parts = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value;
      const isName = (part: unknown): part is string => typeof part === 'string' && part !== '';
      return Array.isArray(parts) && parts.length > 0 && parts.every(isName)
        ? parts
        : new InvalidArgument('names, as a list or separated by commas');
    },
  },
  number: {
    help: 'number',
    schema: { type: ['number', 'string'] },
    read: (value: Value): number | InvalidArgument => toNumber(value) ?? new InvalidArgument('a number'),
  },
  /** A non-negative integer. */
  count: {
    help: 'non-negative integer',
    schema: { type: ['integer', 'string'] },
    read: (value: Value): number | InvalidArgument => {
      const number = toNumber(value);
      return number !== undefined && Number.isSafeInteger(number) && number >= 0
        ? number
        : new InvalidArgument('a non-negative integer');
    },
  },
  flag: {
    help: 'true or false',
    schema: { type: ['boolean', 'string'] },
    read: (value: Value): boolean | InvalidArgument => {
      if (value instanceof RawScalar && typeof value.value === 'boolean') return value.value;
      const text = isCollection(value) ? '' : toText(value);
      return text === 'true' || text === 'false' ? text === 'true' : new InvalidArgument('true or false');
    },
  },
  regex: {
    help: 'JavaScript regular expression, flag u',
    schema: { type: 'string' },
    read: (value: Value): RegExp | InvalidArgument => {
      try {
        return typeof value === 'string' ? new RegExp(value, 'u') : new InvalidArgument('a regular expression');
      } catch (error) {
        return new InvalidArgument(`a regular expression (${(error as Error).message.replace(/^.*: /, '')})`);
      }
    },
  },
  /** RFC 9535; a leading `$.` may be omitted. */
  jsonpath: {
    help: 'JSONPath (RFC 9535), a leading $. may be omitted',
    schema: { type: 'string' },
    read: (value: Value): string | InvalidArgument =>
      typeof value === 'string' && value !== '' ? withRoot(value) : new InvalidArgument('a JSONPath'),
  },
  /** HTTP statuses: statuses and ranges separated by commas. */
  statuses: {
    help: 'HTTP status such as 200, or 200-204,301',
    schema: { type: ['integer', 'string'] },
    read: (value: Value): readonly (readonly [from: number, to: number])[] | InvalidArgument => {
      const text = isCollection(value) ? '' : String(toText(value));
      const ranges = text.split(',').map((part) => /^\s*(\d{3})(?:\s*-\s*(\d{3}))?\s*$/.exec(part));
      const found = ranges.map((range): [number, number] => [Number(range?.[1]), Number(range?.[2] ?? range?.[1])]);
      return found.every(([from, to]) => from <= to)
        ? found
        : new InvalidArgument('an HTTP status such as 200, or statuses such as 200-204,301');
    },
  },
  /** `name=value` lines, or a map. */
  map: {
    help: 'map, or lines of name=value',
    schema: { type: ['object', 'string', 'null'] },
    read: (value: Value): Readonly<Record<string, Value>> | InvalidArgument => {
      if (isEmpty(value)) return {};
      if (isCollection(value) && !Array.isArray(value)) return value as Readonly<Record<string, Value>>;
      const lines = isStringOrSecret(value) ? parseLines(value) : undefined;
      return lines ?? new InvalidArgument('a map, or lines of name=value');
    },
  },
} as const;

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
