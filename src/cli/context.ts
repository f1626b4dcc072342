import type { ProcessEnvironment } from '../files/profile-files.ts';
import { parseDuration } from '../profile/options/options.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { invalidFlag, type ParsedArgs, usageError } from './args.ts';
import type { Terminal } from './terminal.ts';

/** The environment, arguments and terminal of a command. */
export interface Context {
  readonly terminal: Terminal;
  readonly environment: ProcessEnvironment;
  readonly command: string;
  readonly args: ParsedArgs;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
}

/** Prints a warning, unless `--quiet` is given. */
export function warn({ terminal, args }: Context, message: string): void {
  if (!args.switches.has('quiet'))
    terminal.stderr(`${terminal.style.err.yellow('warning:')} ${escapeControls(message)}\n`);
}

/** Prints a line for `--verbose`. */
export function logVerbose({ terminal, args }: Context, line: string): void {
  if (args.switches.has('verbose')) terminal.stderr(`${terminal.style.err.dim(escapeControls(line))}\n`);
}

/** Parses a flag whose value is a duration. */
export function durationFlag({ args }: Context, name: string): number | undefined {
  const value = args.values.get(name)?.[0];
  const ms = value === undefined ? undefined : parseDuration(value);
  if (value !== undefined && ms === undefined) throw invalidFlag(name, value, 'a duration', `30s or --${name} 5m`);
  return ms;
}

/** Parses a flag whose value is an integer. */
export function numberFlag(
  { args }: Context,
  name: string,
  [min, max]: readonly [number, number],
  example: string,
): number | undefined {
  const value = args.values.get(name)?.[0];
  if (value === undefined) return undefined;
  const number = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) throw invalidFlag(name, value, `a number from ${min} to ${max}`, example);
  return number;
}

/** Parses `--token`. */
export function tokenFlag({ args }: Context): 'access_token' | 'id_token' | undefined {
  const kind = args.values.get('token')?.[0];
  if (kind === undefined || kind === 'access_token' || kind === 'id_token') return kind;
  throw invalidFlag('token', kind, 'access_token or id_token', 'id_token');
}

/** Parses `--port`. */
export function portFlag(context: Context, min: 0 | 1): number | undefined {
  return numberFlag(context, 'port', [min, 65_535], '8912');
}

/** The profile to act on; `undefined` with `--all`. */
export function profileOrAll({ command, args }: Context): string | undefined {
  const [profile] = args.positionals;
  const all = args.switches.has('all');
  if ((profile === undefined) === all) return profile;
  throw usageError(
    all ? 'a profile and --all cannot be combined' : 'missing argument: <profile>',
    `write oauth-profile ${command} <profile>, or oauth-profile ${command} --all`,
  );
}

/** ISO 8601; `undefined` outside the range of dates, which a provider's `expires_in` may exceed. */
export function formatTime(ms: number | undefined): string | undefined {
  const date = new Date(ms ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Throws if more than one of these flags is given. */
export function assertExclusive({ args }: Context, ...names: string[]): void {
  const given = names.filter((name) => args.switches.has(name) || args.values.has(name));
  if (given.length > 1)
    throw usageError(`${given.map((name) => `--${name}`).join(' and ')} cannot be combined`, 'choose one');
}
