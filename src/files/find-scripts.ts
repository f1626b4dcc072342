import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { normalize } from 'node:path/posix';
import { OAuthProfileError } from '../errors.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { readTextFile } from './read-file.ts';

/**
 * Finds the scripts that the arguments name: files, all scripts below a directory, and glob patterns (`*`, `**`, `?`). Each script is returned
 * once. `skipped` receives the YAML files of directories that are not scripts.
 */
export function findScripts(args: readonly string[], cwd: string, skipped: string[] = []): string[] {
  const found = new Map<string, string>();
  const empty: string[] = [];
  for (const arg of args) {
    const files = scriptsOf(arg, cwd, skipped);
    if (files.length === 0) empty.push(arg);
    for (const file of files) {
      const path = resolve(cwd, file);
      if (!found.has(path)) found.set(path, file);
    }
  }
  if (empty.length > 0) {
    const message = empty.map((arg) => `no script found in ${escapeControls(arg)}`).join('; ');
    throw new OAuthProfileError('usage', message, {
      hint: 'a script is a YAML file with steps: see oauth-profile run --help',
    });
  }
  return [...found.values()];
}

function scriptsOf(arg: string, cwd: string, skipped: string[]): string[] {
  const path = resolve(cwd, arg);
  if (statOf(path)?.isDirectory()) {
    return filesBelow(arg, cwd).filter((file) => {
      const isYaml = /\.ya?ml$/.test(file);
      const isMeant = isYaml && isScript(resolve(cwd, file));
      if (isYaml && !isMeant) skipped.push(file);
      return isMeant;
    });
  }
  if (!/[*?]/.test(arg) || statOf(path) !== undefined) return [arg];
  const glob = normalize(arg);
  const fixed = glob.slice(0, glob.search(/[*?]/)).replace(/[^/]*$/, '');
  const pattern = patternOf(glob);
  return filesBelow(fixed === '' ? '.' : fixed, cwd).filter((file) => pattern.test(file));
}

/** A directory may also contain other YAML files, such as profiles and rows. A file with a mistake, such as `step:`, is still meant as a script. */
const SCRIPT_KEY =
  /^["']?(?:steps?|data|setup)["']?\s*:|^\s*(?:- +)?["']?(?:ws|base|json|xml|number)\.[A-Za-z]\w*["']?\s*:/m;

function isScript(path: string): boolean {
  try {
    return SCRIPT_KEY.test(readTextFile(path, path) ?? '');
  } catch {
    // The parser reports why it cannot be read.
    return true;
  }
}

/** All files below a directory, sorted by path. Links to files are followed, links to directories are not. */
function filesBelow(directory: string, cwd: string): string[] {
  const files: string[] = [];
  const queue = [directory];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const entry of entriesOf(next, cwd)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(next, entry.name);
      if (entry.isDirectory()) queue.push(path);
      else if (statOf(resolve(cwd, path))?.isFile()) files.push(path);
    }
  }
  return files.sort();
}

function entriesOf(directory: string, cwd: string) {
  try {
    return readdirSync(resolve(cwd, directory), { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw new OAuthProfileError('usage', `cannot read ${escapeControls(directory)} (${code})`, {
      hint: 'check the permissions of the directory',
    });
  }
}

/** `**` crosses directories, `*` and `?` do not. */
function patternOf(glob: string): RegExp {
  const wildcards: Record<string, string> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
  const source = glob.replace(/\*\*\/?|[*?]|[.+^${}()|[\]\\]/g, (part) => wildcards[part] ?? `\\${part}`);
  return new RegExp(`^${source}$`);
}

function statOf(path: string) {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
