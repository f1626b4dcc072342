import { hasReference, parseTemplate, ReferenceSyntaxError } from '../config/reference.ts';
import { isCollection, isEmpty, type Value } from '../config/value.ts';
import { contains, sameValue, textValue, withValues } from './compare.ts';
import { numberOf } from './parameter-kinds.ts';

/** What a step's `if` says: all of its terms must hold. */
export type Condition = readonly Term[];

type Term =
  | { readonly kind: 'constant'; readonly holds: boolean }
  | { readonly kind: 'comparison'; readonly left: string; readonly operator: Operator; readonly right: string }
  | { readonly kind: 'empty' | 'defined'; readonly operand: string; readonly holds: boolean };

type Operator = keyof typeof comparisons;

/** An `if` that cannot be understood; `offset` is where, in its text. */
export class ConditionSyntaxError extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** What a condition asks while the script runs. */
export interface Lookup {
  /** A text with its references followed. */
  value(text: string): Value;
  isDefined(text: string): boolean;
  readonly matches: Matches;
}

/** Whether a regular expression finds something in a text; one that cannot be used, or takes too long, throws. */
export type Matches = (text: string, pattern: string) => boolean;

const asNumbers =
  (compare: (one: number, other: number) => boolean, asTexts: (one: string, other: string) => boolean) =>
  (left: Value, right: Value): boolean => {
    const [one, other] = [numberOf(left), numberOf(right)];
    if (one !== undefined && other !== undefined) return compare(one, other);
    return withValues(textValue(left), textValue(right), asTexts);
  };

const equal = (left: Value, right: Value): boolean => {
  const [one, other] = [numberOf(left), numberOf(right)];
  // Numbers that lost digits may look the same.
  const exact = !Number.isInteger(one) || Number.isSafeInteger(one);
  return one !== undefined && other !== undefined && exact ? one === other : sameValue(left, right);
};

/** As numbers where both sides are. */
const comparisons = {
  '=': equal,
  '!=': (left: Value, right: Value) => !equal(left, right),
  '<': asNumbers(
    (one, other) => one < other,
    (one, other) => one < other,
  ),
  '<=': asNumbers(
    (one, other) => one <= other,
    (one, other) => one <= other,
  ),
  '>': asNumbers(
    (one, other) => one > other,
    (one, other) => one > other,
  ),
  '>=': asNumbers(
    (one, other) => one >= other,
    (one, other) => one >= other,
  ),
  contains,
  matches: (left: Value, right: Value, { matches }: Lookup) => withValues(textValue(left), textValue(right), matches),
} as const;

/** Reads a condition: `${me.status} = 200 & ${me.body.name} is not empty`. */
export function parseCondition(text: string): Condition {
  const marks = plainPlaces(text);
  const terms: Term[] = [];
  let start = 0;
  for (const { index } of text.matchAll(/ & /g)) {
    if (!marks[index + 1]) continue;
    terms.push(parseTerm(text, marks, start, index));
    start = index + 3;
  }
  terms.push(parseTerm(text, marks, start, text.length));
  return terms;
}

/** Whether a condition holds now. */
export function holds(condition: Condition, lookup: Lookup): boolean {
  return condition.every((term) => termHolds(term, lookup));
}

function termHolds(term: Term, lookup: Lookup): boolean {
  switch (term.kind) {
    case 'constant':
      return term.holds;
    case 'comparison':
      return comparisons[term.operator](lookup.value(term.left), lookup.value(term.right), lookup);
    case 'defined':
      return lookup.isDefined(term.operand) === term.holds;
    case 'empty':
      return isBlank(lookup.value(term.operand)) === term.holds;
  }
}

/** Nothing, or nothing in it. */
export function isBlank(value: Value): boolean {
  return isEmpty(value) || (isCollection(value) && Object.keys(value).length === 0);
}

/** Which characters stand outside of references and quotes: an operator inside of these is none. */
function plainPlaces(text: string): readonly boolean[] {
  const plain: boolean[] = [];
  let depth = 0;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (text.startsWith('${', at)) depth++;
    else if (char === '}' && depth > 0) {
      depth--;
    } else if (depth === 0 && (char === '"' || char === "'")) quote = char;
    else if (depth === 0) {
      plain[at] = true;
      continue;
    }
    plain[at] = false;
  }
  if (quote !== '') throw new ConditionSyntaxError(`a quote (${quote}) is not closed`, text.lastIndexOf(quote));
  return plain;
}

const OPERATOR = /\s+is\s+(not\s+)?(empty|defined)\s*$|(!=|<=|>=|<|>|=)|(?<=\s)(contains|matches)(?=\s)/g;

function parseTerm(text: string, plain: readonly boolean[], start: number, end: number): Term {
  const term = text.slice(start, end);
  const offset = start + (term.length - term.trimStart().length);
  const word = term.trim();
  if (word === 'true' || word === 'false') return { kind: 'constant', holds: word === 'true' };
  const found = [...term.matchAll(OPERATOR)].filter(
    ({ index, 0: match }) => plain[start + index + (match.length - match.trimStart().length)],
  );
  const [first, second] = found;
  if (first === undefined) {
    throw new ConditionSyntaxError(
      word === ''
        ? 'a condition is missing'
        : 'has no operator: write a = b, !=, <, <=, >, >=, contains, matches, is empty or is defined',
      offset,
    );
  }
  if (second !== undefined) {
    throw new ConditionSyntaxError(
      'has a second operator: join conditions with " & ", put texts that hold operators in quotes',
      start + second.index,
    );
  }
  const left = operand(term.slice(0, first.index), start, first[2] === 'empty');
  if (first[2] === 'empty') return { kind: 'empty', operand: left, holds: first[1] === undefined };
  if (first[2] === 'defined')
    return { kind: 'defined', operand: referenceIn(left, start), holds: first[1] === undefined };
  const operator = (first[3] ?? first[4]) as Operator;
  const right = operand(term.slice(first.index + first[0].length), start + first.index + first[0].length, false);
  if (operator === 'matches' && !hasReference(right)) checkPattern(right, start + first.index + first[0].length);
  return { kind: 'comparison', left, operator, right };
}

/** A side of a comparison: quotes around all of it are not part of it. */
function operand(text: string, offset: number, mayBeEmpty: boolean): string {
  const trimmed = text.trim();
  const inner = /^"[^"]*"$|^'[^']*'$/.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
  if (trimmed === '' && !mayBeEmpty) throw new ConditionSyntaxError('has nothing on one side of its operator', offset);
  try {
    parseTemplate(inner);
  } catch (error) {
    if (!(error instanceof ReferenceSyntaxError)) throw error;
    throw new ConditionSyntaxError(`the reference ${error.problem}`, offset + text.indexOf(inner) + error.offset);
  }
  return inner;
}

/** `${name} is defined`, or the bare name. */
function referenceIn(text: string, offset: number): string {
  const reference = hasReference(text) ? text : `\${${text}}`;
  try {
    const template = parseTemplate(reference);
    if (template.length === 1 && typeof template[0] === 'object') return reference;
  } catch {}
  throw new ConditionSyntaxError('asks whether something is defined that is no single name', offset);
}

function checkPattern(pattern: string, offset: number): void {
  try {
    new RegExp(pattern, 'u');
  } catch (error) {
    throw new ConditionSyntaxError(`has no regular expression behind matches: ${(error as Error).message}`, offset);
  }
}
