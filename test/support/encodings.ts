/** Secrets as people have them, one for each way of being awkward. */
export const awkwardSecrets: Readonly<Record<string, string>> = {
  'letters and digits': 's3cr3tPassw0rd',
  punctuation: `p@ss w0rd/+~"'<>&%`,
  'what JSON escapes': 'a"b\\c\td\u0001e\u2028f/g',
  'more than one byte a character': 'pässwörd-漢字-😀',
  'a JWT': 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  'several lines': '-----BEGIN KEY-----\nMIIEvQ+/IBADAN==\r\nline two\n-----END KEY-----\n',
  'a shell script': 'it\'s $HOME `id` \\ "!" * ? [x] {y} ; | ]]> #',
};

type Encode = (text: string) => string;

const upper: Encode = encodeURIComponent;
const lower: Encode = (text) => upper(text).replace(/%../g, (byte) => byte.toLowerCase());
const form: Encode = (text) => new URLSearchParams([['', text]]).toString().slice(1);
const all: Encode = (text) =>
  text.replace(/[^A-Za-z0-9]/gu, (char) =>
    [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
const everyByte: Encode = (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&');
const json: Encode = (text) => JSON.stringify(text).slice(1, -1);
const asciiJson: Encode = (text) =>
  json(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const html =
  (quote: string): Encode =>
  (text) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", quote);
const xmlAttribute: Encode = (text) =>
  html('&apos;')(text).replaceAll('\n', '&#xA;').replaceAll('\r', '&#xD;').replaceAll('\t', '&#x9;');
const numbered =
  (write: (point: number) => string): Encode =>
  (text) =>
    text.replace(/[^A-Za-z0-9]/gu, (char) => write(char.codePointAt(0) ?? 0));
const everyCharacter =
  (write: (point: number) => string): Encode =>
  (text) =>
    Array.from(text, (char) => write(char.codePointAt(0) ?? 0)).join('');
const everyUnit =
  (write: (unit: string) => string): Encode =>
  (text) =>
    text
      .split('')
      .map((unit) => write(unit.charCodeAt(0).toString(16).padStart(4, '0')))
      .join('');
const everyOther =
  (encode: Encode): Encode =>
  (text) =>
    Array.from(text, (char, index) => (index % 2 === 0 ? char : encode(char))).join('');
const htmlNames: Readonly<Record<string, string>> = {
  '\u00e4': 'auml',
  '\u00f6': 'ouml',
  '\u00a0': 'nbsp',
  '\u00ff': 'yuml',
};
const named: Encode = (text) =>
  html('&#39;')(text).replace(/[\u00a0-\u00ff]/g, (char) => (htmlNames[char] ? `&${htmlNames[char]};` : char));
const singleQuoted: Encode = (text) => text.replaceAll("'", `'\\''`);
const doubleQuoted: Encode = (text) => text.replace(/[$`"\\!]/g, '\\$&');
const backslashed: Encode = (text) => text.replace(/[^A-Za-z0-9_\-.,:+/@\n]/gu, '\\$&').replaceAll('\n', "'\n'");

/** Every escaping that an output may have done to a secret; what comes out stands for the secret as a whole. */
export const escapings: Readonly<Record<string, Encode>> = {
  'in clear': (text) => text,
  'percent-encoded': upper,
  'percent-encoded in lower case': lower,
  'percent-encoded with + for a blank': (text) => upper(text).replaceAll('%20', '+'),
  'form-encoded': form,
  'form-encoded in lower case': (text) => form(text).replace(/%../g, (byte) => byte.toLowerCase()),
  'percent-encoded but for letters and digits': all,
  'percent-encoded in every byte': everyByte,
  'percent-encoded in every byte and capitals': (text) => everyByte(text).toUpperCase(),
  'percent-encoded twice': (text) => upper(upper(text)),
  'percent-encoded twice in lower case': (text) => lower(lower(text)),
  'form-encoded twice': (text) => form(form(text)),
  'form-encoded, then percent-encoded': (text) => upper(form(text)),
  'form-encoded, then percent-encoded in lower case': (text) => lower(form(text)),
  'percent-encoded but for letters and digits, twice': (text) => all(all(text)),
  'escaped for JSON': json,
  'escaped for JSON in ASCII': asciiJson,
  'escaped for JSON in ASCII and capitals': (text) =>
    asciiJson(text).replace(/\\u(....)/g, (_, unit: string) => `\\u${unit.toUpperCase()}`),
  'escaped for JSON with \\/': (text) => json(text).replaceAll('/', '\\/'),
  'escaped for JSON twice': (text) => json(json(text)),
  'escaped for JSON inside HTML': (text) =>
    json(text).replace(/[<>&\u2028]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'escaped for HTML': html('&#39;'),
  'escaped for HTML in hex': html('&#x27;'),
  'escaped for HTML with leading zeros': html('&#039;'),
  'escaped for HTML twice': (text) => html('&#39;')(html('&#39;')(text)),
  'escaped for JSON, then for HTML': (text) => html('&#39;')(json(text)),
  'escaped for XML': html('&apos;'),
  'escaped for an XML attribute': xmlAttribute,
  'in a CDATA section': (text) => text.replaceAll(']]>', ']]]]><![CDATA[>'),
  'as numbered entities': numbered((point) => `&#${point};`),
  'as numbered entities in hex': numbered((point) => `&#x${point.toString(16)};`),
  'as numbered entities in hex and capitals': numbered((point) => `&#x${point.toString(16).toUpperCase()};`),
  'in single quotes of a shell': singleQuoted,
  'in single quotes of a shell, as Python does': (text) => text.replaceAll("'", `'"'"'`),
  'in single quotes of PowerShell': (text) => text.replaceAll("'", "''"),
  'in double quotes of a shell': doubleQuoted,
  'with backslashes for a shell': backslashed,
  'quoted for a shell, then escaped for JSON': (text) => json(singleQuoted(text)),
  'with every character as a numbered entity': everyCharacter((point) => `&#${point};`),
  'with every character as a numbered entity in hex': everyCharacter((point) => `&#x${point.toString(16)};`),
  'with every character as a numbered entity in hex and capitals': everyCharacter(
    (point) => `&#X${point.toString(16).toUpperCase()};`,
  ),
  'with every character as a numbered entity of five digits': everyCharacter(
    (point) => `&#${String(point).padStart(5, '0')};`,
  ),
  'with every other character as a numbered entity': everyOther(everyCharacter((point) => `&#${point};`)),
  'with every character escaped for JSON': everyUnit((unit) => `\\u${unit}`),
  'with every character escaped for JSON in capitals': everyUnit((unit) => `\\u${unit.toUpperCase()}`),
  'with every other character escaped for JSON': everyOther(everyUnit((unit) => `\\u${unit}`)),
  'with every other character percent-encoded': everyOther(everyByte),
  'with every character escaped for JSON, twice': everyUnit((unit) => `\\\\u${unit}`),
  'with every character escaped for JSON, then percent-encoded': (text) =>
    upper(everyUnit((unit) => `\\u${unit}`)(text)),
  'with every character as a numbered entity, then escaped for HTML': (text) =>
    html('&#39;')(everyCharacter((point) => `&#${point};`)(text)),
  'percent-encoded in every byte, twice': (text) => upper(everyByte(text)),
  'percent-encoded in every byte and capitals, twice': (text) => upper(everyByte(text).toUpperCase()),
  'as named entities': named,
  'as named entities, then escaped for HTML': (text) => html('&#39;')(named(text)),
  'in hex': (text) => Buffer.from(text).toString('hex'),
  'in hex and capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
};

/** What is turned into base64: the secret itself or, in a Basic header, the secret percent-encoded. */
export const encodedBeforeBase64: Readonly<Record<string, Encode>> = {
  plain: (text) => text,
  'percent-encoded': upper,
  'percent-encoded with + for a blank': (text) => upper(text).replaceAll('%20', '+'),
  'form-encoded': form,
};

/** A text in base64, and the digits in it that a part of the text decides alone. */
export interface InBase64 {
  readonly whole: string;
  readonly core: string;
}

/** `before`, `text` and `after` together in base64. */
export function toBase64(before: string, text: string, after: string, alphabet: 'base64' | 'base64url'): InBase64 {
  const whole = Buffer.from(before + text + after).toString(alphabet);
  const start = Buffer.byteLength(before);
  const end = start + Buffer.byteLength(text);
  return { whole, core: whole.slice(Math.ceil((start * 8) / 6), Math.floor((end * 8) / 6)) };
}

/** base64 as PEM and mail write it, in lines. */
export function wrapped(base64: string, columns: number, lineEnd: string): string {
  return (base64.match(new RegExp(`.{1,${columns}}`, 'g')) ?? []).join(lineEnd);
}
