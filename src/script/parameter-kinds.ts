import { hasReference } from '../config/reference.ts';
import { isCollection, isEmpty, RawScalar, toText, type Value } from '../config/value.ts';
import { Secret } from '../redaction/secret.ts';

/** What a parameter can be. */
export type Kind = keyof typeof kinds;

/** What a command gets for a parameter of a kind. */
export type ValueOf<K extends Kind> = (typeof kinds)[K] extends { read(value: Value): infer T }
  ? Exclude<T, InvalidArgument>
  : never;

/** A value that a parameter cannot have; `wanted` completes "must be …". */
export class InvalidArgument {
  constructor(readonly wanted: string) {}
}

/** Words that references begin with, and names that reach into the language itself. */
const reserved = new Set(['env', 'file', 'vault', '__proto__', 'constructor', 'prototype']);

const scalar = { type: ['string', 'number', 'boolean', 'null'] };
const anything = {};
const isText = (value: Value): value is string | Secret => typeof value === 'string' || value instanceof Secret;

/**
 * How each kind is checked and handed to a command. A literal is checked when the file is read, anything else when its step runs; both by
 * the same `read`. `schema` is what an editor is told.
 */
export const kinds = {
  /** Text as it is written; whatever has parts is refused. */
  text: {
    help: 'text',
    schema: scalar,
    read: (value: Value): string | Secret | InvalidArgument =>
      isCollection(value) ? new InvalidArgument('text, not something with parts') : toText(value),
  },
  /** Anything, as it is. */
  value: { help: 'any value', schema: anything, read: (value: Value): Value => value },
  /** The name of a variable to write: D3. */
  variable: {
    help: 'name of a variable',
    schema: { type: 'string' },
    read: (value: Value): string | InvalidArgument =>
      typeof value === 'string' && isPlainName(value)
        ? value
        : new InvalidArgument('the plain name of a variable: letters, digits and _, not env, file or vault'),
  },
  /** The name of a variable that may be part of a profile. */
  dottedVariable: {
    help: 'name of a variable, with dots for the fields of a profile',
    schema: { type: 'string' },
    read: (value: Value): string | InvalidArgument =>
      typeof value === 'string' && value.split('.').every((part) => isPlainName(part))
        ? value
        : new InvalidArgument('the name of a variable: plain names joined with dots'),
  },
  /** Names in a list, or in one text with commas. */
  names: {
    help: 'names, as a list or with commas between',
    schema: { type: ['string', 'array'], items: { type: 'string' } },
    read: (value: Value): readonly string[] | InvalidArgument => {
      const parts = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value;
      const named = (part: unknown): part is string => typeof part === 'string' && part !== '';
      return Array.isArray(parts) && parts.length > 0 && parts.every(named)
        ? parts
        : new InvalidArgument('names, as a list or with commas between');
    },
  },
  number: {
    help: 'number',
    schema: { type: ['number', 'string'] },
    read: (value: Value): number | InvalidArgument => numberOf(value) ?? new InvalidArgument('a number'),
  },
  /** A whole number from 0. */
  count: {
    help: 'whole number',
    schema: { type: ['integer', 'string'] },
    read: (value: Value): number | InvalidArgument => {
      const number = numberOf(value);
      return number !== undefined && Number.isSafeInteger(number) && number >= 0
        ? number
        : new InvalidArgument('a whole number from 0');
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
    help: 'regular expression, as in JavaScript with the flag u',
    schema: { type: 'string' },
    read: (value: Value): RegExp | InvalidArgument => {
      try {
        return typeof value === 'string' ? new RegExp(value, 'u') : new InvalidArgument('a regular expression');
      } catch (error) {
        return new InvalidArgument(`a regular expression (${(error as Error).message.replace(/^.*: /, '')})`);
      }
    },
  },
  /** RFC 9535; a leading `$.` may be left out. */
  jsonpath: {
    help: 'JSON path (RFC 9535), a leading $. may be left out',
    schema: { type: 'string' },
    read: (value: Value): string | InvalidArgument =>
      typeof value === 'string' && value !== '' ? withRoot(value) : new InvalidArgument('a JSON path'),
  },
  /** Statuses of HTTP: one, or several and ranges of them with commas between. */
  statuses: {
    help: 'HTTP status such as 200, or 200-204,301',
    schema: { type: ['integer', 'string'] },
    read: (value: Value): readonly (readonly [from: number, to: number])[] | InvalidArgument => {
      const text = isCollection(value) ? '' : String(toText(value));
      const ranges = text.split(',').map((part) => /^\s*(\d{3})(?:\s*-\s*(\d{3}))?\s*$/.exec(part));
      const found = ranges.map((range): [number, number] => [Number(range?.[1]), Number(range?.[2] ?? range?.[1])]);
      return found.every(([from, to]) => from <= to)
        ? found
        : new InvalidArgument('an HTTP status such as 200, or several such as 200-204,301');
    },
  },
  /** `name=value` lines, or a map. */
  map: {
    help: 'map, or lines of name=value',
    schema: { type: ['object', 'string', 'null'] },
    read: (value: Value): Readonly<Record<string, Value>> | InvalidArgument => {
      if (isEmpty(value)) return {};
      if (isCollection(value) && !Array.isArray(value)) return value as Readonly<Record<string, Value>>;
      const lines = isText(value) ? readLines(value) : undefined;
      return lines ?? new InvalidArgument('a map, or lines of name=value');
    },
  },
} as const;

/** A name that a step may give to a variable (D3). */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !reserved.has(name);
}

/** A value as a number, where it is one or spells one. */
export function numberOf(value: Value): number | undefined {
  const found = value instanceof RawScalar ? value.value : typeof value === 'string' ? spelledNumber(value) : value;
  return typeof found === 'number' && !Number.isNaN(found) ? found : undefined;
}

function spelledNumber(text: string): number | undefined {
  return /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : undefined;
}

function withRoot(path: string): string {
  if (/^\$(?:$|[.[])/.test(path)) return path;
  return path.startsWith('[') ? `$${path}` : `$.${path}`;
}

/** Lines of name=value as a map before their references are followed: a value that is looked up cannot bring further lines. */
export function splitLines(written: Value): Value {
  const lines = typeof written === 'string' && hasReference(written) ? readLines(written) : undefined;
  return lines === undefined || Object.keys(lines).some(hasReference) ? written : lines;
}

function readLines(text: string | Secret): Record<string, Value> | undefined {
  const map: Record<string, Value> = Object.create(null);
  let sound = true;
  const read = (clear: string, wrap: (part: string) => Value): void => {
    for (const line of clear.split(/\r?\n/)) {
      if (line.trim() === '') continue;
      const end = line.indexOf('=');
      const name = line.slice(0, end).trim();
      if (end < 1 || name === '' || name in map) sound = false;
      else map[name] = wrap(line.slice(end + 1).trim());
    }
  };
  if (typeof text === 'string') read(text, (part) => part);
  // Which line the secret stands in is not known any more: all of them hide.
  else
    text.test((clear) => {
      read(clear, (part) => new Secret(part));
      return true;
    });
  return sound ? { ...map } : undefined;
}
