import type { RunResult, StepResult } from '../result.ts';
import { describeFailure, escapeHtml, indentJson, toVisibleLine, truncate } from './format.ts';
import { formatExchange, formatLocation, fullTitle, isFlaky, type Report } from './report.ts';

const MAX_VALUE = 20_000;

/** Options of {@link junitReport}. */
export interface JunitOptions {
  /** A test case per script or per step. Default: `scripts`. */
  readonly cases?: 'scripts' | 'steps' | undefined;
}

/** A test case: a script with its steps, or one step. */
interface TestCase extends Pick<StepResult, 'state' | 'reason' | 'elapsedMs'> {
  readonly name: string;
  readonly steps: readonly StepResult[];
}

/** Formats a JUnit XML report: a test suite per script, with a test case for the script or for each of its steps. */
export function junitReport(report: Report, { cases = 'scripts' }: JunitOptions = {}): string {
  const makeUnique = uniqueNames();
  const suites = report.runs.map((run) => {
    const own =
      cases === 'scripts' ? [run] : run.steps.map((step) => ({ ...step, name: fullTitle(step), steps: [step] }));
    return { run, cases: own.map((one): TestCase => ({ ...one, name: makeUnique(className(run), one.name) })) };
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="oauth-profile" ${counts(suites.flatMap((suite) => suite.cases))} time="${seconds(report.elapsedMs)}">`,
    ...suites.flatMap(({ run, cases: own }, index) => formatSuite(run, own, index, report.emulated === true)),
    '</testsuites>',
    '',
  ].join('\n');
}

/** Names have no numbers, so that a new step does not rename the others. Only a repeated name gets one, because GitLab drops duplicates. */
function uniqueNames(): (className: string, name: string) => string {
  const seen = new Map<string, number>();
  return (className, name) => {
    const key = JSON.stringify([className, name]);
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count === 1 ? name : `${name} (${count})`;
  };
}

function counts(cases: readonly TestCase[]): string {
  const failed = cases.filter(({ state }) => state === 'failed').length;
  return `tests="${cases.length}" failures="${failed}" errors="0"`;
}

function formatSuite(run: RunResult, cases: readonly TestCase[], index: number, emulated: boolean): string[] {
  const { name, file, startedAt, elapsedMs, interrupted } = run;
  const attributes = [
    `name=${quoted(name)}`,
    `id="${index}"`,
    `file=${quoted(file)}`,
    `${counts(cases)} skipped="${cases.filter(({ state }) => state === 'skipped').length}"`,
    // The format has no time zone; it is UTC.
    `timestamp="${new Date(startedAt).toISOString().slice(0, 19)}"`,
    `time="${seconds(elapsedMs)}"`,
  ];
  const properties = [...(emulated ? ['emulated'] : []), ...(isFlaky(run) ? ['flaky'] : [])];
  return [
    `  <testsuite ${attributes.join(' ')}>`,
    ...(properties.length > 0
      ? [`    <properties>${properties.map((one) => `<property name="${one}" value="true"/>`).join('')}</properties>`]
      : []),
    ...cases.map((one) => formatCase(run, one)),
    ...(interrupted ? ['    <system-err>the run was interrupted</system-err>'] : []),
    '  </testsuite>',
  ];
}

/** The schema has no file or line for a test case: the position is part of the failure's text. */
function formatCase(run: RunResult, one: TestCase): string {
  const inside = [...formatOutcome(run, one), ...formatOutput(one)];
  const open = `    <testcase classname=${quoted(className(run))} name=${quoted(one.name)} time="${seconds(one.elapsedMs)}"`;
  return inside.length === 0 ? `${open}/>` : [`${open}>`, ...inside, '    </testcase>'].join('\n');
}

/** Jenkins reads everything before the last dot as a package: `smoke/me.yaml` becomes `smoke.me`. */
function className({ file, name }: RunResult): string {
  const parts = file.replace(/\.ya?ml$/i, '').split(/[/\\]/);
  return parts.filter((part) => part !== '' && part !== '.' && part !== '..').join('.') || name;
}

function formatOutcome(run: RunResult, { state, reason, steps }: TestCase): string[] {
  if (state === 'skipped') return [`      <skipped message=${quoted(reason ?? 'skipped')}/>`];
  if (state === 'passed') return [];
  const failed = steps.filter(({ failure }) => failure !== undefined);
  const [first] = failed;
  if (first?.failure === undefined) return ['      <failure/>'];
  const texts = failed.map((step) => {
    const title = steps.length === 1 ? '' : `${step.number} ${fullTitle(step)}\n`;
    const text = step.failure && describeFailure(step.failure, MAX_VALUE, indentJson);
    return `${title}${text}\nat ${formatLocation(run, step)}`;
  });
  const { code, message } = first.failure;
  const text = escapeHtml(texts.join('\n\n'));
  return [`      <failure type=${quoted(code)} message=${quoted(message)}>${text}</failure>`];
}

function formatOutput({ steps }: TestCase): string[] {
  const lines = steps.flatMap(({ output, exchanges }) => [...output, ...exchanges.map(formatExchange)]);
  const text = escapeHtml(truncate(lines.join('\n'), MAX_VALUE));
  return lines.length === 0 ? [] : [`      <system-out>${text}</system-out>`];
}

function seconds(elapsedMs: number): string {
  return (Math.max(0, elapsedMs) / 1000).toFixed(3);
}

function quoted(text: string): string {
  return `"${escapeHtml(toVisibleLine(text))}"`;
}
