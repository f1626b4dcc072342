import { member } from '../config/resolver.ts';
import type { Value } from '../config/value.ts';
import type { Source, Variables } from '../config/variables.ts';
import type { Clock } from '../ports.ts';
import type { Secret } from '../redaction/secret.ts';
import type { ApiSecrets } from './engine/api-secrets.ts';
import type { ScriptEvent } from './events.ts';
import type { RequestSettings } from './keys.ts';
import type { Exchange } from './result.ts';

/** The interface between a running command and the engine. */
export interface StepContext {
  /** Returns the value of a variable with its references resolved; `undefined` if it is not defined. */
  get(name: string): Value | undefined;
  /** Sets a variable when the step has passed; `${` in the value is not a reference. */
  set(name: string, value: Value): void;
  /** Removes a variable when the step has passed. */
  remove(name: string): void;
  /** Resolves the references in a value. */
  resolve(value: Value): Value;
  /** All variables of the script, to read a profile from. */
  readonly variables: Variables;
  /** The script's file; relative paths start from its directory. */
  readonly source: Source;
  /** Aborted when the run is interrupted. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Adds a line to the output of the step. Known secrets are masked. */
  log(text: string | Secret): void;
  /** Adds a request and its response to the report. */
  record(exchange: Exchange): void;
  emit(event: ScriptEvent): void;
  /** Finds and masks the secrets in the data of an API. */
  readonly apiSecrets: ApiSecrets;
  /** Settings of the script's requests. */
  readonly requests: RequestSettings;
  /** The step as parsed: the same object in each attempt. */
  readonly step: object;
  /** Counted from 1; more than 1 if a `retry` repeats the step. */
  readonly attempt: number;
  /** The step must not be repeated by a `retry`. */
  forbidRetry(): void;
  /** Masks every secret known so far. */
  redact(text: string): string;
  /**
   * Returns a parameter as it is written in the script, with its references unresolved. Commands use it where the script's author must
   * have written something, such as the `@` of a file name, so that a value from elsewhere cannot pass for it.
   */
  rawParameter(name: string): Value | undefined;
  /** Returns state that a group of commands shares between the steps of one run; created on first use. */
  state<T>(key: unknown, create: () => T): T;
}

/** Returns the value at a path, as a reference does: the longest defined variable name wins, the rest of the path selects inside its value. */
export function lookUp(path: readonly (string | number)[], context: StepContext): Value | undefined {
  for (let length = path.length; length > 0; length--) {
    const value = context.get(path.slice(0, length).join('.'));
    if (value !== undefined) return member(value, path.slice(length));
  }
  return undefined;
}

/** Details of a failed step in addition to its message. */
export interface FailureDetails {
  readonly expected?: Value | undefined;
  readonly actual?: Value | undefined;
  readonly hint?: string | undefined;
  /** Ends the script even if the step has `continueOnFailure`. */
  readonly endsScript?: boolean;
}

/** A failed step: the outcome that a script tests for, not an error of the program. */
export class StepFailure extends Error {
  override readonly name = 'StepFailure';

  constructor(
    message: string,
    readonly details: FailureDetails = {},
  ) {
    super(message);
  }
}

/** Fails the step unless a condition is true. */
export function assertStep(isMet: boolean, message: string, details?: FailureDetails): asserts isMet {
  if (!isMet) throw new StepFailure(message, details);
}
