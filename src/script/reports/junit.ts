import type { RunResult, StepResult } from '../result.ts';
import { describeFailure, escapeHtml, indentJson, toVisibleLine, truncate } from './format.ts';
import { countTotals, formatExchange, formatLocation, fullTitle, type Report, sumCounts } from './report.ts';

const MAX_VALUE = 20_000;

/** Formats a JUnit XML report: a test suite per script, a test case per step. */
export function junitReport(report: Report): string {
  const { steps } = countTotals(report);
  const counts = `tests="${sumCounts(steps)}" failures="${steps.failed}" errors="0"`;
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
    `tests="${sumCounts(counts)}" failures="${counts.failed}" errors="0" skipped="${counts.skipped}"`,
    // The format has no time zone; it is UTC.
    `timestamp="${new Date(startedAt).toISOString().slice(0, 19)}"`,
    `time="${seconds(elapsedMs)}"`,
  ];
  return [
    `  <testsuite ${attributes.join(' ')}>`,
    ...(emulated ? ['    <properties><property name="emulated" value="true"/></properties>'] : []),
    ...nameCases(steps).map(([step, name]) => formatCase(run, step, name)),
    ...(interrupted ? ['    <system-err>the run was interrupted</system-err>'] : []),
    '  </testsuite>',
  ];
}

/** Names have no numbers, so that a new step does not rename the others. Only a repeated name gets one. */
function nameCases(steps: readonly StepResult[]): [step: StepResult, name: string][] {
  const seen = new Map<string, number>();
  return steps.map((step) => {
    const title = fullTitle(step);
    const count = (seen.get(title) ?? 0) + 1;
    seen.set(title, count);
    return [step, count === 1 ? title : `${title} (${count})`];
  });
}

/** The schema has no file or line for a test case: the position is part of the failure's text. */
function formatCase(run: RunResult, step: StepResult, name: string): string {
  const inside = [...formatOutcome(run, step), ...formatOutput(step)];
  const open = `    <testcase classname=${quoted(className(run))} name=${quoted(name)} time="${seconds(step.elapsedMs)}"`;
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
  const text = escapeHtml(`${describeFailure(failure, MAX_VALUE, indentJson)}\nat ${formatLocation(run, step)}`);
  return [`      <failure type=${quoted(code)} message=${quoted(message)}>${text}</failure>`];
}

function formatOutput({ output, exchanges }: StepResult): string[] {
  const lines = [...output, ...exchanges.map(formatExchange)];
  const text = escapeHtml(truncate(lines.join('\n'), MAX_VALUE));
  return lines.length === 0 ? [] : [`      <system-out>${text}</system-out>`];
}

function seconds(elapsedMs: number): string {
  return (Math.max(0, elapsedMs) / 1000).toFixed(3);
}

function quoted(text: string): string {
  return `"${escapeHtml(toVisibleLine(text))}"`;
}
