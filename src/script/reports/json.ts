import { escapeControlsInJson } from '../../redaction/sanitize.ts';
import type { Exchange, RunResult, StepResult } from '../result.ts';
import { type Report, totalsOf } from './report.ts';

/** A report for programs; `docs/report.schema.json` describes it. */
export function jsonReport(report: Report): string {
  const { scripts, steps } = totalsOf(report);
  const shown = {
    schemaVersion: 1,
    generator: { name: 'oauth-profile', version: report.version },
    ...(report.emulated === true && { emulated: true }),
    state: scripts.failed === 0 ? 'passed' : 'failed',
    ...times(report),
    counts: { scripts, steps },
    scripts: report.runs.map(script),
  };
  return `${escapeControlsInJson(shown, 2)}\n`;
}

function times({ startedAt, elapsedMs }: { readonly startedAt: number; readonly elapsedMs: number }) {
  return { startedAt: new Date(startedAt).toISOString(), startedAtMs: startedAt, elapsedMs };
}

// Members are named one by one: what the engine adds to a result gets into the file by decision, not by accident.
function script(run: RunResult) {
  const { name, file, state, interrupted, counts, steps } = run;
  const { passed, failed, skipped } = counts;
  return {
    name,
    file,
    state,
    interrupted,
    ...times(run),
    counts: { passed, failed, skipped },
    steps: steps.map(stepOf),
  };
}

function stepOf(step: StepResult) {
  const { number, command, title, position, state, reason, failure, output, exchanges } = step;
  return {
    number,
    command,
    title,
    position: position && { line: position.line, column: position.column },
    state,
    reason,
    failure: failure && {
      code: failure.code,
      message: failure.message,
      hint: failure.hint,
      expected: failure.expected,
      actual: failure.actual,
    },
    ...times(step),
    output,
    exchanges: exchanges.map(exchangeOf),
  };
}

type Headers = Exchange['request']['headers'];

function exchangeOf({ request, response, elapsedMs }: Exchange) {
  const headersOf = (headers: Headers) => headers.map(([name, value]) => ({ name, value }));
  const { method, url, headers, body } = request;
  return {
    request: { method, url, headers: headersOf(headers), body },
    response: response && { status: response.status, headers: headersOf(response.headers), body: response.body },
    elapsedMs,
  };
}
