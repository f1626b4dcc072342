import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { OAuthProfileError } from '../../errors.ts';
import { childEnvironment } from '../../interactive/browser.ts';
import type { Environment } from '../../ports.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import type { Context } from '../context.ts';
import { renderError } from '../render-error.ts';
import { getTokenForCommand } from './token.ts';

/** Exit status of our own failures, as `env` and `timeout` use it. */
const OWN_FAILURE = 125;
const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;

/** `exec <profile> -- cmd …`: runs a command with the token in its environment and returns its exit status. */
export async function runExec(context: Context): Promise<number> {
  const { args, environment } = context;
  const [, command = '', ...commandArgs] = args.positionals;
  let directory: string | undefined;
  try {
    const { token } = await getTokenForCommand(context);
    const value = token.accessToken.reveal();
    const env: NodeJS.ProcessEnv = { ...childEnvironment(environment.env), OAUTH_ACCESS_TOKEN: value };
    if (args.switches.has('token-file')) {
      directory = mkdtempSync(join(runtimeDirectory(environment.env), 'oauth-profile-'));
      const file = join(directory, 'token');
      writeFileSync(file, value, { mode: 0o600 });
      Object.assign(env, { OAUTH_ACCESS_TOKEN: undefined, OAUTH_ACCESS_TOKEN_FILE: file });
    }
    return await runChild(command, commandArgs, env);
  } catch (error) {
    const status = renderError(error, context);
    return status === 130 ? status : OWN_FAILURE;
  } finally {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  }
}

/** The user's runtime directory, which is in memory, if there is one. After `su`, the variable may name one that does not exist. */
function runtimeDirectory(env: Environment): string {
  const runtime = env['XDG_RUNTIME_DIR'] ?? '';
  return isAbsolute(runtime) && existsSync(runtime) ? runtime : tmpdir();
}

async function runChild(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
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
