import { dataError } from '../errors.ts';
import { type ConfigNode, type Member, toEntries, toValue } from './node.ts';
import { parseScalar, type Value } from './value.ts';
import type { Entry } from './variables.ts';

const MAX_DEPTH = 64;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Reads variables from JSON: nested maps become dotted names. */
export function readJson(text: string, label: string): Entry[] {
  const root = new JsonParser(text.replace(/^\ufeff/, ''), label).parse();
  if (root.kind === 'map') return toEntries(root, (line) => line, label);
  throw dataError(`${label}: expected a map of variables`, 'write {"profile": {"type": "…"}}');
}

/** Parses JSON. Other than with `JSON.parse`, numbers keep their digits, and a duplicate name is an error. */
export function parseJson(text: string, label: string): Value {
  return toValue(new JsonParser(text, label).parse());
}

/** The location of a node is its line. */
class JsonParser {
  readonly #text: string;
  readonly #label: string;
  #at = 0;
  #line = 1;

  constructor(text: string, label: string) {
    this.#text = text;
    this.#label = label;
  }

  parse(): ConfigNode<number> {
    const root = this.#value(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail();
    return root;
  }

  /** The text may hold a secret: only the position is reported. */
  #fail(problem = 'invalid JSON'): never {
    const column = this.#at - this.#text.lastIndexOf('\n', this.#at - 1);
    const hint = 'correct the file at this position: often a quote, comma or brace is missing';
    throw dataError(`${this.#label}:${this.#line}:${column}: ${problem}`, hint);
  }

  #value(depth: number): ConfigNode<number> {
    this.#skipSpace();
    const at = this.#line;
    if (this.#take('{')) {
      const members = new Map<string, Member<number>>();
      this.#list('}', depth, () => this.#member(members, depth));
      return { kind: 'map', at, members: [...members.values()] };
    }
    if (this.#take('[')) {
      const items: ConfigNode<number>[] = [];
      this.#list(']', depth, () => items.push(this.#value(depth + 1)));
      return { kind: 'list', at, items };
    }
    if (this.#text[this.#at] === '"') return { kind: 'scalar', at, value: this.#string() };
    SCALAR.lastIndex = this.#at;
    const source = SCALAR.exec(this.#text)?.[0] ?? this.#fail();
    this.#at += source.length;
    const value = JSON.parse(source) as number | boolean | null;
    return { kind: 'scalar', at, value: value === null ? null : parseScalar(source, value) };
  }

  #list(close: string, depth: number, readItem: () => void): void {
    if (depth >= MAX_DEPTH) this.#fail(`more than ${MAX_DEPTH} levels`);
    this.#skipSpace();
    if (this.#take(close)) return;
    do {
      readItem();
      this.#skipSpace();
    } while (this.#take(','));
    if (!this.#take(close)) this.#fail();
  }

  #member(members: Map<string, Member<number>>, depth: number): void {
    this.#skipSpace();
    const [start, at] = [this.#at, this.#line];
    const name = this.#string();
    if (members.has(name)) {
      this.#at = start;
      this.#fail(`${name} is defined twice`);
    }
    this.#skipSpace();
    if (!this.#take(':')) this.#fail();
    members.set(name, { name, at, node: this.#value(depth + 1) });
  }

  /** A regular expression for a string of any length would overflow its backtracking stack. */
  #string(): string {
    if (this.#text[this.#at] !== '"') this.#fail();
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    try {
      const value = JSON.parse(this.#text.slice(this.#at, end + 1)) as string;
      this.#at = end + 1;
      return value;
    } catch {
      this.#fail();
    }
  }

  #skipSpace(): void {
    for (; ; this.#at++) {
      const char = this.#text[this.#at];
      if (char === '\n') this.#line++;
      else if (char !== ' ' && char !== '\t' && char !== '\r') return;
    }
  }

  #take(char: string): boolean {
    const found = this.#text[this.#at] === char;
    if (found) this.#at++;
    return found;
  }
}
