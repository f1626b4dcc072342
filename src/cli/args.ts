import { parseArgs } from 'node:util';
import { closestMatch } from '../config/suggestions.ts';
import { OAuthProfileError } from '../errors.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { type Command, commands, globalFlags } from './command-definitions.ts';

/** The arguments of a command. */
export interface ParsedArgs {
  readonly positionals: readonly string[];
  /** The positional arguments after `--`. */
  readonly command: readonly string[];
  readonly switches: ReadonlySet<string>;
  /** Values by flag. Only a repeatable flag has more than one. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** A parsed command line. */
export type ParsedCommandLine =
  | { readonly kind: 'run'; readonly command: Command; readonly args: ParsedArgs }
  | { readonly kind: 'help'; readonly command: Command | undefined }
  | { readonly kind: 'version' };

/** An error of the command line. Several issues become one message. */
export function usageError(issues: string | readonly string[], hint = 'see oauth-profile --help'): OAuthProfileError {
  return new OAuthProfileError('usage', typeof issues === 'string' ? issues : issues.join('; '), { hint });
}

/** The error for a flag whose value is invalid. */
export function invalidFlag(name: string, value: string, expected: string, example: string): OAuthProfileError {
  const message = `invalid --${name} "${escapeControls(value)}": expected ${expected}`;
  return usageError(message, `write --${name} ${example}`);
}

/** Parses the command line. All issues are reported in one error. */
export function parseCommandLine(args: readonly string[]): ParsedCommandLine {
  const [first, ...rest] = args;
  if (first === '--help' || first === '-h') return { kind: 'help', command: undefined };
  if (first === '--version' || first === '-V') return { kind: 'version' };
  // Cargo passes this argument only; those of its configuration come with the request.
  if (first === '--cargo-plugin') return parseCommandLine(['credential', 'cargo', ...rest]);
  if (first === undefined) throw usageError('no command given');
  if (first === 'help') return { kind: 'help', command: rest[0] === undefined ? undefined : findCommand(rest[0]) };
  if (first.startsWith('-'))
    throw usageError(
      `${withoutValue(first)} is before the command`,
      `write flags after the command: oauth-profile token graph ${withoutValue(first)}`,
    );
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
  const end = args.indexOf('--');
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
  const complete = args.map((arg, index) => {
    const isString = arg.startsWith('--') && (end < 0 || index < end) && options[arg.slice(2)]?.type === 'string';
    return isString && /^--?(?:[a-z]|$)/.test(args[index + 1] ?? '') ? `${arg}=` : arg;
  });
  const { tokens } = parseArgs({ args: complete, options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const flag = rawName.startsWith('--') ? known.get(name) : undefined;
    if (flag === undefined) {
      const suggestion = closestMatch(name, known.keys());
      const hint = suggestion === undefined ? '' : ` (did you mean --${suggestion}?)`;
      issues.push(`unknown flag ${withoutValue(rawName)}${hint}`);
    } else if (flag.value === undefined) {
      if (value === undefined) switches.add(name);
      else issues.push(`--${name} takes no value`);
    } else if (!value) {
      if (flag.optional) switches.add(name);
      else issues.push(`--${name} needs a value: --${name} ${flag.value}`);
    } else if (values.has(name) && !flag.repeatable) {
      issues.push(`--${name} is given twice`);
    } else {
      values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  issues.push(...checkPositionals(command.usage, positionals));
  if (issues.length > 0) throw usageError(issues, `see oauth-profile ${command.name} --help`);
  return { positionals, command: end < 0 ? [] : args.slice(end + 1), switches, values };
}

function checkPositionals(usage: string, given: readonly string[]): string[] {
  const issues: string[] = [];
  const required = usage.match(/<[^>]*>/g) ?? [];
  const max = usage.includes('…') ? given.length : (usage.match(/[<[]/g) ?? []).length;
  if (given.length < required.length)
    issues.push(`missing argument: ${given.length === 0 ? usage : required.slice(given.length).join(' ')}`);
  // A shell passes an empty argument for a quoted variable that is not set.
  const empty = required.find((_, index) => given[index]?.trim() === '');
  if (empty !== undefined) issues.push(`${empty} is empty`);
  const url = given.find((value) => /^http:\/\/(?:127\.0\.0\.1|localhost)(?::|$)/.test(value));
  if (given.length > max && url !== undefined) issues.push(`write --emulate=${escapeControls(url)} in one word`);
  else if (given.length > max) issues.push(`unexpected argument ${given.slice(max).map(withoutValue).join(' ')}`);
  return issues;
}

/** A misplaced argument without what follows `=`: that may be a secret meant for --set. */
function withoutValue(arg: string): string {
  const end = arg.indexOf('=');
  return escapeControls(end < 0 ? arg : arg.slice(0, end));
}
