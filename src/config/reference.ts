import { OAuthProfileError } from '../errors.ts';
import { closestMatch } from './suggestions.ts';

/** A string split into literals and references. */
export type Template = readonly (string | Reference)[];

/** A parsed `${…}`. */
export interface Reference {
  readonly kind: 'variable' | 'env' | 'file' | 'function';
  /** The characters between the braces, without the default. */
  readonly text: string;
  /** For a variable: the dotted names, which may be a variable's name or a name and members. Otherwise the name or path. */
  readonly names: readonly string[];
  /** For a function: its arguments. */
  readonly args?: readonly Argument[] | undefined;
  /** For a variable: the members from the first bracket on. */
  readonly members: readonly (string | number)[];
  readonly fallback: Template | undefined;
}

/** An argument of a function: a literal, or a reference, which may be a function too. */
type Argument = string | number | Reference;

/** A function in references: the number of its arguments and its documentation. */
export interface FunctionDefinition {
  readonly parameters: readonly string[];
  /** Number of required arguments. */
  readonly required: number;
  readonly help: string;
}

const define = (parameters: string, help: string): FunctionDefinition => {
  const names = parameters.split(' ').filter((name) => name !== '');
  const required = names.filter((name) => !name.endsWith('?')).length;
  return { parameters: names.map((name) => name.replace('?', '')), required, help };
};

/** The functions that scripts can call in references. A function of a secret returns a secret. */
export const functions: Readonly<Record<string, FunctionDefinition>> = {
  uuid: define('', 'A random UUID'),
  now: define('offset?', 'The current time, such as 2026-01-31T08:15:00.000Z; with an offset such as "+1h" or "-30d"'),
  date: define('format offset?', 'The current time in UTC in a format of yyyy, MM, dd, HH, mm, ss and SSS'),
  random: define('min max', 'A random integer; both bounds are included'),
  base64: define('value', 'Base64 of a string'),
  base64url: define('value', 'Base64url of a string, without padding'),
  urlencode: define('value', 'A string, percent-encoded'),
  sha256: define('value', 'SHA-256 of a string, in hex'),
  hmacSha256: define('key value', 'HMAC-SHA256 of a string, in hex'),
  json: define('value', 'A value as JSON'),
  lower: define('value', 'A string in lower case'),
  upper: define('value', 'A string in upper case'),
  trim: define('value', 'A string without spaces and line breaks at both ends'),
  length: define('value', 'The number of characters of a string, items of a list or members of a map'),
};

/** A syntax error in a reference, at an offset of the string. The string may be a secret, so the message does not quote it. */
export class ReferenceSyntaxError extends OAuthProfileError {
  constructor(
    readonly problem: string,
    readonly offset: number,
    hint = 'write ${name}, ${name.member[0]}, ${env:NAME} or ${file:path}; for a literal ${, write $${',
  ) {
    super('data_invalid', `the reference at character ${offset + 1} ${problem}`, { hint });
  }
}

/** Whether a string may contain a reference and has to be parsed. */
export function hasReference(text: string): boolean {
  return text.includes('${');
}

/** Whether a string calls a function. */
export function hasFunction(text: string): boolean {
  return /\$\{[A-Za-z]\w*\(/.test(text);
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

  fail(problem: string, hint?: string): never {
    throw new ReferenceSyntaxError(problem, this.#at, hint);
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
    const call = this.#call();
    const prefix = this.#match(/(?=(env|file):)/iy)?.[1] ?? '';
    if (prefix !== prefix.toLowerCase()) this.fail('must have env: or file: in lower case');
    const kind = call ? 'function' : this.#takes('env:') ? 'env' : this.#takes('file:') ? 'file' : 'variable';
    const path = call ?? (kind === 'variable' ? this.path() : { names: [this.#externalName()], members: [] });
    const text = this.text.slice(from, this.#at);
    const fallback = this.#takes(':-') ? this.template(true) : undefined;
    if (!this.#takes('}')) {
      this.#at = start;
      this.fail('is not closed or not well-formed');
    }
    this.#depth--;
    return { kind, text, ...path, fallback };
  }

  /** Reads a call such as `now("+1h")`, if there is one. */
  #call(): { names: string[]; members: []; args: Argument[] } | undefined {
    const start = this.#at;
    const name = this.#match(/([A-Za-z]\w*)\(\s*/y)?.[1];
    if (name === undefined) return undefined;
    const args: Argument[] = [];
    if (++this.#depth > MAX_DEPTH) this.fail('has too many nested functions');
    while (!this.#takes(')')) {
      if (args.length > 0 && this.#match(/,\s*/y) === null) this.fail('has no comma or ) after an argument');
      args.push(this.#argument());
      this.#match(/\s+/y);
    }
    this.#depth--;
    const end = this.#at;
    this.#at = start;
    this.#checkCall(name, args.length);
    this.#at = end;
    return { names: [name], members: [], args };
  }

  #argument(): Argument {
    const literal = this.#match(/"(?:[^"\\]|\\.)*"|'[^']*'|-?\d+(?:\.\d+)?(?=[\s,)])/y)?.[0];
    if (literal === undefined) {
      const from = this.#at;
      const environmentVariable = this.#match(/env:(\w+)/y)?.[1];
      const call = environmentVariable === undefined ? this.#call() : undefined;
      const path =
        environmentVariable === undefined ? (call ?? this.path()) : { names: [environmentVariable], members: [] };
      const kind = call ? 'function' : environmentVariable === undefined ? 'variable' : 'env';
      return { kind, text: this.text.slice(from, this.#at), ...path, fallback: undefined };
    }
    if (literal.startsWith("'")) return literal.slice(1, -1);
    try {
      return JSON.parse(literal) as string | number;
    } catch {
      return this.fail('has an invalid escape in a quoted argument');
    }
  }

  #checkCall(name: string, count: number): void {
    const found = Object.hasOwn(functions, name) ? functions[name] : undefined;
    const names = Object.keys(functions);
    if (found === undefined) {
      const near = closestMatch(name, names);
      const hint = near === undefined ? `the functions are ${names.join(', ')}` : `did you mean ${near}()?`;
      this.fail(`calls the unknown function ${name}`, hint);
    }
    const { parameters, required } = found;
    if (count >= required && count <= parameters.length) return;
    const shown = parameters.map((one, index) => (index < required ? one : `[${one}]`)).join(', ');
    this.fail(`calls ${name} with ${count} arguments`, `write \${${name}(${shown})}`);
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
    return this.#match(/[^.[\]{}():,"'\s]+/y)?.[0] ?? this.fail('has no name');
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
