import { accessSync, appendFileSync, constants, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { OAuthProfileError } from '../../errors.ts';
import { createDirectory } from '../../files/directories.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { htmlReport } from './html.ts';
import { jsonReport } from './json.ts';
import { junitReport } from './junit.ts';
import type { Report } from './report.ts';

const writers = { junit: junitReport, json: jsonReport, html: htmlReport };

/** A report file to write. */
export interface ReportFile {
  readonly kind: keyof typeof writers;
  readonly file: string;
  /** Test cases of `junit`: one per script or one per step. Default: `scripts`. */
  readonly cases?: 'scripts' | 'steps' | undefined;
}

/** Parses `--report junit=out.xml` or `--report junit=out.xml,cases=steps`, and checks that the files can be written. */
export function parseReports(given: readonly string[], cwd: string): ReportFile[] {
  const issues: string[] = [];
  const reports = given.map((text) => {
    const [, kind = '', path = '', cases] = /^(\w+)=(.+?)(?:,cases=(scripts|steps))?$/s.exec(text) ?? [];
    if (!Object.hasOwn(writers, kind) || (cases !== undefined && kind !== 'junit') || /,cases=[^,]*$/.test(path))
      issues.push(`invalid --report "${escapeControls(text)}"`);
    return { kind, file: path, ...(cases !== undefined && { cases }) } as ReportFile;
  });
  if (issues.length === 0) return prepareReports(reports, cwd);
  throw new OAuthProfileError('usage', issues.join('; '), {
    hint: `write --report KIND=FILE with KIND one of ${Object.keys(writers).join(', ')}; junit=FILE,cases=steps writes one test case per step`,
  });
}

/** Checks that report files can be written, before a long run starts. Returns them with absolute paths. */
export function prepareReports(reports: readonly ReportFile[], cwd: string): ReportFile[] {
  const files = new Set<string>();
  const prepared = reports.map((report) => {
    const file = resolve(cwd, report.file);
    if (files.has(file))
      throw new OAuthProfileError('usage', `two reports would be written to ${escapeControls(report.file)}`, {
        hint: 'use a file for each report',
      });
    files.add(file);
    return { ...report, file };
  });
  for (const file of files) {
    mapErrors(file, () => {
      createDirectory(dirname(file));
      replaceFile(file);
    });
  }
  return prepared;
}

/** Writes each report completely or not at all, with secrets masked. A report that fails does not prevent the others. */
export function writeReports(reports: readonly ReportFile[], report: Report, redact: (text: string) => string): void {
  const failures: unknown[] = [];
  for (const { kind, file, cases } of reports) {
    const text = redact(writers[kind](report, { cases }));
    try {
      mapErrors(file, () => replaceFile(file, text));
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Appends to the job summary of GitHub Actions. */
export function appendSummary(file: string, text: string): void {
  mapErrors(file, () => appendFileSync(file, text));
}

/** Writes a file completely or not at all. Without `text`, only checks that it can be written. */
function replaceFile(file: string, text?: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
  // A pipe or a device such as /dev/stdout cannot be replaced.
  if (found?.isFile() === false) {
    if (text === undefined) accessSync(file, constants.W_OK);
    else writeFileSync(file, text);
    return;
  }
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    // An existing file is left over, or a link that another user placed in a shared directory.
    rmSync(temporary, { force: true });
    writeFileSync(temporary, text ?? '', { flag: 'wx' });
    if (text !== undefined) renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function mapErrors(file: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OAuthProfileError('usage', `cannot write the report ${escapeControls(file)} (${code})`, {
      cause: error,
      hint: 'choose a file in a directory that you can write to',
    });
  }
}
