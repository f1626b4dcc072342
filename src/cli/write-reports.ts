import { accessSync, appendFileSync, constants, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { OAuthProfileError } from '../errors.ts';
import { createDirectory } from '../files/directories.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import type { Report } from '../script/reports/report.ts';
import { usageError } from './args.ts';

/** Loads the writer of each kind of report. */
const writers = {
  junit: async () => (await import('../script/reports/junit.ts')).junitReport,
  json: async () => (await import('../script/reports/json.ts')).jsonReport,
  html: async () => (await import('../script/reports/html.ts')).htmlReport,
};

/** A requested report. */
interface RequestedReport {
  readonly kind: keyof typeof writers;
  readonly file: string;
}

/** Parses `--report junit=out.xml` and checks that the files can be written, before a long run starts. */
export function parseReports(given: readonly string[], cwd: string): RequestedReport[] {
  const issues: string[] = [];
  const files = new Set<string>();
  const reports = given.map((text) => {
    const end = text.indexOf('=');
    const kind = text.slice(0, end);
    const file = resolve(cwd, text.slice(end + 1));
    if (end < 1 || end === text.length - 1 || !Object.hasOwn(writers, kind))
      issues.push(`invalid --report "${escapeControls(text)}"`);
    else if (files.has(file)) issues.push(`two reports would be written to ${escapeControls(text.slice(end + 1))}`);
    files.add(file);
    return { kind: kind as keyof typeof writers, file };
  });
  if (issues.length > 0)
    throw usageError(issues, `write --report KIND=FILE with KIND one of ${Object.keys(writers).join(', ')}`);
  for (const { file } of reports) {
    mapErrors(file, () => {
      createDirectory(dirname(file));
      replaceFile(file);
    });
  }
  return reports;
}

/** Writes each report completely or not at all, with secrets masked. A report that fails does not prevent the others. */
export async function writeReports(
  reports: readonly RequestedReport[],
  report: Report,
  redact: (text: string) => string,
): Promise<void> {
  const failures: unknown[] = [];
  for (const { kind, file } of reports) {
    const format = await writers[kind]();
    const text = redact(format(report));
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
