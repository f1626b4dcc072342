const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** How many columns of a terminal a printable text takes; where terminals disagree, the larger number. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += columnsOfOne(char);
  return columns;
}

/** The start of a printable text that fits into so many columns, with `…` where something is missing. */
export function fitColumns(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = '';
  let taken = 0;
  for (const char of text) {
    taken += columnsOfOne(char);
    if (taken > columns - 1) break;
    kept += char;
  }
  return columns < 1 ? '' : `${kept}…`;
}

function columnsOfOne(char: string): number {
  if (char >= ' ' && char <= '~') return 1;
  if (/\p{Mn}|\p{Me}/u.test(char)) return char === '\ufe0f' ? 1 : 0;
  return wide.test(char) ? 2 : 1;
}
