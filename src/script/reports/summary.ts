import { truncate } from '../../redaction/sanitize.ts';
import type { RunResult, StepResult } from '../result.ts';
import { formatDuration, indentJson, type Style, toVisible, toVisibleLine } from './format.ts';
import {
  countTotals,
  describeTotals,
  findFailures,
  formatExchange,
  formatLocation,
  fullTitle,
  type Report,
} from './report.ts';

const MAX_LINES = 20;
const MAX_LINE = 500;
const LABEL_WIDTH = 10;

/** Formats the summary of a run: each failure with its position and values, then the totals. */
export function formatSummary(report: Report, style: Style): string {
  const totals = countTotals(report);
  const totalsText = describeTotals(totals);
  const failed = totals.scripts.failed > 0;
  const paint = failed ? style.red : style.green;
  const interrupted = report.runs.filter((run) => run.interrupted);
  return [
    ...findFailures(report).map(({ run, step }) => `\n${formatFailure(run, step, style)}`),
    ...(interrupted.length > 0 ? [''] : []),
    ...interrupted.map(({ file }) => `${style.yellow('! interrupted')}  ${toVisibleLine(file)}`),
    '',
    `${paint(style.bold(`${failed ? '✗' : '✓'} ${totalsText.scripts}`))}  ${totalsText.steps}  ${style.dim(formatDuration(report.elapsedMs))}`,
    '',
  ].join('\n');
}

/** Each line starts with a fixed label, so that untrusted text never starts a line, where CI systems look for commands. */
function formatFailure(run: RunResult, step: StepResult, style: Style): string {
  const { red, bold, dim, green, cyan } = style;
  const { failure } = step;
  const exchange = step.exchanges.at(-1);
  const field = (name: string, text: string | undefined, paint = (shown: string): string => shown): string[] => {
    if (text === undefined) return [];
    const [first = '', ...rest] = toLines(text);
    const label = `  ${dim(name.padEnd(LABEL_WIDTH))}`;
    if (rest.length === 0) return [label + paint(first)];
    return [
      label + dim('│ ') + paint(first),
      ...rest.map((line) => `${' '.repeat(LABEL_WIDTH + 2)}${dim('│ ')}${paint(line)}`),
    ];
  };
  return [
    `${red('✗')} ${bold(toVisibleLine(run.name))} › ${bold(`${step.number} ${toLines(toVisibleLine(fullTitle(step)))[0] ?? ''}`)}`,
    ...field('at', toVisibleLine(formatLocation(run, step)), cyan),
    ...field('error', failure?.message ?? 'the step failed', red),
    ...field('expected', failure?.expected, green),
    ...field('actual', failure?.actual, red),
    ...field('attempts', step.attempts?.toString()),
    ...field('request', exchange && toVisibleLine(formatExchange(exchange))),
    ...field('hint', failure?.hint),
  ].join('\n');
}

/** Splits text into lines and limits their number and length. */
function toLines(text: string): string[] {
  const lines = toVisible(indentJson(text)).split('\n');
  const shown = lines.slice(0, MAX_LINES).map((line) => {
    if (line.length <= MAX_LINE) return line;
    return `${truncate(line, MAX_LINE)}… (${line.length - MAX_LINE} more characters)`;
  });
  const left = lines.length - shown.length;
  return left > 0 ? [...shown, `… ${left} more lines`] : shown;
}
