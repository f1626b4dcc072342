import { nameOf, refuseDuplicates } from './flatten.ts';
import type { Scalar, Value } from './value.ts';
import type { Entry } from './variables.ts';

/** Something that was written, and where: `At` is a span of a file's text, or a path into a program's object. */
export type Part<At> =
  | { readonly kind: 'scalar'; readonly at: At; readonly value: Scalar }
  | { readonly kind: 'list'; readonly at: At; readonly items: readonly Part<At>[] }
  | MapPart<At>;

/** A map; each name stands in it once. */
export interface MapPart<At> {
  readonly kind: 'map';
  readonly at: At;
  readonly members: readonly Member<At>[];
}

/** A name in a map, where the name stands, and what belongs to it. */
export interface Member<At> {
  readonly name: string;
  readonly at: At;
  readonly part: Part<At>;
}

/** What is written, without the places. */
export function valueIn<At>(part: Part<At>): Value {
  if (part.kind === 'scalar') return part.value;
  if (part.kind === 'list') return part.items.map(valueIn);
  return Object.fromEntries(part.members.map(({ name, part: inner }) => [name, valueIn(inner)]));
}

/** The variables of a map: nested maps become dotted names, lists are values. */
export function* variablesIn<At>({ members }: MapPart<At>, prefix = ''): Generator<Member<At>> {
  for (const { name, at, part } of members) {
    const dotted = nameOf(prefix, name);
    if (part.kind === 'map') yield* variablesIn(part, `${dotted}.`);
    else yield { name: dotted, at, part };
  }
}

/** The variables of a file's map, each with the line of its name; a name may stand in it once. */
export function entriesIn<At>(map: MapPart<At>, lineOf: (at: At) => number, label: string): Entry[] {
  const entries = Array.from(variablesIn(map), ({ name, at, part }) => ({
    name,
    value: valueIn(part),
    line: lineOf(at),
  }));
  refuseDuplicates(entries, label);
  return entries;
}
