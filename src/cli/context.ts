import type { ProcessEnvironment } from '../files/profile-files.ts';
import { parseDuration } from '../profile/options.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { usageError } from './args.ts';
import { flagValue, hasFlag, type ParsedArgs } from './command.ts';
import type { Terminal } from './terminal.ts';

/** The environment, arguments and terminal of a command. */
export interface Context {
  readonly terminal: Terminal;
  readonly environment: ProcessEnvironment;
  readonly args: ParsedArgs;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
}

/** Prints a warning, unless `--quiet` is given. */
export function warn({ terminal, args }: Context, message: string): void {
  if (!hasFlag(args, 'quiet')) terminal.stderr(`${terminal.style.err.yellow('warning:')} ${message}\n`);
}

/** Prints a line for `--verbose`. */
export function logVerbose({ terminal, args }: Context, line: string): void {
  if (hasFlag(args, 'verbose')) terminal.stderr(`${terminal.style.err.dim(line)}\n`);
}

/** Parses a flag whose value is a duration. */
export function durationFlag({ args }: Context, name: string): number | undefined {
  const value = flagValue(args, name);
  if (value === undefined) return undefined;
  const ms = parseDuration(value);
  if (ms === undefined)
    throw usageError(
      `invalid --${name} "${escapeControls(value)}": expected a duration`,
      `write --${name} 30s or --${name} 5m`,
    );
  return ms;
}

/** Parses a flag whose value is a port. */
export function portFlag({ args }: Context, min: 0 | 1): number | undefined {
  const value = flagValue(args, 'port');
  if (value === undefined) return undefined;
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (!(port >= min && port <= 65_535))
    throw usageError(
      `invalid --port "${escapeControls(value)}": expected a number from ${min} to 65535`,
      'write --port 8912',
    );
  return port;
}

/** Throws if more than one of these flags is given. */
export function assertExclusive({ args }: Context, ...names: string[]): void {
  const given = names.filter((name) => hasFlag(args, name) || args.values.has(name));
  if (given.length > 1)
    throw usageError(`${given.map((name) => `--${name}`).join(' and ')} cannot be combined`, 'choose one');
}
