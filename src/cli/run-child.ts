import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { isAbsolute } from 'node:path';
import { OAuthProfileError } from '../errors.ts';
import type { Environment } from '../ports.ts';
import { escapeControls } from '../redaction/sanitize.ts';

const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;

/** The user's runtime directory, which is in memory, if there is one. After `su`, the variable may name one that does not exist. */
export function runtimeDirectory(env: Environment): string {
  const runtime = env['XDG_RUNTIME_DIR'] ?? '';
  return isAbsolute(runtime) && existsSync(runtime) ? runtime : tmpdir();
}

/** Runs a program with the terminal of this process and returns its exit status. */
export async function runChild(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  // A terminal sends Ctrl-C to both processes; any other sender only to this one.
  const forward = (signal: NodeJS.Signals): void => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
  const child = spawn(command, args, { env, stdio: 'inherit' });
  try {
    const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    // As shells report a signal.
    return status ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const name = escapeControls(command);
    const message = code === 'ENOENT' ? `command not found: ${name}` : `cannot run ${name} (${code})`;
    throw new OAuthProfileError('usage', message, { hint: 'check the name of the command and your PATH' });
  } finally {
    for (const signal of FORWARDED_SIGNALS) process.off(signal, forward);
  }
}
