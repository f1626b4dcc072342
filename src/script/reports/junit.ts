import type { Failure, RunResult, StepResult } from '../result.ts';
import { duration } from './duration.ts';
import { indentJson } from './indent-json.ts';
import { placeOf, type Report, totalsOf } from './report.ts';
import { shorten, visible, visibleLine } from './visible.ts';

const MAX_VALUE = 20_000;

/** A report that Jenkins, GitLab and whatever else reads JUnit's XML shows: a suite for each script, a case for each step. */
export function junitReport(report: Report): string {
  const { steps } = totalsOf(report);
  const counts = `tests="${sum(steps)}" failures="${steps.failed}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="oauth-profile" ${counts} time="${seconds(report.elapsedMs)}">`,
    ...report.runs.flatMap((run, index) => suite(run, index, report.emulated === true)),
    '</testsuites>',
    '',
  ].join('\n');
}

function suite(run: RunResult, index: number, emulated: boolean): string[] {
  const { name, file, counts, startedAt, elapsedMs, steps, interrupted } = run;
  const attributes = [
    `name=${quoted(name)}`,
    `id="${index}"`,
    `file=${quoted(file)}`,
    `tests="${sum(counts)}" failures="${counts.failed}" errors="0" skipped="${counts.skipped}"`,
    // Ant's format knows no zone; it is UTC.
    `timestamp="${new Date(startedAt).toISOString().slice(0, 19)}"`,
    `time="${seconds(elapsedMs)}"`,
  ];
  return [
    `  <testsuite ${attributes.join(' ')}>`,
    ...(emulated ? ['    <properties><property name="emulated" value="true"/></properties>'] : []),
    ...steps.map((step) => testcase(run, step)),
    ...(interrupted ? ['    <system-err>the run was interrupted</system-err>'] : []),
    '  </testsuite>',
  ];
}

/** The schema allows a case no file and no line: the position stands in the failure's text. */
function testcase(run: RunResult, step: StepResult): string {
  const inside = [...outcome(run, step), ...systemOut(step)];
  const open = `    <testcase classname=${quoted(classOf(run))} name=${quoted(`${step.number} ${step.title}`)} time="${seconds(step.elapsedMs)}"`;
  return inside.length === 0 ? `${open}/>` : [`${open}>`, ...inside, '    </testcase>'].join('\n');
}

/** Jenkins takes what stands before the last dot for a package: `smoke/me.yaml` is `me` in `smoke`. */
function classOf({ file, name }: RunResult): string {
  const parts = file.replace(/\.ya?ml$/i, '').split(/[/\\]/);
  return parts.filter((part) => part !== '' && part !== '.' && part !== '..').join('.') || name;
}

function outcome(run: RunResult, step: StepResult): string[] {
  if (step.state === 'skipped') return [`      <skipped message=${quoted(step.reason ?? 'skipped')}/>`];
  const { failure } = step;
  if (failure === undefined) return step.state === 'failed' ? ['      <failure/>'] : [];
  const { code, message } = failure;
  const text = escaped(failureText(failure, placeOf(run, step)));
  return [`      <failure type=${quoted(code)} message=${quoted(message)}>${text}</failure>`];
}

function failureText({ message, expected, actual, hint }: Failure, place: string): string {
  const value = (name: string, text: string | undefined): string[] => {
    if (text === undefined) return [];
    const shown = indentJson(shorten(text, MAX_VALUE));
    return [/[\r\n]/.test(shown) ? `${name}:\n${shown}` : `${name}: ${shown}`];
  };
  const lines = [shorten(message, MAX_VALUE), ...value('expected', expected), ...value('actual', actual)];
  return [...lines, ...(hint === undefined ? [] : [hint]), `at ${place}`].join('\n');
}

function systemOut({ output, exchanges }: StepResult): string[] {
  const lines = [
    ...output,
    ...exchanges.map(
      ({ request, response, elapsedMs }) =>
        `${request.method} ${request.url} → ${response?.status ?? 'no reply'} in ${duration(elapsedMs)}`,
    ),
  ];
  return lines.length === 0 ? [] : [`      <system-out>${escaped(shorten(lines.join('\n'), MAX_VALUE))}</system-out>`];
}

function sum({ passed, failed, skipped }: RunResult['counts']): number {
  return passed + failed + skipped;
}

function seconds(elapsedMs: number): string {
  return (Math.max(0, elapsedMs) / 1000).toFixed(3);
}

function quoted(text: string): string {
  return `"${escapeXml(visibleLine(text))}"`;
}

function escaped(text: string): string {
  return escapeXml(visible(text));
}

const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => names[char] ?? char);
}
