/** What a piece of a text may stand for, and where the piece ends. */
export interface Reading {
  readonly text: string;
  readonly end: number;
}

interface HexNumber {
  readonly value: number;
  readonly end: number;
}

const NONE: readonly Reading[] = [];

/** The named characters of Latin-1 in HTML, from U+00A0 on. */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';

let named: ReadonlyMap<string, string> | undefined;

/** What a name means in HTML; few texts have one, so the table is made when the first comes. */
function namedCharacter(name: string): string | undefined {
  named ??= new Map([
    ['amp', '&'],
    ['lt', '<'],
    ['gt', '>'],
    ['quot', '"'],
    ['apos', "'"],
    ...LATIN_1.split(' ').map((one, index): [string, string] => [one, String.fromCharCode(0xa0 + index)]),
  ]);
  return named.get(name);
}

const LONGEST_NAME = 10;

const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** What shells, CSV and CDATA sections write for a character that they cannot write alone. */
const quotings: readonly (readonly [mark: string, rest: string, meaning: string])[] = [
  ["'", "'", "'"],
  ["'", "\\''", "'"],
  ["'", `"'"'`, "'"],
  ["'", "\n'", '\n'],
  ['"', '"', '"'],
  [']', ']><![CDATA[>', '>'],
];

/** The signs that begin an escape, by their codes. */
const marks = codesOf('%\\&\'"]');

/** What the next character rules out in most cases; the text may also end there. */
const beginnings = /%(?:[\da-f]|$)|\\|&(?:#|\w{2,6};|\w{0,6}$)|'(?:['\\"\n&%]|$)|"(?:["\\&%]|$)|\](?:\]|$)/iy;

/** The same few positions are asked for several times in a row. */
const REMEMBERED = 16;

/** Finds what may stand escaped in a text, in the ways of URLs, JSON, HTML, XML and shells, once or twice over. */
export class Escapes {
  /** Set when the text ended where an escape could have gone on. */
  ranOut = false;
  readonly #text: string;
  readonly #remembered: { at: number; readings: readonly Reading[]; ranOut: boolean }[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** What the text at a position may stand for beside its plain character. */
  at(at: number): readonly Reading[] {
    if (!this.beginsAt(at)) return NONE;
    let known = this.#remembered[at % REMEMBERED];
    if (known?.at !== at) {
      const before = this.ranOut;
      this.ranOut = false;
      known = { at, readings: distinct(this.#unescape(at, true)), ranOut: this.ranOut };
      this.#remembered[at % REMEMBERED] = known;
      this.ranOut = before;
    }
    this.ranOut ||= known.ranOut;
    return known.readings;
  }

  /** Whether an escape may begin at a position; a cheap guess. */
  beginsAt(at: number): boolean {
    if (!this.#isMark(at)) return false;
    beginnings.lastIndex = at;
    return beginnings.test(this.#text);
  }

  #isMark(at: number): boolean {
    return marks[this.#text.charCodeAt(at)] === 1;
  }

  /** What one sign of an escape may be: in an escape that was escaped again, any of its signs may be escaped. */
  #signs(at: number, twice: boolean): readonly Reading[] {
    if (at >= this.#text.length) {
      this.ranOut = true;
      return NONE;
    }
    const plain = { text: this.#text.charAt(at), end: at + 1 };
    return twice && this.beginsAt(at) ? [plain, ...this.#unescape(at, false)] : [plain];
  }

  #unescape(at: number, twice: boolean): Reading[] {
    const found: Reading[] = [];
    for (const { text: mark, end } of this.#signs(at, twice)) {
      if (mark === '%') this.#percent(end, twice, found);
      else if (mark === '\\') this.#backslash(end, twice, found);
      else if (mark === '&') this.#entity(end, twice, found);
      else {
        for (const [quote, rest, text] of quotings) {
          if (mark === quote) for (const stop of this.#literal(end, twice, rest)) found.push({ text, end: stop });
        }
      }
    }
    return found;
  }

  /** `%2F`, or as many of them as a character has bytes; what is no UTF-8 is taken for Latin-1. */
  #percent(at: number, twice: boolean, found: Reading[]): void {
    const first = this.#hex(at, twice, 2);
    if (first === undefined) return;
    const { value } = first;
    const more = value < 0xc0 ? 0 : value < 0xe0 ? 1 : value < 0xf0 ? 2 : 3;
    let point = more === 0 ? value : value & (0x3f >> more);
    let { end } = first;
    for (let count = 0; count < more; count++) {
      const next = this.#continuation(end, twice);
      if (next === undefined) {
        found.push({ text: String.fromCharCode(value), end: first.end });
        return;
      }
      point = (point << 6) | (next.value & 0x3f);
      end = next.end;
    }
    if (point <= MAX_POINT) found.push({ text: String.fromCodePoint(point), end });
  }

  /** A later byte of a character in UTF-8; the `%` itself may be `%25`, which looks like a byte. */
  #continuation(at: number, twice: boolean): HexNumber | undefined {
    return this.#signs(at, twice)
      .filter(({ text }) => text === '%')
      .map(({ end }) => this.#hex(end, twice, 2))
      .find((byte) => byte !== undefined && (byte.value & 0xc0) === 0x80);
  }

  /** `\n`, `\u002f`, `\x2f`, and a backslash before anything but a letter or digit. */
  #backslash(at: number, twice: boolean, found: Reading[]): void {
    for (const { text, end } of this.#signs(at, twice)) {
      const control = controls[text];
      if (text === 'u' || text === 'x') {
        const number = this.#hex(end, twice, text === 'u' ? 4 : 2);
        if (number !== undefined) found.push({ text: String.fromCharCode(number.value), end: number.end });
      } else if (control !== undefined) found.push({ text: control, end });
      else if (!isAlphanumeric(text.charCodeAt(0))) found.push({ text, end });
    }
  }

  /** `&#47;`, `&#x2f;`, `&amp;`. */
  #entity(at: number, twice: boolean, found: Reading[]): void {
    let name = '';
    let end = at;
    for (;;) {
      const next = this.#signs(end, twice).find(({ text }) => /^[#;A-Za-z0-9]$/.test(text));
      if (next === undefined || name.length > LONGEST_NAME) return;
      end = next.end;
      if (next.text === ';') break;
      name += next.text;
    }
    const text = name.startsWith('#') ? numbered(name.slice(1)) : namedCharacter(name);
    if (text !== undefined) found.push({ text, end });
  }

  #hex(at: number, twice: boolean, count: number): HexNumber | undefined {
    let value = 0;
    let end = at;
    for (let digit = 0; digit < count; digit++) {
      const next = this.#signs(end, twice).find(({ text }) => hexValue(text) >= 0);
      if (next === undefined) return undefined;
      value = value * 16 + hexValue(next.text);
      end = next.end;
    }
    return { value, end };
  }

  /** Where an expected text can end. */
  #literal(at: number, twice: boolean, expected: string): number[] {
    if (expected === '') return [at];
    return this.#signs(at, twice)
      .filter(({ text }) => text === expected[0])
      .flatMap(({ end }) => this.#literal(end, twice, expected.slice(1)));
  }
}

/** Signs that are escapes of themselves can be read in many ways to the same end. */
function distinct(readings: readonly Reading[]): Reading[] {
  return readings.filter(({ text, end }, index) => {
    const first = readings.findIndex((other) => other.end === end && other.text === text);
    return first === index;
  });
}

const MAX_POINT = 0x10ffff;

function numbered(number: string): string | undefined {
  const point = /^\d+$/.test(number)
    ? Number(number)
    : /^[xX][0-9a-fA-F]+$/.test(number)
      ? Number(`0${number}`)
      : Number.NaN;
  return point <= MAX_POINT ? String.fromCodePoint(point) : undefined;
}

function isAlphanumeric(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

function hexValue(digit: string): number {
  return '0123456789abcdef'.indexOf(digit.toLowerCase());
}

/** A table of 1 for each of these signs, by its code, and 0 for all others. */
export function codesOf(signs: string): Uint8Array {
  const table = new Uint8Array(0x80);
  for (const sign of signs) table[sign.charCodeAt(0)] = 1;
  return table;
}
