import { accessSync, appendFileSync, constants, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { OAuthProfileError } from '../errors.ts';
import type { Report } from '../script/reports/report.ts';
import { printable } from '../secret/printable.ts';
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
  const faults: string[] = [];
  const wanted = given.map((text) => {
    const end = text.indexOf('=');
    const [kind, file] = [text.slice(0, end), text.slice(end + 1)];
    if (end < 1 || file === '' || !Object.hasOwn(makers, kind)) faults.push(`--report ${printable(text)} is no report`);
    return { kind, file: resolve(cwd, file) };
  });
  if (faults.length > 0)
    throw usage(faults, `write --report KIND=FILE with KIND one of ${Object.keys(makers).join(', ')}`);
  for (const { file } of wanted) attempt(file, () => prepare(file));
  return wanted;
}

/** Writes the reports, whole or not at all, every secret masked. */
export async function writeReports(
  wanted: readonly Wanted[],
  report: Report,
  redact: (text: string) => string,
): Promise<void> {
  for (const { kind, file } of wanted) {
    const make = await makers[kind]?.();
    if (make === undefined) continue;
    const text = redact(make(report));
    attempt(file, () => replace(file, text));
  }
}

/** Adds to the page that GitHub Actions shows of a job. */
export function appendSummary(file: string, text: string): void {
  attempt(file, () => appendFileSync(file, text));
}

function prepare(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  accessSync(dirname(file), constants.W_OK);
}

function replace(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function attempt(file: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OAuthProfileError('usage', `the report ${printable(file)} cannot be written (${code})`, {
      cause: error,
      advice: 'choose a folder that you may write to',
    });
  }
}
