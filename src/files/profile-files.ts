import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { DataFile } from '../config/load-variables.ts';
import type { Source } from '../config/variables.ts';
import { OAuthProfileError } from '../errors.ts';
import type { Environment } from '../ports.ts';
import type { ProfileSources } from '../profile/parse-profile.ts';
import { readTextFile } from './read-text.ts';

/** What the process provides. */
export interface ProcessEnvironment {
  readonly env: Environment;
  /** Working directory. */
  readonly cwd: string;
}

const FILE_NAMES = ['oauth-profiles.yaml', 'oauth-profiles.yml', 'oauth-profiles.json'];

/** Finds the user's own profile file and the nearest one in the working directory or its parents, up to the repository root. */
export function findProfileFiles({ env, cwd }: ProcessEnvironment): {
  readonly user: DataFile | undefined;
  readonly directory: DataFile | undefined;
} {
  const configured = env['XDG_CONFIG_HOME'];
  // A relative path is ignored, as the XDG specification requires: it would turn the working directory's file into the user's own.
  const config = configured !== undefined && isAbsolute(configured) ? configured : join(homeDirectory(env), '.config');
  const userPath = fileIn(join(config, 'oauth-profile'));
  const directoryPath = findUpwards(cwd);
  // In the configuration directory itself, both are the same file.
  const isSame =
    userPath !== undefined && directoryPath !== undefined && realPath(userPath) === realPath(directoryPath);
  return {
    user: userPath === undefined ? undefined : readDataFile(userPath, userPath, 'user'),
    directory:
      directoryPath === undefined || isSame
        ? undefined
        : readDataFile(directoryPath, relative(cwd, directoryPath), 'directory'),
  };
}

function findUpwards(cwd: string): string | undefined {
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    const file = fileIn(directory);
    if (file !== undefined) return file;
    if (existsSync(join(directory, '.git')) || directory === dirname(directory)) return undefined;
  }
}

function fileIn(directory: string): string | undefined {
  const [first, second] = FILE_NAMES.map((name) => join(directory, name)).filter((path) => existsSync(path));
  if (second === undefined) return first;
  throw new OAuthProfileError('data_invalid', `${first} and ${second} both exist`, { hint: 'remove one of them' });
}

/** Reads a file that the caller named. */
export function readNamedFile(
  path: string,
  { cwd }: ProcessEnvironment,
  code: 'data_invalid' | 'script_invalid' = 'data_invalid',
): DataFile {
  const file = readDataFile(resolve(cwd, path), path, 'given');
  if (file !== undefined) return file;
  throw new OAuthProfileError(code, `file not found: ${path}`, {
    hint: code === 'data_invalid' ? 'check the path after --data' : 'check the path',
  });
}

function readDataFile(path: string, label: string, trust: Source['trust']): DataFile | undefined {
  const text = readTextFile(path, label);
  return text === undefined ? undefined : { text, source: { label, directory: dirname(path), trust } };
}

/** The environment variables and files that references and options of profiles may read. */
export function createProfileSources(environment: ProcessEnvironment): ProfileSources {
  const { env } = environment;
  // `cwd` is read at each call: a program may change its working directory.
  const locate = (path: string, source: Source): string =>
    resolve(environment.cwd, source.directory, path.startsWith('~/') ? join(homeDirectory(env), path.slice(2)) : path);
  return {
    env: (name) => (Object.hasOwn(env, name) ? env[name] : undefined),
    readOptionFile(path, source) {
      try {
        return readTextFile(locate(path, source), path);
      } catch {
        return undefined;
      }
    },
    readFileInside(path, source) {
      const file = locate(path, source);
      if (source.trust === 'directory') assertInside(file, resolve(environment.cwd, source.directory), path);
      return readTextFile(file, path);
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
  throw new OAuthProfileError('data_invalid', `\${file:${path}} is outside the directory of its profile file`, {
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
