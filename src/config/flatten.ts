import { OAuthProfileError } from '../errors.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { Secret } from '../redaction/secret.ts';
import { displayName } from '../redaction/sensitive-names.ts';
import { escapeReferences, hasReference } from './reference.ts';
import { RawScalar, type Value } from './value.ts';
import type { Entry } from './variables.ts';

/** Variables as a program gives them: dotted names, nested maps, or both. */
export interface DataObject {
  readonly [name: string]: unknown;
}

/** Turns nested maps into dotted names: `{graph: {type}}` is `graph.type`. */
export function flatten(data: DataObject, label: string): Entry[] {
  const entries: Entry[] = [];
  collect(data, '', entries, []);
  rejectDuplicates(entries, label);
  return entries;
}

/** The same name written twice in one source (`a.b: 1` beside `a: {b: 2}`) is a mistake, not an override. */
export function rejectDuplicates(entries: readonly Entry[], label: string): void {
  const seen = new Set<string>();
  for (const { name, line } of entries) {
    if (seen.has(name)) {
      const where = line === undefined ? label : `${label}:${line}`;
      throw new OAuthProfileError('data_invalid', `${where}: ${displayName(name)} is defined twice`, {
        hint: `keep one of the two definitions of ${displayName(name)}`,
      });
    }
    seen.add(name);
  }
}

const MAX_NAME_LENGTH = 1000;

/** A dotted name; long ones multiply with every name below them. */
export function nameOf(prefix: string, key: string): string {
  const name = prefix + key;
  if (name.length <= MAX_NAME_LENGTH) return name;
  throw new OAuthProfileError('data_invalid', `the name of a variable is longer than ${MAX_NAME_LENGTH} characters`, {
    hint: `shorten ${escapeControls(name.slice(0, 40))}…`,
  });
}

function collect(map: DataObject, prefix: string, entries: Entry[], parents: readonly unknown[]): void {
  if (parents.includes(map)) throw new TypeError(`data: ${prefix.slice(0, -1)} contains itself`);
  for (const [key, value] of Object.entries(map)) {
    if (value === undefined) continue;
    const name = nameOf(prefix, key);
    if (isPlainObject(value)) collect(value, `${name}.`, entries, [...parents, map]);
    else if (value instanceof Secret) entries.push({ name, value, literal: true });
    else entries.push({ name, value: toValue(value, name, []) });
  }
}

/** Whether a value is a plain map, and no instance of anything. */
export function isPlainObject(value: unknown): value is DataObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Checks what TypeScript cannot: a number that lost digits, a function, a date. */
function toValue(value: unknown, name: string, parents: readonly unknown[]): Value {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'bigint':
      return new RawScalar(String(value), Number(value));
    case 'number':
      if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return value;
      throw new TypeError(`data: ${name} is a number that lost digits: give it as a string`);
    case 'object':
      if (value === null || value instanceof RawScalar) return value;
      // A program's secret is taken as it is, also where the list around it may hold references.
      if (value instanceof Secret) return value.test(hasReference) ? value.map(escapeReferences) : value;
      if (parents.includes(value)) throw new TypeError(`data: ${name} contains itself`);
      if (Array.isArray(value)) {
        return Array.from(value, (item, index) => toValue(item, `${name}[${index}]`, [...parents, value]));
      }
      if (isPlainObject(value)) {
        const members = Object.entries(value).filter(([, item]) => item !== undefined);
        return Object.fromEntries(
          members.map(([key, item]) => [key, toValue(item, `${name}.${key}`, [...parents, value])]),
        );
      }
  }
  throw new TypeError(`data: ${name} is neither text, number, boolean, list nor map`);
}
