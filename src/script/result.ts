import type { Position } from '../config/node.ts';

/** State of a step after the run. */
export type StepState = 'passed' | 'failed' | 'skipped';

/** Why a step failed; contains no secret. */
export interface Failure {
  /** An error code; `step_failed` for an assertion. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly expected?: string | undefined;
  readonly actual?: string | undefined;
}

/** Headers and body of a request or response. */
interface Message {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | undefined;
}

/** A field of a form, or a file. */
export interface ShownPart {
  readonly name?: string | undefined;
  readonly value?: string | undefined;
  /** Path of a file. */
  readonly file?: string | undefined;
}

/** One request of a step and its response: secrets masked, long bodies truncated. */
export interface Exchange {
  readonly request: Message & {
    readonly method: string;
    readonly url: string;
    /** Parts of a body with files, of which `body` is a description. A body that is one file has one part without a name. */
    readonly parts?: readonly ShownPart[] | undefined;
  };
  /** `undefined` if no response was received. */
  readonly response?: (Message & { readonly status: number }) | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly elapsedMs: number;
}

/** Result of one step. */
export interface StepResult {
  /** Counted from 1. */
  readonly number: number;
  /** Full name of the command: `ws.get`. `group` or `run` for a group that was skipped or failed as a whole. */
  readonly command: string;
  /** The step's `name`, else the command with its parameters as written, secrets masked. */
  readonly title: string;
  /** Titles of the enclosing groups, the outermost first. */
  readonly groups?: readonly string[] | undefined;
  readonly phase?: 'setup' | 'teardown' | undefined;
  /** File of a step that another script runs. */
  readonly file?: string | undefined;
  /** Number of attempts, if a `retry` repeated the step. The result is that of the last one. */
  readonly attempts?: number | undefined;
  readonly position?: Position | undefined;
  readonly state: StepState;
  /** Why the step was skipped. */
  readonly reason?: string | undefined;
  readonly failure?: Failure | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly elapsedMs: number;
  /** Lines that the step logged. */
  readonly output: readonly string[];
  readonly exchanges: readonly Exchange[];
  /** Numbers of the earlier steps whose responses this step used, directly or through other variables. */
  readonly responsesOf?: readonly number[] | undefined;
}

/** Number of steps by state. */
export type Counts = Readonly<Record<StepState, number>>;

/** Result of running one script. */
export interface RunResult {
  readonly name: string;
  readonly file: string;
  /** `passed` if no step failed and the run was not interrupted. */
  readonly state: 'passed' | 'failed';
  /** Ctrl-C, SIGTERM or the caller's signal ended the run. */
  readonly interrupted: boolean;
  readonly startedAt: number;
  readonly elapsedMs: number;
  readonly counts: Counts;
  readonly steps: readonly StepResult[];
  /** Number of attempts, if the whole script was repeated after a failure. If it has passed, it is flaky. */
  readonly attempts?: number | undefined;
}
