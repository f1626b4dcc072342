import { dataError } from '../errors.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { displayName } from '../redaction/sensitive-names.ts';
import type { Scalar, Value } from './value.ts';
import type { Entry } from './variables.ts';

/** A place in a file; line and column count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A parsed value with its location: `At` is a span or a line of a file, or a path into an object of a program. */
export type ConfigNode<At> =
  | { readonly kind: 'scalar'; readonly at: At; readonly value: Scalar }
  | { readonly kind: 'list'; readonly at: At; readonly items: readonly ConfigNode<At>[] }
  | MapNode<At>;

/** A map; its names are unique. */
export interface MapNode<At> {
  readonly kind: 'map';
  readonly at: At;
  readonly members: readonly Member<At>[];
}

/** A member of a map; `at` is the location of its name. */
export interface Member<At> {
  readonly name: string;
  readonly at: At;
  readonly node: ConfigNode<At>;
}

/** Returns the value of a node without its locations. */
export function toValue<At>(node: ConfigNode<At>): Value {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(toValue);
  return Object.fromEntries(node.members.map((member) => [member.name, toValue(member.node)]));
}

/** Yields the variables of a map: nested maps become dotted names, a list is one value. */
export function* variablesIn<At>({ members }: MapNode<At>, prefix = ''): Generator<Member<At>> {
  for (const { name, at, node } of members) {
    const dotted = joinName(prefix, name);
    if (node.kind === 'map') yield* variablesIn(node, `${dotted}.`);
    else yield { name: dotted, at, node };
  }
}

const MAX_NAME_LENGTH = 1000;

/** The length is limited: a long name is repeated in each name below it. */
function joinName(prefix: string, name: string): string {
  if (prefix.length + name.length <= MAX_NAME_LENGTH) return prefix + name;
  const hint = `shorten ${escapeControls((prefix + name).slice(0, 40))}…`;
  throw dataError(`a variable name is longer than ${MAX_NAME_LENGTH} characters`, hint);
}

/** Returns the variables of a map, each with the line of its name. */
export function toEntries<At>(map: MapNode<At>, lineOf: (at: At) => number | undefined, label: string): Entry[] {
  const entries = Array.from(variablesIn(map), ({ name, at, node }) => ({
    name,
    value: toValue(node),
    line: lineOf(at),
  }));
  rejectDuplicates(entries, label);
  return entries;
}

/** Throws if one source defines a name twice, as in `a.b: 1` and `a: {b: 2}`. */
export function rejectDuplicates(entries: readonly Entry[], label: string): void {
  const names = new Set<string>();
  for (const { name, line } of entries) {
    if (names.has(name)) {
      const location = line === undefined ? label : `${label}:${line}`;
      const hint = `remove one of the two definitions of ${displayName(name)}`;
      throw dataError(`${location}: ${displayName(name)} is defined twice`, hint);
    }
    names.add(name);
  }
}
