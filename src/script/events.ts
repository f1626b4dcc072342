import type { RunResult, StepResult } from './result.ts';

/** Data of each event, by its type. */
interface Events {
  'run-start': { readonly name: string; readonly steps: number };
  'step-start': { readonly number: number; readonly command: string; readonly title: string };
  'token-request': {
    readonly profile: string;
    readonly provider: string;
    readonly grant: string | undefined;
    readonly url: string;
  };
  'token-response': {
    readonly profile: string;
    readonly outcome: 'issued' | 'reused' | 'failed';
    /** The error code of a failed request. */
    readonly code?: string | undefined;
    readonly elapsedMs: number;
    /** Names of the members of the token response. */
    readonly members?: readonly string[] | undefined;
  };
  /** An attempt that a `retry` repeats: its steps are not part of the result. */
  'step-retry': { readonly attempt: number; readonly step: StepResult };
  'step-end': { readonly step: StepResult };
  'run-end': Pick<RunResult, 'name' | 'state' | 'interrupted' | 'attempts' | 'counts' | 'elapsedMs'>;
}

/** Event of a run (D22). No event contains a secret; `at` is in epoch milliseconds. */
export type ScriptEvent = {
  [T in keyof Events]: { readonly type: T; readonly at: number; readonly file: string } & Events[T];
}[keyof Events];

/** Receives the events of a run. */
export type Listener = (event: ScriptEvent) => void;
