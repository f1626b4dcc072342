import { closestMatch } from '../config/suggestions.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import type { Command, Flag, ParsedArgs } from './command.ts';
import { commands, globalFlags } from './command-definitions.ts';
import { usage } from './usage.ts';

/** What the person asked for. */
export type ParsedCommandLine =
  | { readonly kind: 'run'; readonly command: Command; readonly call: ParsedArgs }
  | { readonly kind: 'help'; readonly command: Command | undefined }
  | { readonly kind: 'version' };

/** Reads the arguments; everything wrong with them is told in one error. */
export function parseCommandLine(args: readonly string[]): ParsedCommandLine {
  const [first, ...rest] = args;
  if (first === '--help' || first === '-h') return { kind: 'help', command: undefined };
  if (first === '--version' || first === '-V') return { kind: 'version' };
  if (first === undefined) throw usage(['no command is given'], undefined);
  if (first === 'help') return { kind: 'help', command: rest[0] === undefined ? undefined : findCommand(rest[0]) };
  const command = findCommand(first);
  if (rest.some((arg, index) => (arg === '--help' || arg === '-h') && !rest.slice(0, index).includes('--'))) {
    return { kind: 'help', command };
  }
  return { kind: 'run', command, call: parseFlags(command, rest) };
}

function findCommand(name: string): Command {
  const found = commands.find((command) => command.name === name);
  if (found !== undefined) return found;
  const names = commands.map((command) => command.name);
  const near = closestMatch(name, names);
  throw usage([`there is no command ${withoutValue(name)}`], near === undefined ? undefined : `did you mean ${near}?`);
}

function parseFlags(command: Command, args: readonly string[]): ParsedArgs {
  const issues: string[] = [];
  const positionals: string[] = [];
  const switches = new Set<string>();
  const values = new Map<string, string[]>();
  const known = new Map([...command.flags, ...globalFlags].map((flag) => [flag.name, flag]));
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (arg === '--') {
      positionals.push(...args.slice(index + 1));
      break;
    }
    const [, name, inline] = /^--?([^=]+)(?:=([\s\S]*))?$/.exec(arg) ?? [];
    if (name === undefined) {
      positionals.push(arg);
      continue;
    }
    const flag = arg.startsWith('--') ? known.get(name) : undefined;
    if (flag === undefined) issues.push(unknownFlag(arg, name, known.keys()));
    else if (flag.value === undefined || (flag.optional && inline === undefined)) {
      if (inline !== undefined) issues.push(`--${flag.name} takes no value`);
      switches.add(flag.name);
    } else {
      const value = inline ?? nextValue(args[index + 1]);
      if (value === undefined) issues.push(`--${flag.name} needs a value: --${flag.name} ${flag.value}`);
      else {
        if (inline === undefined) index++;
        addValue(flag, value, values, issues);
      }
    }
  }
  const { min, max } = command.positionals;
  if (positionals.length < min) issues.push(`${missingIn(command, positionals.length)} is missing`);
  // What a shell makes of a variable that is not set.
  const empty = positionals.slice(0, min).findIndex((text) => text.trim() === '');
  if (empty >= 0) issues.push(`${argumentsOf(command)[empty]} is empty`);
  if (positionals.length > max)
    issues.push(`unexpected argument ${positionals.slice(max).map(withoutValue).join(' ')}`);
  if (issues.length > 0) throw usage(issues, `see oauth-profile ${command.name} --help`);
  return { positionals, switches, values };
}

/** Of the arguments that help shows, those that are not there: `<command…>` of `<profile> -- <command…>`. */
function missingIn(command: Command, given: number): string {
  return given === 0 ? command.usage : argumentsOf(command).slice(given).join(' ');
}

function argumentsOf({ usage }: Command): string[] {
  return usage.match(/<[^>]*>/g) ?? [];
}

/** What follows a flag as its value; another flag is none. */
function nextValue(arg: string | undefined): string | undefined {
  return arg === undefined || /^--?[a-z]/.test(arg) ? undefined : arg;
}

function addValue(flag: Flag, value: string, values: Map<string, string[]>, issues: string[]): void {
  const given = values.get(flag.name);
  if (given === undefined) values.set(flag.name, [value]);
  else if (flag.repeatable) given.push(value);
  else issues.push(`--${flag.name} is given twice`);
}

function unknownFlag(arg: string, name: string, names: Iterable<string>): string {
  const near = closestMatch(name, names);
  return `there is no flag ${withoutValue(arg)}${near === undefined ? '' : ` (did you mean --${near}?)`}`;
}

/** An argument that is out of place: behind `=` may stand a secret that was meant for --set. */
function withoutValue(arg: string): string {
  return escapeControls(arg.slice(0, arg.indexOf('=') < 0 ? undefined : arg.indexOf('=')));
}
