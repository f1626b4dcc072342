import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory and its missing parents; returns the topmost one that it created. Node's `recursive` option never returns if a parent exists
 * but cannot have subdirectories, as in `/proc` (Node 20).
 */
export function createDirectories(directory: string, mode = 0o777): string | undefined {
  if (existsSync(directory)) return undefined;
  const topmost = createDirectories(dirname(directory), mode);
  try {
    mkdirSync(directory, mode);
    return topmost ?? directory;
  } catch (error) {
    // Another process may have created it at the same time.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return topmost;
  }
}
