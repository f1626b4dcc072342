import { accessSync, appendFileSync, constants, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createDirectories } from '../create-directories.ts';
import { OAuthProfileError } from '../errors.ts';
import { escapeControls } from '../redaction/printable.ts';
import type { Report } from '../script/reports/report.ts';
import { usage } from './usage.ts';

/** How each kind of report is made; loaded when it is asked for. */
const makers: Readonly<Record<string, () => Promise<(report: Report) => string>>> = {
  junit: async () => (await import('../script/reports/junit.ts')).junitReport,
  json: async () => (await import('../script/reports/json.ts')).jsonReport,
  html: async () => (await import('../script/reports/html.ts')).htmlReport,
};

/** A report that was asked for. */
interface Wanted {
  readonly kind: string;
  readonly file: string;
}

/** Understands `--report junit=out.xml`, and finds out now whether the files can be written: after a long run it would be too late. */
export function parseReports(given: readonly string[], cwd: string): Wanted[] {
  const issues: string[] = [];
  const files = new Set<string>();
  const wanted = given.map((text) => {
    const end = text.indexOf('=');
    const kind = text.slice(0, end);
    const file = resolve(cwd, text.slice(end + 1));
    if (end < 1 || end === text.length - 1 || !Object.hasOwn(makers, kind))
      issues.push(`--report ${escapeControls(text)} is no report`);
    else if (files.has(file)) issues.push(`two reports would be written to ${escapeControls(text.slice(end + 1))}`);
    files.add(file);
    return { kind, file };
  });
  if (issues.length > 0)
    throw usage(issues, `write --report KIND=FILE with KIND one of ${Object.keys(makers).join(', ')}`);
  for (const { file } of wanted) attempt(file, () => prepare(file));
  return wanted;
}

/** Writes the reports, each whole or not at all, every secret masked; one that fails does not keep the others from being written. */
export async function writeReports(
  wanted: readonly Wanted[],
  report: Report,
  redact: (text: string) => string,
): Promise<void> {
  const failures: unknown[] = [];
  for (const { kind, file } of wanted) {
    const make = await makers[kind]?.();
    if (make === undefined) continue;
    const text = redact(make(report));
    try {
      attempt(file, () => replace(file, text));
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Adds to the page that GitHub Actions shows of a job. */
export function appendSummary(file: string, text: string): void {
  attempt(file, () => appendFileSync(file, text));
}

function prepare(file: string): void {
  createDirectories(dirname(file));
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
  if (found !== undefined && !found.isFile()) accessSync(file, constants.W_OK);
  else withTemporary(`${file}.${process.pid}.tmp`, '', () => {});
}

function replace(file: string, text: string): void {
  // A pipe or a device, such as /dev/stdout, is written to, not replaced.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) {
    writeFileSync(file, text);
    return;
  }
  const temporary = `${file}.${process.pid}.tmp`;
  withTemporary(temporary, text, () => renameSync(temporary, file));
}

/** Writes a file that does not outlive its use. */
function withTemporary(temporary: string, text: string, use: () => void): void {
  try {
    // What stands there is left over, or a link that somebody laid in a folder of everybody's.
    rmSync(temporary, { force: true });
    writeFileSync(temporary, text, { flag: 'wx' });
    use();
  } finally {
    rmSync(temporary, { force: true });
  }
}

function attempt(file: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OAuthProfileError('usage', `the report ${escapeControls(file)} cannot be written (${code})`, {
      cause: error,
      hint: 'choose a file in a folder that you may write to',
    });
  }
}
