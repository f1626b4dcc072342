import type { Position } from '../config/node.ts';
import type { Value } from '../config/value.ts';
import type { Entry, Source } from '../config/variables.ts';
import type { Command } from './command.ts';
import type { Condition } from './condition.ts';

/** One step: a command and its parameters, references not yet resolved. */
export interface Step {
  readonly command: Command;
  /** By parameter name; omitted parameters are absent. */
  readonly parameters: Readonly<Record<string, Value>>;
  /** The step's `name`. */
  readonly name: string | undefined;
  readonly condition: Condition | undefined;
  readonly continueOnFailure: boolean;
  readonly always: boolean;
  /** `undefined` for a script that is a JavaScript object. */
  readonly position: Position | undefined;
}

/** A parsed and validated script. */
export interface Script {
  /** The script's `name`, else the name of its file. */
  readonly name: string;
  /** Its file as shown to the user, and the directory that relative paths start from. */
  readonly source: Source;
  readonly data: readonly Entry[];
  readonly steps: readonly Step[];
}
