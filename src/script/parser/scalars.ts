import type { ConfigNode } from '../../config/node.ts';
import { hasReference } from '../../config/reference.ts';
import { RawScalar, toText } from '../../config/value.ts';
import { parseDuration } from '../../profile/options/options.ts';
import { type Condition, ConditionSyntaxError, parseCondition } from '../condition.ts';
import { toNumber } from '../parameter-kinds.ts';
import type { ParseContext } from './parse-context.ts';

/** How the value of a key is read. `read` returns `undefined` for an invalid value; `expected` completes "must be …". */
export interface Reader<T> {
  readonly expected: string;
  readonly hint?: string;
  readonly read: (node: ConfigNode<unknown>) => T | undefined;
}

/** Parses the value of a key; returns `undefined` if it is not set, or invalid. */
export function parseKey<At, T>(
  key: string,
  node: ConfigNode<At> | undefined,
  { expected, hint, read }: Reader<T>,
  context: ParseContext<At>,
): T | undefined {
  const value = node && read(node);
  if (node !== undefined && value === undefined) context.addIssue(node.at, `${key} must be ${expected}`, hint);
  return value;
}

/** A string, which may contain references. */
export const string: Reader<string> = {
  expected: 'a string',
  read(node) {
    const text = node.kind === 'scalar' ? toText(node.value) : '';
    return typeof text === 'string' && text !== '' ? text : undefined;
  },
};

/** A list of names, or a string with commas. */
export const names: Reader<readonly string[]> = {
  expected: 'names, as a list or separated by commas',
  read(node) {
    const values = node.kind === 'list' ? node.items.map(literalText) : (literalText(node)?.split(',') ?? []);
    const found = values.map((value) => value?.trim() ?? '');
    return found.length > 0 && !found.includes('') ? found : undefined;
  },
};

/** `true` or `false`. */
export const flag: Reader<boolean> = {
  expected: 'true or false',
  hint: 'write it without quotes; use if for a condition',
  read(node) {
    const value = scalarOf(node);
    return typeof value === 'boolean' ? value : undefined;
  },
};

/** An integer in a range. */
export function integer(min: number, max: number): Reader<number> {
  return {
    expected: `an integer from ${min} to ${max}`,
    read(node) {
      const number = scalarOf(node);
      const isInRange = typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max;
      return isInRange ? number : undefined;
    },
  };
}

/** A factor by which a time grows. */
export const factor: Reader<number> = {
  expected: 'a number, at least 1',
  read(node) {
    const number = node.kind === 'scalar' ? toNumber(node.value) : undefined;
    return number !== undefined && number >= 1 && Number.isFinite(number) ? number : undefined;
  },
};

/** A duration, in milliseconds. */
export const duration: Reader<number> = {
  expected: 'a duration such as 500ms, 10s or 2m',
  read: (node) => parseDuration(literalText(node) ?? ''),
};

/** A path without references. */
export const path: Reader<string> = { expected: 'the path of a file, without references', read: literalText };

/** Returns the text of a scalar without references; `undefined` for anything else. */
function literalText(node: ConfigNode<unknown>): string | undefined {
  const text = node.kind === 'scalar' && node.value !== null ? toText(node.value) : undefined;
  return typeof text === 'string' && text !== '' && !hasReference(text) ? text : undefined;
}

function scalarOf(node: ConfigNode<unknown>): unknown {
  const value = node.kind === 'scalar' ? node.value : undefined;
  return value instanceof RawScalar ? value.value : value;
}

/** Parses a condition. */
export function parseConditionNode<At>(
  key: string,
  node: ConfigNode<At> | undefined,
  context: ParseContext<At>,
): { readonly test: Condition; readonly text: string } | undefined {
  if (node === undefined) return undefined;
  const text = node.kind === 'scalar' && node.value !== null ? toText(node.value) : undefined;
  if (typeof text !== 'string') {
    context.addIssue(node.at, `${key} must be a condition`, `write a string such as ${key}: \${me.status} = 200`);
    return undefined;
  }
  try {
    return { test: parseCondition(text), text };
  } catch (error) {
    if (!(error instanceof ConditionSyntaxError)) throw error;
    context.addIssue(context.within(node.at, error.offset), `${key}: ${error.message}`);
    return undefined;
  }
}
