import { describe, expect, it } from 'vitest';
import { Redactor } from '../../../src/redaction/redactor.ts';
import { Secret } from '../../../src/redaction/secret.ts';
import { githubAnnotations, githubSummary } from '../../../src/script/reports/github.ts';
import { htmlReport } from '../../../src/script/reports/html.ts';
import { jsonReport } from '../../../src/script/reports/json.ts';
import { junitReport } from '../../../src/script/reports/junit.ts';
import type { Report } from '../../../src/script/reports/report.ts';
import { formatSummary } from '../../../src/script/reports/summary.ts';
import { leaksIn } from '../../support/leaks.ts';
import { exchange, failure, reportOf, runOf } from './sample-report.ts';

const same = (text: string): string => text;
const plain = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

const reports: [string, (report: Report) => string][] = [
  ['junit', junitReport],
  ['json', jsonReport],
  ['html', htmlReport],
  ['summary', (report) => formatSummary(report, plain)],
  ['annotations', (report) => githubAnnotations(report)],
  ['job summary', githubSummary],
];

describe('A secret that was not masked before', () => {
  const secret = `p&<s>"w'd ö€%;:,|*\\$[x](y)#{}~=+/😀`;
  const step = {
    title: `a ${secret} b`,
    failure: failure(`c ${secret} d`, {
      expected: `e ${secret}`,
      actual: JSON.stringify({ f: secret }),
      hint: secret,
    }),
    output: [secret],
    exchanges: [exchange(`https://a.example/?${secret}`, 200, JSON.stringify({ g: secret }))],
  };
  const report = reportOf(runOf(secret, 'x.yaml', [step]));

  it.each(reports)('is masked in the %s report by the redactor', (_, write) => {
    const redactor = new Redactor();
    redactor.add(new Secret(secret));
    const text = redactor.redact(write(report));
    expect(text.split('••••').length).toBeGreaterThan(3);
    expect(leaksIn(text, [secret])).toEqual([]);
    expect(text).not.toMatch(/p(&|%26|&#38;|&amp;)/);
  });
});
