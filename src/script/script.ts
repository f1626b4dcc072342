import type { Position } from '../config/node.ts';
import type { Value } from '../config/value.ts';
import type { Entry, Source } from '../config/variables.ts';
import type { Command } from './command.ts';
import type { Condition } from './condition.ts';
import type { RequestSettings } from './keys.ts';

/** How often a step or group is repeated. */
export interface Retry {
  /** Total number of attempts. */
  readonly times: number;
  /** Time between the first two attempts, in milliseconds. */
  readonly intervalMs: number;
  /** Factor by which each interval is longer than the one before. */
  readonly backoff: number;
  /** Maximum interval, in milliseconds. */
  readonly maxMs: number;
  /** Attempts are repeated until this is true. Default: until an attempt passes. */
  readonly until?: { readonly test: Condition; readonly text: string } | undefined;
}

/** A loop over the items of a list. */
export interface ForEach {
  /** Variable that is set to each item. */
  readonly variable: string;
  /** A list, a reference to one, a range such as `1..5`, or `@` and the path of a file. References are not yet resolved. */
  readonly items: Value;
}

/** Settings that a command, a group and a `run` have in common. */
interface StepBase {
  /** The step's `name`. */
  readonly name: string | undefined;
  readonly condition: Condition | undefined;
  readonly continueOnFailure: boolean;
  readonly always: boolean;
  readonly retry?: Retry | undefined;
  readonly forEach?: ForEach | undefined;
  /** `undefined` for a script that is a JavaScript object. */
  readonly position: Position | undefined;
}

/** One command and its parameters, references not yet resolved. */
export interface CommandStep extends StepBase {
  readonly command: Command;
  /** By parameter name; omitted parameters are absent. */
  readonly parameters: Readonly<Record<string, Value>>;
}

/** Steps that share their settings. */
interface GroupStep extends StepBase {
  readonly steps: readonly Step[];
}

/** A step that runs the steps of another script. */
export interface RunStep extends StepBase {
  /** Path of the script as it is written. */
  readonly run: string;
  readonly script: Script;
  /** Variables that the other script gets in addition. */
  readonly with: Readonly<Record<string, Value>>;
  /** Variables of the other script that this script gets. */
  readonly save: readonly string[];
}

/** A step of a script. */
export type Step = CommandStep | GroupStep | RunStep;

/** A parsed and validated script. */
export interface Script {
  /** The script's `name`, else the name of its file. */
  readonly name: string;
  /** Its file as shown to the user, and the directory that relative paths start from. */
  readonly source: Source;
  readonly tags?: readonly string[];
  readonly data: readonly Entry[];
  /** The script runs once per row: a list of maps, or `@` and the path of a file. */
  readonly rows?: Value | undefined;
  /** Variables, or members of them, that are secrets whatever their names. */
  readonly secrets?: readonly string[];
  /** Paths into responses, such as `body.password`, that are not masked because of their name. */
  readonly unmask?: readonly string[];
  readonly requests?: RequestSettings;
  readonly setup?: readonly Step[];
  readonly steps: readonly Step[];
  readonly teardown?: readonly Step[];
}

/** Yields all steps of a script, those of groups included, and of the scripts that it runs. Each step is yielded once. */
export function* allSteps(script: Script, seen = new Set<Script>()): Generator<Step> {
  if (seen.has(script)) return;
  seen.add(script);
  yield* stepsIn([...(script.setup ?? []), ...script.steps, ...(script.teardown ?? [])], seen);
}

function* stepsIn(steps: readonly Step[], seen: Set<Script>): Generator<Step> {
  for (const step of steps) {
    yield step;
    if ('steps' in step) yield* stepsIn(step.steps, seen);
    if ('run' in step) yield* allSteps(step.script, seen);
  }
}
