import type { ConfigNode, Position } from '../../config/node.ts';
import { hasReference, parseTemplate, ReferenceSyntaxError } from '../../config/reference.ts';
import { closestMatch } from '../../config/suggestions.ts';
import type { Value } from '../../config/value.ts';
import type { Source } from '../../config/variables.ts';
import { excerpt } from '../../redaction/sanitize.ts';
import { Secret } from '../../redaction/secret.ts';
import type { Registry } from '../command.ts';
import type { Script } from '../script.ts';

/** Maximum number of values in a script, after aliases are expanded. A script of 10,000 steps has fewer. */
export const MAX_VALUES = 300_000;

/** Maximum length of a key in a message, in characters. */
const MAX_KEY = 60;

/** Validates a JSONPath; returns the problem, or `undefined` if it is valid. */
export type CheckPath = (path: string) => string | undefined;

/** Shared by the functions that parse a script. Issues are collected, so that all of them are reported at once. */
export interface ParseContext<At> {
  readonly source: Source;
  readonly registry: Registry;
  readonly checkPath: CheckPath | undefined;
  addIssue(at: At, message: string, hint?: string): void;
  /** Returns the location of a character inside a scalar. */
  within(at: At, index: number): At;
  positionOf(at: At): Position | undefined;
  /** Receives the scripts that this one runs. */
  readonly includes: Include<At>[];
}

/** A script that another one runs with `run`. */
export interface Include<At> {
  /** As it is written. */
  readonly path: string;
  readonly at: At;
  setScript(script: Script): void;
}

/** Formats a key for a message. */
export function showKey(name: string): string {
  return excerpt(name, MAX_KEY);
}

/** Returns a "did you mean" hint for a misspelled name, or another hint if no candidate is similar. */
export function suggestHint(name: string, candidates: Iterable<string>, otherwise: string): string {
  const near = closestMatch(name, candidates);
  return near === undefined ? otherwise : `did you mean ${near}?`;
}

/** Returns the value of a node, or `undefined` if it contains references. Syntax errors in references are added as issues. */
export function literalValue<At>(node: ConfigNode<At>, context: ParseContext<At>): Value | undefined {
  if (node.kind === 'scalar') {
    const { value } = node;
    if (typeof value === 'string') return hasReference(value) ? literalString(node.at, value, context) : value;
    return value instanceof Secret && value.test(hasReference) ? undefined : value;
  }
  // Every part is visited, so that the issues of all parts are found.
  if (node.kind === 'list') {
    const items = node.items.map((item) => literalValue(item, context));
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  const members = node.members.map(({ name, node: inner }) => [name, literalValue(inner, context)] as const);
  return members.every((member): member is readonly [string, Value] => member[1] !== undefined)
    ? Object.fromEntries(members)
    : undefined;
}

function literalString<At>(at: At, text: string, context: ParseContext<At>): string | undefined {
  try {
    const template = parseTemplate(text);
    return template.every((piece) => typeof piece === 'string') ? template.join('') : undefined;
  } catch (error) {
    if (!(error instanceof ReferenceSyntaxError)) throw error;
    context.addIssue(context.within(at, error.offset), `the reference ${error.problem}`, error.hint);
    return undefined;
  }
}

/** Loads the JSONPath library if the source of a script names a command with a JSONPath parameter. */
export async function loadPathCheck(text: string, registry: Registry): Promise<CheckPath | undefined> {
  const isNeeded = [...registry].some(
    ({ group, name, parameters }) =>
      parameters.some(({ kind }) => kind === 'jsonpath') && text.includes(`${group}.${name}`),
  );
  if (!isNeeded) return undefined;
  const { compile } = await import('json-p3');
  return (path) => {
    try {
      compile(path);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
}
