import { existsSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../../ports.ts';
import { quoteShellArgument } from '../../profile/profile.ts';
import { usageError } from '../args.ts';
import type { Context } from '../context.ts';

/** The profile that a tool is configured for, and how the tool runs this program. */
export interface Target {
  readonly profile: string;
  readonly origins: readonly string[];
  readonly env: Environment;
  readonly home: string;
  /** This program: its name if it is on the PATH, else Node and the path of its script. */
  readonly program: readonly string[];
  /** Flags that a tool repeats at each call: `--data`, `--env-file`, `--token`. */
  readonly flags: readonly string[];
  readonly undo: boolean;
}

/** Collects what the tools need. Paths are absolute, because tools run in any directory. */
export function createTarget(name: string, origins: readonly string[], { args, environment }: Context): Target {
  const { env, cwd } = environment;
  // The name is part of file names, and of lines of formats with different rules for quotes.
  if (!/^[\w.-]+$/.test(name))
    throw usageError(
      `the name ${name} cannot be part of a file name`,
      'rename the profile: use letters, digits, . _ -',
    );
  const home = [env['HOME'], env['USERPROFILE']].find((path) => path !== undefined && isAbsolute(path));
  if (home === undefined) throw usageError('the home directory is unknown', 'set HOME');
  const repeat = (flag: string, convert: (value: string) => string): string[] =>
    (args.values.get(flag) ?? []).flatMap((value) => [`--${flag}`, convert(value)]);
  const absolute = (path: string): string => resolve(cwd, path);
  const isOnPath = (env['PATH'] ?? '')
    .split(delimiter)
    .some((directory) => isAbsolute(directory) && existsSync(join(directory, 'oauth-profile')));
  return {
    profile: name,
    origins,
    env,
    home,
    program: isOnPath ? ['oauth-profile'] : [process.execPath, process.argv[1] ?? ''],
    flags: [...repeat('data', absolute), ...repeat('env-file', absolute), ...repeat('token', String)],
    undo: args.switches.has('undo'),
  };
}

/** The origins without a wildcard, for tools that need host names. */
export function requireOrigins({ profile, origins, undo }: Target): readonly URL[] {
  const exact = origins.filter((origin) => !origin.includes('*'));
  if (exact.length > 0 || undo) return exact.map((origin) => new URL(origin));
  throw usageError(
    `${profile} has no origin that this tool can use`,
    `set ${profile}.options.origins to the origin of the server, such as https://registry.example.com`,
  );
}

/** An executable that tools can run which pass no arguments of their own. */
export function shimText({ profile, program, flags }: Target, tool: string, protocol: string): string {
  const words = [...program, 'credential', protocol, '--profile', profile, ...flags].map(quoteShellArgument);
  return `#!/bin/sh\n# Written by: oauth-profile configure ${tool} ${profile}\nexec ${words.join(' ')} "$@"\n`;
}

/** Directory of the user's executables (XDG Base Directory Specification). */
export function shimPath({ home }: Target, name: string): string {
  return join(home, '.local', 'bin', name);
}
