/** Makes one character of those that may stand for each other. */
type Fold = (code: number) => number;

const BLANK = 0x20;
const PLUS = 0x2b;

/** In a form a blank is `+`, and a text that was put into one line has blanks for its line ends. */
const foldText: Fold = (code) => (code === PLUS || code === 0x0a || code === 0x0d || code === 0x09 ? BLANK : code);

/** base64url has other signs. */
const foldBase64: Fold = (code) => (code === 0x2d ? PLUS : code === 0x5f ? 0x2f : code);

const foldHex: Fold = (code) => (code >= 0x41 && code <= 0x46 ? code + 0x20 : code);

/** Of an 8 character secret every spelling is longer. */
export const HEAD_LENGTH = 4;

/** One of the texts that a secret may be found as; escapes are undone in what is searched, not listed here. */
export class Spelling {
  /** The first characters, to be found by. */
  readonly head: string;
  readonly fold: Fold;
  /** base64 may be wrapped into lines. */
  readonly wraps: boolean;
  readonly #make: () => string;
  #text: string | undefined;
  #borders: Int32Array | undefined;
  #fallbacks: Int32Array | undefined;

  /** The whole text is made when its head is found, which is hardly ever. */
  constructor(start: string, fold: Fold, make: () => string = () => start) {
    this.head = start.slice(0, HEAD_LENGTH);
    this.fold = fold;
    this.wraps = fold === foldBase64;
    this.#make = make;
  }

  /** All characters, folded. */
  get text(): string {
    this.#text ??= Array.from(units(this.#make()), (code) => String.fromCharCode(this.fold(code))).join('');
    return this.#text;
  }

  /** For each length of a beginning, how much of it a later beginning has in common with its end (Knuth, Morris, Pratt). */
  get borders(): Int32Array {
    this.#borders ??= bordersOf(this.text);
    return this.#borders;
  }

  /** Where to go on if the next character does not fit: the longest border after which another character is expected. */
  get fallbacks(): Int32Array {
    this.#fallbacks ??= fallbacksOf(this.text, this.borders);
    return this.#fallbacks;
  }
}

function* units(text: string): Generator<number> {
  for (let at = 0; at < text.length; at++) yield text.charCodeAt(at);
}

function bordersOf(text: string): Int32Array {
  const borders = new Int32Array(text.length + 1);
  let border = 0;
  for (let length = 2; length <= text.length; length++) {
    const code = text.charCodeAt(length - 1);
    while (border > 0 && text.charCodeAt(border) !== code) border = borders[border] ?? 0;
    if (text.charCodeAt(border) === code) border++;
    borders[length] = border;
  }
  return borders;
}

/** Even of a secret like `--------` a long beginning that fails is given up in a few steps. */
function fallbacksOf(text: string, borders: Int32Array): Int32Array {
  const fallbacks = new Int32Array(text.length + 1);
  for (let length = 1; length < text.length; length++) {
    const border = borders[length] ?? 0;
    const same = text.charCodeAt(border) === text.charCodeAt(length);
    fallbacks[length] = same ? (fallbacks[border] ?? 0) : border;
  }
  return fallbacks;
}

const utf8 = new TextEncoder();

/** Every way a secret may stand in an output once its escapes are undone: in clear, in hex, in base64. */
export function spellings(value: string): Spelling[] {
  // Encodings have a sign of their own for half a surrogate pair, and lines may have become one.
  const clear = new Set([value, value.toWellFormed(), value.replace(/[\r\n\t]+/g, ' ')]);
  const found = Array.from(clear, (text) => new Spelling(text, foldText));
  const hex = (): string => hexOf(utf8.encode(value));
  found.push(new Spelling(hexOf(utf8.encode(value.slice(0, START_LENGTH))), foldHex, hex));
  // In a Basic header the value is percent-encoded before base64.
  const percent = encodeURIComponent(value.toWellFormed());
  for (const form of new Set([value, percent, percent.replaceAll('%20', '+'), formEncoded(value)])) {
    for (const offset of [0, 1, 2]) {
      const start = base64Core(utf8.encode(form.slice(0, START_LENGTH)), offset);
      found.push(new Spelling(start, foldBase64, () => base64Core(utf8.encode(form), offset)));
    }
  }
  return found;
}

/** Enough to know the head in hex and base64, even if the last of them is half a character. */
const START_LENGTH = 8;

/** The encoding of HTML forms: `+` for a blank, and stricter than `encodeURIComponent`. */
function formEncoded(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The base64 digits that `bytes` alone decide, after so many other bytes of the first group of three. */
function base64Core(bytes: Uint8Array, offset: number): string {
  let binary = '\0'.repeat(offset);
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).slice(offset && offset + 1, Math.floor((binary.length * 8) / 6));
}
