import { OAuthProfileError } from '../errors.ts';

/** A string split into literals and references. */
export type Template = readonly (string | Reference)[];

/** A parsed `${…}`. */
export interface Reference {
  readonly kind: 'variable' | 'env' | 'file';
  /** The characters between the braces, without the default. */
  readonly text: string;
  /** For a variable: the dotted names, which may be a variable's name or a name and members. Otherwise the name or path. */
  readonly names: readonly string[];
  /** For a variable: the members from the first bracket on. */
  readonly members: readonly (string | number)[];
  readonly fallback: Template | undefined;
}

/** A syntax error in a reference, at an offset of the string. The string may be a secret, so the message does not quote it. */
export class ReferenceSyntaxError extends OAuthProfileError {
  constructor(
    readonly problem: string,
    readonly offset: number,
  ) {
    super('data_invalid', `the reference at character ${offset + 1} ${problem}`, {
      hint: 'write ${name}, ${name.member[0]}, ${env:NAME} or ${file:path}; for a literal ${, write $${',
    });
  }
}

/** Whether a string may contain a reference and has to be parsed. */
export function hasReference(text: string): boolean {
  return text.includes('${');
}

/** Parses `${name}`, `${name.path[0]["odd key"]}`, `${env:NAME}` and `${file:path}`, each with an optional `:-default`; `$${` is a literal `${`. */
export function parseTemplate(text: string): Template {
  return new Parser(text).template(false);
}

/** Escapes a string so that {@link parseTemplate} returns it unchanged. */
export function escapeReferences(text: string): string {
  // In a replacement string, `$$` would mean a single `$`.
  return text.replaceAll('${', () => '$${');
}

/** Parses a path into a value, such as `data.tokens[0]`. */
export function parsePath(text: string): (string | number)[] {
  const parser = new Parser(text);
  const { names, members } = parser.path();
  if (!parser.atEnd) parser.fail('is not a path');
  return [...names, ...members];
}

const MAX_DEPTH = 16;
const MAX_PARTS = 64;

class Parser {
  #at = 0;
  #depth = 0;

  constructor(readonly text: string) {}

  get atEnd(): boolean {
    return this.#at >= this.text.length;
  }

  fail(problem: string): never {
    throw new ReferenceSyntaxError(problem, this.#at);
  }

  template(nested: boolean): Template {
    const parts: (string | Reference)[] = [];
    let literal = '';
    while (!this.atEnd && !(nested && this.#sees('}'))) {
      if (this.#takes('$${')) literal += '${';
      else if (this.#sees('${')) {
        if (literal !== '') parts.push(literal);
        literal = '';
        parts.push(this.#reference());
      } else literal += this.text.charAt(this.#at++);
    }
    if (literal !== '') parts.push(literal);
    return parts;
  }

  #reference(): Reference {
    const start = this.#at;
    if (++this.#depth > MAX_DEPTH) this.fail('has too many nested defaults');
    this.#at += '${'.length;
    const from = this.#at;
    const prefix = this.#match(/(?=(env|file):)/iy)?.[1] ?? '';
    if (prefix !== prefix.toLowerCase()) this.fail('must have env: or file: in lower case');
    const kind = this.#takes('env:') ? 'env' : this.#takes('file:') ? 'file' : 'variable';
    const path = kind === 'variable' ? this.path() : { names: [this.#externalName()], members: [] };
    const text = this.text.slice(from, this.#at);
    const fallback = this.#takes(':-') ? this.template(true) : undefined;
    if (!this.#takes('}')) {
      this.#at = start;
      this.fail('is not closed or not well-formed');
    }
    this.#depth--;
    return { kind, text, ...path, fallback };
  }

  /** Reads the name of an environment variable or the path of a file. */
  #externalName(): string {
    const rest = this.text.slice(this.#at);
    const name = rest.slice(0, rest.search(/\}|:-|\$\{|$/));
    this.#at += name.length;
    if (this.#sees('${')) this.fail('has a reference inside its name');
    return name === '' ? this.fail('has no name') : name;
  }

  path(): { names: string[]; members: (string | number)[] } {
    const names = [this.#name()];
    const members: (string | number)[] = [];
    for (;;) {
      if (this.#takes('.')) (members.length > 0 ? members : names).push(this.#name());
      else if (this.#takes('[')) members.push(this.#bracket());
      else return { names, members };
      if (names.length + members.length > MAX_PARTS) this.fail(`has more than ${MAX_PARTS} parts`);
    }
  }

  #name(): string {
    return this.#match(/[^.[\]{}:"'\s]+/y)?.[0] ?? this.fail('has no name');
  }

  #bracket(): string | number {
    const match = this.#match(/(?:(\d{1,9})|("[^"\\]*(?:\\.[^"\\]*)*")|'([^']*)')\]/y);
    if (match === null) return this.fail('has brackets with neither a number nor a quoted name');
    const [, index, doubleQuoted, singleQuoted = ''] = match;
    if (index !== undefined) return Number(index);
    try {
      return doubleQuoted === undefined ? singleQuoted : (JSON.parse(doubleQuoted) as string);
    } catch {
      return this.fail('has an invalid escape in a quoted name');
    }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.text);
    this.#at += match?.[0].length ?? 0;
    return match;
  }

  #sees(text: string): boolean {
    return this.text.startsWith(text, this.#at);
  }

  #takes(text: string): boolean {
    const seen = this.#sees(text);
    if (seen) this.#at += text.length;
    return seen;
  }
}
