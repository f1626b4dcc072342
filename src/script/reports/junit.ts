import type { Failure, RunResult, StepResult } from '../result.ts';
import { formatDuration, indentJson, toVisible, toVisibleLine, truncate } from './format.ts';
import { countTotals, formatLocation, type Report } from './report.ts';

const MAX_VALUE = 20_000;

/** Formats a JUnit XML report: a test suite per script, a test case per step. */
export function junitReport(report: Report): string {
  const { steps } = countTotals(report);
  const counts = `tests="${sum(steps)}" failures="${steps.failed}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="oauth-profile" ${counts} time="${seconds(report.elapsedMs)}">`,
    ...report.runs.flatMap((run, index) => formatSuite(run, index, report.emulated === true)),
    '</testsuites>',
    '',
  ].join('\n');
}

function formatSuite(run: RunResult, index: number, emulated: boolean): string[] {
  const { name, file, counts, startedAt, elapsedMs, steps, interrupted } = run;
  const attributes = [
    `name=${quoted(name)}`,
    `id="${index}"`,
    `file=${quoted(file)}`,
    `tests="${sum(counts)}" failures="${counts.failed}" errors="0" skipped="${counts.skipped}"`,
    // The format has no time zone; it is UTC.
    `timestamp="${new Date(startedAt).toISOString().slice(0, 19)}"`,
    `time="${seconds(elapsedMs)}"`,
  ];
  return [
    `  <testsuite ${attributes.join(' ')}>`,
    ...(emulated ? ['    <properties><property name="emulated" value="true"/></properties>'] : []),
    ...steps.map((step) => formatCase(run, step)),
    ...(interrupted ? ['    <system-err>the run was interrupted</system-err>'] : []),
    '  </testsuite>',
  ];
}

/** The schema has no file or line for a test case: the position is part of the failure's text. */
function formatCase(run: RunResult, step: StepResult): string {
  const inside = [...formatOutcome(run, step), ...formatOutput(step)];
  const open = `    <testcase classname=${quoted(className(run))} name=${quoted(`${step.number} ${step.title}`)} time="${seconds(step.elapsedMs)}"`;
  return inside.length === 0 ? `${open}/>` : [`${open}>`, ...inside, '    </testcase>'].join('\n');
}

/** Jenkins reads everything before the last dot as a package: `smoke/me.yaml` becomes `smoke.me`. */
function className({ file, name }: RunResult): string {
  const parts = file.replace(/\.ya?ml$/i, '').split(/[/\\]/);
  return parts.filter((part) => part !== '' && part !== '.' && part !== '..').join('.') || name;
}

function formatOutcome(run: RunResult, step: StepResult): string[] {
  if (step.state === 'skipped') return [`      <skipped message=${quoted(step.reason ?? 'skipped')}/>`];
  const { failure } = step;
  if (failure === undefined) return step.state === 'failed' ? ['      <failure/>'] : [];
  const { code, message } = failure;
  const text = escaped(failureText(failure, formatLocation(run, step)));
  return [`      <failure type=${quoted(code)} message=${quoted(message)}>${text}</failure>`];
}

function failureText({ message, expected, actual, hint }: Failure, place: string): string {
  const value = (name: string, text: string | undefined): string[] => {
    if (text === undefined) return [];
    const shown = indentJson(truncate(text, MAX_VALUE));
    return [/[\r\n]/.test(shown) ? `${name}:\n${shown}` : `${name}: ${shown}`];
  };
  const lines = [truncate(message, MAX_VALUE), ...value('expected', expected), ...value('actual', actual)];
  return [...lines, ...(hint === undefined ? [] : [hint]), `at ${place}`].join('\n');
}

function formatOutput({ output, exchanges }: StepResult): string[] {
  const lines = [
    ...output,
    ...exchanges.map(
      ({ request, response, elapsedMs }) =>
        `${request.method} ${request.url} → ${response?.status ?? 'no response'} in ${formatDuration(elapsedMs)}`,
    ),
  ];
  return lines.length === 0 ? [] : [`      <system-out>${escaped(truncate(lines.join('\n'), MAX_VALUE))}</system-out>`];
}

function sum({ passed, failed, skipped }: RunResult['counts']): number {
  return passed + failed + skipped;
}

function seconds(elapsedMs: number): string {
  return (Math.max(0, elapsedMs) / 1000).toFixed(3);
}

function quoted(text: string): string {
  return `"${escapeXml(toVisibleLine(text))}"`;
}

function escaped(text: string): string {
  return escapeXml(toVisible(text));
}

const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => names[char] ?? char);
}
