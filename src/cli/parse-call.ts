import { parseArgs } from 'node:util';
import { nearest } from '../data/nearest.ts';
import { printable } from '../secret/printable.ts';
import type { Call, Command, Flag } from './command.ts';
import { commands, globalFlags } from './commands.ts';
import { usage } from './usage.ts';

/** What the person asked for. */
export type Request =
  | { readonly kind: 'run'; readonly command: Command; readonly call: Call }
  | { readonly kind: 'help'; readonly command: Command | undefined }
  | { readonly kind: 'version' };

/** Reads the arguments; everything wrong with them is told in one error. */
export function parseCall(args: readonly string[]): Request {
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
  const near = nearest(name, names);
  throw usage([`there is no command ${printable(name)}`], near === undefined ? undefined : `did you mean ${near}?`);
}

function parseFlags(command: Command, args: readonly string[]): Call {
  const faults: string[] = [];
  const positionals: string[] = [];
  const switches = new Set<string>();
  const values = new Map<string, string[]>();
  const known = new Map([...command.flags, ...globalFlags].map((flag) => [flag.name, flag]));
  const options = Object.fromEntries(
    [...known.values()].map(({ name, value, optional }) => [
      name,
      { type: value === undefined || optional ? 'boolean' : 'string' } as const,
    ]),
  );
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const flag = known.get(token.name);
    if (flag === undefined) faults.push(unknownFlag(token.rawName, known.keys()));
    else if (flag.value === undefined || (flag.optional && token.value === undefined)) {
      if (token.value !== undefined) faults.push(`--${flag.name} takes no value`);
      switches.add(flag.name);
    } else if (token.value === undefined || (!token.inlineValue && /^--?[a-z]/.test(token.value))) {
      faults.push(`--${flag.name} needs a value: --${flag.name} ${flag.value}`);
    } else addValue(flag, token.value, values, faults);
  }
  const { min, max } = command.positionals;
  if (positionals.length < min) faults.push(`${command.usage} is missing`);
  if (positionals.length > max) faults.push(`${positionals.slice(max).map(printable).join(' ')} is too much`);
  if (faults.length > 0) throw usage(faults, `see oauth-profile ${command.name} --help`);
  return { positionals, switches, values };
}

function addValue(flag: Flag, value: string, values: Map<string, string[]>, faults: string[]): void {
  const given = values.get(flag.name);
  if (given === undefined) values.set(flag.name, [value]);
  else if (flag.repeatable) given.push(value);
  else faults.push(`--${flag.name} is given twice`);
}

function unknownFlag(rawName: string, names: Iterable<string>): string {
  const near = nearest(rawName.replace(/^-+/, ''), names);
  return `there is no flag ${printable(rawName)}${near === undefined ? '' : ` (did you mean --${near}?)`}`;
}
