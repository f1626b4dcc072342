import type { Chance } from './chance.ts';
import type { Target } from './target.ts';

const MAX_LENGTH = 4_096;
const MAX_STEPS = 6;

/** Values on which parsers stumble: bounds of numbers, names of prototypes, halves of characters. */
const oddTexts = [
  ...['', '0', '-1', '1e999', '-0', '0x10', '9007199254740993', '9'.repeat(400), '1.5', 'NaN', 'Infinity'],
  ...['null', 'true', '__proto__', 'constructor', 'toString', 'length', 'hasOwnProperty'],
  ...['\0', '\ufeff', '\u2028', '\ud800', '\udc00', '\u202e', '😀', 'ß', 'İ', '%', '%00', '%zz', '%C3', '\\u0000'],
  ...['\r\n', '\n', '\r', '\t', ' ', '\u00a0', '\u001b[31m', '"', "'", '`', '\\', '${', '$${', '}', '{', '[', ']'],
  ...[':', '=', '&', '?', '#', '/', '//', '@', ',', ';', '..', '-', '--', '<', '>', '<<', '*', '!', '|'],
];
const oddValues: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, '', [], {}, [[]], [null], { __proto__: null }],
  ...oddTexts,
];

/** Makes new inputs of old ones: of characters, of pieces that mean something, of whole other inputs, and of the parts of JSON. */
export class Mutator {
  readonly #chance: Chance;
  readonly #tokens: readonly string[];
  readonly #maxLength: number;

  constructor(chance: Chance, { tokens, maxLength = MAX_LENGTH }: Pick<Target, 'tokens' | 'maxLength'>) {
    this.#chance = chance;
    this.#tokens = tokens;
    this.#maxLength = maxLength;
  }

  /** A new input, made of one of the corpus. */
  next(corpus: readonly string[]): string {
    let text = this.#chance.pick(corpus);
    for (let steps = 1 + this.#chance.small(MAX_STEPS); steps > 0; steps--) text = this.#change(text, corpus);
    return text.length > this.#maxLength ? text.slice(0, this.#maxLength) : text;
  }

  #change(text: string, corpus: readonly string[]): string {
    const at = this.#chance.below(text.length + 1);
    const end = Math.min(text.length, at + 1 + this.#chance.small(32));
    const piece = text.slice(at, end);
    const without = text.slice(0, at) + text.slice(end);
    switch (this.#chance.below(14)) {
      case 0:
        return text.slice(0, at) + this.#character() + text.slice(at + 1);
      case 1:
        return text.slice(0, at) + flipped(text.charCodeAt(at) || 0, this.#chance) + text.slice(at + 1);
      case 2:
        return without;
      case 3:
        return text.slice(0, end) + piece.repeat(1 + this.#chance.small(40)) + text.slice(end);
      case 4: {
        const to = this.#chance.below(without.length + 1);
        return without.slice(0, to) + piece + without.slice(to);
      }
      case 5:
        return this.#chance.oneIn(4) ? text.slice(0, at) : text.slice(0, at) + text.slice(at).toUpperCase();
      case 6: {
        const other = this.#chance.pick(corpus);
        return text.slice(0, at) + other.slice(this.#chance.below(other.length + 1));
      }
      case 7:
        return text.replace(/\d+/, () => this.#chance.pick(['0', '-1', '9'.repeat(20), '1e9', '0.5', '007']));
      case 8:
        return this.#changeLines(text);
      case 9:
      case 10:
        return this.#changeJson(text);
      default: {
        const token = this.#token();
        return this.#chance.oneIn(3)
          ? text.slice(0, at) + token + text.slice(end)
          : text.slice(0, at) + token + text.slice(at);
      }
    }
  }

  #token(): string {
    const from = this.#chance.oneIn(3) ? oddTexts : this.#tokens;
    return from.length === 0 ? '' : this.#chance.pick(from);
  }

  #character(): string {
    if (this.#chance.oneIn(8)) return String.fromCharCode(this.#chance.below(0x10000));
    return String.fromCharCode(this.#chance.below(0x80));
  }

  /** Most formats are made of lines: one leaves, comes twice, or moves. */
  #changeLines(text: string): string {
    const lines = text.split('\n');
    const [line = ''] = lines.splice(this.#chance.below(lines.length), this.#chance.oneIn(2) ? 1 : 0);
    lines.splice(this.#chance.below(lines.length + 1), 0, this.#chance.oneIn(3) ? this.#token() : line);
    return lines.join('\n');
  }

  /** The JSON from the first brace on, with one of its parts changed; a text that has none stays. */
  #changeJson(text: string): string {
    const at = text.indexOf('{');
    if (at < 0) return text + this.#token();
    try {
      const changed = this.#changePart(JSON.parse(text.slice(at)), 0);
      return text.slice(0, at) + JSON.stringify(changed);
    } catch {
      return text.slice(0, at) + this.#token() + text.slice(at);
    }
  }

  #changePart(part: unknown, depth: number): unknown {
    const inside = typeof part === 'object' && part !== null && Object.keys(part).length > 0;
    if (!inside || this.#chance.oneIn(depth + 3)) return this.#replace(part);
    if (Array.isArray(part)) {
      const items = [...part];
      const index = this.#chance.below(items.length);
      items[index] = this.#changePart(items[index], depth + 1);
      return this.#chance.oneIn(4) ? [...items, items[index]] : items;
    }
    const members = Object.entries(part as object);
    const index = this.#chance.below(members.length);
    const [name, value] = members[index] as [string, unknown];
    if (this.#chance.oneIn(5)) members.splice(index, 1);
    else if (this.#chance.oneIn(4)) members.push([this.#token(), value]);
    else members[index] = [name, this.#changePart(value, depth + 1)];
    return Object.fromEntries(members);
  }

  #replace(part: unknown): unknown {
    switch (this.#chance.below(6)) {
      case 0:
        return [part];
      case 1:
        return { [this.#token()]: part };
      case 2:
        return typeof part === 'string' ? part + this.#token() : String(part);
      case 3:
        return this.#token();
      case 4: {
        let deep = part;
        for (let level = this.#chance.below(150); level > 0; level--)
          deep = this.#chance.oneIn(2) ? [deep] : { a: deep };
        return deep;
      }
      default:
        return this.#chance.pick(oddValues);
    }
  }
}

function flipped(code: number, chance: Chance): string {
  return String.fromCharCode(code ^ (1 << chance.below(8)));
}
