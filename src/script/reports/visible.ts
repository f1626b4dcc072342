import { escapeControls, truncate } from '../../redaction/sanitize.ts';

/** Text from outside in one line, every character one that XML, HTML and a terminal can show as it is. */
export function visibleLine(text: string): string {
  return escapeControls(text).replace(/[\ufffe\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
}

/** The same, but line ends and tabs stay. */
export function visible(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[^\n\t]+/g, visibleLine);
}

/** Text without its end where it is longer than `length` characters, and a word about what is missing. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const kept = truncate(text, length);
  return `${kept}\n… ${text.length - kept.length} more characters`;
}
