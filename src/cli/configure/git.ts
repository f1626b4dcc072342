import { spawnSync } from 'node:child_process';
import { OAuthProfileError } from '../../errors.ts';
import type { Environment } from '../../ports.ts';
import { quoteShellArgument } from '../../profile/profile.ts';
import type { Target } from './target.ts';

/** The arguments of `git` that set the helper of the origins in the user's configuration, or remove it. */
export function planGitCommands({ profile, origins, program, flags, env, undo }: Target): string[][] {
  const words = [...program, 'credential', 'git', '--profile', profile, ...flags];
  const helper = `!${words.map(quoteShellArgument).join(' ')}`;
  const isOwn = (value: string): boolean =>
    value.startsWith('!') && `${value} `.includes(` credential git --profile ${profile} `);
  if (undo) {
    const keys = readConfig(['--name-only', '--get-regexp', '^credential\\..*\\.helper$'], env);
    return [...new Set(keys)].flatMap((key) => {
      const own = readConfig(['--get-all', key], env).filter(isOwn);
      return own.length === 0 ? [] : [...own.map((value) => unset(key, value)), ['--unset-all', key, '^$']];
    });
  }
  return origins.flatMap((origin) => {
    const key = `credential.${origin}.helper`;
    const values = readConfig(['--get-all', key], env);
    const own = values.filter(isOwn);
    if (own.length === 1 && own[0] === helper) return [];
    // The empty value removes the helpers of other configurations: they would store the token.
    const reset = values.includes('') ? [] : [['--add', key, '']];
    return [...own.map((value) => unset(key, value)), ...reset, ['--add', key, helper]];
  });
}

function unset(key: string, value: string): string[] {
  return ['--fixed-value', '--unset-all', key, value];
}

function readConfig(args: readonly string[], env: Environment): string[] {
  return runGitConfig(['--null', ...args], env)
    .split('\0')
    .slice(0, -1);
}

/** Runs `git config --global`. */
export function runGitConfig(args: readonly string[], env: Environment): string {
  const { status, stdout, stderr, error } = spawnSync('git', ['config', '--global', ...args], {
    env,
    encoding: 'utf8',
  });
  // 1: there is no such key.
  if (status === 0 || (status === 1 && args[0] === '--null')) return stdout;
  throw new OAuthProfileError('data_invalid', `git config failed: ${error?.message ?? stderr.trim()}`, {
    hint: 'check that git is installed and that its configuration is valid',
  });
}
