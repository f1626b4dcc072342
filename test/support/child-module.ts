import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const entry = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href;

/** Runs a module in a process of its own, with the built library's address in `ENTRY`; it must succeed and end by itself. */
export async function runModule(
  text: string,
  env: Record<string, string> = {},
): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', text], {
    env: { PATH: process.env['PATH'], ENTRY: entry, ...env },
    // Shorter than an attempt may take, so that a forgotten timer shows.
    timeout: 8000,
    killSignal: 'SIGKILL',
  });
}
