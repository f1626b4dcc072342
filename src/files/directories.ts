import { mkdirSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

const DIRECTORIES = {
  config: { variable: 'XDG_CONFIG_HOME', defaultPath: ['.config'] },
  data: { variable: 'XDG_DATA_HOME', defaultPath: ['.local', 'share'] },
} as const;

/** Directory of this program for the user's configuration or data (XDG Base Directory Specification); `undefined` without a home directory. */
export function findUserDirectory(
  kind: keyof typeof DIRECTORIES,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { variable, defaultPath } = DIRECTORIES[kind];
  const xdg = env[variable];
  // The specification requires relative paths to be ignored.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'oauth-profile');
  const home = [env['HOME'], env['USERPROFILE']].find((path) => path !== undefined && isAbsolute(path));
  return home && join(home, ...defaultPath, 'oauth-profile');
}

/**
 * Creates a directory and its missing parents. Returns the topmost directory that it created. (The `recursive` option of `mkdirSync` does not
 * return where the system does not allow new directories, such as in /proc.)
 */
export function createDirectory(directory: string, mode = 0o777): string | undefined {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const parent = dirname(directory);
  const created = parent === directory ? undefined : createDirectory(parent, mode);
  try {
    mkdirSync(directory, mode);
    return created ?? directory;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // Another process may have created it in the meantime.
    if (statSync(directory).isDirectory()) return created;
    throw Object.assign(new Error(`${directory} is not a directory`, { cause: error }), {
      code: 'ENOTDIR',
      syscall: 'mkdir',
    });
  }
}
