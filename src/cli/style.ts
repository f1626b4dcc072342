import type { Environment } from '../ports.ts';

/** Functions that colour text for a terminal, or return it unchanged. */
export type Style = Readonly<Record<keyof typeof codes, (text: string) => string>>;

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** Colours are used on a terminal, unless NO_COLOR or TERM=dumb is set. */
export function styleFor(output: { readonly isTerminal: boolean }, env: Environment): Style {
  let coloured: boolean | undefined;
  const paint =
    ([on, off]: readonly [number, number]) =>
    (text: string): string => {
      coloured ??= !env['NO_COLOR'] && env['TERM'] !== 'dumb' && output.isTerminal;
      return coloured ? `\u001b[${on}m${text}\u001b[${off}m` : text;
    };
  return {
    bold: paint(codes.bold),
    dim: paint(codes.dim),
    red: paint(codes.red),
    green: paint(codes.green),
    yellow: paint(codes.yellow),
    cyan: paint(codes.cyan),
  };
}
