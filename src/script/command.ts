import type { Kind, ValueOf } from './parameter-kinds.ts';
import type { StepContext } from './step-context.ts';

/** One parameter of a command. Optional ones stand at the end. */
export interface Parameter {
  readonly name: string;
  readonly kind: Kind;
  /** One sentence, without a full stop. */
  readonly help: string;
  readonly optional?: boolean;
  /** What is written here may be a secret: a step's title shows references only. */
  readonly secret?: boolean;
}

/** What a command's function is given, by the names of its parameters. */
export type ArgumentsOf<P extends readonly Parameter[]> = {
  readonly [One in P[number] as One['name']]: One extends { readonly optional: true }
    ? ValueOf<One['kind']> | undefined
    : ValueOf<One['kind']>;
};

/** Everything there is to know of a command: checks, help, documentation and the editor's schema are made from it. */
export interface CommandDefinition<P extends readonly Parameter[] = readonly Parameter[]> {
  readonly group: string;
  readonly name: string;
  /** One sentence, without a full stop. */
  readonly summary: string;
  readonly parameters: P;
  /** The step as one would write it, in YAML. */
  readonly example: string;
  /** Whatever it throws fails the step; variables that it set are then not written. */
  run(args: ArgumentsOf<P>, context: StepContext): Promise<void> | void;
}

/** A command as the engine holds it. */
export interface Command {
  readonly group: string;
  readonly name: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly example: string;
  run(args: Readonly<Record<string, unknown>>, context: StepContext): Promise<void> | void;
}

/** Defines a command; TypeScript knows the arguments of `run` from the parameters. */
export function defineCommand<const P extends readonly Parameter[]>(definition: CommandDefinition<P>): Command {
  const { group, name, parameters } = definition;
  for (const word of [group, name]) {
    if (!/^[A-Za-z][A-Za-z0-9]*$/.test(word)) throw new TypeError(`defineCommand: ${word} is not a plain name`);
  }
  if (parameters.some((one, index) => one.optional && parameters[index + 1] && !parameters[index + 1]?.optional)) {
    throw new TypeError(`defineCommand: ${group}.${name} has a required parameter behind an optional one`);
  }
  return definition as unknown as Command;
}
