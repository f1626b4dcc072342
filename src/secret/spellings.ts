/** A secret cut into parts, each in all the ways it may be written. */
export type Spelling = readonly (readonly string[])[];

const utf8 = new TextEncoder();

/** Every way a secret may stand in an output: in clear, percent-encoded, escaped for JSON, HTML, XML or a shell, in hex, in base64. */
export function spellings(value: string): Spelling[] {
  const bytes = utf8.encode(value);
  const found = [spell(value, waysToWrite), spell(hexOf(bytes, ''), waysInHex), spell(hexOf(bytes, '%'), waysInHex)];
  // In a Basic header the value is percent-encoded before base64.
  const percent = encodeURIComponent(value.toWellFormed());
  for (const form of new Set([value, percent, percent.replaceAll('%20', '+'), formEncoded(value)])) {
    for (const text of base64Cores(form === value ? bytes : utf8.encode(form))) found.push(spell(text, waysInBase64));
  }
  return found;
}

/** The encoding of HTML forms: `+` for a blank, and stricter than `encodeURIComponent`. */
function formEncoded(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}

/** Two digits a byte; with `%` in front of each the encoding of those who spare no letter. */
function hexOf(bytes: Uint8Array, mark: string): string {
  return Array.from(bytes, (byte) => mark + byte.toString(16).padStart(2, '0')).join('');
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

type WaysOf = (char: string) => readonly string[];

/** Characters that can be written in one way only are compared together: of an ordinary token, all but a few. */
function spell(text: string, waysOf: WaysOf): Spelling {
  const spelling: (readonly string[])[] = [];
  let run = '';
  for (const char of text) {
    const ways = waysOf(char);
    if (ways.length === 1) run += char;
    else {
      if (run !== '') spelling.push([run]);
      run = '';
      spelling.push(ways);
    }
  }
  if (run !== '') spelling.push([run]);
  return spelling;
}

function remember(find: WaysOf): WaysOf {
  const known = new Map<string, readonly string[]>();
  return (char) => {
    let ways = known.get(char);
    if (ways === undefined) {
      ways = find(char);
      known.set(char, ways);
    }
    return ways;
  };
}

const waysInHex = remember((digit) => (digit < 'a' ? [digit] : [digit, digit.toUpperCase()]));

const waysInBase64 = remember((digit) => {
  if (digit === '+') return [...waysToWrite('+'), ...waysToWrite('-')];
  if (digit === '/') return [...waysToWrite('/'), ...waysToWrite('_')];
  return [digit];
});

/** The ways of one character, escaped once or twice (a JSON text inside HTML, a URL inside a URL). */
const waysToWrite = remember((char) => {
  if (/^[A-Za-z0-9]$/.test(char)) return [char];
  const once = escapes(char);
  return [...new Set([char, ...once, ...once.flatMap(escapeAgain)])];
});

const htmlNames: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** What only some characters can become; the line ends are blanks where a text was put into one line. */
const ownWays: Record<string, readonly string[]> = {
  ' ': ['+'],
  '\n': ['\\n', ' ', "'\n'"],
  '\r': ['\\r', ' '],
  '\t': ['\\t', ' '],
  '\b': ['\\b'],
  '\f': ['\\f'],
  '"': ['""', '&#034;'],
  "'": ["''", "'\\''", `'"'"'`, '&#039;'],
  '>': [']]><![CDATA[>'],
};

function escapes(char: string): string[] {
  const percent = Array.from(utf8.encode(char), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const units = Array.from({ length: char.length }, (_, i) => char.charCodeAt(i).toString(16).padStart(4, '0'));
  const point = char.codePointAt(0) ?? 0;
  return [
    percent.toUpperCase(),
    percent,
    units.map((unit) => `\\u${unit}`).join(''),
    units.map((unit) => `\\u${unit.toUpperCase()}`).join(''),
    `\\${char}`,
    `&#${point};`,
    `&#x${point.toString(16)};`,
    `&#x${point.toString(16).toUpperCase()};`,
    htmlNames[char] ?? char,
    ...(ownWays[char] ?? []),
  ];
}

/** A second escaping of what a first one left: `%2F` → `%252F`, `\"` → `\&quot;`, `\n` → `\\n`. */
function escapeAgain(text: string): string[] {
  const html = text.replace(/[&<>"']/g, (char) => htmlNames[char] ?? char);
  const percent = encodeURIComponent(text.toWellFormed());
  return [
    text.replaceAll('%', '%25'),
    percent,
    percent.replace(/%../g, (byte) => byte.toLowerCase()),
    text.replaceAll('\\', '\\\\').replaceAll('"', '\\"'),
    html,
    html.replaceAll('&apos;', '&#39;'),
  ];
}
