import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment } from '../../interactive/browser.ts';
import { type Context, warn } from '../context.ts';
import { renderError } from '../render-error.ts';
import { runChild, runtimeDirectory } from '../run-child.ts';
import { getTokenForCommand } from './token.ts';

/** Exit status of our own failures, as `env` and `timeout` use it. */
const OWN_FAILURE = 125;

/** `exec <profile> -- cmd …`: runs a command with the token in its environment and returns its exit status. */
export async function runExec(context: Context): Promise<number> {
  const { args, environment } = context;
  const [, command = '', ...commandArgs] = args.positionals;
  let directory: string | undefined;
  try {
    const { token, profile } = await getTokenForCommand(context);
    if (profile.dpopKey !== undefined)
      warn(context, 'the token is bound to a key (DPoP), which the command does not get: an API will reject it');
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
