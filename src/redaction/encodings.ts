import { escapeControls, escapeControlsInJson, unicodeEscape } from './sanitize.ts';

type Encode = (text: string) => string;

/**
 * Shorter values are redacted in their own field only: searching for `abc` would mask harmless text. No encoding
 * that is searched for is shorter either.
 */
export const MIN_SEARCHED_LENGTH = 8;

const json: Encode = (text) => JSON.stringify(text).slice(1, -1);
const ourJson: Encode = (text) => escapeControlsInJson(text).slice(1, -1);
const asciiJson: Encode = (text) => json(text).replace(/[^ -~]/g, unicodeEscape);

const percent: Encode = (text) => encodeURIComponent(text.toWellFormed());
/** `application/x-www-form-urlencoded`: `+` for a space. */
const form: Encode = (text) => new URLSearchParams([['', text]]).toString().slice(1);
/** Encodings of a single value in a URL or a form. */
const valueEncodings: readonly Encode[] = [percent, (text) => percent(text).replaceAll('%20', '+'), form];
const percentEncodings: readonly Encode[] = [
  ...valueEncodings,
  (text) => form(text).replaceAll('+', '%20'),
  // RFC 3986 §2.3: everything but the unreserved characters.
  (text) => text.replace(/[^\w.~-]/gu, percentEscape),
  // As the URL parser encodes a query and a path; since 2023 it also encodes `^` in a path.
  (text) => text.replace(/[^!$-&(-;=?-~]/gu, percentEscape),
  (text) => text.replace(/[^!$-;=@-[\]^_a-z|~]/gu, percentEscape),
  (text) => text.replace(/[^!$-;=@-[\]_a-z|~]/gu, percentEscape),
];

const xml: Encode = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const html: Encode = (text) => xml(text).replaceAll("'", '&#39;');

const escapings: readonly Encode[] = [
  (text) => text.toWellFormed(),
  escapeControls,
  // Reports keep line ends and tabs.
  (text) => text.replace(/\r\n?/g, '\n').replace(/[^\n\t]+/g, escapeControls),
  // JSON as JavaScript, our own output, ASCII-only writers, PHP and Go write it.
  json,
  ourJson,
  asciiJson,
  (text) => json(text).replaceAll('/', '\\/'),
  (text) => asciiJson(text).replaceAll('/', '\\/'),
  (text) => json(text).replace(/[<>&\u2028\u2029]/g, unicodeEscape),
  ...percentEncodings,
  ...percentEncodings.map(
    (encode): Encode =>
      (text) =>
        lowerCaseHex(encode(text)),
  ),
  xml,
  html,
  // GitHub: the job summary, and the messages and properties of annotations.
  (text) => text.replace(/[!-,:-@[-`{-~]/g, (char) => `&#${char.charCodeAt(0)};`),
  (text) => text.replace(/[%\n]/g, percentEscape),
  (text) => text.replace(/[%\n:,]/g, percentEscape),
  // A shell argument in single quotes.
  (text) => text.replaceAll("'", `'\\''`),
];

/** Escapings that are often applied to a string that is already escaped. */
const outerEscapings: readonly Encode[] = [json, ourJson, percent, (text) => lowerCaseHex(percent(text)), xml, html];

/** Every string that the redactor searches for to find `value`; SECURITY.md lists them under "Redaction". */
export function encodingsOf(value: string): Set<string> {
  const found = new Set([value, ...escapings.map((encode) => encode(value))]);
  // Node decodes headers as latin1, whatever the server encoded them with.
  const latin1 = binaryString(value);
  if (latin1 !== value) for (const encode of escapings) found.add(encode(latin1));
  for (const text of [...found]) {
    if (text !== value) for (const encode of outerEscapings) found.add(encode(text));
  }
  const hex = toHex(value);
  const everyByte = hex.replace(/../g, '%$&');
  found.add(hex).add(hex.toUpperCase()).add(everyByte).add(everyByte.toUpperCase());
  // The client secret in a Basic header is percent-encoded before it becomes base64.
  for (const text of new Set([value, ...valueEncodings.map((encode) => encode(value))])) {
    for (const alignment of [0, 1, 2]) {
      const base64 = base64Within(text, alignment);
      found.add(base64).add(base64.replaceAll('+', '-').replaceAll('/', '_'));
    }
  }
  for (const encoding of found) if (encoding.length < MIN_SEARCHED_LENGTH) found.delete(encoding);
  return found;
}

/** The base64 digits that `text` alone determines if `alignment` bytes precede it in its group of three. */
function base64Within(text: string, alignment: number): string {
  const binary = '\0'.repeat(alignment) + binaryString(text);
  return btoa(binary).slice(Math.ceil((alignment * 8) / 6), Math.floor((binary.length * 8) / 6));
}

const utf8 = new TextEncoder();

/** The UTF-8 bytes of a string, one character each. */
function binaryString(text: string): string {
  return Array.from(utf8.encode(text), (byte) => String.fromCharCode(byte)).join('');
}

function toHex(text: string): string {
  return Array.from(utf8.encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function lowerCaseHex(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
}

function percentEscape(char: string): string {
  return toHex(char).toUpperCase().replace(/../g, '%$&');
}
