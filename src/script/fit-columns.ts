const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Counts the terminal columns of printable text; where terminals disagree, the larger number. */
export function countColumns(text: string): number {
  let columns = 0;
  for (const char of text) columns += columnsOfCharacter(char);
  return columns;
}

/** Truncates printable text to a number of columns, with `…` at the end. */
export function fitColumns(text: string, columns: number): string {
  if (countColumns(text) <= columns) return text;
  let shown = '';
  let used = 0;
  for (const char of text) {
    used += columnsOfCharacter(char);
    if (used > columns - 1) break;
    shown += char;
  }
  return columns < 1 ? '' : `${shown}…`;
}

function columnsOfCharacter(char: string): number {
  if (/\p{Mn}|\p{Me}/u.test(char)) return char === '\ufe0f' ? 1 : 0;
  return wide.test(char) ? 2 : 1;
}
