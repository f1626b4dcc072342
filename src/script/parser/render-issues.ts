import type { InvalidScriptError, ScriptIssue } from '../../errors.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { countColumns } from '../fit-columns.ts';

/** Colours of a message. */
export type IssueStyle = Readonly<Record<'bold' | 'red' | 'cyan', (text: string) => string>>;

const plain = (text: string): string => text;
const PLAIN: IssueStyle = { bold: plain, red: plain, cyan: plain };

/** Formats the issues of a script: position, message, source line with a caret, and hint. */
export function renderIssues({ file, issues }: InvalidScriptError, style: IssueStyle = PLAIN): string {
  return issues.map((issue) => renderIssue(file, issue, style)).join('');
}

function renderIssue(file: string, issue: ScriptIssue, { bold, red, cyan }: IssueStyle): string {
  const { line, column, path, excerpt, caret = 0, message, hint } = issue;
  const place = line === undefined ? `${file}: ${path ?? ''}` : `${file}:${line}:${column}`;
  const lines = [`${bold(`${escapeControls(place)}:`)} ${escapeControls(message)}`];
  if (excerpt !== undefined && excerpt !== '')
    lines.push(`    ${excerpt}`, `    ${' '.repeat(countColumns(excerpt.slice(0, caret)))}${red('^')}`);
  if (hint !== undefined) lines.push(`  ${cyan('→')} ${escapeControls(hint)}`);
  return `${lines.join('\n')}\n`;
}
