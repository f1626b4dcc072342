import fc from 'fast-check';
import type { Report } from '../../../src/script/reports/report.ts';
import type { Exchange, RunResult, StepResult } from '../../../src/script/result.ts';

const hostile = fc.constantFrom(
  '<script>alert(1)</script>',
  '</details></main>',
  ']]>',
  '<![CDATA[',
  '&amp;&#0;',
  '"><b onclick=x>',
  "'",
  '::error::x',
  '%0A',
  '\u001b[2J',
  '\u202e',
  '\ufffe',
  '\ud800',
  '\u0085',
  '\r\n',
  '\t',
  '| `` * _ [x](y)',
);

/** Any string: lone surrogates, control characters, and the special characters of the formats. */
export const anyField: fc.Arbitrary<string> = fc
  .array(fc.oneof(hostile, fc.string({ maxLength: 8 }), fc.string({ unit: 'binary', maxLength: 4 })), { maxLength: 4 })
  .map((parts) => parts.join(''));

const optional = fc.option(anyField, { nil: undefined });
const elapsedMs = fc.oneof(fc.integer({ min: -5, max: 5_000_000 }), fc.double({ min: 0, max: 9, noNaN: true }));
const startedAt = fc.integer({ min: 0, max: 4_102_444_800_000 });
const headers = fc.array(fc.tuple(anyField, anyField), { maxLength: 2 });

const anyExchange: fc.Arbitrary<Exchange> = fc.record({
  request: fc.record({
    method: anyField,
    url: anyField,
    headers,
    body: optional,
    parts: fc.option(fc.array(fc.record({ name: optional, value: optional, file: optional }), { maxLength: 2 }), {
      nil: undefined,
    }),
  }),
  response: fc.option(fc.record({ status: fc.integer({ min: 100, max: 599 }), headers, body: optional }), {
    nil: undefined,
  }),
  startedAt,
  elapsedMs,
});

const anyStep: fc.Arbitrary<Omit<StepResult, 'number'>> = fc
  .record({
    command: anyField,
    title: anyField,
    attempts: fc.option(fc.integer({ min: 2, max: 9 }), { nil: undefined }),
    phase: fc.constantFrom(undefined, 'setup', 'teardown'),
    responsesOf: fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 2 }),
    position: fc.option(fc.record({ line: fc.nat(), column: fc.nat() }), { nil: undefined }),
    state: fc.constantFrom('passed', 'failed', 'skipped'),
    reason: optional,
    failure: fc.record({ code: anyField, message: anyField, hint: optional, expected: optional, actual: optional }),
    startedAt,
    elapsedMs,
    output: fc.array(anyField, { maxLength: 2 }),
    exchanges: fc.array(anyExchange, { maxLength: 2 }),
  })
  .map((step) => ({ ...step, failure: step.state === 'failed' ? step.failure : undefined }));

const anyRun: fc.Arbitrary<RunResult> = fc
  .record({
    name: anyField,
    file: anyField,
    interrupted: fc.boolean(),
    startedAt,
    elapsedMs,
    steps: fc.array(anyStep, { maxLength: 4 }),
  })
  .map((run) => {
    const steps = run.steps.map((step, index) => ({ ...step, number: index + 1 }));
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const { state } of steps) counts[state]++;
    return { ...run, steps, counts, state: counts.failed > 0 || run.interrupted ? 'failed' : 'passed' };
  });

/** Any report, with any string in every field. */
export const anyReport: fc.Arbitrary<Report> = fc.record({
  runs: fc.array(anyRun, { maxLength: 4 }),
  startedAt,
  elapsedMs,
  version: anyField,
  project: optional,
  environment: optional,
  commit: optional,
  emulated: fc.boolean(),
});
