import { truncate } from '../../redaction/sanitize.ts';
import type { Exchange, RunResult, StepResult } from '../result.ts';
import { duration } from './duration.ts';
import { indentJson } from './indent-json.ts';
import { failuresOf, inWords, placeOf, type Report, totalsOf } from './report.ts';
import type { Style } from './style.ts';
import { visible, visibleLine } from './visible.ts';

const MAX_LINES = 20;
const MAX_LINE = 500;
const LABEL = 10;

/** What a person wants to read when all is over: each failure with its position and its values, then the totals. */
export function summaryText(report: Report, style: Style): string {
  const totals = totalsOf(report);
  const words = inWords(totals);
  const failed = totals.scripts.failed > 0;
  const paint = failed ? style.red : style.green;
  const interrupted = report.runs.filter((run) => run.interrupted);
  return [
    ...failuresOf(report).map(({ run, step }) => `\n${failureText(run, step, style)}`),
    ...(interrupted.length > 0 ? [''] : []),
    ...interrupted.map(({ file }) => `${style.yellow('! interrupted')}  ${visibleLine(file)}`),
    '',
    `${paint(style.bold(`${failed ? '✗' : '✓'} ${words.scripts}`))}  ${words.steps}  ${style.dim(duration(report.elapsedMs))}`,
    '',
  ].join('\n');
}

/** Each line begins with a word of ours, so that nothing from outside stands where a CI system looks for commands. */
function failureText(run: RunResult, step: StepResult, style: Style): string {
  const { red, bold, dim, green, cyan } = style;
  const { failure, exchanges } = step;
  const field = (name: string, text: string | undefined, paint = (shown: string): string => shown): string[] => {
    if (text === undefined) return [];
    const [first = '', ...rest] = linesOf(text);
    const label = `  ${dim(name.padEnd(LABEL))}`;
    if (rest.length === 0) return [label + paint(first)];
    return [
      label + dim('│ ') + paint(first),
      ...rest.map((line) => `${' '.repeat(LABEL + 2)}${dim('│ ')}${paint(line)}`),
    ];
  };
  return [
    `${red('✗')} ${bold(visibleLine(run.name))} › ${bold(`${step.number} ${linesOf(visibleLine(step.title))[0] ?? ''}`)}`,
    ...field('at', visibleLine(placeOf(run, step)), cyan),
    ...field('error', failure?.message ?? 'the step failed', red),
    ...field('expected', failure?.expected, green),
    ...field('actual', failure?.actual, red),
    ...field('request', inOneLine(exchanges.at(-1))),
    ...field('hint', failure?.hint),
  ].join('\n');
}

function inOneLine(exchange: Exchange | undefined): string | undefined {
  if (exchange === undefined) return undefined;
  const { request, response, elapsedMs } = exchange;
  const { method, url } = request;
  return visibleLine(`${method} ${url} → ${response?.status ?? 'no reply'} in ${duration(elapsedMs)}`);
}

/** A text on lines of its own, neither too many nor too long to read. */
function linesOf(text: string): string[] {
  const lines = visible(indentJson(text)).split('\n');
  const shown = lines.slice(0, MAX_LINES).map((line) => {
    if (line.length <= MAX_LINE) return line;
    return `${truncate(line, MAX_LINE)}… (${line.length - MAX_LINE} more characters)`;
  });
  const left = lines.length - shown.length;
  return left > 0 ? [...shown, `… ${left} more lines`] : shown;
}
