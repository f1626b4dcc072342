import type { InvalidScriptError, ScriptFault } from '../../errors.ts';
import { printable } from '../../redaction/printable.ts';
import { columnsOf } from '../fit-columns.ts';

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
    lines.push(`    ${excerpt}`, `    ${' '.repeat(columnsOf(excerpt.slice(0, caret)))}${red('^')}`);
  }
  if (advice !== undefined) lines.push(`  ${cyan('→')} ${printable(advice)}`);
  return `${lines.join('\n')}\n`;
}
