import type { ConfigNode } from '../../config/node.ts';
import type { Span } from '../../config/yaml.ts';
import { escapeControls, truncate } from '../../redaction/sanitize.ts';
import { MASK } from '../../redaction/secret.ts';
import { isSensitiveName } from '../../redaction/sensitive-names.ts';
import type { Parameter, Registry } from '../command.ts';
import { scriptKeys } from './build-script.ts';

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
  readonly #secrets: readonly Span[] | undefined;
  readonly #isSecret: (name: string) => boolean;

  /**
   * `secrets` are the locations of the secrets; `undefined` if the YAML could not be parsed. More is masked then, including the parameters
   * of commands for which `takesSecret` returns true.
   */
  constructor(text: string, secrets: readonly Span[] | undefined, takesSecret: (command: string) => boolean) {
    this.#lines = text.split('\n');
    this.#secrets = secrets;
    this.#isSecret = (name) => isSensitiveName(name) || (secrets === undefined && takesSecret(name));
  }

  /** Quotes the line at an offset; `line` and `column` count from 1. */
  quote(offset: number, line: number, column: number): Excerpt {
    const text = (this.#lines[line - 1] ?? '').replace(/\r$/, '');
    const start = offset - (column - 1);
    const end = Math.min(this.#firstKnownSecret(text, start), this.#firstLikelySecret(text, line - 1));
    const isMasked = text.slice(end).trim() !== '';
    return truncateAround(
      isMasked ? text.slice(0, end) + MASK : text,
      Math.min(column - 1, isMasked ? end : text.length),
    );
  }

  /** Returns the index of the first known secret in the line that starts at an offset. */
  #firstKnownSecret(text: string, start: number): number {
    let end = text.length;
    for (const secret of this.#secrets ?? []) {
      if (secret.end <= start || secret.start >= start + text.length) continue;
      end = Math.min(end, secret.start <= start ? indentOf(text) : secret.start - start);
    }
    return end;
  }

  /** Returns the index of the first value that is a secret according to the names in this line and the lines above. */
  #firstLikelySecret(text: string, index: number): number {
    const own = findSecretValue(text, this.#isSecret);
    if (this.#secrets !== undefined || /^(?:---|\.\.\.)\s*$/.test(text)) return own;
    const key = KEY.exec(text)?.[0];
    if (this.#isBelowSecret(index, key === undefined)) return indentOf(text);
    if (/^(?:steps|name|version)$/.test(this.#section(index))) return own;
    // Below data, mask every value: many secrets have names that do not reveal it.
    return key === undefined ? indentOf(text) : Math.min(own, key.length);
  }

  /** Returns the top-level key that the line belongs to. */
  #section(index: number): string {
    for (let at = index; at >= 0; at--) {
      const name = /^["']?([\w.-]+)["']?\s*:/.exec(this.#lines[at] ?? '')?.[1];
      if (name !== undefined) return name;
    }
    return '';
  }

  /** Returns whether a line continues a secret from a line above. A line without a key may belong to any key of its item and of the enclosing items. */
  #isBelowSecret(index: number, hasNoKey: boolean): boolean {
    let indent = indentOf(this.#lines[index] ?? '');
    let anyIndent = hasNoKey;
    for (let at = index - 1; at >= 0; at--) {
      const above = this.#lines[at] ?? '';
      const outer = indentOf(above);
      if ((anyIndent || outer < indent) && hasSecretName(above, this.#isSecret)) return true;
      if (!KEY.test(above)) continue;
      indent = Math.min(indent, outer);
      if (indent === 0) return false;
      if (/^\s*- /.test(above)) anyIndent = false;
    }
    return false;
  }
}

/** A line that starts with a key, possibly as the first line of a list item. */
const KEY = /^\s*(?:- +)*(?:"[^"]*"|'[^']*'|[^\s"'#:{}[\],]+)\s*:(?=\s|$)\s*/;

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

const NAMED = /([\w.-]+)["']?\s*[:=]\s*/g;

function hasSecretName(text: string, isSecret: (name: string) => boolean): boolean {
  return [...text.matchAll(NAMED)].some(([, name]) => isSecret(name ?? ''));
}

/** Returns the index of the value of the first secret key in a line. */
function findSecretValue(text: string, isSecret: (name: string) => boolean): number {
  for (const found of text.matchAll(NAMED)) {
    const start = found.index + found[0].length;
    const value = /^(["']?)(\$\{[^{}]*\})\1\s*(?:$|[,\]}#])/.exec(text.slice(start))?.[2] ?? '';
    if (isSecret(found[1] ?? '') && !plainReference.test(value)) return start;
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
  if (root.kind !== 'map') yield* findSecretsInNode(root, registry, false);
  else {
    for (const { name, node: part } of root.members) {
      if (name === 'steps' && part.kind === 'list') yield* findSecretsInSteps(part.items, registry);
      else yield* findSecretsInNode(part, registry, !scriptKeys.includes(name));
    }
  }
}

/** An item that is not a step may be a misplaced parameter of the step above it. */
function* findSecretsInSteps<At>(steps: readonly ConfigNode<At>[], registry: Registry): Generator<At> {
  for (const step of steps) {
    const isCommand =
      step.kind === 'scalar' && typeof step.value === 'string' && registry.find(step.value) !== undefined;
    yield* findSecretsInNode(step, registry, step.kind !== 'map' && !isCommand);
  }
}

/** Yields every scalar whose key, or the key of an enclosing map, is sensitive. Parameters in a list get their names from the command. */
function* findSecretsInNode<At>(part: ConfigNode<At>, registry: Registry, secret: boolean): Generator<At> {
  if (part.kind === 'scalar') {
    if (secret && !(typeof part.value === 'string' && plainReference.test(part.value))) yield part.at;
  } else if (part.kind === 'list') {
    for (const item of part.items) yield* findSecretsInNode(item, registry, secret);
  } else {
    for (const { name, node: inner } of part.members) {
      const parameters = registry.find(name)?.parameters;
      if (parameters === undefined)
        yield* findSecretsInNode(inner, registry, secret || name === '' || isSensitiveName(name));
      else if (inner.kind === 'list') {
        for (const [index, item] of inner.items.entries()) {
          yield* findSecretsInNode(item, registry, secret || isSecretParameter(parameters[index]));
        }
      } else if (inner.kind === 'map') {
        for (const { name: key, node: value } of inner.members) {
          const parameter = parameters.find((one) => one.name === key);
          yield* findSecretsInNode(value, registry, secret || isSecretParameter(parameter) || isSensitiveName(key));
        }
      } else yield* findSecretsInNode(inner, registry, secret || isSecretParameter(parameters[0]));
    }
  }
}

function isSecretParameter(parameter: Parameter | undefined): boolean {
  return parameter !== undefined && (parameter.secret === true || isSensitiveName(parameter.name));
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
