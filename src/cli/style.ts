/** Colours for a terminal, or none. */
export type Style = Readonly<Record<keyof typeof codes, (text: string) => string>>;

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** Colours where a person looks at a terminal and did not ask for none. */
export function styleFor(stream: { isTTY?: boolean }, env: Readonly<Record<string, string | undefined>>): Style {
  const coloured = stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return Object.fromEntries(
    Object.entries(codes).map(([name, [on, off]]) => [
      name,
      (text: string) => (coloured ? `\u001b[${on}m${text}\u001b[${off}m` : text),
    ]),
  ) as Style;
}
