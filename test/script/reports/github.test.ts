import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { githubAnnotations, githubSummary } from '../../../src/script/reports/github.ts';
import { anyReport } from './any-report.ts';
import { failure, reportOf, runOf, sampleReport } from './sample-report.ts';

const failing = (count: number) =>
  reportOf(
    runOf(
      'Many',
      'many.yaml',
      Array.from({ length: count }, (_, i) => ({ title: `step ${i}`, failure: failure(`no ${i}`) })),
    ),
  );

describe('GitHub annotations', () => {
  it('mark each failed step in its script', () => {
    expect(githubAnnotations(sampleReport()).split('\n')).toEqual([
      '::error file=smoke/orders/life-cycle.yaml,line=12,col=5,title=step 5%3A the order is as it was written::the values differ%0Aexpected: {"id":"2026-0117","state":"open","total":{"amount":"12.60","currency":"EUR"}}%0Aactual: {"id":"2026-0117","state":"open","total":{"amount":"12.06","currency":"EUR"},"items":3}',
      "::error file=smoke/export.yaml,line=8,col=5,title=step 1%3A ws.oauthProfile(token%2C warehouse)::microsoft rejected the client: AADSTS7000215 Invalid client secret provided%0Athe client secret is wrong; often the secret's ID was configured instead of its value: set warehouse.client_secret",
      '',
    ]);
  });

  it('are empty if nothing failed', () => {
    expect(githubAnnotations(reportOf(runOf('x', 'x.yaml', [{ title: 'x' }])))).toBe('');
  });

  it('have paths relative to the repository', () => {
    expect(githubAnnotations(failing(1), (file) => `sub/${file}`)).toMatch(/^::error file=sub\/many\.yaml,/);
  });

  it.each([
    [10, 10, 'step 10: step 9'],
    [11, 10, 'More failed steps'],
  ])('for %d failures are %d, the last one "%s"', (failures, annotations, last) => {
    const lines = githubAnnotations(failing(failures)).trimEnd().split('\n');
    expect(lines.length).toBe(annotations);
    expect(decodeURIComponent(lines.at(-1) ?? '')).toContain(`title=${last}`);
  });

  it('escape the special characters of workflow commands', () => {
    const step = { title: 'a,b:c%\nd', failure: failure('100%\r\n::set-output name=x::y\r\u001b[2J') };
    expect(githubAnnotations(reportOf(runOf('x', 'a,b.yaml', [step])))).toBe(
      '::error file=a%2Cb.yaml,line=8,col=5,title=step 1%3A a%2Cb%3Ac%25 d::100%25%0A::set-output name=x::y%0A\\u001b[2J\n',
    );
  });

  it('are one command per line for any report', () => {
    fc.assert(
      fc.property(anyReport, (report) => {
        const text = githubAnnotations(report);
        for (const line of text.split('\n').slice(0, -1)) {
          expect(line).toMatch(
            /^::error (file=[^,:]*,(line=\d+,col=\d+,)?title=step \d+%3A [^,:]*|title=More failed steps)::/,
          );
          expect(line).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('The GitHub job summary', () => {
  it('has a row for each script and a section for each failure', () => {
    const text = githubSummary(sampleReport());
    expect(text).toMatch(/^### ❌ 4 scripts, 2 failed\n\n14 steps passed, 2 failed, 4 skipped, 3\.3 s\n/);
    expect(text).toContain('| ✅ | Who am I<br><sub>smoke/me.yaml</sub> | 5 | 0 | 0 | 602 ms |');
    expect(text).toContain('#### ❌ Orders&#58; create&#44; read&#44; cancel › 5 the order is as it was written');
    expect(text).toContain('smoke/orders/life-cycle.yaml&#58;12&#58;5');
    expect(text).toContain('```text\nthe values differ\n```');
  });

  it('escapes text so that it cannot leave its cell or block', () => {
    const hostile = '</td>|`*_[x](javascript:1)<img src=x>@you';
    const step = { title: hostile, failure: failure(`\`\`\`\`\n# no heading\n${hostile}`, { hint: hostile }) };
    const text = githubSummary(reportOf(runOf(hostile, hostile, [step])));
    const untrusted = text.replace(/^(`{3,})text\n[\s\S]*?\n\1$/gm, '');
    expect(untrusted).not.toContain('[x]');
    expect(untrusted.replaceAll('<br><sub>', '').replaceAll('</sub>', '')).not.toMatch(/[<>`]|^# /m);
    expect(untrusted.match(/^\| ❌.*$/m)?.[0].split('|').length).toBe(8);
    expect(text).toContain('`````text\n````\n# no heading');
  });

  it.each(['€', '*', '\u0000', 'x'])('stays below the size limit of GitHub if every character is %j', (char) => {
    const long = char.repeat(3000);
    const step = { title: long, failure: failure(long, { expected: long, actual: long, hint: long }) };
    const run = runOf(long, long, [step, step]);
    const text = githubSummary(reportOf(...Array.from({ length: 1000 }, () => run)));
    expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024);
    expect(text).toMatch(/… and \d+ more scripts\./);
    expect(text).toMatch(/… and \d+ more failed steps\./);
  });
});
