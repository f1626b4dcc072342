import { hasReference, parseTemplate, ReferenceSyntaxError } from '../config/reference.ts';
import { isCollection, isEmpty, type Value } from '../config/value.ts';
import { attempt } from './attempt.ts';
import { contains, isSameValue, stringifyValue, testStrings } from './compare.ts';
import { toNumber } from './parameter-kinds.ts';
import { matchesPattern } from './time-limit.ts';

/** A parsed condition. */
export type Condition = (lookup: Lookup) => boolean;

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
}

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
  matches: (left: Value, right: Value) => testStrings(stringifyValue(left), stringifyValue(right), matchesPattern),
} as const;

/** Parses a condition: `${me.status} = 200 and (${me.body.name} is not empty or not ${strict} = yes)`; `&` is another way to write `and`. */
export function parseCondition(text: string): Condition {
  return new ConditionParser(text).parse('or', 0, text.length);
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

/** Words that join conditions, the weakest first. */
const joints = { or: /(?<![^\s)])or(?![^\s(])/g, and: /(?<![^\s)])(?:and|&)(?![^\s(])/g };
const MAX_DEPTH = 50;

/** Parses ranges of a condition. Operands are free text, so each range is split at the words outside quotes, references and parentheses. */
class ConditionParser {
  readonly #plain: readonly boolean[];
  /** Number of parentheses that are open before each character. */
  readonly #open: readonly number[];
  #depth = 0;

  constructor(readonly text: string) {
    this.#plain = findPlainCharacters(text);
    let open = 0;
    this.#open = this.#plain.map((isPlain, at) => {
      const before = open;
      if (isPlain && text[at] === '(') open++;
      if (isPlain && text[at] === ')' && open > 0) open--;
      return Math.min(before, open);
    });
  }

  parse(joint: keyof typeof joints, start: number, stop: number): Condition {
    const parts: Condition[] = [];
    let from = start;
    const level = this.#levelOf(start, stop);
    for (const { index, 0: word } of this.text.slice(0, stop).matchAll(joints[joint])) {
      if (index < from || !this.#plain[index] || (this.#open[index] ?? 0) > level) continue;
      parts.push(this.#parsePart(joint, from, index));
      from = index + word.length;
    }
    parts.push(this.#parsePart(joint, from, stop));
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only;
    return (lookup) => (joint === 'or' ? parts.some((part) => part(lookup)) : parts.every((part) => part(lookup)));
  }

  /** Returns the number of parentheses that enclose a range. */
  #levelOf(start: number, stop: number): number {
    return this.#open.slice(start, stop).reduce((least, open) => Math.min(least, open), Number.POSITIVE_INFINITY);
  }

  #parsePart(joint: keyof typeof joints, start: number, stop: number): Condition {
    return joint === 'or' ? this.parse('and', start, stop) : this.#parseNegation(start, stop);
  }

  #parseNegation(start: number, stop: number): Condition {
    if (++this.#depth > MAX_DEPTH) throw new ConditionSyntaxError('too many nested conditions', start);
    const range = this.text.slice(start, stop);
    const first = start + (range.length - range.trimStart().length);
    const last = start + range.trimEnd().length - 1;
    let condition: Condition;
    const [not] = /^not(?=[\s(])/.exec(this.text.slice(first, stop)) ?? [];
    if (not !== undefined) {
      const inner = this.#parseNegation(first + not.length, stop);
      condition = (lookup) => !inner(lookup);
    } else if (this.text[first] === '(' && this.#plain[first]) {
      const close = this.#findClose(first, stop);
      if (close === undefined) throw new ConditionSyntaxError('unclosed parenthesis', first);
      condition = close === last ? this.parse('or', first + 1, close) : parseTerm(this.text, this.#plain, start, stop);
    } else condition = parseTerm(this.text, this.#plain, start, stop);
    this.#depth--;
    return condition;
  }

  #findClose(open: number, stop: number): number | undefined {
    let depth = 0;
    for (let at = open; at < stop; at++) {
      if (!this.#plain[at]) continue;
      if (this.text[at] === '(') depth++;
      if (this.text[at] === ')' && --depth === 0) return at;
    }
    return undefined;
  }
}

function parseTerm(text: string, plain: readonly boolean[], start: number, stop: number): Condition {
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
      'unexpected second operator: join conditions with "and" or "or" and quote operands that contain operators',
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
  return ({ value }) => comparisons[operator](value(left), value(right));
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
