import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { appendSummary, parseReports, writeReports } from '../../../src/script/reports/write-reports.ts';
import { failureOf } from '../../support/errors.ts';
import { sampleReport } from './sample-report.ts';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'oauth-profile-reports-'));
  const directory = cwd;
  onTestFinished(() => rmSync(directory, { recursive: true }));
});

describe('parseReports()', () => {
  it('parses reports and creates their directories', () => {
    expect(parseReports(['junit=out/a.xml', 'json=/tmp/../tmp/x=y.json', 'html=page.html'], cwd)).toEqual([
      { kind: 'junit', file: join(cwd, 'out/a.xml') },
      { kind: 'json', file: '/tmp/x=y.json' },
      { kind: 'html', file: join(cwd, 'page.html') },
    ]);
    expect(readdirSync(cwd)).toEqual(['out']);
    expect(readdirSync(join(cwd, 'out'))).toEqual([]);
  });

  it('parses the cases of JUnit', () => {
    expect(parseReports(['junit=a.xml,cases=steps', 'junit=b,c.xml,cases=scripts'], cwd)).toEqual([
      { kind: 'junit', file: join(cwd, 'a.xml'), cases: 'steps' },
      { kind: 'junit', file: join(cwd, 'b,c.xml'), cases: 'scripts' },
    ]);
  });

  it.each([
    'junit',
    'junit=',
    '=out.xml',
    'json=x.json,cases=steps',
    'junit=x.xml,cases=stepz',
    'xml=out.xml',
    'JUNIT=out.xml',
    'toString=x',
    '__proto__=x',
    '',
  ])('rejects %j and lists the kinds of reports', (given) => {
    expect(failureOf(() => parseReports([given], cwd))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`"${given}"`),
      hint: expect.stringContaining('junit, json, html'),
    });
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.skipIf(process.platform !== 'linux')('rejects a file where no directory can be created, without waiting', () => {
    expect(failureOf(() => parseReports(['junit=/proc/nowhere/deep/out.xml'], cwd))).toMatchObject({ code: 'usage' });
  });

  it('does not follow a link in the place of its temporary file', async () => {
    const victim = join(cwd, 'victim');
    writeFileSync(victim, 'mine');
    symlinkSync(victim, join(cwd, `out.json.${process.pid}.tmp`));
    const wanted = parseReports(['json=out.json'], cwd);
    symlinkSync(victim, join(cwd, `out.json.${process.pid}.tmp`));
    writeReports(wanted, sampleReport(), (text) => text);
    expect(readFileSync(victim, 'utf8')).toBe('mine');
    expect(readdirSync(cwd).sort()).toEqual(['out.json', 'victim']);
  });

  it('rejects two reports in the same file', () => {
    const { code, message } = failureOf(() => parseReports(['junit=a', 'html=./b/../a'], cwd));
    expect(code).toBe('usage');
    expect(message).toContain('./b/../a');
  });

  it.each<[what: string, path: string]>([
    ['a directory', 'directory'],
    ['a file below a file', 'file/out.xml'],
    ['a file deep below a file', 'file/a/b/out.xml'],
    ['a name that is too long', `${'x'.repeat(300)}.xml`],
  ])('rejects %s', (_, path) => {
    mkdirSync(join(cwd, 'directory'));
    writeFileSync(join(cwd, 'file'), 'unchanged');
    const { code, message } = failureOf(() => parseReports([`junit=${path}`], cwd));
    expect([code, message]).toEqual(['usage', expect.stringMatching(/\(E(?!EXIST)\w+\)$/)]);
    expect(readdirSync(cwd).sort()).toEqual(['directory', 'file']);
    expect(readFileSync(join(cwd, 'file'), 'utf8')).toBe('unchanged');
  });
});

describe('writeReports()', () => {
  const write = (given: string[], redact = (text: string) => text): void =>
    writeReports(parseReports(given, cwd), sampleReport(), redact);

  it('replaces existing files and leaves no temporary ones', async () => {
    writeFileSync(join(cwd, 'out.json'), 'old');
    await write(['json=out.json', 'junit=out.xml', 'html=out.html']);
    expect(readdirSync(cwd).sort()).toEqual(['out.html', 'out.json', 'out.xml']);
    expect(JSON.parse(readFileSync(join(cwd, 'out.json'), 'utf8'))).toHaveProperty('schemaVersion', 1);
    expect(readFileSync(join(cwd, 'out.xml'), 'utf8')).toContain('<testsuites ');
    expect(readFileSync(join(cwd, 'out.html'), 'utf8')).toMatch(/^<!doctype html>/i);
  });

  it('redacts the whole report', async () => {
    await write(['json=out.json'], (text) => text.replaceAll('schemaVersion', '••••'));
    expect(readFileSync(join(cwd, 'out.json'), 'utf8')).toContain('"••••": 1');
  });

  it('writes to a device without replacing it', async () => {
    await write(['junit=/dev/null', 'json=out.json']);
    expect(readFileSync('/dev/null', 'utf8')).toBe('');
    expect(existsSync(join(cwd, 'out.json'))).toBe(true);
  });

  it('writes the other reports if one cannot be written', async () => {
    const wanted = parseReports(['junit=a/out.xml', 'json=out.json'], cwd);
    rmSync(join(cwd, 'a'), { recursive: true });
    expect(() => writeReports(wanted, sampleReport(), (text) => text)).toThrow(/out\.xml \(ENOENT\)/);
    expect(readdirSync(cwd)).toEqual(['out.json']);
  });

  it('replaces a link, not its target', async () => {
    writeFileSync(join(cwd, 'target'), 'unchanged');
    symlinkSync('target', join(cwd, 'out.json'));
    await write(['json=out.json']);
    expect(readFileSync(join(cwd, 'target'), 'utf8')).toBe('unchanged');
  });
});

it('appendSummary() appends to the summary of the job', () => {
  writeFileSync(join(cwd, 'summary.md'), 'before\n');
  appendSummary(join(cwd, 'summary.md'), 'after\n');
  expect(readFileSync(join(cwd, 'summary.md'), 'utf8')).toBe('before\nafter\n');
  expect(() => appendSummary(cwd, 'x')).toThrow(/\(EISDIR\)/);
});
