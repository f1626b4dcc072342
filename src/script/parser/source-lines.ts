import type { Span } from '../../config/yaml.ts';
import { escapeControls, truncate } from '../../redaction/sanitize.ts';
import { MASK } from '../../redaction/secret.ts';
import { isSensitiveName } from '../../redaction/sensitive-names.ts';
import { harmlessReference } from './find-secrets.ts';

const MAX_LENGTH = 120;
/** So much of a long line is shown before the fault. */
const BEFORE = 60;

/** A line for a message, and how many of its characters stand before the fault. */
export interface Excerpt {
  readonly excerpt: string;
  readonly caret: number;
}

/** The lines of a script's file as they may be shown: of what is secret only the name. */
export class SourceLines {
  readonly #lines: readonly string[];
  readonly #secrets: readonly Span[] | undefined;
  readonly #isSecret: (name: string) => boolean;

  /**
   * `secrets` is what is known to be secret; `undefined` where the text could not be understood, so that more is hidden: also what stands
   * behind the commands that `takesSecret`.
   */
  constructor(
    text: string,
    secrets: readonly Span[] | undefined,
    takesSecret: (command: string) => boolean = () => false,
  ) {
    this.#lines = text.split('\n');
    this.#secrets = secrets;
    this.#isSecret = (name) => isSensitiveName(name) || (secrets === undefined && takesSecret(name));
  }

  /** The line of an offset; both `line` and `column` count from 1. */
  quote(offset: number, line: number, column: number): Excerpt {
    const text = (this.#lines[line - 1] ?? '').replace(/\r$/, '');
    const start = offset - (column - 1);
    const end = Math.min(this.#shownEnd(text, start), this.#knownEnd(text, line - 1));
    const hides = text.slice(end).trim() !== '';
    return cut(hides ? text.slice(0, end) + MASK : text, Math.min(column - 1, hides ? end : text.length));
  }

  /** The first known secret of the line that starts at an offset. */
  #shownEnd(text: string, start: number): number {
    let end = text.length;
    for (const secret of this.#secrets ?? []) {
      if (secret.end <= start || secret.start >= start + text.length) continue;
      end = Math.min(end, secret.start <= start ? indentOf(text) : secret.start - start);
    }
    return end;
  }

  /** The first thing of the line that its own text, or the lines above, say to be secret. */
  #knownEnd(text: string, index: number): number {
    const own = secretStart(text, this.#isSecret);
    if (this.#secrets !== undefined || /^(?:---|\.\.\.)\s*$/.test(text)) return own;
    const key = KEY.exec(text)?.[0];
    if (this.#isBelowSecret(index, key === undefined)) return indentOf(text);
    if (/^(?:steps|name|version)$/.test(this.#section(index))) return own;
    // Variables: many are secrets whose names do not say so.
    return key === undefined ? indentOf(text) : Math.min(own, key.length);
  }

  /** The name at the very left that the line belongs to. */
  #section(index: number): string {
    for (let at = index; at >= 0; at--) {
      const name = /^["']?([\w.-]+)["']?\s*:/.exec(this.#lines[at] ?? '')?.[1];
      if (name !== undefined) return name;
    }
    return '';
  }

  /** Whether a line is part of a secret that began above it: a line without a name may belong to any name of its item, and to those around it. */
  #isBelowSecret(index: number, nameless: boolean): boolean {
    let indent = indentOf(this.#lines[index] ?? '');
    let anywhere = nameless;
    for (let at = index - 1; at >= 0; at--) {
      const above = this.#lines[at] ?? '';
      const outer = indentOf(above);
      if ((anywhere || outer < indent) && hasSecretName(above, this.#isSecret)) return true;
      if (!KEY.test(above)) continue;
      indent = Math.min(indent, outer);
      if (indent === 0) return false;
      if (/^\s*- /.test(above)) anywhere = false;
    }
    return false;
  }
}

/** A line that begins with a name, perhaps as the first of a list's item. */
const KEY = /^\s*(?:- +)*(?:"[^"]*"|'[^']*'|[^\s"'#:{}[\],]+)\s*:(?=\s|$)\s*/;

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

const NAMED = /([\w.-]+)["']?\s*[:=]\s*/g;

function hasSecretName(text: string, isSecret: (name: string) => boolean): boolean {
  return [...text.matchAll(NAMED)].some(([, name]) => isSecret(name ?? ''));
}

/** Where the value of the first secret name of a line begins. */
function secretStart(text: string, isSecret: (name: string) => boolean): number {
  for (const found of text.matchAll(NAMED)) {
    const start = found.index + found[0].length;
    const value = /^(["']?)(\$\{[^{}]*\})\1\s*(?:$|[,\]}#])/.exec(text.slice(start))?.[2] ?? '';
    if (isSecret(found[1] ?? '') && !harmlessReference.test(value)) return start;
  }
  return text.length;
}

/** At most so many characters of a line, around the fault. */
function cut(line: string, caret: number): Excerpt {
  const from = line.length <= MAX_LENGTH ? 0 : Math.max(0, Math.min(caret - BEFORE, line.length - MAX_LENGTH));
  const to = Math.min(line.length, from + MAX_LENGTH);
  // What a cut left of a character beyond the BMP is not shown.
  const before = (from > 0 ? '…' : '') + escapeControls(line.slice(from, caret).replace(/^[\udc00-\udfff]/, ''));
  const after = escapeControls(truncate(line.slice(caret), to - caret)) + (to < line.length ? '…' : '');
  return { excerpt: (before + after).trimEnd(), caret: before.length };
}
