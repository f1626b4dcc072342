import { chmodSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { OAuthProfileError } from '../../errors.ts';
import { createDirectory } from '../../files/directories.ts';
import { commonEnds } from '../../script/reports/diff-lines.ts';

/** A change of one file. */
export interface FileEdit {
  readonly path: string;
  /** `undefined` if the file does not exist. */
  readonly before: string | undefined;
  /** `undefined` to delete the file. */
  readonly after: string | undefined;
  /** Mode of a new file. An existing file keeps its mode. */
  readonly mode: number;
  /** Formats the content for {@link describeEdit}, so that a different layout is not shown as a change. */
  readonly normalize?: (text: string) => string;
}

/** Reads a file and plans its change. */
export function planEdit(
  path: string,
  change: (text: string | undefined) => string | undefined,
  mode = 0o600,
): FileEdit {
  const before = withFileErrors(path, () => readIfExists(path));
  return { path, before, after: change(before), mode };
}

/** Whether the edit changes anything. */
export function hasChange({ before, after }: FileEdit): boolean {
  return before !== after;
}

/** The removed and added lines, after the name of the file. Secrets in other lines are not shown. */
export function describeEdit({ path, before, after, normalize = String }: FileEdit): string {
  const toLines = (text: string | undefined): string[] => (text ? normalize(text).split('\n') : []);
  const [old, next] = [toLines(before), toLines(after)];
  const [start, end] = commonEnds(old, next);
  const lines = [
    ...old.slice(start, old.length - end).map((line) => `  - ${line}`),
    ...next.slice(start, next.length - end).map((line) => `  + ${line}`),
  ];
  return `${path}\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** Replaces the file in one step, so that no other program reads a part of it. The file that a link points to is replaced. */
export function applyEdit({ path, before, after, mode }: FileEdit): void {
  withFileErrors(path, () => {
    if (after === undefined) {
      rmSync(path, { force: true });
      return;
    }
    createDirectory(dirname(path));
    const target = before === undefined ? path : realpathSync(path);
    const temporary = `${target}.${process.pid}.part`;
    try {
      writeFileSync(temporary, after, { mode: 0o600, flag: 'wx' });
      // Not affected by the umask.
      chmodSync(temporary, before === undefined ? mode : statSync(target).mode & 0o777);
      renameSync(temporary, target);
    } finally {
      rmSync(temporary, { force: true });
    }
  });
}

function readIfExists(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) throw Object.assign(new Error(), { code: 'not a regular file' });
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function withFileErrors<T>(path: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new OAuthProfileError('data_invalid', `cannot change ${path} (${code})`, {
      cause: error,
      hint: 'check its permissions',
    });
  }
}
