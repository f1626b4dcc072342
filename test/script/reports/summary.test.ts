import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Style } from '../../../src/script/reports/style.ts';
import { summaryText } from '../../../src/script/reports/summary.ts';
import { anyReport } from './any-report.ts';
import { exchange, failure, reportOf, runOf, sampleReport } from './sample-report.ts';

const same = (text: string): string => text;
const style: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

describe('the summary', () => {
  it('shows each failure with its position and values, then the totals', () => {
    expect(summaryText(sampleReport(), style)).toBe(`
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
  error     microsoft refused the client: AADSTS7000215 Invalid client secret provided
  hint      the client secret is wrong; often the secret's ID was pasted instead of its value: set warehouse.client_secret

✗ 4 scripts, 2 failed  14 steps passed, 2 failed, 4 skipped  3.3 s
`);
  });

  it('is one line when all is well', () => {
    expect(summaryText(reportOf(runOf('x', 'x.yaml', [{ title: 'x' }])), style)).toBe(
      '\n✓ 1 script  1 step passed  12 ms\n',
    );
  });

  it('names the last request of a step that failed', () => {
    const step = { title: 'x', failure: failure('no'), exchanges: [exchange('https://a.example/', 503, '')] };
    expect(summaryText(reportOf(runOf('x', 'x', [step])), style)).toContain(
      '  request   GET https://a.example/ → 503 in 120 ms\n',
    );
  });

  it('says which scripts were interrupted', () => {
    const run = runOf('x', 'x.yaml', [{ title: 'x', reason: 'the run was interrupted' }], { interrupted: true });
    expect(summaryText(reportOf(run), style)).toBe(
      '\n! interrupted  x.yaml\n\n✗ 1 script, 1 failed  0 steps passed, 1 skipped  0 ms\n',
    );
  });

  it('cuts what is too long to read', () => {
    const actual = `${'x'.repeat(10_000)}\n${'line\n'.repeat(100)}`;
    const text = summaryText(
      reportOf(runOf('x', 'x', [{ title: 'y'.repeat(9000), failure: failure('no', { actual }) }])),
      style,
    );
    expect(text.length).toBeLessThan(3000);
    expect(text).toContain('(9500 more characters)');
    expect(text).toContain('… 82 more lines');
  });

  it('begins each line with a word or a line of ours, and shows no control character', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        for (const line of summaryText(report, style).split('\n')) {
          expect(line).toMatch(/^$|^[✗✓] |^! interrupted|^ {2}(at|error|expected|actual|request|hint) |^ {12}│ /);
          expect(line).not.toMatch(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202e]/);
        }
      }),
      { numRuns: 200 },
    );
  });
});
