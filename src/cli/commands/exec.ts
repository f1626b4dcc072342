import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { OAuthProfileError } from '../../errors.ts';
import { childEnvironment } from '../../interactive/browser.ts';
import type { Environment } from '../../ports.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import type { Secret } from '../../redaction/secret.ts';
import { hasFlag } from '../command.ts';
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
  let handover: Handover | undefined;
  try {
    const { token } = await getTokenForCommand(context);
    handover = hasFlag(args, 'token-file')
      ? writeTokenFile(token.accessToken, environment.env)
      : { env: { OAUTH_ACCESS_TOKEN: token.accessToken.reveal() }, remove: () => {} };
    return await runChild(command, commandArgs, { ...childEnvironment(environment.env), ...handover.env });
  } catch (error) {
    const status = renderError(error, context);
    return status === 130 ? status : OWN_FAILURE;
  } finally {
    handover?.remove();
  }
}

/** How the child gets the token. */
interface Handover {
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

/** Writes a file with mode 0600, in the user's runtime directory (memory) if there is one. */
function writeTokenFile(token: Secret, env: Environment): Handover {
  const runtime = env['XDG_RUNTIME_DIR'] ?? '';
  // After `su`, the variable may name a directory that does not exist.
  const parent = isAbsolute(runtime) && existsSync(runtime) ? runtime : tmpdir();
  const directory = mkdtempSync(join(parent, 'oauth-profile-'));
  const file = join(directory, 'token');
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    writeFileSync(file, token.reveal(), { mode: 0o600 });
  } catch (error) {
    remove();
    throw error;
  }
  return { env: { OAUTH_ACCESS_TOKEN_FILE: file }, remove };
}

function runChild(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    // A terminal sends Ctrl-C to both processes; any other sender only to this one.
    const forward = (signal: NodeJS.Signals): void => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
    const child = spawn(command, args, { env, stdio: 'inherit' });
    const stopForwarding = (): void => {
      for (const signal of FORWARDED_SIGNALS) process.off(signal, forward);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      stopForwarding();
      const name = escapeControls(command);
      const message = error.code === 'ENOENT' ? `command not found: ${name}` : `cannot run ${name} (${error.code})`;
      reject(new OAuthProfileError('usage', message, { hint: 'check the name of the command and your PATH' }));
    });
    child.on('exit', (status, signal) => {
      stopForwarding();
      // As shells report a signal.
      resolve(status ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
