import type { CallFunction, ExternalSources } from '../../config/resolver.ts';
import type { Value } from '../../config/value.ts';
import type { Source, Variables } from '../../config/variables.ts';
import type { Clock } from '../../ports.ts';
import type { Secret } from '../../redaction/secret.ts';
import type { Listener } from '../events.ts';
import type { RequestSettings } from '../keys.ts';
import type { StepResult } from '../result.ts';
import type { Script, Step } from '../script.ts';
import type { ApiSecrets } from './api-secrets.ts';
import type { Masking } from './failure.ts';

/** Dependencies of a run. */
export interface RunContext extends Masking {
  /** The variables of this script; steps change them. */
  readonly variables: Variables;
  readonly externalSources: ExternalSources;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Counted from 1; more than 1 if the whole script is repeated. */
  readonly attempt?: number | undefined;
  readonly listener: Listener;
  /** Masks a secret in the output of this script; if it `isKnown` before the run, also in what the author of the script has written. */
  addSecret(secret: Secret, isKnown: boolean): void;
  readFile(path: string, directory: string): Promise<Uint8Array>;
}

/** State of a run. */
export interface Run {
  readonly script: Script;
  readonly context: RunContext;
  titles: ReadonlyMap<Step, string>;
  readonly callFunction: CallFunction;
  readonly apiSecrets: ApiSecrets;
  /** Whether a variable, or a member of it, is listed under `secrets`. */
  isListedSecret(name: string): boolean;
  /** Wraps the value of a variable, or the members of it, that are listed under `secrets`. */
  wrapListedSecrets(name: string, value: Value): Value;
  /** State that commands share between steps. */
  readonly state: Map<unknown, unknown>;
  /** Number of steps that were started, attempts included. */
  started: number;
  /** A step ended the script regardless of `continueOnFailure`: only steps with `always` still run. */
  isStopped: boolean;
  /** A step of the current attempt must not be repeated. */
  isRetryForbidden: boolean;
}

/** Where a step runs. */
export interface Scope {
  readonly run: Run;
  /** The file of the step, which `run:` may have loaded. */
  readonly source: Source;
  readonly variables: Variables;
  readonly requests: RequestSettings;
  /** Titles of the enclosing groups, the outermost first. */
  readonly groups: readonly string[];
  readonly phase: 'setup' | 'teardown' | undefined;
  /** Counted from 1, in the innermost `retry`. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly results: ResultSink;
}

/** A result before it has a number. */
export type UnnumberedResult = Omit<StepResult, 'number'>;

/** Receives the results of steps in order. */
export interface ResultSink {
  readonly next: number;
  add(result: UnnumberedResult): void;
}

/** Results of an attempt, which are only final if it is the last one. */
export class AttemptResults implements ResultSink {
  readonly #results: UnnumberedResult[] = [];

  constructor(readonly parent: ResultSink) {}

  get next(): number {
    return this.parent.next + this.#results.length;
  }

  add(result: UnnumberedResult): void {
    this.#results.push(result);
  }

  /** Makes the results final. */
  commit(attempts: number): void {
    for (const result of this.#results) this.parent.add(attempts === 1 ? result : { attempts, ...result });
  }

  /** Returns the results with the numbers that they would have. */
  numbered(): StepResult[] {
    return this.#results.map((result, index) => ({ ...result, number: this.parent.next + index }));
  }
}
