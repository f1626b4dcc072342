import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** Whole-program tests run the built command line, so that they try what users get. */
export function setup(): void {
  const built = new URL('../../dist/cli.js', import.meta.url);
  if (!existsSync(built)) throw new Error('dist/ is missing: run npm run build first, or npm test, which does');
}

const entry = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href;

/** Runs a module in a child process, with the URL of the built library in `ENTRY`. It must succeed and end without being killed. */
export async function runModule(
  text: string,
  env: Record<string, string> = {},
): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', text], {
    env: { PATH: process.env['PATH'], ENTRY: entry, ...env },
    // Shorter than an attempt may take, so that a leaked timer fails the test.
    timeout: 8000,
    killSignal: 'SIGKILL',
  });
}
