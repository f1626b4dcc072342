/** Columns of figures are aligned to the right. @param {string[]} head @param {string[][]} rows */
export function table(head, rows) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(' | ')} |`;
  const isFigure = (/** @type {string | undefined} */ cell = '') => /^([≥≤]? ?[\d.,]+(×| \p{L}+)?)?$/u.test(cell);
  const rules = head.map((_, column) => (rows.every((row) => isFigure(row[column])) ? '---:' : '---'));
  return [head, rules, ...rows].map(line).join('\n');
}

/** @param {number} ratio */
export function times(ratio) {
  return `${ratio.toFixed(2)}×`;
}

/** @param {number} value */
export function whole(value) {
  return Math.round(value).toLocaleString('en');
}
