import { Secret } from '../redaction/secret.ts';
import { type ConfigNode, type MapNode, toEntries } from './node.ts';
import { escapeReferences, hasReference } from './reference.ts';
import { RawScalar, type Scalar } from './value.ts';
import type { Entry } from './variables.ts';

/** Variables of a program: dotted names, nested maps, or both. */
export interface DataObject {
  readonly [name: string]: unknown;
}

const MAX_DEPTH = 64;

/** Converts nested maps to dotted names: `{graph: {type}}` is `graph.type`. A value that has no exact string is a TypeError. */
export function flatten(data: DataObject, label: string): Entry[] {
  return toEntries(toMapNode(data, '', 0), () => undefined, label);
}

/** Whether a value is an object literal, not an instance of a class. */
export function isPlainObject(value: unknown): value is DataObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function toMapNode(map: DataObject, at: string, depth: number): MapNode<string> {
  const members = Object.entries(map)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({ name, at, node: toNode(value, at === '' ? name : `${at}.${name}`, depth + 1) }));
  return { kind: 'map', at, members };
}

function toNode(value: unknown, at: string, depth: number): ConfigNode<string> {
  if (depth > MAX_DEPTH) throw new TypeError(`data: ${at.slice(0, 40)}… has more than ${MAX_DEPTH} levels`);
  if (isPlainObject(value)) return toMapNode(value, at, depth);
  if (!Array.isArray(value)) return { kind: 'scalar', at, value: toScalar(value, at) };
  return { kind: 'list', at, items: Array.from(value, (item, index) => toNode(item, `${at}[${index}]`, depth + 1)) };
}

function toScalar(value: unknown, at: string): Scalar {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (value instanceof RawScalar) return value;
  if (typeof value === 'bigint') return new RawScalar(String(value), Number(value));
  // A secret has no references.
  if (value instanceof Secret) return value.test(hasReference) ? value.map(escapeReferences) : value;
  if (typeof value !== 'number') throw new TypeError(`data: ${at} must be a string, number, boolean, list or map`);
  if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return value;
  throw new TypeError(`data: ${at} is not an exact number: pass it as a string`);
}
