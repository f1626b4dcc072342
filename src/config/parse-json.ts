import { OAuthProfileError } from '../errors.ts';
import { parseScalar, type Value } from './value.ts';

/** Deeper texts are no data but an attack on the stack. */
const MAX_DEPTH = 64;

const BLANKS = ' \t\n\r';
const WORDS = ['true', 'false', 'null'];

/** Parses JSON; numbers keep their digits, which `JSON.parse` would round away, and a name that stands twice in a map is an error. */
export function parseJson(text: string, label: string): Value {
  return new Parser(text, label).document();
}

class Parser {
  #at = 0;
  #depth = 0;

  constructor(
    readonly text: string,
    readonly label: string,
  ) {}

  document(): Value {
    const value = this.#value();
    this.#skipBlanks();
    if (this.#at < this.text.length) this.#fail();
    return value;
  }

  /** The text around the fault may be a secret: only its position is told. */
  #fail(problem = 'is not valid JSON'): never {
    const before = this.text.slice(0, this.#at).split('\n');
    const where = `${this.label}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    throw new OAuthProfileError('data_invalid', `${where}: ${problem}`, {
      hint: 'correct the file there: a missing quote, comma or brace is the usual cause',
    });
  }

  #value(): Value {
    this.#skipBlanks();
    if (this.#take('{')) return this.#map();
    if (this.#take('[')) return this.#list();
    const first = this.text[this.#at] ?? '';
    if (first === '"') return this.#string();
    if (first === '-' || (first >= '0' && first <= '9')) return this.#number();
    const word = WORDS.find((one) => this.text.startsWith(one, this.#at)) ?? this.#fail();
    this.#at += word.length;
    return JSON.parse(word) as boolean | null;
  }

  #map(): Value {
    const members = new Map<string, Value>();
    this.#items('}', () => {
      this.#skipBlanks();
      const start = this.#at;
      const name = this.#string();
      if (members.has(name)) {
        this.#at = start;
        this.#fail(`${name} is defined twice`);
      }
      this.#skipBlanks();
      if (!this.#take(':')) this.#fail();
      members.set(name, this.#value());
    });
    return Object.fromEntries(members);
  }

  #list(): Value {
    const items: Value[] = [];
    this.#items(']', () => items.push(this.#value()));
    return items;
  }

  #items(close: string, read: () => void): void {
    if (++this.#depth > MAX_DEPTH) this.#fail(`is nested deeper than ${MAX_DEPTH} levels`);
    this.#skipBlanks();
    if (!this.#take(close)) {
      do {
        read();
        this.#skipBlanks();
      } while (this.#take(','));
      if (!this.#take(close)) this.#fail();
    }
    this.#depth--;
  }

  /** Its end is looked for without a pattern: to compile one takes longer than to read a small file. */
  #string(): string {
    if (this.text[this.#at] !== '"') this.#fail();
    let end = this.#at;
    do end = this.text.indexOf('"', end + 1);
    while (end > 0 && this.#isEscaped(end));
    try {
      const value = JSON.parse(this.text.slice(this.#at, end + 1)) as string;
      this.#at = end + 1;
      return value;
    } catch {
      this.#fail();
    }
  }

  #isEscaped(at: number): boolean {
    let backslashes = 0;
    while (this.text[at - 1 - backslashes] === '\\') backslashes++;
    return backslashes % 2 === 1;
  }

  #number(): Value {
    const token = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    token.lastIndex = this.#at;
    const digits = token.exec(this.text)?.[0] ?? this.#fail();
    this.#at += digits.length;
    return parseScalar(digits, Number(digits));
  }

  #skipBlanks(): void {
    while (BLANKS.includes(this.text[this.#at] ?? '-')) this.#at++;
  }

  #take(char: string): boolean {
    const found = this.text[this.#at] === char;
    if (found) this.#at++;
    return found;
  }
}
