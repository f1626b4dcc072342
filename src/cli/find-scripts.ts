import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { normalize } from 'node:path/posix';
import { escapeControls } from '../redaction/sanitize.ts';
import { usage } from './usage.ts';

/** The scripts that the arguments name, each once: files as they are, the scripts below a folder, and what a pattern (`*`, `**`, `?`) fits. */
export function findScripts(args: readonly string[], cwd: string): string[] {
  const found = new Map<string, string>();
  const empty: string[] = [];
  for (const arg of args) {
    const files = scriptsOf(arg, cwd);
    if (files.length === 0) empty.push(arg);
    for (const file of files) {
      const path = resolve(cwd, file);
      if (!found.has(path)) found.set(path, file);
    }
  }
  if (empty.length > 0) {
    throw usage(
      empty.map((arg) => `${escapeControls(arg)} holds no script`),
      'a script is a YAML file with steps: see oauth-profile run --help',
    );
  }
  return [...found.values()];
}

function scriptsOf(arg: string, cwd: string): string[] {
  const path = resolve(cwd, arg);
  if (statOf(path)?.isDirectory()) return filesBelow(arg, cwd).filter((file) => isScript(resolve(cwd, file)));
  if (!/[*?]/.test(arg) || statOf(path) !== undefined) return [arg];
  const glob = normalize(arg);
  const fixed = glob.slice(0, glob.search(/[*?]/)).replace(/[^/]*$/, '');
  const pattern = patternOf(glob);
  return filesBelow(fixed === '' ? '.' : fixed, cwd).filter((file) => pattern.test(file));
}

/** In a folder other YAML files may stand beside the scripts: profiles, data. */
function isScript(path: string): boolean {
  if (!/\.ya?ml$/.test(path)) return false;
  try {
    return /^(?:steps|"steps"|'steps')\s*:/m.test(readFileSync(path, 'utf8'));
  } catch {
    // What cannot be read may be a script: whoever reads it says what is wrong.
    return true;
  }
}

/** All files below a folder, in the order of their paths; links lead to files, but not to further folders. */
function filesBelow(folder: string, cwd: string): string[] {
  const files: string[] = [];
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of entriesOf(next, cwd)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(next, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (statOf(resolve(cwd, path))?.isFile()) files.push(path);
    }
  }
  return files.sort();
}

function entriesOf(folder: string, cwd: string) {
  try {
    return readdirSync(resolve(cwd, folder), { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw usage([`${escapeControls(folder)}: cannot be read (${code})`], 'check that you may read the folder');
  }
}

/** `**` crosses folders, `*` and `?` do not. */
function patternOf(glob: string): RegExp {
  const source = glob.replace(/\*\*\/|\*\*|[*?]|[.+^${}()|[\]\\]/g, (part) => {
    switch (part) {
      case '**/':
        return '(?:.*/)?';
      case '**':
        return '.*';
      case '*':
        return '[^/]*';
      case '?':
        return '[^/]';
      default:
        return `\\${part}`;
    }
  });
  return new RegExp(`^${source}$`);
}

function statOf(path: string) {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
