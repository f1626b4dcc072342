import { nameOf, rejectDuplicates } from './flatten.ts';
import type { Scalar, Value } from './value.ts';
import type { Entry } from './variables.ts';

/** Something that was written, and where: `At` is a span of a file's text, or a path into a program's object. */
export type ConfigNode<At> =
  | { readonly kind: 'scalar'; readonly at: At; readonly value: Scalar }
  | { readonly kind: 'list'; readonly at: At; readonly items: readonly ConfigNode<At>[] }
  | MapNode<At>;

/** A map; each name stands in it once. */
export interface MapNode<At> {
  readonly kind: 'map';
  readonly at: At;
  readonly members: readonly Member<At>[];
}

/** A name in a map, where the name stands, and what belongs to it. */
export interface Member<At> {
  readonly name: string;
  readonly at: At;
  readonly part: ConfigNode<At>;
}

/** What is written, without the places. */
export function toValue<At>(part: ConfigNode<At>): Value {
  if (part.kind === 'scalar') return part.value;
  if (part.kind === 'list') return part.items.map(toValue);
  return Object.fromEntries(part.members.map(({ name, part: inner }) => [name, toValue(inner)]));
}

/** The variables of a map: nested maps become dotted names, lists are values. */
export function* variablesIn<At>({ members }: MapNode<At>, prefix = ''): Generator<Member<At>> {
  for (const { name, at, part } of members) {
    const dotted = nameOf(prefix, name);
    if (part.kind === 'map') yield* variablesIn(part, `${dotted}.`);
    else yield { name: dotted, at, part };
  }
}

/** The variables of a file's map, each with the line of its name; a name may stand in it once. */
export function toEntries<At>(map: MapNode<At>, lineOf: (at: At) => number, label: string): Entry[] {
  const entries = Array.from(variablesIn(map), ({ name, at, part }) => ({
    name,
    value: toValue(part),
    line: lineOf(at),
  }));
  rejectDuplicates(entries, label);
  return entries;
}
