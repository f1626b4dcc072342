import type { ConfigNode } from '../../config/node.ts';
import { hasReference, parseTemplate, ReferenceSyntaxError } from '../../config/reference.ts';
import type { Value } from '../../config/value.ts';
import { Secret } from '../../redaction/secret.ts';
import type { Reading } from './reading.ts';

/** What is written, where that is all there is to know; `undefined` where a reference decides. Broken references are issues. */
export function literalOf<At>(part: ConfigNode<At>, reading: Reading<At>): Value | undefined {
  if (part.kind === 'scalar') {
    const { value } = part;
    if (typeof value === 'string') return hasReference(value) ? literalText(part.at, value, reading) : value;
    return value instanceof Secret && value.test(hasReference) ? undefined : value;
  }
  // All parts are looked at, so that the issues of all of them are found.
  if (part.kind === 'list') {
    const items = part.items.map((item) => literalOf(item, reading));
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  const members = part.members.map(({ name, node: inner }) => [name, literalOf(inner, reading)] as const);
  return members.every((member): member is readonly [string, Value] => member[1] !== undefined)
    ? Object.fromEntries(members)
    : undefined;
}

function literalText<At>(at: At, text: string, reading: Reading<At>): string | undefined {
  try {
    const template = parseTemplate(text);
    return template.every((piece) => typeof piece === 'string') ? template.join('') : undefined;
  } catch (error) {
    if (!(error instanceof ReferenceSyntaxError)) throw error;
    reading.fault(reading.within(at, error.offset), `the reference ${error.problem}`, error.hint);
    return undefined;
  }
}
