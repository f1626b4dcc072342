import type { RunResult, StepResult } from '../result.ts';
import { describeFailure, formatDuration, indentJson, toVisible, toVisibleLine, truncate } from './format.ts';
import { countTotals, describeTotals, EMULATED, findFailures, formatLocation, isFlaky, type Report } from './report.ts';

/** GitHub shows ten errors per step of a job and silently drops the others. */
const MAX_ANNOTATIONS = 10;
const MAX_VALUE = 2000;
const MAX_TITLE = 200;
/** In UTF-16 code units. Together they stay below the limit of a job summary, 1 MiB of UTF-8. */
const MAX_ROWS_LENGTH = 100_000;
const MAX_FAILURES_LENGTH = 200_000;

/**
 * Formats the workflow commands that annotate each failed step in its script. If there are too many, the last annotation counts the rest.
 * `pathOf` returns a file's path relative to the root of the repository.
 */
export function githubAnnotations(report: Report, pathOf = (file: string): string => file): string {
  const failures = findFailures(report);
  const shown = failures.length > MAX_ANNOTATIONS ? failures.slice(0, MAX_ANNOTATIONS - 1) : failures;
  const lines = shown.map(({ run, step }) => formatAnnotation(pathOf(run.file), step));
  if (failures.length > shown.length) {
    const left = failures.length - shown.length;
    lines.push(`::error title=More failed steps::${left} more steps failed; see the summary of this job`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

function formatAnnotation(file: string, { number, title, position, failure }: StepResult): string {
  const properties = [
    `file=${escapeProperty(file)}`,
    ...(position === undefined ? [] : [`line=${position.line}`, `col=${position.column}`]),
    `title=${escapeProperty(toTitle(`step ${number}: ${title}`))}`,
  ];
  return `::error ${properties.join(',')}::${escapeMessage(failure === undefined ? 'the step failed' : describeFailure(failure, MAX_VALUE))}`;
}

function escapeMessage(text: string): string {
  return toVisible(text).replaceAll('%', '%25').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeMessage(toVisibleLine(text)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Formats the job summary in Markdown, for the file in `$GITHUB_STEP_SUMMARY`. */
export function githubSummary(report: Report): string {
  const totals = countTotals(report);
  const totalsText = describeTotals(totals);
  const failures = findFailures(report);
  const rows = takeWhileFits(report.runs, formatRow, MAX_ROWS_LENGTH);
  const sections = takeWhileFits(failures, formatFailure, MAX_FAILURES_LENGTH);
  const lines = [
    `### ${totals.scripts.failed === 0 ? '✅' : '❌'} ${totalsText.scripts}`,
    '',
    `${totalsText.steps}, ${formatDuration(report.elapsedMs)}`,
    '',
    ...(report.emulated === true ? [EMULATED, ''] : []),
    '| | script | passed | failed | skipped | time |',
    '|---|---|--:|--:|--:|--:|',
    ...rows,
    ...countMore(report.runs.length - rows.length, 'scripts'),
    '',
    ...sections,
    ...countMore(failures.length - sections.length, 'failed steps'),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function takeWhileFits<T>(items: readonly T[], format: (item: T) => string, length: number): string[] {
  const texts: string[] = [];
  let left = length;
  for (const item of items) {
    const text = format(item);
    left -= text.length + 1;
    if (left < 0) break;
    texts.push(text);
  }
  return texts;
}

function formatRow(run: RunResult): string {
  const { name, file, state, interrupted, counts, elapsedMs } = run;
  const script = `${escapeMarkdown(toTitle(name))}${interrupted ? ' (interrupted)' : ''}${isFlaky(run) ? ' (flaky)' : ''}<br><sub>${escapeMarkdown(toTitle(file))}</sub>`;
  const { passed, failed, skipped } = counts;
  const symbol = state === 'passed' ? '✅' : '❌';
  return `| ${symbol} | ${script} | ${passed} | ${failed} | ${skipped} | ${formatDuration(elapsedMs)} |`;
}

function countMore(count: number, what: string): string[] {
  return count > 0 ? ['', `… and ${count} more ${what}.`] : [];
}

function formatFailure({ run, step }: { readonly run: RunResult; readonly step: StepResult }): string {
  const { message, expected, actual, hint } = step.failure ?? { message: 'the step failed' };
  return [
    `#### ❌ ${escapeMarkdown(toTitle(`${run.name} › ${step.number} ${step.title}`))}`,
    '',
    escapeMarkdown(formatLocation(run, step)),
    '',
    ...fenced(message),
    ...(expected === undefined ? [] : ['expected', '', ...fenced(expected)]),
    ...(actual === undefined ? [] : ['actual', '', ...fenced(actual)]),
    ...(hint === undefined
      ? []
      : truncate(hint, MAX_VALUE)
          .split(/\n+/)
          .flatMap((line) => [`**${escapeMarkdown(line)}**`, ''])),
  ].join('\n');
}

/** Formats a code block; its fence is longer than any in the text. */
function fenced(text: string): string[] {
  const shown = toVisible(indentJson(truncate(text, MAX_VALUE)));
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}text`, shown, fence, ''];
}

function toTitle(text: string): string {
  return toVisibleLine(truncate(text, MAX_TITLE));
}

/** Escapes one line for Markdown and HTML. */
function escapeMarkdown(text: string): string {
  return toVisibleLine(text).replace(/[!-,:-@[-`{-~]/g, (char) => `&#${char.charCodeAt(0)};`);
}
