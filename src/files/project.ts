import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readTextFile } from './read-file.ts';

/** Maximum time for git to name the commit, in milliseconds. */
const GIT_TIMEOUT_MS = 2_000;

/** The project that a run belongs to. */
export interface Project {
  /** Name in the nearest package.json of the repository, else the name of its root; without a repository, of the directory. */
  readonly project: string;
  /** Full hash of the commit that is checked out; omitted without git. */
  readonly commit?: string;
}

/** Describes the project of a directory. Never fails: what cannot be read is omitted. */
export async function describeProject(directory: string): Promise<Project> {
  const commit = await readCommit(directory);
  return { project: projectName(directory), ...(commit !== undefined && { commit }) };
}

function projectName(start: string): string {
  const root = parents(start).find((directory) => existsSync(join(directory, '.git'))) ?? start;
  const inside = parents(start).filter((directory) => directory.length >= root.length);
  return inside.map(packageName).find((name) => name !== undefined) ?? basename(root);
}

/** Returns a directory and all of its parents, the nearest first. */
function parents(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...parents(parent)];
}

function packageName(directory: string): string | undefined {
  try {
    const file = join(directory, 'package.json');
    const { name } = JSON.parse(readTextFile(file, file) ?? '');
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch {
    return undefined;
  }
}

async function readCommit(directory: string): Promise<string | undefined> {
  try {
    // Loaded here, because it loads the network modules of Node.
    const { execFile } = await import('node:child_process');
    const { stdout } = await promisify(execFile)('git', ['-C', directory, 'rev-parse', '--verify', 'HEAD'], {
      timeout: GIT_TIMEOUT_MS,
    });
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
