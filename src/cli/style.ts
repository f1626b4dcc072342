import type { Environment } from '../ports.ts';

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** Functions that colour text for a terminal, or return it unchanged. */
export type Style = Readonly<Record<keyof typeof codes, (text: string) => string>>;

/** Colours are used on a terminal, unless NO_COLOR or TERM=dumb is set. */
export function styleFor(output: { readonly isTerminal: boolean }, env: Environment): Style {
  let coloured: boolean | undefined;
  const entries = Object.entries(codes).map(([name, [on, off]]) => {
    const paint = (text: string): string => {
      coloured ??= !env['NO_COLOR'] && env['TERM'] !== 'dumb' && output.isTerminal;
      return coloured ? `\u001b[${on}m${text}\u001b[${off}m` : text;
    };
    return [name, paint];
  });
  return Object.fromEntries(entries);
}

/** Aligns cells in columns, two spaces apart. `paint` colours the cells of each column; cells wider than `maxWidth` are not aligned. */
export function alignColumns(
  rows: readonly (readonly string[])[],
  paint: readonly ((text: string) => string)[] = [],
  maxWidth = Number.POSITIVE_INFINITY,
): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, { length }] of row.entries())
      widths[column] = Math.min(Math.max(widths[column] ?? 0, length), maxWidth);
  }
  return rows.map((row) => {
    const last = row.findLastIndex((cell) => cell !== '');
    return row
      .slice(0, last + 1)
      .map((cell, column) => {
        const padded = column === last ? cell : cell.padEnd(widths[column] ?? 0);
        return paint[column]?.(padded) ?? padded;
      })
      .join('  ');
  });
}
