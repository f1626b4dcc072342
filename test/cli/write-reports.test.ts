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
import { appendSummary, parseReports, writeReports } from '../../src/cli/write-reports.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { sampleReport } from '../script/reports/sample-report.ts';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'oauth-profile-reports-'));
  const folder = cwd;
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

const errorOf = (act: () => unknown): OAuthProfileError => {
  try {
    act();
  } catch (error) {
    if (error instanceof OAuthProfileError) return error;
    throw error;
  }
  throw new Error('it did not fail');
};

describe('what is asked for', () => {
  it('is understood, and its folders are made', () => {
    expect(parseReports(['junit=out/a.xml', 'json=/tmp/../tmp/x=y.json', 'html=page.html'], cwd)).toEqual([
      { kind: 'junit', file: join(cwd, 'out/a.xml') },
      { kind: 'json', file: '/tmp/x=y.json' },
      { kind: 'html', file: join(cwd, 'page.html') },
    ]);
    expect(readdirSync(cwd)).toEqual(['out']);
    expect(readdirSync(join(cwd, 'out'))).toEqual([]);
  });

  it.each(['junit', 'junit=', '=out.xml', 'xml=out.xml', 'JUNIT=out.xml', 'toString=x', '__proto__=x', ''])(
    'is refused as %j, with the kinds that there are',
    (given) => {
      expect(errorOf(() => parseReports([given], cwd))).toMatchObject({
        code: 'usage',
        message: `--report ${given} is no report`,
        hint: 'write --report KIND=FILE with KIND one of junit, json, html',
      });
      expect(readdirSync(cwd)).toEqual([]);
    },
  );

  it.skipIf(process.platform !== 'linux')('is refused, not waited for, where no folder can be made', () => {
    expect(errorOf(() => parseReports(['junit=/proc/nowhere/deep/out.xml'], cwd))).toMatchObject({ code: 'usage' });
  });

  it('is written through no link that lies in the place of its temporary file', async () => {
    const victim = join(cwd, 'victim');
    writeFileSync(victim, 'mine');
    symlinkSync(victim, join(cwd, `out.json.${process.pid}.tmp`));
    const wanted = parseReports(['json=out.json'], cwd);
    symlinkSync(victim, join(cwd, `out.json.${process.pid}.tmp`));
    await writeReports(wanted, sampleReport(), (text) => text);
    expect(readFileSync(victim, 'utf8')).toBe('mine');
    expect(readdirSync(cwd).sort()).toEqual(['out.json', 'victim']);
  });

  it('is refused where two reports would be one file', () => {
    const error = errorOf(() => parseReports(['junit=a', 'nonsense', 'html=./b/../a'], cwd));
    expect(error.message).toBe('--report nonsense is no report; two reports would be written to ./b/../a');
  });

  it.each<[what: string, path: string]>([
    ['a folder', 'directory'],
    ['a file below a file', 'file/out.xml'],
    ['a file deep below a file', 'file/a/b/out.xml'],
    ['a name that is too long', `${'x'.repeat(300)}.xml`],
  ])('is refused where it is %s', (_, path) => {
    mkdirSync(join(cwd, 'directory'));
    writeFileSync(join(cwd, 'file'), 'kept');
    const { code, message } = errorOf(() => parseReports([`junit=${path}`], cwd));
    expect([code, message]).toEqual(['usage', expect.stringMatching(/^the report .* cannot be written \(E\w+\)$/)]);
    expect(readdirSync(cwd).sort()).toEqual(['file', 'directory']);
    expect(readFileSync(join(cwd, 'file'), 'utf8')).toBe('kept');
  });
});

describe('reports', () => {
  const write = (given: string[], redact = (text: string) => text): Promise<void> =>
    writeReports(parseReports(given, cwd), sampleReport(), redact);

  it('replace what was there, and leave nothing else', async () => {
    writeFileSync(join(cwd, 'out.json'), 'old');
    await write(['json=out.json', 'junit=out.xml', 'html=out.html']);
    expect(readdirSync(cwd).sort()).toEqual(['out.html', 'out.json', 'out.xml']);
    expect(JSON.parse(readFileSync(join(cwd, 'out.json'), 'utf8'))).toHaveProperty('schemaVersion', 1);
    expect(readFileSync(join(cwd, 'out.xml'), 'utf8')).toContain('<testsuites ');
    expect(readFileSync(join(cwd, 'out.html'), 'utf8')).toMatch(/^<!doctype html>/i);
  });

  it('are masked as a whole', async () => {
    await write(['json=out.json'], (text) => text.replaceAll('schemaVersion', '••••'));
    expect(readFileSync(join(cwd, 'out.json'), 'utf8')).toContain('"••••": 1');
  });

  it('are written to a device, which stays one', async () => {
    await write(['junit=/dev/null', 'json=out.json']);
    expect(readFileSync('/dev/null', 'utf8')).toBe('');
    expect(existsSync(join(cwd, 'out.json'))).toBe(true);
  });

  it('that cannot be written any more do not keep the others from being written', async () => {
    const wanted = parseReports(['junit=a/out.xml', 'json=out.json'], cwd);
    rmSync(join(cwd, 'a'), { recursive: true });
    await expect(writeReports(wanted, sampleReport(), (text) => text)).rejects.toThrow(
      /out\.xml cannot be written \(ENOENT\)/,
    );
    expect(readdirSync(cwd)).toEqual(['out.json']);
  });

  it('behind a link replace the link, not what it leads to', async () => {
    writeFileSync(join(cwd, 'target'), 'kept');
    symlinkSync('target', join(cwd, 'out.json'));
    await write(['json=out.json']);
    expect(readFileSync(join(cwd, 'target'), 'utf8')).toBe('kept');
  });
});

it("a job's summary is added to what is there", () => {
  writeFileSync(join(cwd, 'summary.md'), 'before\n');
  appendSummary(join(cwd, 'summary.md'), 'after\n');
  expect(readFileSync(join(cwd, 'summary.md'), 'utf8')).toBe('before\nafter\n');
  expect(() => appendSummary(cwd, 'x')).toThrow(/cannot be written \(EISDIR\)/);
});
