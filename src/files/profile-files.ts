import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { findProfileFile, type HasFile, profileFileIn, profileFileNames } from '../config/find-profile-file.ts';
import type { DataFile } from '../config/load-variables.ts';
import type { ExternalSources } from '../config/resolver.ts';
import type { Source } from '../config/variables.ts';
import { OAuthProfileError } from '../errors.ts';
import type { Environment } from '../ports.ts';
import { findUserDirectory } from './directories.ts';
import { readTextFile } from './read-file.ts';

/** Environment variables and working directory of a process. */
export interface ProcessEnvironment {
  readonly env: Environment;
  /** Working directory. */
  readonly cwd: string;
}

/** Finds the user's own profile file and, unless `ignoreDirectory` is set, that of the working directory or its repository. */
export function findProfileFiles(
  { env, cwd }: ProcessEnvironment,
  ignoreDirectory = false,
): {
  readonly user: DataFile | undefined;
  readonly directory: DataFile | undefined;
  /** A file in the working directory whose name is almost that of a profile file, if there is none. */
  readonly misnamed: string | undefined;
} {
  const has: HasFile = (directory, name) => existsSync(join(directory, name));
  const config = findUserDirectory('config', env);
  const userName = config && profileFileIn(config, has);
  const userPath = userName && join(config, userName);
  const found = ignoreDirectory ? undefined : findProfileFile(withParents(resolve(cwd)), has);
  const path = found && join(found.directory, found.name);
  // In the configuration directory itself, both are the same file.
  const isSame = userPath !== undefined && path !== undefined && realPath(userPath) === realPath(path);
  return {
    user: userPath === undefined ? undefined : readDataFile(userPath, userPath, 'user'),
    directory: path === undefined || isSame ? undefined : readDataFile(path, relative(cwd, path), 'directory'),
    misnamed: path === undefined && !ignoreDirectory ? findMisnamed(cwd) : undefined,
  };
}

function findMisnamed(directory: string): string | undefined {
  try {
    return readdirSync(directory).find((name) =>
      /^\.?o?auth[-_. ]?profiles?\.(?:ya?ml|json|env|properties)$/i.test(name),
    );
  } catch {
    return undefined;
  }
}

/** Returns the paths at which a profile file may exist: in the user's configuration directory, the working directory and its parents. */
export function profileFileCandidates({ env, cwd }: ProcessEnvironment): string[] {
  const directories = [findUserDirectory('config', env) ?? [], withParents(resolve(cwd))].flat();
  return directories.flatMap((directory) => profileFileNames.map((name) => join(directory, name)));
}

function withParents(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...withParents(parent)];
}

/** Reads a file that the caller named. */
export function readNamedFile(
  path: string,
  { cwd }: ProcessEnvironment,
  code: 'data_invalid' | 'script_invalid' = 'data_invalid',
): DataFile {
  const file = readDataFile(resolve(cwd, path), path, 'given');
  if (file !== undefined) return file;
  throw new OAuthProfileError(code, `file not found: ${path}`, { hint: 'check the path' });
}

function readDataFile(path: string, label: string, trust: Source['trust']): DataFile | undefined {
  const text = readTextFile(path, label);
  return text === undefined ? undefined : { text, source: { label, directory: dirname(path), trust } };
}

/** The environment variables and files that references and options of profiles may read. */
export function createProfileSources(environment: ProcessEnvironment): ExternalSources {
  const { env } = environment;
  // `cwd` is read at each call: a program may change its working directory.
  const locate = (path: string, source: Source): string =>
    resolve(environment.cwd, source.directory, path.startsWith('~/') ? join(homeDirectory(env), path.slice(2)) : path);
  return {
    env: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    readFileInside(path, source, encoding) {
      const file = locate(path, source);
      if (source.trust === 'directory') assertInside(file, resolve(environment.cwd, source.directory), path);
      return readTextFile(file, path, encoding);
    },
  };
}

/** A directory's profile file may not read files outside the directory, not even through a link. */
function assertInside(file: string, directory: string, path: string): void {
  const isInside = (inner: string, outer: string): boolean => {
    const way = relative(outer, inner);
    return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  };
  const real = realPath(file);
  if (isInside(file, directory) && (real === undefined || isInside(real, realPath(directory) ?? directory))) return;
  throw new OAuthProfileError('data_invalid', `file ${path} is outside the directory of the profile file`, {
    hint: 'move the file into that directory, or define the profile in a file that you pass with --data',
  });
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function homeDirectory(env: Environment): string {
  return [env['HOME'], env['USERPROFILE']].find((path) => path !== undefined && isAbsolute(path)) ?? sep;
}
