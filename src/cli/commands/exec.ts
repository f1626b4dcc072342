import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { autoRefresh, type FreshToken } from '../../flows/auto-refresh.ts';
import { childEnvironment } from '../../interactive/browser.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import { type ParsedArgs, usageError } from '../args.ts';
import type { Context } from '../context.ts';
import { renderError } from '../render-error.ts';
import { runChild, runtimeDirectory } from '../run-child.ts';
import { type OpenClient, withClient } from '../with-client.ts';
import { warnIfEmulated } from './token.ts';
import { freshTokens, writeTokenFile } from './watch.ts';

/** Exit status of our own failures, as `env` and `timeout` use it. */
const OWN_FAILURE = 125;

/** `exec <profile…> -- cmd …`: runs a command with the tokens in its environment and returns its exit status. */
export async function runExec(context: Context): Promise<number> {
  try {
    const { profiles, command } = splitArguments(context.args);
    if (context.args.switches.has('proxy')) {
      const { runWithProxy } = await import('./exec-proxy.ts');
      return await withClient(context, (open) => runWithProxy(context, open, profiles, command));
    }
    const suffixes = variableSuffixes(profiles);
    return await withClient(context, (open) => runWithTokens(context, open, suffixes, command));
  } catch (error) {
    const status = renderError(error, context);
    return status === 130 ? status : OWN_FAILURE;
  }
}

/** With `--token-file`, each file is replaced before its token expires, as long as the command runs. */
async function runWithTokens(
  context: Context,
  open: OpenClient,
  suffixes: ReadonlyMap<string, string>,
  [command = '', ...args]: readonly string[],
): Promise<number> {
  const env: NodeJS.ProcessEnv = { ...childEnvironment(context.environment.env) };
  const withFiles = context.args.switches.has('token-file');
  const directory = withFiles ? mkdtempSync(join(runtimeDirectory(env), 'oauth-profile-')) : undefined;
  // A command that handles SIGTERM still needs a token, so only its end stops the updates.
  const ended = new AbortController();
  const updates: Promise<void>[] = [];
  try {
    for (const [profile, suffix] of suffixes) {
      const source = freshTokens(context, open, profile);
      const first = await source.getToken(context.signal);
      if (directory === undefined) {
        env[`OAUTH_ACCESS_TOKEN${suffix}`] = first.value.reveal();
        continue;
      }
      const file = join(directory, `token${suffix}`);
      writeTokenFile(file, first.value);
      Object.assign(env, { OAUTH_ACCESS_TOKEN: undefined, [`OAUTH_ACCESS_TOKEN_FILE${suffix}`]: file });
      const onToken = ({ value }: FreshToken): void => writeTokenFile(file, value);
      const update = autoRefresh(first, { ...source, signal: ended.signal, onToken }).catch((error) => {
        if (ended.signal.aborted) return;
        renderError(error, context);
        context.terminal.flush();
      });
      updates.push(update);
    }
    warnIfEmulated(context, open);
    return await runChild(command, args, env);
  } finally {
    ended.abort();
    await Promise.all(updates);
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  }
}

/** The profiles, and the command with its arguments. Without `--`, the first argument is the profile. */
function splitArguments({ positionals, command }: ParsedArgs): { profiles: string[]; command: readonly string[] } {
  if (command.length === 0) return { profiles: positionals.slice(0, 1), command: positionals.slice(1) };
  const profiles = positionals.slice(0, -command.length);
  if (profiles.length === 0)
    throw usageError('missing argument: <profile…>', 'write oauth-profile exec <profile> -- …');
  return { profiles, command };
}

/** The end of the variable's name for each profile: none for a single profile, `_MY_API` for my-api. */
function variableSuffixes(profiles: readonly string[]): ReadonlyMap<string, string> {
  if (profiles.length === 1) return new Map([[profiles[0] ?? '', '']]);
  const bySuffix = new Map<string, string>();
  for (const profile of profiles) {
    const suffix = `_${profile.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}`;
    const other = bySuffix.get(suffix);
    if (other !== undefined)
      throw usageError(
        `the tokens of ${escapeControls(other)} and ${escapeControls(profile)} have the same variable, OAUTH_ACCESS_TOKEN${suffix}`,
        'give each profile once, and rename one if their names differ only in case or punctuation',
      );
    bySuffix.set(suffix, profile);
  }
  return new Map([...bySuffix].map(([suffix, profile]) => [profile, suffix]));
}
