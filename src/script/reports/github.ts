import type { Failure, RunResult, StepResult } from '../result.ts';
import { duration } from './duration.ts';
import { indentJson } from './indent-json.ts';
import { EMULATED, failuresOf, inWords, placeOf, type Report, totalsOf } from './report.ts';
import { shorten, visible, visibleLine } from './visible.ts';

/** GitHub shows ten errors for a step of a job and drops the others without a word. */
const MAX_ANNOTATIONS = 10;
const MAX_VALUE = 2000;
const MAX_TITLE = 200;
/** A summary may have 1 MiB: so many units of UTF-16 are less, whatever they say. */
const MAX_ROWS_LENGTH = 100_000;
const MAX_FAILURES_LENGTH = 200_000;

/** Workflow commands that mark each failed step in its script; where there are too many to show, the last one says so. `pathOf` gives a file's path from the repository's root. */
export function githubAnnotations(report: Report, pathOf = (file: string): string => file): string {
  const failures = failuresOf(report);
  const shown = failures.length > MAX_ANNOTATIONS ? failures.slice(0, MAX_ANNOTATIONS - 1) : failures;
  const lines = shown.map(({ run, step }) => annotation(pathOf(run.file), step));
  if (failures.length > shown.length) {
    const left = failures.length - shown.length;
    lines.push(`::error title=More failed steps::${left} more steps failed; the summary of this job lists them`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

function annotation(file: string, { number, title, position, failure }: StepResult): string {
  const properties = [
    `file=${inProperty(file)}`,
    ...(position === undefined ? [] : [`line=${position.line}`, `col=${position.column}`]),
    `title=${inProperty(brief(`step ${number}: ${title}`))}`,
  ];
  return `::error ${properties.join(',')}::${inMessage(failureText(failure))}`;
}

function failureText(failure: Failure | undefined): string {
  if (failure === undefined) return 'the step failed';
  const { message, expected, actual, hint } = failure;
  return [
    shorten(message, MAX_VALUE),
    ...(expected === undefined ? [] : [`expected: ${shorten(expected, MAX_VALUE)}`]),
    ...(actual === undefined ? [] : [`actual: ${shorten(actual, MAX_VALUE)}`]),
    ...(hint === undefined ? [] : [hint]),
  ].join('\n');
}

function inMessage(text: string): string {
  return visible(text).replaceAll('%', '%25').replaceAll('\n', '%0A');
}

function inProperty(text: string): string {
  return inMessage(visibleLine(text)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** The job's summary in Markdown, for the file that `$GITHUB_STEP_SUMMARY` names. */
export function githubSummary(report: Report): string {
  const totals = totalsOf(report);
  const words = inWords(totals);
  const failures = failuresOf(report);
  const rows = asManyAsFit(report.runs, row, MAX_ROWS_LENGTH);
  const sections = asManyAsFit(failures, failureSection, MAX_FAILURES_LENGTH);
  const lines = [
    `### ${totals.scripts.failed === 0 ? '✅' : '❌'} ${words.scripts}`,
    '',
    `${words.steps}, ${duration(report.elapsedMs)}`,
    '',
    ...(report.emulated === true ? [EMULATED, ''] : []),
    '| | script | passed | failed | skipped | time |',
    '|---|---|--:|--:|--:|--:|',
    ...rows,
    ...more(report.runs.length - rows.length, 'scripts'),
    '',
    ...sections,
    ...more(failures.length - sections.length, 'failed steps'),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function asManyAsFit<T>(items: readonly T[], textOf: (item: T) => string, length: number): string[] {
  const texts: string[] = [];
  let left = length;
  for (const item of items) {
    const text = textOf(item);
    left -= text.length + 1;
    if (left < 0) break;
    texts.push(text);
  }
  return texts;
}

function row({ name, file, state, interrupted, counts, elapsedMs }: RunResult): string {
  const script = `${plain(brief(name))}${interrupted ? ' (interrupted)' : ''}<br><sub>${plain(brief(file))}</sub>`;
  const { passed, failed, skipped } = counts;
  const mark = state === 'passed' ? '✅' : '❌';
  return `| ${mark} | ${script} | ${passed} | ${failed} | ${skipped} | ${duration(elapsedMs)} |`;
}

function more(count: number, what: string): string[] {
  return count > 0 ? ['', `… and ${count} more ${what}.`] : [];
}

function failureSection({ run, step }: { readonly run: RunResult; readonly step: StepResult }): string {
  const { message, expected, actual, hint } = step.failure ?? { message: 'the step failed' };
  return [
    `#### ❌ ${plain(brief(`${run.name} › ${step.number} ${step.title}`))}`,
    '',
    plain(placeOf(run, step)),
    '',
    ...fenced(message),
    ...(expected === undefined ? [] : ['expected', '', ...fenced(expected)]),
    ...(actual === undefined ? [] : ['actual', '', ...fenced(actual)]),
    ...(hint === undefined
      ? []
      : shorten(hint, MAX_VALUE)
          .split(/\n+/)
          .flatMap((line) => [`**${plain(line)}**`, ''])),
  ].join('\n');
}

/** A block in which nothing means anything; its fence is longer than any in the text. */
function fenced(text: string): string[] {
  const shown = visible(indentJson(shorten(text, MAX_VALUE)));
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}text`, shown, fence, ''];
}

function brief(text: string): string {
  return visibleLine(shorten(text, MAX_TITLE));
}

/** One line in which no sign means anything to Markdown or HTML. */
function plain(text: string): string {
  return visibleLine(text).replace(/[!-,:-@[-`{-~]/g, (char) => `&#${char.charCodeAt(0)};`);
}
