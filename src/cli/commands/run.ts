import { relative, resolve } from 'node:path';
import type { Client } from '../../client.ts';
import type { Variables } from '../../config/variables.ts';
import { InvalidScriptError, OAuthProfileError } from '../../errors.ts';
import { describeProject } from '../../files/project.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import type { Listener } from '../../script/events.ts';
import { renderIssues } from '../../script/parser/render-issues.ts';
import { jsonReport } from '../../script/reports/json.ts';
import { countOf, type Report } from '../../script/reports/report.ts';
import { formatSummary } from '../../script/reports/summary.ts';
import { createProgress, type Progress } from '../../script/reports/terminal.ts';
import type { RunResult } from '../../script/result.ts';
import type { Script } from '../../script/script.ts';
import { ScriptHost } from '../../script/script-host.ts';
import { version } from '../../version.ts';
import { assertExclusive, type Context, numberFlag, warn } from '../context.ts';
import { findScripts } from '../find-scripts.ts';
import { renderError } from '../render-error.ts';
import { findEnvironment, loadCommands, selectScripts, selectShard } from '../select-scripts.ts';
import { type OpenClient, variableSources, withClient } from '../with-client.ts';
import { appendSummary, parseReports, writeReports } from '../write-reports.ts';

const TICK_MS = 100;
const DEFAULT_WIDTH = 80;

/** One run of a script. */
interface Job {
  readonly script: Script;
  /** Variables of the first attempt. */
  readonly variables: Variables;
  /** Loads the variables of another attempt. */
  readonly load: () => Promise<Variables>;
}

/** `run <script…>`: parses all scripts and, if none has an issue, runs them. */
export async function runScripts(context: Context): Promise<number> {
  const { args, environment, signal } = context;
  assertExclusive(context, 'events', 'json');
  const parallel = numberFlag(context, 'parallel', [1, 999], '4') ?? 1;
  const skipped: string[] = [];
  const files = findScripts(args.positionals, environment.cwd, skipped);
  if (skipped.length > 0) warn(context, `not scripts: ${skipped.map(escapeControls).join(', ')}`);
  const reports = parseReports(args.values.get('report') ?? [], environment.cwd);
  const host = new ScriptHost(await loadCommands(args.values.get('commands') ?? [], environment.cwd));
  const redact = (text: string): string => host.redact(text);
  let jobs: readonly Job[] = [];
  const load = async (client: Client): Promise<Variables[]> => {
    jobs = selectShard(await planRuns(await readAll(files, host, context), host, context, client), context);
    return jobs.map(({ variables }) => variables);
  };
  const run = async ({ client, emulation }: OpenClient): Promise<number> => {
    if (args.switches.has('list') || args.switches.has('dry-run')) return listJobs(jobs, context);
    if (emulation !== undefined) {
      const allowed = emulation.allow?.join(', ');
      const reach = allowed ? `; only requests to ${allowed} leave it` : ', nothing leaves it';
      warn(context, `emulated: the providers run on this machine${reach}`);
    }
    host.connect(client);
    const isReported = reports.length > 0 || args.switches.has('json');
    const report: Report = {
      ...(await runAll(jobs, parallel, host, context)),
      ...(isReported && (await describeProject(environment.cwd))),
      environment: args.values.get('env')?.[0],
      emulated: emulation !== undefined,
    };
    await printReport(report, context, redact);
    await writeReports(reports, report, redact);
    if (signal.aborted) return 130;
    return report.runs.every(({ state }) => state === 'passed') ? 0 : 1;
  };
  return withClient(context, run, load).finally(() => host.close());
}

/** Prints the selected runs. All of them are valid. */
function listJobs(jobs: readonly Job[], { args, terminal }: Context): number {
  if (args.switches.has('json')) {
    terminal.stdoutJson(jobs.map(({ script: { name, source, tags } }) => ({ file: source.label, name, tags })));
    return 0;
  }
  for (const { script } of args.switches.has('list') ? jobs : []) {
    const tags = (script.tags ?? []).map((tag) => `  [${tag}]`).join('');
    terminal.stdout(`${escapeControls(`${script.source.label}  ${script.name}${tags}`)}\n`);
  }
  if (args.switches.has('dry-run')) terminal.stdout(`${countOf(jobs.length, 'script')} valid, nothing was sent\n`);
  return 0;
}

/** Plans the runs of the selected scripts: one per row and repetition. */
async function planRuns(
  scripts: readonly Script[],
  host: ScriptHost,
  context: Context,
  { loadVariables }: Client,
): Promise<Job[]> {
  const { args, environment } = context;
  const sources = variableSources(context);
  // Issues of the data concern every script: report them once.
  await loadVariables(sources);
  const repeat = numberFlag(context, 'repeat', [1, 10_000], '3') ?? 1;
  const jobs: Job[] = [];
  for (const script of selectScripts(scripts, context)) {
    const { data: entries, source } = script;
    const files = [...findEnvironment(script, context), ...(sources.files ?? [])];
    const rows = (await host.readRows(script, environment, args.values.get('rows')?.[0])) ?? [undefined];
    for (const row of rows) {
      const load = async (): Promise<Variables> =>
        (await loadVariables({ ...sources, files, script: { entries, source } })).add(row?.entries ?? [], source);
      for (let index = 1; index <= repeat; index++) {
        const labels = [...(row === undefined ? [] : [row.label]), ...(repeat > 1 ? [`${index}`] : [])];
        const name = [script.name, ...labels.map((label) => `[${label}]`)].join(' ');
        jobs.push({ script: { ...script, name }, variables: await load(), load });
      }
    }
  }
  return jobs;
}

/** Parses every script. The issues of all scripts are printed together; the last error is thrown. */
async function readAll(files: readonly string[], host: ScriptHost, context: Context): Promise<Script[]> {
  const { terminal, environment, args } = context;
  const scripts: Script[] = [];
  let failure: OAuthProfileError | undefined;
  for (const file of files) {
    try {
      scripts.push(await host.read(file, environment));
    } catch (error) {
      // A script that several others run is reported once.
      if (error === failure) continue;
      if (!(error instanceof OAuthProfileError)) throw error;
      if (failure !== undefined) renderError(failure, context);
      failure = error;
      if (error instanceof InvalidScriptError && !args.switches.has('json'))
        terminal.stderr(renderIssues(error, terminal.style.err));
    }
  }
  if (failure !== undefined) throw failure;
  return scripts;
}

/** Runs `parallel` scripts at a time. The results are in the order of the jobs. */
async function runAll(jobs: readonly Job[], parallel: number, host: ScriptHost, context: Context): Promise<Report> {
  const shown = showProgress(context, jobs.length);
  const startedAt = Date.now();
  const runs: RunResult[] = [];
  const retries = numberFlag(context, 'retries', [0, 100], '2') ?? 0;
  const queue = jobs.entries();
  let isStopped = false;
  const work = async (): Promise<void> => {
    for (const [index, { script, variables, load }] of queue) {
      if (isStopped) break;
      let run = await host.run(script, variables, context.signal, shown.listener);
      for (let attempts = 2; run.state === 'failed' && !run.interrupted && attempts <= retries + 1; attempts++) {
        run = { ...(await host.run(script, await load(), context.signal, shown.listener)), attempts };
      }
      runs[index] = run;
      isStopped ||= run.state === 'failed' && context.args.switches.has('bail');
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(parallel, jobs.length) }, work));
  } finally {
    shown.end();
  }
  const finished = runs.filter((run) => run !== undefined);
  const left = jobs.length - finished.length;
  if (left > 0) warn(context, `stopped after a failed script (--bail): ${countOf(left, 'script')} not run`);
  return { runs: finished, startedAt, elapsedMs: Date.now() - startedAt, version };
}

/** Shows progress, or prints events with `--events`. */
function showProgress(context: Context, scripts: number): { listener: Listener; end(): void } {
  const { args, terminal } = context;
  if (args.switches.has('events')) {
    return { listener: (event) => terminal.stdoutJson(event, 0), end: () => {} };
  }
  if (args.switches.has('json') || args.switches.has('quiet')) return { listener: () => {}, end: () => {} };
  const live = terminal.isInteractive;
  // Results go to stdout. On a terminal they are drawn above the live line, on the same stream.
  const shown: Progress = createProgress(
    live ? terminal.style.err : terminal.style.out,
    () => terminal.columns ?? DEFAULT_WIDTH,
    (text) => (live ? terminal.stderr(text) : terminal.stdout(text)),
    { live, verbose: args.switches.has('verbose'), scripts },
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

async function printReport(report: Report, context: Context, redact: (text: string) => string): Promise<void> {
  const { args, terminal, environment } = context;
  if (args.switches.has('json')) terminal.stdout(jsonReport(report));
  else if (!args.switches.has('events')) terminal.stdout(formatSummary(report, terminal.style.out));
  const { env, cwd } = environment;
  if (env['GITHUB_ACTIONS'] !== 'true') return;
  const { githubAnnotations, githubSummary } = await import('../../script/reports/github.ts');
  const pathOf = (file: string): string => relative(env['GITHUB_WORKSPACE'] || cwd, resolve(cwd, file));
  terminal.workflowCommand(githubAnnotations(report, pathOf));
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  try {
    appendSummary(file, redact(githubSummary(report)));
  } catch (error) {
    warn(context, (error as Error).message);
  }
}
