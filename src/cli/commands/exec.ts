import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { OAuthProfileError } from '../../errors.ts';
import type { Environment } from '../../ports.ts';
import { childEnvironment } from '../../interactive/child-environment.ts';
import { escapeControls } from '../../redaction/printable.ts';
import type { Context } from '../context.ts';
import { renderError } from '../render-error.ts';
import { obtain } from './token.ts';

/** Our own failures, apart from everything that the child may answer; as `env` and `timeout` do. */
const OWN_FAILURE = 125;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;

/** `exec <profile> -- cmd …`: the child finds the token in its environment, and its status is ours. */
export async function run(context: Context): Promise<number> {
  const { call, terminal, surroundings } = context;
  const [, command = '', ...args] = call.positionals;
  let handover: Handover | undefined;
  try {
    const { reply } = await obtain(context);
    handover = call.switches.has('token-file')
      ? writeFile(reply.accessToken, surroundings.env)
      : inVariable(reply.accessToken);
    return await runChild(command, args, { ...childEnvironment(surroundings.env), ...handover.env });
  } catch (error) {
    const status = renderError(error, terminal, call.switches.has('json'), call.switches.has('verbose'), call);
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

type Token = Awaited<ReturnType<typeof obtain>>['reply']['accessToken'];

function inVariable(token: Token): Handover {
  return { env: { OAUTH_ACCESS_TOKEN: token.reveal() }, remove: () => {} };
}

/** In memory where the system has a file system for that, else among the temporary files; for this user alone. */
function writeFile(token: Token, env: Environment): Handover {
  const runtime = env['XDG_RUNTIME_DIR'] ?? '';
  // The variable outlives its folder where somebody changes to another user, and a relative path would be the working folder's.
  const parent = isAbsolute(runtime) && existsSync(runtime) ? runtime : tmpdir();
  const folder = mkdtempSync(join(parent, 'oauth-profile-'));
  const file = join(folder, 'token');
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
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
    // A terminal sends Ctrl-C to both of us; who else sends a signal sends it to us alone.
    const forward = (signal: NodeJS.Signals): void => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    // Before the child begins: what it does first may be to have us signalled.
    for (const signal of SIGNALS) process.on(signal, forward);
    const child = spawn(command, args, { env, stdio: 'inherit' });
    const done = (): void => {
      for (const signal of SIGNALS) process.off(signal, forward);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      done();
      const why = error.code === 'ENOENT' ? 'is not there' : `cannot be run (${error.code})`;
      reject(
        new OAuthProfileError('usage', `the command ${escapeControls(command)} ${why}`, {
          hint: 'check its name and your PATH',
        }),
      );
    });
    child.on('exit', (status, signal) => {
      done();
      // As a shell tells it.
      resolve(status ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
