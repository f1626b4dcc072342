import { parseArgs } from 'node:util';
import { closestMatch } from '../config/suggestions.ts';
import { OAuthProfileError } from '../errors.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import type { Command, ParsedArgs } from './command.ts';
import { commands, globalFlags } from './command-definitions.ts';

/** A parsed command line. */
export type ParsedCommandLine =
  | { readonly kind: 'run'; readonly command: Command; readonly args: ParsedArgs }
  | { readonly kind: 'help'; readonly command: Command | undefined }
  | { readonly kind: 'version' };

/** An error of the command line. Several issues become one message. */
export function usageError(issues: string | readonly string[], hint = 'see oauth-profile --help'): OAuthProfileError {
  return new OAuthProfileError('usage', typeof issues === 'string' ? issues : issues.join('; '), { hint });
}

/** Parses the command line. All issues are reported in one error. */
export function parseCommandLine(args: readonly string[]): ParsedCommandLine {
  const [first, ...rest] = args;
  if (first === '--help' || first === '-h') return { kind: 'help', command: undefined };
  if (first === '--version' || first === '-V') return { kind: 'version' };
  if (first === undefined) throw usageError('no command given');
  if (first === 'help') return { kind: 'help', command: rest[0] === undefined ? undefined : findCommand(rest[0]) };
  const command = findCommand(first);
  const end = rest.indexOf('--');
  const own = end < 0 ? rest : rest.slice(0, end);
  if (own.includes('--help') || own.includes('-h')) return { kind: 'help', command };
  return { kind: 'run', command, args: parseFlags(command, rest) };
}

function findCommand(name: string): Command {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const suggestion = closestMatch(
    name,
    commands.map((command) => command.name),
  );
  throw usageError(
    `unknown command "${withoutValue(name)}"`,
    suggestion === undefined ? undefined : `did you mean ${suggestion}?`,
  );
}

function parseFlags(command: Command, args: readonly string[]): ParsedArgs {
  const issues: string[] = [];
  const positionals: string[] = [];
  const switches = new Set<string>();
  const values = new Map<string, string[]>();
  const known = new Map([...command.flags, ...globalFlags].map((flag) => [flag.name, flag]));
  const options = Object.fromEntries(
    [...known.values()].map(({ name, value, optional }) => [
      name,
      { type: value === undefined || optional ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  // `parseArgs` would take the next flag as the value of a flag without one.
  const end = args.indexOf('--');
  const complete = args.filter((arg, index) => {
    const isFlag = arg.startsWith('--') && (end < 0 || index < end);
    const flag = isFlag ? known.get(arg.slice(2)) : undefined;
    const needsValue = flag?.value !== undefined && !flag.optional && /^--?[a-z]/.test(args[index + 1] ?? '');
    if (needsValue) issues.push(`--${flag.name} needs a value: --${flag.name} ${flag.value}`);
    return !needsValue;
  });
  const { tokens } = parseArgs({ args: complete, options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const flag = token.rawName.startsWith('--') ? known.get(token.name) : undefined;
    if (flag === undefined) {
      const suggestion = closestMatch(token.name, known.keys());
      const hint = suggestion === undefined ? '' : ` (did you mean --${suggestion}?)`;
      issues.push(`unknown flag ${withoutValue(token.rawName)}${hint}`);
    } else if (token.value === undefined) {
      if (flag.value === undefined || flag.optional) switches.add(flag.name);
      else issues.push(`--${flag.name} needs a value: --${flag.name} ${flag.value}`);
    } else if (flag.value === undefined) {
      issues.push(`--${flag.name} takes no value`);
    } else if (values.has(flag.name) && !flag.repeatable) {
      issues.push(`--${flag.name} is given twice`);
    } else {
      values.set(flag.name, [...(values.get(flag.name) ?? []), token.value]);
    }
  }
  issues.push(...checkPositionals(command, positionals));
  if (issues.length > 0) throw usageError(issues, `see oauth-profile ${command.name} --help`);
  return { positionals, switches, values };
}

function checkPositionals({ usage, positionals: { min, max } }: Command, given: readonly string[]): string[] {
  const issues: string[] = [];
  const names = usage.match(/<[^>]*>/g) ?? [];
  if (given.length < min)
    issues.push(`missing argument: ${given.length === 0 ? usage : names.slice(given.length).join(' ')}`);
  // A shell passes an empty argument for a quoted variable that is not set.
  const empty = given.slice(0, min).findIndex((value) => value.trim() === '');
  if (empty >= 0) issues.push(`${names[empty]} is empty`);
  if (given.length > max) issues.push(`unexpected argument ${given.slice(max).map(withoutValue).join(' ')}`);
  return issues;
}

/** A misplaced argument without what follows `=`: that may be a secret meant for --set. */
function withoutValue(arg: string): string {
  const end = arg.indexOf('=');
  return escapeControls(end < 0 ? arg : arg.slice(0, end));
}
