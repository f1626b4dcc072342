import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonReport } from '../../../src/script/reports/json.ts';
import { anyReport } from './any-report.ts';
import { exchange, failure, reportOf, runOf, sampleReport } from './sample-report.ts';

const docs = join(import.meta.dirname, '..', '..', '..', 'docs');
const published = readFileSync(join(docs, 'report.schema.json'), 'utf8');
const dateTime = { 'date-time': (text: string): boolean => new Date(text).toISOString() === text };

/** The published schema allows additional members; this stricter copy does not. */
function closed(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map(closed);
  const parts = Object.fromEntries(Object.entries(node).map(([name, part]) => [name, closed(part)]));
  return parts['type'] === 'object' ? { additionalProperties: false, ...parts } : parts;
}

const open = new Ajv2020({ formats: dateTime, strict: true, strictRequired: false }).compile(JSON.parse(published));
const strict = new Ajv2020({ formats: dateTime, strict: false }).compile(closed(JSON.parse(published)) as object);

describe('The JSON report', () => {
  it('matches the published schema, which lists every member', () => {
    const report = JSON.parse(jsonReport(sampleReport()));
    open(report);
    expect(open.errors).toBeNull();
    strict(report);
    expect(strict.errors).toBeNull();
    strict({ ...report, surprise: 1 });
    expect(strict.errors).not.toBeNull();
  });

  it('matches the schema and preserves every string for any report', () => {
    fc.assert(
      fc.property(anyReport, (given) => {
        const report = JSON.parse(jsonReport(given));
        strict(report);
        expect(strict.errors).toBeNull();
        const steps = given.runs.flatMap((run) => run.steps);
        const read = report.scripts.flatMap((script: { steps: object[] }) => script.steps);
        expect(read.map((step: { title: string }) => step.title)).toEqual(steps.map((step) => step.title));
        expect(read.map((step: { output: string[] }) => step.output)).toEqual(steps.map((step) => step.output));
      }),
      { numRuns: 200 },
    );
  });

  it('has times in ISO 8601 and in milliseconds', () => {
    const { startedAt, startedAtMs, elapsedMs } = JSON.parse(jsonReport(sampleReport()));
    expect({ startedAt, startedAtMs, elapsedMs }).toEqual({
      startedAt: '2026-07-01T10:00:00.000Z',
      startedAtMs: 1_782_900_000_000,
      elapsedMs: 3255,
    });
  });

  it('has the state of the run, of each script and of each step', () => {
    const report = JSON.parse(jsonReport(sampleReport()));
    expect(report).toMatchObject({
      schemaVersion: 1,
      generator: { name: 'oauth-profile', version: '1.0.0' },
      state: 'failed',
      counts: { scripts: { passed: 2, failed: 2 }, steps: { passed: 14, failed: 2, skipped: 4 } },
    });
    expect(report.scripts[1].steps[4]).toMatchObject({
      number: 5,
      command: 'base.assertEqual',
      position: { line: 12, column: 5 },
      state: 'failed',
      failure: { code: 'step_failed', message: 'the values differ' },
    });
    expect(report.scripts[1].steps[5]).toMatchObject({ state: 'skipped', reason: 'an earlier step failed' });
  });

  it('omits absent members instead of writing null', () => {
    const step = { title: 'x', position: undefined, exchanges: [{ ...exchange('u', 200, ''), response: undefined }] };
    const [only] = JSON.parse(jsonReport(reportOf(runOf('x', 'x', [step])))).scripts[0].steps;
    expect(Object.keys(only)).not.toContain('position');
    expect(Object.keys(only.exchanges[0])).toEqual(['request', 'startedAt', 'startedAtMs', 'elapsedMs']);
  });

  it('escapes control characters', () => {
    const hostile = '\u001b[2J\u009b2J\u202e\u2066\u2028\u007f';
    const text = jsonReport(reportOf(runOf('x', 'x', [{ title: 'x', failure: failure(hostile) }])));
    expect(text).not.toMatch(/[^\n\u0020-\u007e]/);
    expect(JSON.parse(text).scripts[0].steps[0].failure.message).toBe(hostile);
  });

  it('has all of its members documented', () => {
    const page = readFileSync(join(docs, 'reference', 'reports.md'), 'utf8');
    const members = new Set<string>();
    const walk = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      const { properties } = node as { properties?: object };
      for (const name of Object.keys(properties ?? {})) members.add(name);
      for (const part of Object.values(node)) walk(part);
    };
    walk(JSON.parse(published));
    expect(members.size).toBeGreaterThan(25);
    expect([...members].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
