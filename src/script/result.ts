import type { Position } from '../config/node.ts';

/** What became of a step. */
export type StepState = 'passed' | 'failed' | 'skipped';

/** Why a step failed, in words without secrets. */
export interface Failure {
  /** One of the error codes; `step_failed` for an assertion. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly expected?: string | undefined;
  readonly actual?: string | undefined;
}

/** One request of a step and its reply, secrets masked, long bodies cut. */
export interface Exchange {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly (readonly [name: string, value: string])[];
    readonly body?: string | undefined;
  };
  /** `undefined` where no reply came. */
  readonly response?:
    | {
        readonly status: number;
        readonly headers: readonly (readonly [name: string, value: string])[];
        readonly body?: string | undefined;
      }
    | undefined;
  readonly elapsedMs: number;
}

/** One step and what became of it. */
export interface StepResult {
  /** From 1. */
  readonly number: number;
  /** `ws.get`. */
  readonly command: string;
  /** What the author calls it, else the command with its parameters as they are written, secrets masked. */
  readonly title: string;
  readonly position?: Position | undefined;
  readonly state: StepState;
  /** Why it was skipped. */
  readonly reason?: string | undefined;
  readonly failure?: Failure | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly elapsedMs: number;
  /** What the step said. */
  readonly output: readonly string[];
  readonly exchanges: readonly Exchange[];
}

/** How many steps ended how. */
export type Counts = Readonly<Record<StepState, number>>;

/** A script's run. */
export interface RunResult {
  readonly name: string;
  readonly file: string;
  /** `passed` when no step failed and nothing cut the run short. */
  readonly state: 'passed' | 'failed';
  /** Ctrl-C, SIGTERM or the caller's signal ended it. */
  readonly interrupted: boolean;
  readonly startedAt: number;
  readonly elapsedMs: number;
  readonly counts: Counts;
  readonly steps: readonly StepResult[];
}
