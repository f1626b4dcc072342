import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The repository. */
export const root = join(import.meta.dirname, '..', '..');

/**
 * A fenced block of a page. After its language, `no-run` says that it cannot run here, `fails` that it shows a failure, and a word with a dot names the
 * file that it is.
 */
export interface Block {
  /** Page and line, for the title of a test. */
  readonly place: string;
  readonly language: string;
  readonly runs: boolean;
  readonly fails: boolean;
  readonly file: string | undefined;
  readonly text: string;
}

/** Every page that is written for people, by its path. */
export const pages: readonly string[] = [
  ...readdirSync(root),
  ...['docs', 'bench', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  ),
]
  .filter((path) => path.endsWith('.md') && !path.includes('node_modules/'))
  .sort();

/** The text of a page. */
export function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

/** All fenced blocks of a page that name a language, in order. */
export function blocksOf(page: string): Block[] {
  const text = textOf(page);
  return [...text.matchAll(/^( *)```(\w+)([^\n]*)\n(.*?)^\1```$/gms)].map((found) => {
    const [, indent = '', language = '', info = '', body = ''] = found;
    const words = info.trim().split(/\s+/);
    return {
      place: `${page}:${text.slice(0, found.index).split('\n').length}`,
      language,
      runs: !words.includes('no-run'),
      fails: words.includes('fails'),
      file: words.find((word) => word.includes('.')),
      text: body.replace(new RegExp(`^${indent}`, 'gm'), ''),
    };
  });
}

/** Pages for those who work on the code: their commands take minutes, or change the machine. */
export function isForDevelopers(page: string): boolean {
  return /^(?:CONTRIBUTING|SECURITY|CHANGELOG|bench\/.*|docs\/(?:architecture|decisions|dependencies|faults|mutants))\.md/.test(
    page,
  );
}
