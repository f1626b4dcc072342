import type { Variables } from '../data/variables.ts';
import { InvalidScriptError, OAuthProfileError } from '../errors.ts';
import type { Listener } from '../script/events.ts';
import { renderFaults } from '../script/readers/render-faults.ts';
import type { Report } from '../script/reports/report.ts';
import { summaryText } from '../script/reports/summary.ts';
import { type Progress, progress } from '../script/reports/terminal.ts';
import type { RunResult } from '../script/result.ts';
import type { Script } from '../script/script.ts';
import { ScriptHost } from '../script-host.ts';
import { version } from '../version.ts';
import { type Context, sessionOf, variablesOf, warn } from './context.ts';
import { emulationOf } from './emulation.ts';
import { findScripts } from './find-scripts.ts';
import { showError } from './show-error.ts';
import { usage } from './usage.ts';
import { appendSummary, parseReports, writeReports } from './write-reports.ts';

const TICK_MS = 100;
const DEFAULT_WIDTH = 80;

/** A script and the variables that it starts with. */
interface Job {
  readonly script: Script;
  readonly variables: Variables;
}

/** `run <script…>`: reads all scripts, and only if none has a fault runs them. */
export async function run(context: Context): Promise<number> {
  const { call, surroundings, signal } = context;
  if (call.switches.has('events') && call.switches.has('json'))
    throw usage(['--events and --json exclude each other'], 'choose one');
  const parallel = parallelOf(call.values.get('parallel')?.[0]);
  const files = findScripts(call.positionals, surroundings.cwd);
  const reports = parseReports(call.values.get('report') ?? [], surroundings.cwd);
  const host = new ScriptHost();
  const jobs = await readAll(files, host, context);
  if (jobs === undefined) return 2;
  const emulation = await emulationOf(context, ...jobs.map(({ variables }) => variables));
  if (emulation !== undefined) warn(context, 'emulated: providers are played by this machine, nothing leaves it');
  const session = sessionOf(context, emulation?.address);
  host.connect(session, surroundings, emulation?.address);
  const shown = showProgress(context, jobs.length);
  try {
    const startedAt = Date.now();
    const results = await runAll(jobs, parallel, (job) => host.run(job.script, job.variables, signal, shown.listener));
    shown.end();
    const report: Report = { runs: results, startedAt, elapsedMs: Date.now() - startedAt, version };
    await tell(report, context);
    await writeReports(reports, report, (text) => host.redact(text));
    if (signal.aborted) return 130;
    return results.every(({ state }) => state === 'passed') ? 0 : 1;
  } finally {
    shown.end();
    host.close();
    await session.close();
    await emulation?.close();
  }
}

/** Reads every script; the faults of all of them are shown at once. */
async function readAll(files: readonly string[], host: ScriptHost, context: Context): Promise<Job[] | undefined> {
  const { terminal, surroundings, call } = context;
  const jobs: Job[] = [];
  let faulty = false;
  for (const file of files) {
    try {
      const script = await host.read(file, surroundings);
      const { data: entries, source } = script;
      jobs.push({ script, variables: await variablesOf(context, { entries, source }) });
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
      faulty = true;
      if (error instanceof InvalidScriptError && !call.switches.has('json'))
        terminal.tell(renderFaults(error, terminal.style.err));
      else showError(error, terminal, call.switches.has('json'), false);
    }
  }
  return faulty ? undefined : jobs;
}

/** As many at once as allowed; the results in the order of the jobs. */
async function runAll(
  jobs: readonly Job[],
  parallel: number,
  runJob: (job: Job) => Promise<RunResult>,
): Promise<RunResult[]> {
  const results: RunResult[] = [];
  const waiting = jobs.entries();
  const work = async (): Promise<void> => {
    for (const [index, job] of waiting) results[index] = await runJob(job);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, jobs.length) }, work));
  return results;
}

/** What a person sees of a run that goes on, or what a program reads of it. */
function showProgress(context: Context, scripts: number): { listener: Listener; end(): void } {
  const { call, terminal } = context;
  if (call.switches.has('events')) {
    return { listener: (event) => terminal.print(`${JSON.stringify(event)}\n`), end: () => {} };
  }
  if (call.switches.has('json') || call.switches.has('quiet')) return { listener: () => {}, end: () => {} };
  const live = terminal.isLive;
  const shown: Progress = progress(
    terminal.style.err,
    () => terminal.columns ?? DEFAULT_WIDTH,
    (text) => terminal.tell(text),
    { live, verbose: call.switches.has('verbose'), scripts },
  );
  const timer = live ? setInterval(() => shown.tick(Date.now()), TICK_MS) : undefined;
  return {
    listener: (event) => shown.handle(event),
    end() {
      clearInterval(timer);
      shown.end();
    },
  };
}

async function tell(report: Report, { call, terminal, surroundings: { env } }: Context): Promise<void> {
  if (env['GITHUB_ACTIONS'] === 'true') {
    const { githubAnnotations, githubSummary } = await import('../script/reports/github.ts');
    // The runner reads them from stderr too, and the result on stdout stays as it is.
    terminal.tell(githubAnnotations(report));
    const file = env['GITHUB_STEP_SUMMARY'];
    if (file) appendSummary(file, githubSummary(report));
  }
  if (call.switches.has('json')) terminal.print((await import('../script/reports/json.ts')).jsonReport(report));
  else if (!call.switches.has('events')) terminal.print(summaryText(report, terminal.style.out));
}

function parallelOf(given: string | undefined): number {
  if (given === undefined) return 1;
  if (!/^[1-9]\d{0,2}$/.test(given))
    throw usage(['--parallel is no number of scripts'], 'write a number from 1 to 999');
  return Number(given);
}
