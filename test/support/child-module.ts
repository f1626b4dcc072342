import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

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
