// C0 and C1 controls, line separators, lone surrogates, and characters that reorder or hide text (Trojan Source).
const unprintable =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Makes an external string safe for a terminal: one line, a space for line ends and tabs, `\uXXXX` for other controls. */
export function escapeControls(text: string): string {
  return text.replace(/[\r\n\t]+/g, ' ').replace(unprintable, unicodeEscape);
}

/** JSON without raw control characters: `JSON.stringify` escapes only those below U+0020. */
export function escapeControlsInJson(value: unknown, indent?: number): string {
  // A raw line end is indentation: within strings it is already escaped.
  return (JSON.stringify(value, null, indent) ?? 'null').replace(unprintable, (char) =>
    char === '\n' ? char : unicodeEscape(char),
  );
}

/** Whether a string contains control characters other than line feeds and tabs. */
export function hasControls(text: string): boolean {
  return text.replace(/[\n\t]/g, '').search(unprintable) >= 0;
}

/** Whether a string has only printable ASCII characters, as tokens and URLs do. */
export function isPrintableAscii(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

/** The JSON escape of a UTF-16 code unit. */
export function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** An external string on one line, cut to at most `length` characters. */
export function excerpt(text: string, length: number): string {
  const line = escapeControls(text).trim();
  return line.length <= length ? line : `${truncate(line, length - 1)}…`;
}

/** At most `length` UTF-16 code units of a string, without splitting a surrogate pair. */
export function truncate(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}
