import type { InvalidScriptError, ScriptIssue } from '../../errors.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { columnsOf } from '../fit-columns.ts';

/** How the parts of a message are coloured. */
export type IssueStyle = Readonly<Record<'bold' | 'red' | 'cyan', (text: string) => string>>;

const plain = (text: string): string => text;
const PLAIN: IssueStyle = { bold: plain, red: plain, cyan: plain };

/** The issues of a script for a person: where, what, the line with a mark below the place, and what to do. */
export function renderIssues({ file, issues }: InvalidScriptError, style: IssueStyle = PLAIN): string {
  return issues.map((fault) => renderFault(file, fault, style)).join('');
}

function renderFault(file: string, fault: ScriptIssue, { bold, red, cyan }: IssueStyle): string {
  const { line, column, path, excerpt, caret = 0, message, hint } = fault;
  const place = line === undefined ? `${file}: ${path ?? ''}` : `${file}:${line}:${column}`;
  const lines = [`${bold(`${escapeControls(place)}:`)} ${escapeControls(message)}`];
  if (excerpt !== undefined && excerpt !== '') {
    lines.push(`    ${excerpt}`, `    ${' '.repeat(columnsOf(excerpt.slice(0, caret)))}${red('^')}`);
  }
  if (hint !== undefined) lines.push(`  ${cyan('→')} ${escapeControls(hint)}`);
  return `${lines.join('\n')}\n`;
}
