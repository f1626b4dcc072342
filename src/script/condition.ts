import { hasReference, parseTemplate, ReferenceSyntaxError } from '../config/reference.ts';
import { isCollection, isEmpty, type Value } from '../config/value.ts';
import { attempt } from './attempt.ts';
import { contains, isSameValue, stringifyValue, testStrings } from './compare.ts';
import { toNumber } from './parameter-kinds.ts';

/** A parsed `if`: true when all of its terms are true. */
export type Condition = readonly ((lookup: Lookup) => boolean)[];

/** A syntax error in an `if`; `offset` is its position in the condition. */
export class ConditionSyntaxError extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** Resolves the operands of a condition while the script runs. */
export interface Lookup {
  /** Resolves the references in an operand. */
  value(text: string): Value;
  isDefined(text: string): boolean;
  readonly matches: Matches;
}

/** Returns whether a regular expression matches; throws if it is invalid or takes too long. */
export type Matches = (text: string, pattern: string) => boolean;

/** Compares operands by their order: -1, 0 or 1. */
const ordering =
  (accepts: (order: number) => boolean) =>
  (left: Value, right: Value): boolean => {
    const [one, other] = [toNumber(left), toNumber(right)];
    if (one !== undefined && other !== undefined) return accepts(compareOrder(one, other));
    return testStrings(stringifyValue(left), stringifyValue(right), (a, b) => accepts(compareOrder(a, b)));
  };

function compareOrder<T extends number | string>(one: T, other: T): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

const equal = (left: Value, right: Value): boolean => {
  const [one, other] = [toNumber(left), toNumber(right)];
  // Integers beyond 2^53 lose digits and could compare equal.
  const exact = !Number.isInteger(one) || Number.isSafeInteger(one);
  return one !== undefined && other !== undefined && exact ? one === other : isSameValue(left, right);
};

/** Operands are compared as numbers if both are numbers. */
const comparisons = {
  '=': equal,
  '!=': (left: Value, right: Value) => !equal(left, right),
  '<': ordering((order) => order < 0),
  '<=': ordering((order) => order <= 0),
  '>': ordering((order) => order > 0),
  '>=': ordering((order) => order >= 0),
  contains,
  matches: (left: Value, right: Value, { matches }: Lookup) =>
    testStrings(stringifyValue(left), stringifyValue(right), matches),
} as const;

/** Parses a condition: `${me.status} = 200 & ${me.body.name} is not empty`. */
export function parseCondition(text: string): Condition {
  const plain = findPlainCharacters(text);
  const terms: Condition[number][] = [];
  let start = 0;
  for (const { index } of text.matchAll(/ & /g)) {
    if (!plain[index + 1]) continue;
    terms.push(parseTerm(text, plain, start, index));
    start = index + 3;
  }
  terms.push(parseTerm(text, plain, start, text.length));
  return terms;
}

/** Evaluates a condition. */
export function testCondition(condition: Condition, lookup: Lookup): boolean {
  return condition.every((test) => test(lookup));
}

/** Returns whether a value is null, an empty string, list or map. */
export function isEmptyValue(value: Value): boolean {
  return isEmpty(value) || (isCollection(value) && Object.keys(value).length === 0);
}

/** Marks the characters outside references and quotes. Only these can be part of an operator. */
function findPlainCharacters(text: string): readonly boolean[] {
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
  if (quote !== '') throw new ConditionSyntaxError(`unclosed quote (${quote})`, text.lastIndexOf(quote));
  return plain;
}

const OPERATOR = /\s+is\s+(not\s+)?(empty|defined)\s*$|(!=|<=|>=|<|>|=)|(?<=\s)(contains|matches)(?=\s)/g;

function parseTerm(text: string, plain: readonly boolean[], start: number, stop: number): Condition[number] {
  const term = text.slice(start, stop);
  const offset = start + (term.length - term.trimStart().length);
  const word = term.trim();
  if (word === 'true' || word === 'false') return () => word === 'true';
  const [first, second] = [...term.matchAll(OPERATOR)].filter(
    ({ index, 0: match }) => plain[start + index + (match.length - match.trimStart().length)],
  );
  if (first === undefined) {
    const operators = '=, !=, <, <=, >, >=, contains, matches, is empty or is defined';
    throw new ConditionSyntaxError(word === '' ? 'condition expected' : `operator expected: ${operators}`, offset);
  }
  if (second !== undefined) {
    throw new ConditionSyntaxError(
      'unexpected second operator: join conditions with " & " and quote operands that contain operators',
      start + second.index,
    );
  }
  const [matched, not, test, symbol, keyword] = first;
  const expected = not === undefined;
  const left = parseOperand(term.slice(0, first.index), start, test === 'empty');
  if (test === 'empty') return ({ value }) => isEmptyValue(value(left)) === expected;
  if (test === 'defined') {
    const reference = parseReference(left, start);
    return ({ isDefined }) => isDefined(reference) === expected;
  }
  const operator = (symbol ?? keyword) as keyof typeof comparisons;
  const end = first.index + matched.length;
  const right = parseOperand(term.slice(end), start + end, false);
  if (operator === 'matches' && !hasReference(right)) checkPattern(right, start + end);
  return (lookup) => comparisons[operator](lookup.value(left), lookup.value(right), lookup);
}

/** Parses one side of a comparison and removes the quotes around it. */
function parseOperand(text: string, offset: number, mayBeEmpty: boolean): string {
  const trimmed = text.trim();
  const inner = /^"[^"]*"$|^'[^']*'$/.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
  if (trimmed === '' && !mayBeEmpty)
    throw new ConditionSyntaxError('operand expected on both sides of the operator', offset);
  try {
    parseTemplate(inner);
  } catch (error) {
    if (!(error instanceof ReferenceSyntaxError)) throw error;
    throw new ConditionSyntaxError(`the reference ${error.problem}`, offset + text.indexOf(inner) + error.offset);
  }
  return inner;
}

/** Parses the operand of `is defined`: a reference or a bare name. */
function parseReference(text: string, offset: number): string {
  const reference = hasReference(text) ? text : `\${${text}}`;
  const template = attempt(() => parseTemplate(reference));
  if (template?.length === 1 && typeof template[0] === 'object') return reference;
  throw new ConditionSyntaxError('"is defined" expects a single variable name', offset);
}

function checkPattern(pattern: string, offset: number): void {
  try {
    new RegExp(pattern, 'u');
  } catch (error) {
    throw new ConditionSyntaxError(`invalid regular expression after matches: ${(error as Error).message}`, offset);
  }
}
