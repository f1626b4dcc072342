import { OAuthProfileError } from '../errors.ts';
import { Secret } from '../secret/secret.ts';
import type { Value } from './value.ts';
import { Written } from './value.ts';
import type { Entry } from './variables.ts';

/** Variables as a program gives them: dotted names, nested maps, or both. */
export interface DataObject {
  readonly [name: string]: unknown;
}

/** Turns nested maps into dotted names: `{graph: {type}}` is `graph.type`. */
export function flatten(data: DataObject, label: string): Entry[] {
  const entries: Entry[] = [];
  collect(data, '', entries, []);
  refuseDuplicates(entries, label);
  return entries;
}

/** The same name written twice in one source (`a.b: 1` beside `a: {b: 2}`) is a mistake, not an override. */
export function refuseDuplicates(entries: readonly Entry[], label: string): void {
  const seen = new Set<string>();
  for (const { name, line } of entries) {
    if (seen.has(name)) {
      const where = line === undefined ? label : `${label}:${line}`;
      throw new OAuthProfileError('data_invalid', `${where}: ${name} is defined twice`, {
        advice: `keep one of the two definitions of ${name}`,
      });
    }
    seen.add(name);
  }
}

function collect(map: DataObject, prefix: string, entries: Entry[], parents: readonly unknown[]): void {
  if (parents.includes(map)) throw new TypeError(`data: ${prefix} contains itself`);
  for (const [key, value] of Object.entries(map)) {
    const name = prefix === '' ? key : `${prefix}.${key}`;
    if (value === undefined) continue;
    if (isMap(value)) collect(value, name, entries, [...parents, map]);
    else entries.push({ name, value: toValue(value, name), literal: value instanceof Secret || undefined });
  }
}

function isMap(value: unknown): value is DataObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Checks what TypeScript cannot: a number that lost digits, a function, a date. */
function toValue(value: unknown, name: string): Value {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'bigint':
      return new Written(String(value), Number(value));
    case 'number':
      if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return value;
      throw new TypeError(`data: ${name} is a number that lost digits: give it as a string`);
    case 'object':
      if (value === null || value instanceof Secret || value instanceof Written) return value;
      if (Array.isArray(value)) return value.map((item, index) => toValue(item, `${name}[${index}]`));
      if (isMap(value)) {
        return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toValue(item, `${name}.${key}`)]));
      }
  }
  throw new TypeError(`data: ${name} is neither text, number, boolean, list nor map`);
}
