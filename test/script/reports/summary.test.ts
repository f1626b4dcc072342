import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Style } from '../../../src/script/reports/format.ts';
import { formatSummary } from '../../../src/script/reports/summary.ts';
import { anyReport } from './any-report.ts';
import { exchange, failure, reportOf, runOf, sampleReport } from './sample-report.ts';

const same = (text: string): string => text;
const style: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

describe('The summary', () => {
  it('shows each failure with its position and values, then the totals', () => {
    expect(formatSummary(sampleReport(), style)).toBe(`
✗ Orders: create, read, cancel › 5 the order is as it was written
  at        smoke/orders/life-cycle.yaml:12:5
  error     the values differ
  expected  │ {
            │   "id": "2026-0117",
            │   "state": "open",
            │   "total": {
            │     "amount": "12.60",
            │     "currency": "EUR"
            │   }
            │ }
  actual    │ {
            │   "id": "2026-0117",
            │   "state": "open",
            │   "total": {
            │     "amount": "12.06",
            │     "currency": "EUR"
            │   },
            │   "items": 3
            │ }

✗ Nightly export › 1 ws.oauthProfile(token, warehouse)
  at        smoke/export.yaml:8:5
  error     microsoft rejected the client: AADSTS7000215 Invalid client secret provided
  hint      the client secret is wrong; often the secret's ID was configured instead of its value: set warehouse.client_secret

✗ 4 scripts, 2 failed  14 steps passed, 2 failed, 4 skipped  3.3 s
`);
  });

  it('is one line if everything passed', () => {
    expect(formatSummary(reportOf(runOf('x', 'x.yaml', [{ title: 'x' }])), style)).toBe(
      '\n✓ 1 script  1 step passed  12 ms\n',
    );
  });

  it('has the last request of a failed step', () => {
    const step = { title: 'x', failure: failure('no'), exchanges: [exchange('https://a.example/', 503, '')] };
    expect(formatSummary(reportOf(runOf('x', 'x', [step])), style)).toContain(
      '  request   GET https://a.example/ → 503 in 120 ms\n',
    );
  });

  it('lists interrupted scripts', () => {
    const run = runOf('x', 'x.yaml', [{ title: 'x', reason: 'the run was interrupted' }], { interrupted: true });
    expect(formatSummary(reportOf(run), style)).toBe(
      '\n! interrupted  x.yaml\n\n✗ 1 script, 1 failed  0 steps passed, 1 skipped  0 ms\n',
    );
  });

  it('truncates long values', () => {
    const actual = `${'x'.repeat(10_000)}\n${'line\n'.repeat(100)}`;
    const text = formatSummary(
      reportOf(runOf('x', 'x', [{ title: 'y'.repeat(9000), failure: failure('no', { actual }) }])),
      style,
    );
    expect(text.length).toBeLessThan(3000);
    expect(text).toContain('(9500 more characters)');
    expect(text).toContain('… 82 more lines');
  });

  it('starts each line with a label and contains no control character', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        for (const line of formatSummary(report, style).split('\n')) {
          expect(line).toMatch(
            /^$|^[✗✓] |^! interrupted|^ {2}(at|error|expected|actual|attempts|request|hint) |^ {12}│ /,
          );
          expect(line).not.toMatch(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202e]/);
        }
      }),
      { numRuns: 200 },
    );
  });
});
