import type { InvalidScriptError, ScriptFault } from '../../errors.ts';
import { printable } from '../../secret/printable.ts';

/** How the parts of a message are coloured. */
export type FaultStyle = Readonly<Record<'bold' | 'red' | 'cyan', (text: string) => string>>;

const plain = (text: string): string => text;
const PLAIN: FaultStyle = { bold: plain, red: plain, cyan: plain };

/** The faults of a script for a person: where, what, the line with a mark below the place, and what to do. */
export function renderFaults({ file, faults }: InvalidScriptError, style: FaultStyle = PLAIN): string {
  return faults.map((fault) => renderFault(file, fault, style)).join('');
}

function renderFault(file: string, fault: ScriptFault, { bold, red, cyan }: FaultStyle): string {
  const { line, column, path, excerpt, caret = 0, message, advice } = fault;
  const place = line === undefined ? `${file}: ${path ?? ''}` : `${file}:${line}:${column}`;
  const lines = [`${bold(`${printable(place)}:`)} ${printable(message)}`];
  if (excerpt !== undefined && excerpt !== '') {
    lines.push(`    ${excerpt}`, `    ${' '.repeat(widthOf(excerpt.slice(0, caret)))}${red('^')}`);
  }
  if (advice !== undefined) lines.push(`  ${cyan('→')} ${printable(advice)}`);
  return `${lines.join('\n')}\n`;
}

/** Takes no column of its own. */
const narrow = /\p{Mn}|\p{Me}|\p{Cf}|\p{Emoji_Modifier}/u;
/** Takes two: East Asian scripts and pictures. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** How many columns of a terminal a text takes. */
function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += narrow.test(char) ? 0 : wide.test(char) ? 2 : 1;
  return width;
}
