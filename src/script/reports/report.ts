import type { Counts, Exchange, RunResult, StepResult } from '../result.ts';
import { formatDuration } from './format.ts';

/** Data of a report. */
export interface Report {
  readonly runs: readonly RunResult[];
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly elapsedMs: number;
  /** Version of this package. */
  readonly version: string;
  /** Name of the project. */
  readonly project?: string | undefined;
  /** Hash of the commit that was tested. */
  readonly commit?: string | undefined;
  /** Name given with `--env`. */
  readonly environment?: string | undefined;
  /** The run used emulated providers. */
  readonly emulated?: boolean | undefined;
}

/** Note in the reports of emulated runs. */
export const EMULATED = 'Emulated: the providers were emulated; nothing was sent to them.';

/** Members that the author of a script has written, or that come from a closed list: no response may change them. */
const authored = new Set([
  'name',
  'file',
  'title',
  'groups',
  'command',
  'phase',
  'state',
  'reason',
  'code',
  'expected',
]);

/** Masks the secrets of APIs in everything that a response can have determined. Some of them were not yet known when a step ended. */
export function redactResults(runs: readonly RunResult[], redact: (text: string) => string): readonly RunResult[] {
  const change = (value: unknown): unknown => {
    if (typeof value === 'string') return redact(value);
    if (Array.isArray(value)) return value.map(change);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, authored.has(name) ? part : change(part)]),
    );
  };
  return runs.map((run) => change(run) as RunResult);
}

/** Number of scripts and steps by state, over all runs. */
export interface Totals {
  readonly scripts: { readonly passed: number; readonly failed: number; readonly flaky: number };
  readonly steps: Counts;
}

/** Counts the scripts and steps of all runs. */
export function countTotals({ runs }: Report): Totals {
  const scripts = { passed: 0, failed: 0, flaky: 0 };
  const steps = { passed: 0, failed: 0, skipped: 0 };
  for (const run of runs) {
    const { state, counts } = run;
    scripts[state]++;
    if (isFlaky(run)) scripts.flaky++;
    steps.passed += counts.passed;
    steps.failed += counts.failed;
    steps.skipped += counts.skipped;
  }
  return { scripts, steps };
}

/** Whether a script passed only after it was repeated. */
export function isFlaky({ state, attempts = 1 }: Pick<RunResult, 'state' | 'attempts'>): boolean {
  return state === 'passed' && attempts > 1;
}

/** Formats the totals: `2 scripts, 1 failed`, `9 steps passed, 1 failed, 2 skipped`. */
export function describeTotals({ scripts, steps }: Totals): { readonly scripts: string; readonly steps: string } {
  const more = (count: number, state: string): string => (count === 0 ? '' : `, ${count} ${state}`);
  return {
    scripts:
      countOf(scripts.passed + scripts.failed, 'script') +
      more(scripts.failed, 'failed') +
      more(scripts.flaky, 'flaky'),
    steps: `${countOf(steps.passed, 'step')} passed${more(steps.failed, 'failed')}${more(steps.skipped, 'skipped')}`,
  };
}

/** Formats a number of things: `1 step`, `2 steps`. */
export function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Returns every failed step with its run, in order. */
export function findFailures({ runs }: Report): { readonly run: RunResult; readonly step: StepResult }[] {
  return runs.flatMap((run) => run.steps.filter(({ state }) => state === 'failed').map((step) => ({ run, step })));
}

/** Formats the location of a step: `smoke/me.yaml:7:5`; only the file if the position is unknown. */
export function formatLocation(run: Pick<RunResult, 'file'>, step: Pick<StepResult, 'position' | 'file'>): string {
  const { position, file = run.file } = step;
  return position === undefined ? file : `${file}:${position.line}:${position.column}`;
}

/** Returns the title of a step after those of its groups: `each line [2] › ws.get(…)`. */
export function fullTitle({ groups = [], title }: Pick<StepResult, 'groups' | 'title'>): string {
  return [...groups, title].join(' › ');
}

/** Formats a request and its result in one line: `GET https://… → 200 in 120 ms`. */
export function formatExchange({ request, response, elapsedMs }: Exchange): string {
  return `${request.method} ${request.url} → ${response?.status ?? 'no response'} in ${formatDuration(elapsedMs)}`;
}

/** Returns the number of steps. */
export function sumCounts({ passed, failed, skipped }: Counts): number {
  return passed + failed + skipped;
}
