import { dataError } from '../errors.ts';

/** Whether a directory contains a file or directory of this name. */
export type HasFile = (directory: string, name: string) => boolean;

/** The names of profile files. */
export const profileFileNames = ['oauth-profiles.yaml', 'oauth-profiles.yml', 'oauth-profiles.json'];

/** Returns the name of the profile file in a directory, if there is one. Two of them are an error. */
export function profileFileIn(directory: string, has: HasFile): string | undefined {
  const [first, second] = profileFileNames.filter((name) => has(directory, name));
  if (second === undefined) return first;
  throw dataError(`${directory} contains both ${first} and ${second}`, 'remove one of the two files');
}

/**
 * Finds the nearest profile file. `directories` are the working directory and its parents, nearest first; the search ends at the
 * repository root, which contains `.git`. Outside a repository only the working directory is searched: a parent such as `/tmp` may be
 * writable by other users.
 */
export function findProfileFile(
  directories: readonly string[],
  has: HasFile,
): { readonly directory: string; readonly name: string } | undefined {
  const root = directories.findIndex((directory) => has(directory, '.git'));
  for (const directory of directories.slice(0, Math.max(root, 0) + 1)) {
    const name = profileFileIn(directory, has);
    if (name !== undefined) return { directory, name };
  }
  return undefined;
}
