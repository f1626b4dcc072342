import type { ConfigNode } from '../../config/node.ts';
import type { Span } from '../../config/yaml.ts';
import { escapeControls, truncate } from '../../redaction/sanitize.ts';
import { MASK } from '../../redaction/secret.ts';
import { isSensitiveName } from '../../redaction/sensitive-names.ts';
import type { Parameter, Registry } from '../command.ts';
import { scriptKeys } from '../keys.ts';

const MAX_LENGTH = 120;
/** Maximum length of the part of a long line before the issue, in characters. */
const MAX_BEFORE = 60;

/** A reference without a default, alone or after an authentication scheme: it reveals no secret. */
const plainReference = /^(?:(?:Bearer|Basic) )?\$\{(?:env:|file:)?[\w./[\]-]*\}$/;

/** A source line for a message; `caret` is the index of the issue in it. */
export interface Excerpt {
  readonly excerpt: string;
  readonly caret: number;
}

/** Quotes the lines of a script with their secrets masked. */
export class SourceLines {
  readonly #lines: readonly string[];

  /**
   * `secrets` are the locations of the secrets; `undefined` if the YAML could not be parsed. Then only keys are quoted, and whole lines that
   * start with a command for which `isPublic` returns true.
   */
  constructor(
    text: string,
    readonly secrets: readonly Span[] | undefined,
    readonly isPublic: (command: string) => boolean,
  ) {
    this.#lines = text.split('\n');
  }

  /** Quotes the line at an offset; `line` and `column` count from 1. */
  quote(offset: number, line: number, column: number): Excerpt {
    const text = (this.#lines[line - 1] ?? '').replace(/\r$/, '');
    const end = Math.min(this.#firstSecret(text, offset - (column - 1)), findSecretValue(text));
    const isMasked = text.slice(end).trim() !== '';
    return truncateAround(
      isMasked ? text.slice(0, end) + MASK : text,
      Math.min(column - 1, isMasked ? end : text.length),
    );
  }

  /** Returns the index of the first value that is or may be a secret, in the line that starts at an offset. */
  #firstSecret(text: string, start: number): number {
    const indent = text.length - text.trimStart().length;
    if (this.secrets === undefined) {
      const [key, name = ''] = KEY.exec(text) ?? [];
      if (this.isPublic(name) || /^(?:---|\.\.\.)\s*$/.test(text)) return text.length;
      // Another name may be a line of a secret.
      return key !== undefined && (name.includes('.') || Object.hasOwn(scriptKeys, name)) ? key.length : indent;
    }
    let end = text.length;
    for (const secret of this.secrets) {
      if (secret.end <= start || secret.start >= start + text.length) continue;
      end = Math.min(end, secret.start <= start ? indent : secret.start - start);
    }
    return end;
  }
}

/** A line that starts with a key, possibly as the first line of a list item. */
const KEY = /^\s*(?:- +)*("[^"]*"|'[^']*'|[^\s"'#:{}[\],]+)\s*:(?=\s|$)\s*/;

/** Returns the index of the value of the first key in a line that has the name of a secret. */
function findSecretValue(text: string): number {
  for (const found of text.matchAll(/([\w.-]+)["']?\s*[:=]\s*/g)) {
    const start = found.index + found[0].length;
    const value = /^(["']?)(\$\{[^{}]*\})\1\s*(?:$|[,\]}#])/.exec(text.slice(start))?.[2] ?? '';
    if (isSensitiveName(found[1] ?? '') && !plainReference.test(value)) return start;
  }
  return text.length;
}

/** Truncates a line to MAX_LENGTH characters around the issue. */
function truncateAround(line: string, caret: number): Excerpt {
  const from = line.length <= MAX_LENGTH ? 0 : Math.max(0, Math.min(caret - MAX_BEFORE, line.length - MAX_LENGTH));
  const to = Math.min(line.length, from + MAX_LENGTH);
  // Half of a surrogate pair at the start is dropped.
  const before = (from > 0 ? '…' : '') + escapeControls(line.slice(from, caret).replace(/^[\udc00-\udfff]/, ''));
  const after = escapeControls(truncate(line.slice(caret), to - caret)) + (to < line.length ? '…' : '');
  return { excerpt: (before + after).trimEnd(), caret: before.length };
}

/** Finds the locations of all secrets in a script. A value below an unknown key may be a misplaced variable, so it counts as a secret. */
export function* findSecrets<At>(root: ConfigNode<At>, registry: Registry): Generator<At> {
  for (const { name, node } of root.kind === 'map' ? root.members : []) {
    const isSteps = ['setup', 'steps', 'teardown'].includes(name) && node.kind === 'list';
    if (!isSteps) yield* findSecretsIn(node, registry, !Object.hasOwn(scriptKeys, name));
    else {
      for (const step of node.items) {
        // An item that is not a step may be a misplaced parameter of the step above it.
        const isStep = step.kind === 'map' || (step.kind === 'scalar' && registry.find(String(step.value)));
        yield* findSecretsIn(step, registry, !isStep);
      }
    }
  }
}

/** Yields every scalar whose key, or the key of an enclosing map, is sensitive. Parameters in a list get their names from the command. */
function* findSecretsIn<At>(node: ConfigNode<At>, registry: Registry, secret: boolean): Generator<At> {
  if (node.kind === 'scalar') {
    if (secret && !(typeof node.value === 'string' && plainReference.test(node.value))) yield node.at;
  } else if (node.kind === 'list') {
    for (const item of node.items) yield* findSecretsIn(item, registry, secret);
  } else {
    for (const { name, node: inner } of node.members) {
      const parameters = registry.find(name)?.parameters;
      const isSecret = (index: number): boolean => secret || isSecretParameter(parameters?.[index]);
      if (parameters === undefined) {
        yield* findSecretsIn(inner, registry, secret || name === '' || isSensitiveName(name));
      } else if (inner.kind === 'list') {
        for (const [index, item] of inner.items.entries()) yield* findSecretsIn(item, registry, isSecret(index));
      } else if (inner.kind === 'map') {
        for (const { name: key, node: value } of inner.members) {
          const index = parameters.findIndex((one) => one.name === key);
          yield* findSecretsIn(value, registry, isSecret(index) || isSensitiveName(key));
        }
      } else yield* findSecretsIn(inner, registry, isSecret(0));
    }
  }
}

/** Returns whether a parameter may contain a secret. */
export function isSecretParameter(parameter: Parameter | undefined): boolean {
  return parameter !== undefined && (parameter.secret !== undefined || isSensitiveName(parameter.name));
}

/** Source of one character of a YAML scalar: a line break with the spaces around it, an escape sequence, or the character itself. */
const folded = '[ \\t]*\\r?\\n[ \\t]*';
const characters: Record<string, string> = {
  '"': `\\\\x..|\\\\u.{4}|\\\\U.{8}|\\\\[^]|${folded}|[^]`,
  "'": `''|${folded}|[^]`,
  plain: `${folded}|[^]`,
};

/** Returns the offset in the YAML source of character `index` of a scalar that starts at `start`. */
export function offsetWithin(text: string, start: number, index: number): number {
  const first = text.charAt(start);
  if (first === '"' || first === "'") return skipCharacters(text, characters[first] ?? '', start + 1, index);
  if (first !== '|' && first !== '>') return skipCharacters(text, characters['plain'] ?? '', start, index);
  // In a block scalar each line break is one character; the indentation is not part of the value.
  const block = text.indexOf('\n', start) + 1;
  const indent = /^(?:[ \t]*\r?\n)*( *)/.exec(text.slice(block, block + 10_000))?.[1]?.length ?? 0;
  return skipCharacters(text, `\\r?\\n {0,${indent}}|[^]`, block + indent, index);
}

function skipCharacters(text: string, pattern: string, from: number, count: number): number {
  const character = new RegExp(pattern, 'y');
  character.lastIndex = from;
  for (let passed = 0; passed < count && character.lastIndex < text.length; passed++) character.exec(text);
  return character.lastIndex;
}
