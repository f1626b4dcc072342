import { lstatSync, mkdtempSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Whether a directory exists or could be created. Tries it in the nearest existing parent and leaves nothing behind. */
export async function inspectDirectory(
  directory: string,
): Promise<'exists' | 'possible' | { readonly problem: string }> {
  if (exists(directory)) return 'exists';
  let parent = dirname(directory);
  while (!exists(parent) && parent !== dirname(parent)) parent = dirname(parent);
  try {
    rmdirSync(mkdtempSync(join(parent, '.oauth-profile-')));
    return 'possible';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `cannot be created: no permission to create a directory in ${parent} (${code})` };
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A parent is not a directory.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw error;
  }
}
