import type { ConfigNode } from '../../config/node.ts';
import { hasReference } from '../../config/reference.ts';
import { RawScalar, toText } from '../../config/value.ts';
import { parseDuration } from '../../profile/options/options.ts';
import { type Condition, ConditionSyntaxError, parseCondition } from '../condition.ts';
import { InvalidArgument, kinds } from '../parameter-kinds.ts';
import type { ParseContext } from './parse-context.ts';

/** Returns the text of a scalar without references; `undefined` for anything else. */
function literalText<At>(node: ConfigNode<At>): string | undefined {
  const text = node.kind === 'scalar' && node.value !== null ? toText(node.value) : undefined;
  return typeof text === 'string' && text !== '' && !hasReference(text) ? text : undefined;
}

/** Parses the `name` of a script or a step. */
export function parseName<At>(node: ConfigNode<At> | undefined, context: ParseContext<At>): string | undefined {
  if (node === undefined) return undefined;
  const text = node.kind === 'scalar' ? toText(node.value) : '';
  if (typeof text === 'string' && text !== '') return text;
  context.addIssue(node.at, 'name must be a string');
  return undefined;
}

/** Parses a list of names, or a string with commas. */
export function parseNames<At>(
  key: string,
  node: ConfigNode<At> | undefined,
  context: ParseContext<At>,
): readonly string[] {
  if (node === undefined) return [];
  const values = node.kind === 'list' ? node.items.map(literalText) : (literalText(node)?.split(',') ?? []);
  const names = values.map((value) => value?.trim() ?? '');
  if (names.length > 0 && !names.includes('')) return names;
  context.addIssue(node.at, `${key} must be names, as a list or separated by commas`);
  return [];
}

/** Parses `true` or `false`. */
export function parseFlag<At>(key: string, node: ConfigNode<At> | undefined, context: ParseContext<At>): boolean {
  if (node === undefined) return false;
  const value = node.kind === 'scalar' ? node.value : undefined;
  const flag = value instanceof RawScalar ? value.value : value;
  if (typeof flag === 'boolean') return flag;
  context.addIssue(node.at, `${key} must be true or false`, 'write it without quotes; use if for a condition');
  return false;
}

/** Parses an integer in a range. */
export function parseInteger<At>(
  key: string,
  node: ConfigNode<At> | undefined,
  min: number,
  max: number,
  context: ParseContext<At>,
): number | undefined {
  if (node === undefined) return undefined;
  const value = node.kind === 'scalar' ? node.value : undefined;
  const number = value instanceof RawScalar ? value.value : value;
  if (Number.isInteger(number) && Number(number) >= min && Number(number) <= max) return Number(number);
  context.addIssue(node.at, `${key} must be an integer from ${min} to ${max}`);
  return undefined;
}

/** Parses a number that is not less than a minimum. */
export function parseNumberNode<At>(
  key: string,
  node: ConfigNode<At> | undefined,
  min: number,
  context: ParseContext<At>,
): number | undefined {
  if (node === undefined) return undefined;
  const number = node.kind === 'scalar' ? kinds.number.read(node.value) : undefined;
  if (typeof number === 'number' && number >= min && Number.isFinite(number)) return number;
  context.addIssue(node.at, `${key} must be a number, at least ${min}`);
  return undefined;
}

/** Parses a duration; returns milliseconds. */
export function parseDurationNode<At>(
  key: string,
  node: ConfigNode<At> | undefined,
  context: ParseContext<At>,
): number | undefined {
  if (node === undefined) return undefined;
  const ms = parseDuration(literalText(node) ?? '');
  if (ms === undefined) context.addIssue(node.at, `${key} must be a duration such as 500ms, 10s or 2m`);
  return ms;
}

/** Parses a path without references. */
export function parsePathNode<At>(
  key: string,
  node: ConfigNode<At> | undefined,
  context: ParseContext<At>,
  hint?: string,
): string | undefined {
  if (node === undefined) return undefined;
  const path = literalText(node);
  if (path === undefined) context.addIssue(node.at, `${key} must be the path of a file, without references`, hint);
  return path;
}

/** Parses the name of a variable that a step sets. */
export function isVariableName(name: string): boolean {
  return !(kinds.variable.read(name) instanceof InvalidArgument);
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
