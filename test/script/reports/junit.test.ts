import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { toVisible, toVisibleLine } from '../../../src/script/reports/format.ts';
import { junitReport } from '../../../src/script/reports/junit.ts';
import type { Report } from '../../../src/script/reports/report.ts';
import { anyReport } from './any-report.ts';
import { exchange, failure, reportOf, runOf, sampleReport } from './sample-report.ts';

const schema = readFileSync(join(import.meta.dirname, 'junit-10.xsd'), 'utf8');

/** Validates and parses documents with libxml2; returns its errors and the parsed content. */
async function check(documents: readonly string[]): Promise<{ errors: string[]; read: string }> {
  const { errors, normalized } = await validateXML({
    xml: documents.map((contents, index) => ({ fileName: `${index}.xml`, contents })),
    schema: [schema],
    normalization: 'c14n',
    maxMemoryPages: 4096,
  });
  return { errors: errors.map(({ message }) => message), read: normalized };
}

const unescaped = (text: string): string =>
  text
    .replace(/&#x([0-9A-F]+);/gi, (_, point: string) => String.fromCodePoint(Number.parseInt(point, 16)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

const tag = (element: string): string => `<${element}((?: [\\w-]+="[^"]*")*)/?>`;

const attributes = (xml: string, element: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(tag(element), 'g'))].flatMap(([, all = '']) => {
    const [, text] = new RegExp(` ${name}="([^"]*)"`).exec(all) ?? [];
    return text === undefined ? [] : [unescaped(text)];
  });

const texts = (xml: string, element: string): string[] =>
  [...xml.matchAll(new RegExp(`${tag(element)}([^<]*)</${element}>`, 'g'))].map(([, , text = '']) => unescaped(text));

/** A report with a case per step. */
const perStep = (report: Report): string => junitReport(report, { cases: 'steps' });

describe('The JUnit report with a case per step', () => {
  it('matches the schema of Jenkins and has the outcome of every step', async () => {
    const { errors, read } = await check([perStep(sampleReport())]);
    expect(errors).toEqual([]);
    expect(attributes(read, 'testsuite', 'name')).toEqual([
      'Who am I',
      'Orders: create, read, cancel',
      'Nightly export',
      'GitLab projects',
    ]);
    expect(attributes(read, 'testsuite', 'file')[1]).toBe('smoke/orders/life-cycle.yaml');
    expect(attributes(read, 'testsuites', 'tests')).toEqual(['20']);
    expect(attributes(read, 'testsuite', 'failures')).toEqual(['0', '1', '1', '0']);
    expect(attributes(read, 'testsuite', 'skipped')).toEqual(['0', '2', '1', '1']);
    expect(attributes(read, 'testsuite', 'timestamp')[0]).toBe('2026-07-01T10:00:00');
    expect(attributes(read, 'testsuite', 'time')[0]).toBe('0.602');
    expect(attributes(read, 'testcase', 'name').slice(0, 2)).toEqual([
      'ws.oauthProfile(token, graph)',
      'ws.header(Authorization, Bearer ${token.access_token})',
    ]);
    expect(attributes(read, 'testcase', 'classname')[5]).toBe('smoke.orders.life-cycle');
    expect(attributes(read, 'testcase', 'time')[0]).toBe('0.412');
    expect(attributes(read, 'failure', 'type')).toEqual(['step_failed', 'provider_rejected']);
    expect(attributes(read, 'skipped', 'message')[0]).toBe('an earlier step failed');
  });

  it('has expected, actual, hint and position in the text of a failure', () => {
    const report = reportOf(
      runOf('Sums', 'a.yaml', [
        {
          title: 'base.assertEqual(1, 2)',
          failure: failure('differs', { expected: '1', actual: '2', hint: 'count' }),
        },
      ]),
    );
    expect(texts(perStep(report), 'failure')).toEqual(['differs\nexpected: 1\nactual: 2\ncount\nat a.yaml:8:5']);
  });

  it('has the output and the requests of a step', () => {
    const report = reportOf(
      runOf('x', 'x.yaml', [
        { title: 'ws.get(u)', output: ['one', 'two'], exchanges: [exchange('https://a.example/?b=1&c', 404, '')] },
      ]),
    );
    expect(texts(perStep(report), 'system-out')).toEqual(['one\ntwo\nGET https://a.example/?b=1&c → 404 in 120 ms']);
  });

  it('gives every step a unique name, because GitLab drops duplicates', () => {
    const steps = [{ title: 'ws.get(u)' }, { title: 'ws.get(u)' }];
    const xml = perStep(reportOf(runOf('x', 'a/x.yaml', steps), runOf('x', 'b/x.yaml', steps)));
    const classes = attributes(xml, 'testcase', 'classname');
    const keys = attributes(xml, 'testcase', 'name').map((name, index) => `${classes[index]} ${name}`);
    expect(new Set(keys).size).toBe(4);
  });

  it.each([
    ['./smoke/me.yml', 'smoke.me'],
    ['../../me.yaml', 'me'],
    ['C:\\work\\me.yaml', 'C:.work.me'],
    ['v1.2/me.yaml', 'v1.2.me'],
    ['.yaml', 'its name'],
  ])('has for %s the class name %s', (file, expected) => {
    const xml = perStep(reportOf(runOf('its name', file, [{ title: 'x' }])));
    expect(attributes(xml, 'testcase', 'classname')).toEqual([expected]);
  });

  it('reports an interrupted run, and has no negative time if the clock was set back', async () => {
    const run = runOf('x', 'x.yaml', [{ title: 'x', elapsedMs: -7 }], { interrupted: true, elapsedMs: -7 });
    const { errors, read } = await check([perStep({ ...reportOf(run), elapsedMs: -7 })]);
    expect(errors).toEqual([]);
    expect(texts(read, 'system-err')).toEqual(['the run was interrupted']);
    expect(attributes(read, 'testcase', 'time')).toEqual(['0.000']);
  });

  it('truncates long values', () => {
    const run = runOf('x', 'x.yaml', [{ title: 'x', failure: failure('no', { actual: 'y'.repeat(1_000_000) }) }]);
    const xml = perStep(reportOf(run));
    expect(xml.length).toBeLessThan(30_000);
    expect(xml).toContain('… 980000 more characters');
  });

  it('is valid and parsed to the same visible text for any report', async () => {
    const reports = fc.sample(anyReport, { numRuns: 300, seed: 20260701 });
    const runs = reports
      .flatMap((report) => report.runs)
      .map((run, index) => ({ ...run, file: `${index}/${run.file}` }));
    const { errors, read } = await check([perStep(reportOf(...runs))]);
    expect(errors).toEqual([]);
    const steps = runs.flatMap((run) => run.steps);
    const failed = steps.flatMap(({ failure }) => failure ?? []);
    expect(attributes(read, 'testsuite', 'name')).toEqual(runs.map(({ name }) => toVisibleLine(name)));
    expect(attributes(read, 'testsuite', 'file')).toEqual(runs.map(({ file }) => toVisibleLine(file)));
    expect(attributes(read, 'testcase', 'name')).toEqual(
      runs.flatMap(({ steps: own }) =>
        own.map(({ title }, index) => {
          const count = own.slice(0, index + 1).filter((other) => other.title === title).length;
          return toVisibleLine(count === 1 ? title : `${title} (${count})`);
        }),
      ),
    );
    expect(attributes(read, 'failure', 'message')).toEqual(failed.map(({ message }) => toVisibleLine(message)));
    for (const [index, text] of texts(read, 'failure').entries()) {
      const { message, expected, actual, hint } = failed[index] ?? { message: '?' };
      for (const part of [message, expected, actual, hint]) expect(text).toContain(toVisible(part ?? ''));
    }
    expect(failed.length).toBeGreaterThan(100);
  });

  it('has names that do not change when a step is inserted', async () => {
    const names = async (...titles: string[]) =>
      attributes(
        (
          await check([
            perStep(
              reportOf(
                runOf(
                  'x',
                  'x.yaml',
                  titles.map((title) => ({ title })),
                ),
              ),
            ),
          ])
        ).read,
        'testcase',
        'name',
      );
    expect(await names('a', 'b', 'a')).toEqual(['a', 'b', 'a (2)']);
    expect(await names('new', 'a', 'b', 'a')).toEqual(['new', 'a', 'b', 'a (2)']);
  });

  it('is rejected by the schema if it is invalid', async () => {
    const xml = perStep(sampleReport());
    const { errors } = await check([xml.replace('<failure ', '<fialure '), xml.replace('time="', 'line="')]);
    expect(errors.length).toBeGreaterThan(0);
  });
});

describe('The JUnit report', () => {
  it('has a case per script by default, with the first failure, all failures in its content, and the output of all steps', async () => {
    const { errors, read } = await check([junitReport(sampleReport())]);
    expect(errors).toEqual([]);
    const names = ['Who am I', 'Orders: create, read, cancel', 'Nightly export', 'GitLab projects'];
    expect(attributes(read, 'testsuite', 'name')).toEqual(names);
    expect(attributes(read, 'testcase', 'name')).toEqual(names);
    expect(attributes(read, 'testcase', 'time')[0]).toBe('0.602');
    expect(attributes(read, 'testsuites', 'tests')).toEqual(['4']);
    expect(attributes(read, 'testsuites', 'failures')).toEqual(['2']);
    expect(attributes(read, 'testsuite', 'failures')).toEqual(['0', '1', '1', '0']);
    expect(attributes(read, 'testsuite', 'skipped')).toEqual(['0', '0', '0', '0']);
    expect(attributes(read, 'failure', 'type')).toEqual(['step_failed', 'provider_rejected']);
    const report = reportOf(
      runOf('x', 'x.yaml', [
        { title: 'a', failure: failure('first') },
        { title: 'b', failure: failure('second'), output: ['one'] },
        { title: 'c', output: ['two'] },
      ]),
    );
    expect(texts(junitReport(report), 'failure')).toEqual(['1 a\nfirst\nat x.yaml:8:5\n\n2 b\nsecond\nat x.yaml:9:5']);
    expect(texts(junitReport(report), 'system-out')).toEqual(['one\ntwo']);
  });

  it('gives rows with the same name unique names', () => {
    const runs = [runOf('x [a]', 'x.yaml', []), runOf('x [a]', 'x.yaml', []), runOf('x [b]', 'x.yaml', [])];
    expect(attributes(junitReport(reportOf(...runs)), 'testcase', 'name')).toEqual(['x [a]', 'x [a] (2)', 'x [b]']);
  });

  it('marks a script that passed after a retry as flaky', async () => {
    const runs = [runOf('x', 'x.yaml', [{ title: 'x' }], { attempts: 2 }), runOf('y', 'y.yaml', [{ title: 'y' }])];
    const { errors, read } = await check([junitReport({ ...reportOf(...runs), emulated: true })]);
    expect(errors).toEqual([]);
    expect(attributes(read, 'property', 'name')).toEqual(['emulated', 'flaky', 'emulated']);
  });

  it('reports an interrupted run as failed', () => {
    const xml = junitReport(reportOf(runOf('x', 'x.yaml', [{ title: 'x' }], { interrupted: true })));
    expect(attributes(xml, 'testsuite', 'failures')).toEqual(['1']);
    expect(xml).toContain('<failure/>');
  });
});
