import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { htmlReport } from '../../../src/script/reports/html.ts';
import { pageScript } from '../../../src/script/reports/html-script.ts';
import { pageStyle } from '../../../src/script/reports/html-style.ts';
import { anyReport } from './any-report.ts';
import { exchange, failure, reportOf, runOf, sampleReport } from './sample-report.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64');

describe('The HTML report', () => {
  it('has a content security policy for only its own style and script', () => {
    const page = htmlReport(sampleReport());
    expect(page).toContain(
      `content="default-src 'none'; style-src 'sha256-${sha256(pageStyle)}'; script-src 'sha256-${sha256(pageScript)}'; img-src data:; base-uri 'none'; form-action 'none'"`,
    );
    expect(page.match(/<(script|style|link|img|iframe)\b/g)).toEqual(['<link', '<style', '<script']);
    expect(page).not.toMatch(/ style="| src="|href="(?!#|data:)/);
  });

  it('has the same tags in the same order for any strings', () => {
    const tags = (html: string): string[] => html.match(/<[^<>]*>/g) ?? [];
    const harmless = (node: unknown): unknown => {
      if (typeof node === 'string')
        return /^(passed|failed|skipped|setup|teardown)$/.test(node) ? node : 'x'.repeat(node.length > 0 ? 1 : 0);
      if (Array.isArray(node)) return node.map(harmless);
      if (typeof node !== 'object' || node === null) return node;
      return Object.fromEntries(Object.entries(node).map(([name, part]) => [name, harmless(part)]));
    };
    // Differences are marked with additional tags, so they are excluded.
    const withoutExpected = anyReport.map((report) => ({
      ...report,
      runs: report.runs.map((run) => ({
        ...run,
        steps: run.steps.map((step) => ({
          ...step,
          // One title for all groups: steps are in one group if their groups have the same title.
          groups: Array<string>(step.number % 3).fill(run.name),
          failure: step.failure && { ...step.failure, expected: undefined },
        })),
      })),
    }));
    const body = (html: string): string => html.slice(html.indexOf('<body'), html.indexOf('<script>'));
    fc.assert(
      fc.property(withoutExpected, (report) => {
        const page = body(htmlReport(report));
        expect(page).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e\ufffe]/);
        const plain = body(htmlReport(harmless(report) as typeof report));
        // A title that starts with its command is shown as code.
        const comparable = (html: string) =>
          tags(html).map((tag) => tag.replace(/ (?:datetime|aria-label)="[^"]*"/, '').replace('code>', 'bdi>'));
        expect(comparable(page)).toEqual(comparable(plain));
      }),
      { numRuns: 200 },
    );
  });

  it('shows all details of a step', () => {
    const step = {
      title: 'ws.get(u)',
      failure: failure('it is wrong', { code: 'provider_rejected', hint: 'do that', expected: 'E', actual: 'A' }),
      output: ['logged output'],
      exchanges: [exchange('https://a.example/?x=1', 418, '{"tea":"pot"}')],
    };
    const page = htmlReport(reportOf(runOf('My script', 'my/script.yaml', [step])));
    for (const text of [
      'My script',
      'my/script.yaml:8:5',
      '✗ 1 step failed',
      'it is wrong <code>provider_rejected</code>',
      'do that',
      '>E</pre>',
      '>A</pre>',
      'logged output',
      'GET https://a.example/?x=1',
      '418',
      '<b>Authorization:</b> Bearer ••••',
      '&quot;tea&quot;: &quot;pot&quot;',
    ]) {
      expect(page).toContain(text);
    }
  });

  it('names the project, the environment and the commit, as far as they are known', () => {
    const page = htmlReport({ ...sampleReport(), project: 'shop', environment: 'staging', commit: 'a'.repeat(40) });
    const shown = Array.from(page.matchAll(/<dt>(.*?)<\/dt> <dd><bdi>(.*?)<\/bdi>/g), ([, name, value]) => [
      name,
      value,
    ]);
    expect(shown).toEqual([
      ['Project', 'shop'],
      ['Environment', 'staging'],
      ['Commit', 'a'.repeat(12)],
    ]);
    expect(page).toContain('4 scripts, 2 failed · shop</title>');
    expect(htmlReport(sampleReport())).not.toContain('<dl');
  });

  it('shows when each request was sent, relative to the script, and links to it', () => {
    const get = (ms: number) => ({ title: 'x', elapsedMs: ms, exchanges: [exchange('u', 200, '', ms)] });
    const run = runOf('x', 'x', [get(100), { title: 'wait', elapsedMs: 200 }, get(100)]);
    const bars = htmlReport(reportOf(run)).match(/<a href="#s1-\d-1">|<rect class="passed" x="[\d.]+" width="[\d.]+"/g);
    expect(bars?.slice(-4)).toEqual([
      '<a href="#s1-1-1">',
      '<rect class="passed" x="0.0" width="250.0"',
      '<a href="#s1-3-1">',
      '<rect class="passed" x="750.0" width="250.0"',
    ]);
  });

  it('draws at most 500 requests of a script', () => {
    const step = { title: 'x', exchanges: [exchange('u', 200, '')] };
    const page = htmlReport(reportOf(runOf('x', 'x', Array(502).fill(step))));
    expect(page).toContain('<summary>502 requests, ');
    expect(page).toContain('<li>and 2 more</li>');
    expect(page.match(/<li><a href="#s1-/g)).toHaveLength(500);
  });

  it('links an assertion to the last exchange of the step whose response it used', () => {
    const steps = [
      {
        title: 'x',
        exchanges: [exchange('https://a.example/first', 302, ''), exchange('https://a.example/last', 200, '')],
      },
      { title: 'base.assertEqual(1, 2)', failure: failure('no'), responsesOf: [1] },
    ];
    const page = htmlReport(reportOf(runOf('x', 'x', steps)));
    expect(page).toContain('step 1: <a href="#s1-1-2"><code>GET https://a.example/last</code>');
    expect(page).toContain('<section class="exchange" id="s1-1-2"');
  });

  it('nests the steps of groups, setup and teardown, and shows the number of attempts', () => {
    const page = htmlReport(
      reportOf(
        runOf('x', 'x', [
          { title: 'one', phase: 'setup' },
          { title: 'two', groups: ['outer', 'item [1]'] },
          { title: 'three', groups: ['outer', 'item [2]'], attempts: 3, failure: failure('no') },
          { title: 'four', groups: ['outer'], reason: 'skipped' },
          { title: 'five' },
          { title: 'six', groups: ['outer'], reason: 'skipped' },
        ]),
      ),
    );
    const body = page.slice(page.indexOf('<main>'));
    const parts = body.match(/<details class="group \w+|<\/details>|<bdi>[^<]*|\d attempts/g) ?? [];
    const shown = parts.map((part) => part.replace(/<details class="group |<bdi>/, '').replace('</details>', '/'));
    expect(shown.join(' ')).toBe(
      'x passed setup one / / failed outer passed item [1] two / / failed item [2] three 3 attempts / / four / / five / skipped outer six / / /',
    );
  });

  it('marks a script that passed after a retry as flaky', () => {
    const page = (title: string, more: object) =>
      htmlReport(reportOf(runOf('x', 'x', [{ title, ...more }], { attempts: 2 })));
    expect(page('x', {})).toContain('flaky, 2 attempts');
    expect(page('x', { failure: failure('no') })).toMatch(/>2 attempts/);
  });

  it.each([
    ['{"a":1,"b":2}', '{"a":1,"b":3}', '<del>-   &quot;b&quot;: 2</del><ins>+   &quot;b&quot;: 3</ins>'],
    ['https://a.example/callback?x=1', 'https://a.example/callback?x=2', 'callback?x=<mark>1</mark></pre>'],
    ['200', '401', '<pre>200</pre>'],
    ['', 'x', '<i>empty</i>'],
    ['x'.repeat(30), 'x'.repeat(31), `<mark></mark>`],
    ['😀'.repeat(20), `${'😀'.repeat(19)}😁`, '<mark>😀</mark>'],
  ])('marks the difference of %j and %j', (expected, actual, html) => {
    const step = { title: 'x', failure: failure('no', { expected, actual }) };
    expect(htmlReport(reportOf(runOf('x', 'x', [step])))).toContain(html);
  });

  it('omits long runs of equal lines', () => {
    const lines = Array.from({ length: 50 }, (_, i) => `line ${i}`);
    const step = {
      title: 'x',
      failure: failure('no', { expected: lines.join('\n'), actual: lines.with(25, 'other').join('\n') }),
    };
    const page = htmlReport(reportOf(runOf('x', 'x', [step])));
    expect(page).toContain(
      '… 22 equal lines</i>\n  line 22\n  line 23\n  line 24\n<del>- line 25</del><ins>+ other</ins>',
    );
    expect(page).not.toContain('line 10');
  });

  it('has a heading for passed, empty and interrupted runs', () => {
    expect(htmlReport(reportOf(runOf('x', 'x', [{ title: 'x' }])))).toContain('✓ All passed');
    expect(htmlReport(reportOf())).toContain('0 scripts');
    expect(htmlReport(reportOf(runOf('x', 'x', [], { interrupted: true })))).toContain('✗ Interrupted');
  });

  it('grows linearly with the number of steps', () => {
    const failed = { title: 'x', failure: failure('no', { expected: '{"a":1,"b":2}', actual: '{"a":1,"b":3}' }) };
    const sizeOf = (steps: number): number => htmlReport(reportOf(runOf('x', 'x', Array(steps).fill(failed)))).length;
    const [one, two, three] = [sizeOf(1000), sizeOf(2000), sizeOf(3000)];
    expect(three - two).toBeLessThan((two - one) * 1.05);
  });
});
