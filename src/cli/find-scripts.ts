import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { printable } from '../secret/printable.ts';
import { usage } from './usage.ts';

/** The scripts that the arguments name, each once: files as they are, the scripts below a folder, and what a pattern (`*`, `**`, `?`) fits. */
export function findScripts(args: readonly string[], cwd: string): string[] {
  const found = new Set<string>();
  const empty: string[] = [];
  for (const arg of args) {
    const files = scriptsOf(arg, cwd);
    if (files.length === 0) empty.push(arg);
    for (const file of files) found.add(file);
  }
  if (empty.length > 0) {
    throw usage(
      empty.map((arg) => `${printable(arg)} holds no script`),
      'a script is a YAML file with steps: see oauth-profile run --help',
    );
  }
  return [...found];
}

function scriptsOf(arg: string, cwd: string): string[] {
  if (isFolder(resolve(cwd, arg))) return scriptsBelow(arg, cwd);
  if (!/[*?]/.test(arg) || exists(resolve(cwd, arg))) return [arg];
  const fixed = arg.slice(0, arg.search(/[*?]/)).replace(/[^/]*$/, '');
  const pattern = patternOf(arg);
  return filesBelow(fixed === '' ? '.' : fixed, cwd).filter((file) => pattern.test(file));
}

/** In a folder other YAML files may stand beside the scripts: profiles, data. */
function scriptsBelow(folder: string, cwd: string): string[] {
  return filesBelow(folder, cwd).filter(
    (file) => /\.ya?ml$/.test(file) && /^(?:steps|"steps"|'steps')\s*:/m.test(readFileSync(resolve(cwd, file), 'utf8')),
  );
}

function filesBelow(folder: string, cwd: string): string[] {
  const base = resolve(cwd, folder);
  if (!isFolder(base)) return [];
  return readdirSync(base, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(base, join(entry.parentPath ?? entry.path, entry.name)))
    .filter((file) => !file.split(sep).some((part) => part.startsWith('.') || part === 'node_modules'))
    .sort()
    .map((file) => join(folder, file).split(sep).join('/'));
}

/** `**` crosses folders, `*` and `?` do not. */
function patternOf(glob: string): RegExp {
  const source = glob.replace(/^\.\//, '').replace(/\*\*\/|\*\*|[*?]|[.+^${}()|[\]\\]/g, (part) => {
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
