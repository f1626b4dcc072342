import type { Position } from '../config/node.ts';
import type { Value } from '../config/value.ts';
import type { Entry, Source } from '../config/variables.ts';
import type { Command } from './command.ts';
import type { Condition } from './condition.ts';

/** One step: a command and its parameters, references not yet followed. */
export interface Step {
  readonly command: Command;
  /** By parameter name; what was left out is missing. */
  readonly parameters: Readonly<Record<string, Value>>;
  /** What the author calls it. */
  readonly name: string | undefined;
  readonly condition: Condition | undefined;
  readonly continueOnFailure: boolean;
  readonly always: boolean;
  /** `undefined` for a script that is an object of a program's. */
  readonly position: Position | undefined;
}

/** A script, read and checked: whoever has one can run it. */
export interface Script {
  /** What the author calls it, else its file's name. */
  readonly name: string;
  /** Its file as it is shown to a person, and the folder that its paths start from. */
  readonly source: Source;
  readonly data: readonly Entry[];
  readonly steps: readonly Step[];
}
