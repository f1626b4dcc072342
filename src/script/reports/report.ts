import type { Counts, RunResult, StepResult } from '../result.ts';

/** Everything that a report is made from. */
export interface Report {
  readonly runs: readonly RunResult[];
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly elapsedMs: number;
  /** The version of this package that ran them. */
  readonly version: string;
  /** An emulator played the providers: nothing is known of the real ones. */
  readonly emulated?: boolean | undefined;
}

/** What a person should know who reads the report of an emulated run. */
export const EMULATED = 'Emulated: an emulator played the providers; nothing was sent to them.';

/** How many scripts and steps ended how, over all runs. */
export interface Totals {
  readonly scripts: { readonly passed: number; readonly failed: number };
  readonly steps: Counts;
}

/** Adds the runs up. */
export function totalsOf({ runs }: Report): Totals {
  const scripts = { passed: 0, failed: 0 };
  const steps = { passed: 0, failed: 0, skipped: 0 };
  for (const { state, counts } of runs) {
    scripts[state]++;
    steps.passed += counts.passed;
    steps.failed += counts.failed;
    steps.skipped += counts.skipped;
  }
  return { scripts, steps };
}

/** The totals as a person says them: `2 scripts, 1 failed`, `9 steps passed, 1 failed, 2 skipped`. */
export function inWords({ scripts, steps }: Totals): { readonly scripts: string; readonly steps: string } {
  const all = scripts.passed + scripts.failed;
  return {
    scripts: `${all} ${all === 1 ? 'script' : 'scripts'}${scripts.failed === 0 ? '' : `, ${scripts.failed} failed`}`,
    steps: `${steps.passed} ${steps.passed === 1 ? 'step' : 'steps'} passed${
      steps.failed === 0 ? '' : `, ${steps.failed} failed`
    }${steps.skipped === 0 ? '' : `, ${steps.skipped} skipped`}`,
  };
}

/** Every failed step with the run it belongs to, in the order they were run. */
export function failuresOf({ runs }: Report): { readonly run: RunResult; readonly step: StepResult }[] {
  return runs.flatMap((run) => run.steps.filter(({ state }) => state === 'failed').map((step) => ({ run, step })));
}

/** `smoke/me.yaml:7:5`; the file alone where the position is not known. */
export function placeOf({ file }: Pick<RunResult, 'file'>, { position }: Pick<StepResult, 'position'>): string {
  return position === undefined ? file : `${file}:${position.line}:${position.column}`;
}
