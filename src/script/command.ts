import { closestMatch } from '../config/suggestions.ts';
import { type Kind, kinds, type ValueOf } from './parameter-kinds.ts';
import type { StepContext } from './step-context.ts';

/** One parameter of a command. Optional parameters come last. */
export interface Parameter {
  readonly name: string;
  readonly kind: Kind;
  /** One sentence, without a full stop. */
  readonly help: string;
  readonly optional?: boolean;
  /** The parameter may be left out when the parameters are a map; a list has it as `""`. */
  readonly optionalInMap?: boolean;
  /** The value may be a secret: the title of a step shows only references to it. A function decides by the parameters as written. */
  readonly secret?: boolean | ((parameters: Readonly<Record<string, unknown>>) => boolean);
}

/** Arguments of a command's `run`, by parameter name. */
export type ArgumentsOf<P extends readonly Parameter[]> = {
  readonly [One in P[number] as One['name']]: One extends
    | { readonly optional: true }
    | { readonly optionalInMap: boolean }
    ? ValueOf<One['kind']> | undefined
    : ValueOf<One['kind']>;
};

/** Definition of a command. Validation, help, documentation and the JSON schema are generated from it. */
export interface CommandDefinition<P extends readonly Parameter[] = readonly Parameter[]> {
  readonly group: string;
  readonly name: string;
  /** One sentence, without a full stop. */
  readonly summary: string;
  readonly parameters: P;
  /** An example step in YAML. */
  readonly example: string;
  /** Runs the step. An error that it throws fails the step and discards the variables that it set. */
  run(args: ArgumentsOf<P>, context: StepContext): Promise<void> | void;
  /** Called when the step has failed, also if `run` was not called because of an invalid parameter. */
  onFailure?(context: StepContext): void;
}

/** A command with the types of its arguments erased. */
export type Command = Omit<CommandDefinition, 'run'> & {
  run(args: Readonly<Record<string, unknown>>, context: StepContext): Promise<void> | void;
};

/** Defines a command; the types of the arguments of `run` are inferred from the parameters. */
export function defineCommand<const P extends readonly Parameter[]>(definition: CommandDefinition<P>): Command {
  const { group, name, parameters } = definition;
  for (const word of [group, name]) {
    if (!/^[A-Za-z][A-Za-z0-9]*$/.test(word))
      throw new TypeError(`defineCommand: invalid name "${word}": expected letters and digits`);
  }
  const unknown = parameters.find(({ kind }) => !Object.hasOwn(kinds, kind));
  if (unknown !== undefined) {
    const known = Object.keys(kinds).join(', ');
    throw new TypeError(`defineCommand: invalid kind "${unknown.kind}" of ${group}.${name}: expected one of ${known}`);
  }
  if (parameters.some((one, index) => one.optional && parameters[index + 1] && !parameters[index + 1]?.optional))
    throw new TypeError(`defineCommand: ${group}.${name} has a required parameter after an optional one`);
  return definition as unknown as Command;
}

/** Returns a function that defines the commands of a group. */
export function commandGroup(group: string) {
  return <const P extends readonly Parameter[]>(
    name: string,
    summary: string,
    definition: Omit<CommandDefinition<P>, 'group' | 'name' | 'summary'>,
  ): Command => defineCommand({ group, name, summary, ...definition });
}

/** Defines a parameter of a command. */
export function parameter<const N extends string, const K extends Kind, const M extends object = object>(
  name: N,
  kind: K,
  help: string,
  more?: M,
) {
  return { name, kind, help, ...(more as M) };
}

/** The commands that a script can use. */
export class Registry {
  readonly #byName = new Map<string, Command>();

  constructor(commands: Iterable<Command>) {
    for (const command of commands) {
      const name = commandName(command);
      if (this.#byName.has(name)) throw new TypeError(`the command ${name} is defined twice`);
      this.#byName.set(name, command);
    }
  }

  find(name: string): Command | undefined {
    return this.#byName.get(name);
  }

  /** Returns the closest match for a misspelled name; a name without its group matches the command of that name. */
  nearest(name: string): string | undefined {
    const names = [...this.#byName.keys()];
    return names.find((known) => known.split('.')[1] === name) ?? closestMatch(name, names);
  }

  [Symbol.iterator](): IterableIterator<Command> {
    return this.#byName.values();
  }
}

/** Returns whether a parameter must be given when the parameters are a map. */
export function isRequiredInMap({ optional, optionalInMap }: Parameter): boolean {
  return !optional && !optionalInMap;
}

/** Returns the full name of a command: `ws.get`. */
export function commandName({ group, name }: Command): string {
  return `${group}.${name}`;
}

/** Returns the signature of a command: `ws.get(url, queryString, var, [options])`. */
export function commandSignature(command: Command): string {
  const parameters = command.parameters.map(({ name, optional }) => (optional ? `[${name}]` : name));
  return `${commandName(command)}(${parameters.join(', ')})`;
}
