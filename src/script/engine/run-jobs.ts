import type { Variables } from '../../config/variables.ts';
import type { Listener, ScriptEvent } from '../events.ts';
import type { RunResult } from '../result.ts';
import type { Row } from '../rows.ts';
import type { Script } from '../script.ts';

/** One run of a script. */
export interface Job {
  readonly script: Script;
  readonly variables: Variables;
  readonly load: () => Promise<Variables>;
}

/** Options of {@link planJobs}. */
export interface PlanOptions {
  /** Returns the rows of a script; `undefined` if it runs once. */
  readRows(script: Script): Promise<readonly Row[] | undefined>;
  loadVariables(script: Script): Promise<Variables>;
  /** Number of runs of each script. Default: 1. */
  readonly repeat?: number | undefined;
}

/** Plans the runs of scripts: one per row and repetition. */
export async function planJobs(scripts: readonly Script[], options: PlanOptions): Promise<Job[]> {
  const { repeat = 1 } = options;
  const jobs: Job[] = [];
  for (const script of scripts) {
    for (const row of (await options.readRows(script)) ?? [undefined]) {
      const load = async (): Promise<Variables> =>
        (await options.loadVariables(script)).add(row?.entries ?? [], script.source);
      for (let index = 1; index <= repeat; index++) {
        const labels = [...(row === undefined ? [] : [row.label]), ...(repeat > 1 ? [`${index}`] : [])];
        const name = [script.name, ...labels.map((label) => `[${label}]`)].join(' ');
        jobs.push({ script: { ...script, name }, variables: await load(), load });
      }
    }
  }
  return jobs;
}

/** Options of {@link runJobs}. */
export interface JobOptions {
  /** Number of scripts that run at the same time. Default: 1. */
  readonly parallel?: number | undefined;
  /** How often a failed script is repeated. Default: 0. */
  readonly retries?: number | undefined;
  /** Start no script after one has failed. Default: false. */
  readonly bail?: boolean | undefined;
}

/** Runs one attempt of a job. */
export type RunJob = (job: Job, variables: Variables, attempt: number) => Promise<RunResult>;

/** Runs jobs. The results are in the order of the jobs, without those that were not started. */
export async function runJobs(
  jobs: readonly Job[],
  run: RunJob,
  { parallel = 1, retries = 0, bail = false }: JobOptions,
  onEnd: (job: Job) => void = () => {},
): Promise<{ readonly runs: readonly RunResult[]; readonly startedAt: number; readonly elapsedMs: number }> {
  const startedAt = Date.now();
  const results: RunResult[] = [];
  const queue = jobs.entries();
  let isStopped = false;
  const work = async (): Promise<void> => {
    for (const [index, job] of queue) {
      if (isStopped) break;
      let result = await run(job, job.variables, 1);
      for (let attempt = 2; result.state === 'failed' && !result.interrupted && attempt <= retries + 1; attempt++) {
        result = await run(job, await job.load(), attempt);
      }
      results[index] = result;
      onEnd(job);
      isStopped ||= bail && result.state === 'failed';
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, jobs.length) }, work));
  return { runs: results.filter((result) => result !== undefined), startedAt, elapsedMs: Date.now() - startedAt };
}

/** Delivers the events of jobs that run at the same time in the order of the jobs. */
export class OrderedEvents {
  readonly #held = new Map<Job, ScriptEvent[]>();
  readonly #ended = new Set<Job>();
  /** Index of the first job that has not ended; its events are delivered at once. */
  #current = 0;

  constructor(
    readonly jobs: readonly Job[],
    readonly listener: Listener,
  ) {
    for (const job of jobs) this.#held.set(job, []);
  }

  handle(job: Job, event: ScriptEvent): void {
    if (job === this.jobs[this.#current]) this.listener(event);
    else this.#held.get(job)?.push(event);
  }

  end(job: Job): void {
    this.#ended.add(job);
    for (let first = this.jobs[this.#current]; first && this.#ended.has(first); first = this.jobs[this.#current]) {
      this.#current++;
      this.#deliver(this.jobs[this.#current]);
    }
  }

  /** Delivers what is held because an earlier job was not run. */
  endAll(): void {
    for (const job of this.jobs) this.#deliver(job);
  }

  #deliver(job: Job | undefined): void {
    for (const event of (job && this.#held.get(job)?.splice(0)) ?? []) this.listener(event);
  }
}
