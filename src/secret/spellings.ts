/** One character of a secret in all the ways it may be written; a spelling is a secret's length of these. */
export type Spelling = readonly (readonly string[])[];

const utf8 = new TextEncoder();

/** Every way a secret may stand in an output: in clear, percent-encoded, escaped for JSON, HTML, XML or a shell, in hex, in base64. */
export function spellings(value: string): Spelling[] {
  const bytes = utf8.encode(value);
  const found = [written(value), Array.from(bytes, hexOf).flat()];
  // In a Basic header the value is percent-encoded before base64.
  for (const form of new Set([value, encodeLoosely(value), encodeLoosely(value).replaceAll('%20', '+')])) {
    for (const text of base64Cores(form === value ? bytes : utf8.encode(form))) found.push(base64Spelling(text));
  }
  return found;
}

/** `encodeURIComponent` for any text, half surrogates included. */
function encodeLoosely(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

function written(value: string): Spelling {
  return Array.from(value, waysToWrite);
}

function hexOf(byte: number): Spelling {
  return Array.from(byte.toString(16).padStart(2, '0'), (digit) =>
    digit < 'a' ? [digit] : [digit, digit.toUpperCase()],
  );
}

/** The base64 digits that `bytes` alone decide, for the three positions it can have in a longer text. */
function base64Cores(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((offset) => {
    const padded = new Uint8Array(offset + bytes.length);
    padded.set(bytes, offset);
    const text = btoa(Array.from(padded, (byte) => String.fromCharCode(byte)).join(''));
    return text.slice(offset && offset + 1, Math.floor((padded.length * 8) / 6));
  });
}

function base64Spelling(text: string): Spelling {
  return Array.from(text, (digit) => {
    if (digit === '+') return [...waysToWrite('+'), '-'];
    if (digit === '/') return [...waysToWrite('/'), '_'];
    return [digit];
  });
}

const known = new Map<string, readonly string[]>();

/** The ways of one character, escaped once or twice (a JSON text inside HTML, a URL inside a URL). */
function waysToWrite(char: string): readonly string[] {
  if (/^[A-Za-z0-9]$/.test(char)) return [char];
  let ways = known.get(char);
  if (ways === undefined) {
    const once = escapes(char);
    const twice = once.flatMap((text) => escapeAgain(text));
    ways = [...new Set([char, ...once, ...twice])];
    known.set(char, ways);
  }
  return ways;
}

const htmlNames: Record<string, string[]> = {
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
  '"': ['&quot;'],
  "'": ['&apos;'],
};
const jsonNames: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };

function escapes(char: string): string[] {
  const percent = Array.from(utf8.encode(char), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const units = Array.from({ length: char.length }, (_, i) => char.charCodeAt(i).toString(16).padStart(4, '0'));
  const point = char.codePointAt(0) ?? 0;
  const ways = [
    percent.toUpperCase(),
    percent,
    units.map((unit) => `\\u${unit}`).join(''),
    units.map((unit) => `\\u${unit.toUpperCase()}`).join(''),
    `&#${point};`,
    `&#x${point.toString(16)};`,
    `&#x${point.toString(16).toUpperCase()};`,
    ...(htmlNames[char] ?? []),
  ];
  if (char === ' ') ways.push('+');
  if (point < 128) ways.push(jsonNames[char] ?? `\\${char}`);
  if (char === "'") ways.push(`'\\''`, `'"'"'`);
  return ways;
}

/** A second escaping of what a first one left: `%2F` → `%252F`, `\"` → `\&quot;`, `\n` → `\\n`. */
function escapeAgain(text: string): string[] {
  const html = text.replace(/[&<>"']/g, (c) => htmlNames[c]?.[0] ?? c);
  return [
    text.replaceAll('%', '%25'),
    encodeURIComponent(text.toWellFormed()),
    text.replaceAll('\\', '\\\\').replaceAll('"', '\\"'),
    html,
    html.replaceAll('&apos;', '&#39;'),
  ];
}
