import { Secret } from '../redaction/secret.ts';
import { type ConfigNode, type MapNode, toEntries } from './node.ts';
import { escapeReferences, hasReference } from './reference.ts';
import { RawScalar, type Scalar } from './value.ts';
import type { Entry } from './variables.ts';

/** Variables of a program: dotted names, nested maps, or both. */
export interface DataObject {
  readonly [name: string]: DataValue;
}

/** A value of a {@link DataObject}. */
export type DataValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Secret
  | readonly DataValue[]
  | DataObject;

/** Maximum depth of an object, in levels. */
export const MAX_DEPTH = 64;

/** Receives the issues of an object that is converted to nodes; `at` is a path such as `steps[0].name`. */
export interface NodeIssues {
  /** Called for each value; throws if the object is too large or too deep. */
  enter(at: string, depth: number): void;
  /** Called for a value that cannot be part of a configuration. */
  addIssue(at: string, message: string, hint?: string): void;
}

const throwIssues: NodeIssues = {
  enter(at, depth) {
    if (depth > MAX_DEPTH) throw new TypeError(`data: ${at.slice(0, 40)}… has more than ${MAX_DEPTH} levels`);
  },
  addIssue(at, message, hint) {
    throw new TypeError(`data: ${at} ${message}${hint === undefined ? '' : `: ${hint}`}`);
  },
};

/** Converts nested maps to dotted names: `{graph: {type}}` is `graph.type`. A value that has no exact string is a TypeError. */
export function flatten(data: Readonly<Record<string, unknown>>, label: string): Entry[] {
  return toEntries(toMapNode(data, '', throwIssues, 0), () => undefined, label);
}

/** Converts a value of a program to a node. */
export function toNode(value: unknown, at: string, issues: NodeIssues, depth = 0): ConfigNode<string> {
  issues.enter(at, depth);
  if (isPlainObject(value)) return toMapNode(value, at, issues, depth);
  if (!Array.isArray(value)) return { kind: 'scalar', at, value: toScalar(value, at, issues) };
  const items = Array.from(value, (item, index) => toNode(item, `${at}[${index}]`, issues, depth + 1));
  return { kind: 'list', at, items };
}

/** Whether a value is an object literal, not an instance of a class. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function toMapNode(
  map: Readonly<Record<string, unknown>>,
  at: string,
  issues: NodeIssues,
  depth: number,
): MapNode<string> {
  const members = Object.entries(map)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const path = at === '' ? name : `${at}.${name}`;
      return { name, at: path, node: toNode(value, path, issues, depth + 1) };
    });
  return { kind: 'map', at, members };
}

function toScalar(value: unknown, at: string, { addIssue }: NodeIssues): Scalar {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (value instanceof RawScalar) return value;
  if (typeof value === 'bigint') return new RawScalar(String(value), Number(value));
  // A secret has no references.
  if (value instanceof Secret) return value.test(hasReference) ? value.map(escapeReferences) : value;
  if (typeof value !== 'number') addIssue(at, 'must be a string, number, boolean, list or map');
  else if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return value;
  else addIssue(at, 'is not an exact number', 'pass it as a string');
  return null;
}
