import type { Value } from '../config/value.ts';
import type { Source, Variables } from '../config/variables.ts';
import type { Clock } from '../ports.ts';
import type { Secret } from '../redaction/secret.ts';
import type { ScriptEvent } from './events.ts';
import type { Exchange } from './result.ts';

/** What a running command can reach. */
export interface StepContext {
  /** A variable's value, references followed; `undefined` where there is none. */
  get(name: string): Value | undefined;
  /** Sets a variable when the step has passed; `${` in the value means nothing. */
  set(name: string, value: Value): void;
  /** Removes a variable when the step has passed. */
  remove(name: string): void;
  /** All variables of the script, for who reads a profile from them. */
  readonly variables: Variables;
  /** The script's file: relative paths start from its folder. */
  readonly source: Source;
  /** Aborted when the run is interrupted. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** A line of output that belongs to the step. */
  say(text: string | Secret): void;
  /** Puts a request and its reply into the report. */
  record(exchange: Exchange): void;
  emit(event: ScriptEvent): void;
  /** A text with every secret masked that is known by now. */
  redact?(text: string): string;
  /** A parameter as the author wrote it, references not followed: what a reference brought cannot pass for the author's own word. */
  written?(parameter: string): Value | undefined;
  /** What a group of commands keeps from step to step of one run; made when first asked for. */
  state<T>(key: symbol, create: () => T): T;
}
