// C0 and C1 controls, line separators, and the marks that reorder or hide text (Trojan Source).
const unprintable =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text from outside, safe on a terminal and in one line: blanks for line ends, visible escapes for every other control character. */
export function escapeControls(text: string): string {
  return text.replace(/[\r\n\t]+/g, ' ').replace(unprintable, escaped);
}

/** JSON without characters that steer a terminal or hide text: JSON itself escapes only those below U+0020. */
export function escapeControlsInJson(value: unknown, indent?: number): string {
  // Line ends stand between the lines alone; in a text they are escaped already.
  return (JSON.stringify(value, null, indent) ?? 'null').replace(unprintable, (char) =>
    char === '\n' ? char : escaped(char),
  );
}

/** Whether a text holds what is not printable, line ends and tabs aside. */
export function hasControls(text: string): boolean {
  return !isPrintableAscii(text) && text.replace(/[\n\t]/g, '').search(unprintable) >= 0;
}

/** Whether there are only printable signs of ASCII, as in a token or an address: to look at each takes less time than to compile a pattern. */
export function isPrintableAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The first `length` characters of a text from outside, printable. */
export function excerpt(text: string, length: number): string {
  const line = escapeControls(text).trim();
  return line.length <= length ? line : `${beginning(line, length - 1)}…`;
}

/** At most `length` units of a text; a character beyond the BMP is two of them, and is not cut in half. */
export function beginning(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}
