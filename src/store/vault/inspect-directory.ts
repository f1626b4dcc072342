import { lstatSync, mkdtempSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Whether a folder is there, or could be made: that is tried where it would begin, and leaves nothing. */
export async function probeFolder(folder: string): Promise<'there' | 'possible' | { readonly problem: string }> {
  if (isThere(folder)) return 'there';
  let parent = dirname(folder);
  while (!isThere(parent) && parent !== dirname(parent)) parent = dirname(parent);
  try {
    rmdirSync(mkdtempSync(join(parent, '.oauth-profile-')));
    return 'possible';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `cannot be made: ${parent} takes no new folder (${code})` };
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // Something else than a folder stands on the way.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw error;
  }
}
