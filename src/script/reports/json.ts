import { escapeControlsInJson } from '../../redaction/sanitize.ts';
import type { Exchange, RunResult, StepResult } from '../result.ts';
import { countTotals, isFlaky, type Report } from './report.ts';

/** Formats the JSON report; its schema is `docs/report.schema.json`. */
export function jsonReport(report: Report): string {
  const { scripts, steps } = countTotals(report);
  const content = {
    schemaVersion: 1,
    generator: { name: 'oauth-profile', version: report.version },
    project: report.project,
    environment: report.environment,
    commit: report.commit,
    ...(report.emulated === true && { emulated: true }),
    state: scripts.failed === 0 ? 'passed' : 'failed',
    ...times(report),
    counts: { scripts, steps },
    scripts: report.runs.map(toScript),
  };
  return `${escapeControlsInJson(content, 2)}\n`;
}

function times({ startedAt, elapsedMs }: { readonly startedAt: number; readonly elapsedMs: number }) {
  return { startedAt: new Date(startedAt).toISOString(), startedAtMs: startedAt, elapsedMs };
}

// Members are listed one by one, so that a new field of a result does not become part of the format by accident.
function toScript(run: RunResult) {
  const { name, file, state, interrupted, attempts, counts, steps } = run;
  const { passed, failed, skipped } = counts;
  return {
    name,
    file,
    state,
    interrupted,
    attempts,
    ...(isFlaky(run) && { flaky: true }),
    ...times(run),
    counts: { passed, failed, skipped },
    steps: steps.map(toStep),
  };
}

function toStep(step: StepResult) {
  const { number, command, title, groups, phase, file, attempts, position, state, reason, failure } = step;
  const { output, exchanges, responsesOf } = step;
  return {
    number,
    command,
    title,
    groups,
    phase,
    file,
    attempts,
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
    exchanges: exchanges.map(toExchange),
    responsesOf,
  };
}

function toExchange({ request, response, startedAt, elapsedMs }: Exchange) {
  const toHeaders = (headers: Exchange['request']['headers']) => headers.map(([name, value]) => ({ name, value }));
  const { method, url, headers, body } = request;
  return {
    request: { method, url, headers: toHeaders(headers), body },
    response: response && { status: response.status, headers: toHeaders(response.headers), body: response.body },
    ...times({ startedAt, elapsedMs }),
  };
}
