import type { Counts, StepResult } from './result.ts';

/** Event of a run (D22). No event contains a secret; `at` is in epoch milliseconds. */
export type ScriptEvent =
  | {
      readonly type: 'run-start';
      readonly at: number;
      readonly file: string;
      readonly name: string;
      readonly steps: number;
    }
  | {
      readonly type: 'step-start';
      readonly at: number;
      readonly file: string;
      readonly number: number;
      readonly command: string;
      readonly title: string;
    }
  | {
      readonly type: 'token-request';
      readonly at: number;
      readonly file: string;
      readonly profile: string;
      readonly provider: string;
      readonly grant: string | undefined;
      readonly url: string;
    }
  | {
      readonly type: 'token-response';
      readonly at: number;
      readonly file: string;
      readonly profile: string;
      readonly outcome: 'issued' | 'reused' | 'failed';
      /** The error code of a failed request. */
      readonly code?: string | undefined;
      readonly elapsedMs: number;
      /** Names of the members of the token response. */
      readonly members?: readonly string[] | undefined;
    }
  | { readonly type: 'step-end'; readonly at: number; readonly file: string; readonly step: StepResult }
  | {
      readonly type: 'run-end';
      readonly at: number;
      readonly file: string;
      readonly name: string;
      readonly state: 'passed' | 'failed';
      readonly interrupted: boolean;
      readonly counts: Counts;
      readonly elapsedMs: number;
    };

/** Receives the events of a run. */
export type Listener = (event: ScriptEvent) => void;
