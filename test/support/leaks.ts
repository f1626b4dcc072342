/** Secrets as users have them, each difficult in another way. */
export const awkwardSecrets: Readonly<Record<string, string>> = {
  'letters and digits': 's3cr3tPassw0rd',
  punctuation: `p@ss w0rd/+~"'<>&%`,
  'characters that JSON escapes': 'a"b\\c\td\u0001e\u2028f/g',
  'multi-byte characters': 'pässwörd-漢字-😀',
  'a JWT': 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  'several lines': '-----BEGIN KEY-----\nMIIEvQ+/IBADAN==\r\nline two\n-----END KEY-----\n',
  'shell syntax': 'it\'s $HOME `id` \\ "!" * ? [x] {y} ; | ]]> #',
};

type Encode = (text: string) => string;

const percent: Encode = encodeURIComponent;
const form: Encode = (text) => new URLSearchParams([['', text]]).toString().slice(1);
const rfc3986: Encode = (text) =>
  text.replace(/[^A-Za-z0-9._~-]/gu, (char) =>
    [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
/** Encodes each character as the URL parser does, also those that it removes or that end the query. */
const urlPart =
  (part: 'pathname' | 'search'): Encode =>
  (text) =>
    Array.from(text, (char) => {
      if (/[\t\n\r#]/.test(char) || (part === 'pathname' && /[?\\]/.test(char))) return percent(char);
      return new URL(part === 'search' ? `https://a.example/?_${char}_` : `https://a.example/__${char}_`)[part].slice(
        part === 'search' ? 2 : 3,
        -1,
      );
    }).join('');
const plusForSpace: Encode = (text) => percent(text).replaceAll('%20', '+');
const lower =
  (encode: Encode): Encode =>
  (text) =>
    encode(text).replace(/%../g, (byte) => byte.toLowerCase());
const everyByte: Encode = (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&');
const json: Encode = (text) => JSON.stringify(text).slice(1, -1);
const asciiJson: Encode = (text) =>
  json(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const xml: Encode = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const html: Encode = (text) => xml(text).replaceAll("'", '&#39;');
const latin1: Encode = (text) => Buffer.from(text).toString('latin1');
const shell: Encode = (text) => text.replaceAll("'", `'\\''`);

/**
 * Every encoding that secrets are masked in, except base64. This list is written independently of the redactor's own
 * list, so that a test fails if either is wrong.
 */
export const encodings: Readonly<Record<string, Encode>> = {
  'in plaintext': (text) => text,
  'as UTF-8 that a header decodes as latin1': latin1,
  'as UTF-8 that a header decodes as latin1, percent-encoded': (text) => percent(latin1(text)),
  'as UTF-8 that a header decodes as latin1, as the query of a URL': (text) => urlPart('search')(latin1(text)),
  'percent-encoded': percent,
  'percent-encoded with lower-case hex': lower(percent),
  'percent-encoded with + for a space': plusForSpace,
  'percent-encoded with + for a space and lower-case hex': lower(plusForSpace),
  'percent-encoded as RFC 3986 says': rfc3986,
  'percent-encoded as RFC 3986 says with lower-case hex': lower(rfc3986),
  'percent-encoded as the query of a URL': urlPart('search'),
  'percent-encoded as the path of a URL': urlPart('pathname'),
  'form-encoded': form,
  'form-encoded with lower-case hex': lower(form),
  'percent-encoded twice': (text) => percent(percent(text)),
  'percent-encoded twice with lower-case hex': (text) => lower(percent)(lower(percent)(text)),
  'form-encoded twice': (text) => form(form(text)),
  'form-encoded, then percent-encoded': (text) => percent(form(text)),
  'form-encoded, then percent-encoded with lower-case hex': (text) => lower(percent)(form(text)),
  'percent-encoded in every byte': everyByte,
  'percent-encoded in every byte with upper-case hex': (text) => everyByte(text).toUpperCase(),
  'escaped for JSON': json,
  'escaped for JSON in ASCII': asciiJson,
  'escaped for JSON with \\/': (text) => json(text).replaceAll('/', '\\/'),
  'escaped for JSON twice': (text) => json(json(text)),
  'escaped for HTML': html,
  'escaped for XML': xml,
  'escaped for JSON, then for HTML': (text) => html(json(text)),
  'quoted for a shell': shell,
  'quoted for a shell, then escaped for JSON': (text) => json(shell(text)),
  'in hex': (text) => Buffer.from(text).toString('hex'),
  'in upper-case hex': (text) => Buffer.from(text).toString('hex').toUpperCase(),
};

/** Encodings that may be applied before base64; in a Basic header the secret is percent-encoded. */
export const encodingsBeforeBase64: Readonly<Record<string, Encode>> = {
  'in plaintext': (text) => text,
  'percent-encoded': percent,
  'percent-encoded with + for a space': plusForSpace,
  'form-encoded': form,
};

/** A string in base64, and the digits in it that a part of the string determines alone. */
export interface Base64Part {
  readonly whole: string;
  readonly part: string;
}

/** Encodes `before`, `text` and `after` together in base64. */
export function toBase64(before: string, text: string, after: string, alphabet: 'base64' | 'base64url'): Base64Part {
  const whole = Buffer.from(before + text + after).toString(alphabet);
  const start = Buffer.byteLength(before);
  const end = start + Buffer.byteLength(text);
  return { whole, part: whole.slice(Math.ceil((start * 8) / 6), Math.floor((end * 8) / 6)) };
}

/** Every form of a secret that no output may contain. */
export function encodingsOf(secret: string): string[] {
  const base64 = Object.values(encodingsBeforeBase64).flatMap((encode) =>
    ['', '-', '--'].flatMap((before) =>
      (['base64', 'base64url'] as const).map((alphabet) => toBase64(before, encode(secret), '', alphabet).part),
    ),
  );
  return [...Object.values(encodings).map((encode) => encode(secret)), ...base64];
}

/** The forms of `secrets` that occur in `text`. */
export function leaksIn(text: string, secrets: readonly string[]): string[] {
  return secrets.flatMap((secret) => [...new Set(encodingsOf(secret))].filter((form) => text.includes(form)));
}
