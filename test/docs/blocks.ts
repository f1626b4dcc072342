import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Root directory of the repository. */
export const root = join(import.meta.dirname, '..', '..');

/**
 * A fenced block of a page. After its language, `no-run` means that it cannot run in a test, `background` that it runs in a terminal of its own
 * as long as the page is read, `fails` that it shows a failure, `needs-pyjwt` that it runs only with PyJWT, and a word with a dot is the name of
 * the file that it shows.
 */
export interface Block {
  /** Page and line, for test titles. */
  readonly place: string;
  readonly language: string;
  readonly runs: boolean;
  readonly isBackground: boolean;
  readonly fails: boolean;
  readonly file: string | undefined;
  /** Whether it needs PyJWT, which is not a package of npm. */
  readonly needsPyJwt: boolean;
  readonly text: string;
}

/** Paths of all pages. */
export const pages: readonly string[] = [
  ...readdirSync(root),
  ...['docs', 'bench', 'examples'].flatMap((directory) =>
    readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' }).map((path) => `${directory}/${path}`),
  ),
]
  .filter((path) => path.endsWith('.md') && !path.includes('node_modules/'))
  .sort();

/** Reads a page. */
export function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

/** All fenced blocks of a page that name a language, in order. */
export function blocksOf(page: string): Block[] {
  const text = readPage(page);
  return [...text.matchAll(/^( *)```(\w+)([^\n]*)\n(.*?)^\1```$/gms)].map((found) => {
    const [, indent = '', language = '', info = '', body = ''] = found;
    const words = info.trim().split(/\s+/);
    return {
      place: `${page}:${text.slice(0, found.index).split('\n').length}`,
      language,
      runs: !words.includes('no-run'),
      isBackground: words.includes('background'),
      fails: words.includes('fails'),
      file: words.find((word) => word.includes('.')),
      needsPyJwt: words.includes('needs-pyjwt'),
      text: body.replace(new RegExp(`^${indent}`, 'gm'), ''),
    };
  });
}

/** Whether a page is for contributors. Its commands take minutes or change the machine, so they are not run. */
export function isForDevelopers(page: string): boolean {
  return /^(?:CONTRIBUTING|SECURITY|CHANGELOG|bench\/.*|docs\/contributing\/.*|docs\/explanation\/(?:architecture|decisions)|docs\/dependencies)\.md/.test(
    page,
  );
}
