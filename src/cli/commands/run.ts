import { relative, resolve } from 'node:path';
import type { Client } from '../../client.ts';
import type { Variables } from '../../config/variables.ts';
import { InvalidScriptError, OAuthProfileError } from '../../errors.ts';
import { findScripts } from '../../files/find-scripts.ts';
import { describeProject } from '../../files/project.ts';
import { escapeControls } from '../../redaction/sanitize.ts';
import type { Command } from '../../script/command.ts';
import { type Job, OrderedEvents, planJobs, type RunJob, runJobs } from '../../script/engine/run-jobs.ts';
import type { ScriptEvent } from '../../script/events.ts';
import { renderIssues } from '../../script/parser/render-issues.ts';
import { jsonReport } from '../../script/reports/json.ts';
import { countOf, type Report, redactResults } from '../../script/reports/report.ts';
import { formatSummary } from '../../script/reports/summary.ts';
import { createProgress, type Progress } from '../../script/reports/terminal.ts';
import { appendSummary, parseReports, writeReports } from '../../script/reports/write-reports.ts';
import type { Script } from '../../script/script.ts';
import { ScriptHost } from '../../script/script-host.ts';
import { version } from '../../version.ts';
import { usageError } from '../args.ts';
import { assertExclusive, type Context, numberFlag, warn } from '../context.ts';
import { renderError } from '../render-error.ts';
import { findEnvironment, loadCommands, selectScripts, selectShard } from '../select-scripts.ts';
import type { Dependencies } from '../watch.ts';
import { type OpenClient, variableSources, withClient } from '../with-client.ts';

const TICK_MS = 100;
const DEFAULT_WIDTH = 80;

/** `run <script…>`: runs scripts once, or with `--watch` whenever they change. */
export async function runScripts(context: Context): Promise<number> {
  const { args, environment } = context;
  assertExclusive(context, 'events', 'json');
  const skipped: string[] = [];
  const files = findScripts(args.positionals, environment.cwd, skipped);
  if (skipped.length > 0) warn(context, `skipped, not a script: ${skipped.map(escapeControls).join(', ')}`);
  if (!args.switches.has('watch')) return runFiles(files, context);
  const { watchScripts } = await import('../watch.ts');
  return watchScripts(context, (changed, dependencies) => runFiles(changed, context, dependencies));
}

/** Parses all scripts and, if none has an issue, runs them. */
async function runFiles(files: readonly string[], context: Context, dependencies?: Dependencies): Promise<number> {
  const { args, environment, signal } = context;
  const parallel = numberFlag(context, 'parallel', [1, 999], '4') ?? 1;
  const reports = parseReports(args.values.get('report') ?? [], environment.cwd);
  const host = createHost(await loadCommands(args.values.get('commands') ?? [], environment.cwd));
  const redact = (text: string): string => host.redactKnown(text);
  let jobs: readonly Job[] = [];
  const load = async (client: Client): Promise<Variables[]> => {
    const scripts = await readAll(files, host, context, dependencies);
    jobs = selectShard(await planAll(scripts, host, context, client), context);
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
      version,
      ...(await runAll(jobs, parallel, host, context)),
      ...(isReported && (await describeProject(environment.cwd))),
      environment: args.values.get('env')?.[0],
      emulated: emulation !== undefined,
    };
    await printReport(report, context, redact);
    writeReports(reports, report, redact);
    if (signal.aborted) return 130;
    return report.runs.every(({ state }) => state === 'passed') ? 0 : 1;
  };
  return withClient(context, run, load).finally(() => host.close());
}

function createHost(commands: readonly Command[]): ScriptHost {
  try {
    return new ScriptHost(commands);
  } catch (error) {
    throw usageError((error as Error).message, 'rename the command in the module given with --commands');
  }
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

async function planAll(scripts: readonly Script[], host: ScriptHost, context: Context, { loadVariables }: Client) {
  const { args, environment } = context;
  const sources = variableSources(context);
  // Issues of the data concern every script: report them once.
  await loadVariables(sources);
  return planJobs(selectScripts(scripts, context), {
    repeat: numberFlag(context, 'repeat', [1, 10_000], '3'),
    readRows: (script) => host.readRows(script, environment, args.values.get('rows')?.[0]),
    loadVariables(script) {
      const files = [...findEnvironment(script, context), ...(sources.files ?? [])];
      return loadVariables({ ...sources, files, script: { entries: script.data, source: script.source } });
    },
  });
}

/** Parses every script. The issues of all scripts are printed together; the last error is thrown. */
async function readAll(files: readonly string[], host: ScriptHost, context: Context, dependencies?: Dependencies) {
  const { terminal, environment, args } = context;
  const scripts: Script[] = [];
  let failure: OAuthProfileError | undefined;
  for (const file of files) {
    try {
      const script = await host.read(file, environment);
      scripts.push(script);
      dependencies?.setScript(file, script, findEnvironment(script, context));
    } catch (error) {
      dependencies?.set(file, host.files);
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

async function runAll(jobs: readonly Job[], parallel: number, host: ScriptHost, context: Context) {
  const retries = numberFlag(context, 'retries', [0, 100], '2');
  const bail = context.args.switches.has('bail');
  const shown = showProgress(context, jobs);
  const run: RunJob = (job, variables, attempt) =>
    host.run(job.script, variables, context.signal, (event) => shown.handle(job, event), attempt);
  const ended = runJobs(jobs, run, { parallel, retries, bail }, (job) => shown.endJob?.(job));
  const results = await ended.finally(() => shown.end?.());
  const left = jobs.length - results.runs.length;
  if (left > 0) warn(context, `stopped after a failed script (--bail): ${countOf(left, 'script')} not run`);
  return { ...results, runs: redactResults(results.runs, (text) => host.redact(text)) };
}

interface Shown {
  handle(job: Job, event: ScriptEvent): void;
  endJob?(job: Job): void;
  end?(): void;
}

/** Shows progress, or prints events with `--events`. */
function showProgress(context: Context, jobs: readonly Job[]): Shown {
  const { args, terminal } = context;
  if (args.switches.has('events')) return { handle: (_, event) => terminal.stdoutJson(event, 0) };
  if (args.switches.has('json') || args.switches.has('quiet')) return { handle() {} };
  const live = terminal.isInteractive;
  // Results go to stdout. On a terminal they are drawn above the live line, on the same stream.
  const progress: Progress = createProgress(
    live ? terminal.style.err : terminal.style.out,
    () => terminal.columns ?? DEFAULT_WIDTH,
    (text) => (live ? terminal.stderr(text) : terminal.stdout(text)),
    { live, verbose: args.switches.has('verbose'), scripts: jobs.length },
  );
  if (!live) {
    const ordered = new OrderedEvents(jobs, (event) => progress.handle(event));
    return {
      handle: (job, event) => ordered.handle(job, event),
      endJob: (job) => ordered.end(job),
      end: () => ordered.endAll(),
    };
  }
  const timer = setInterval(() => progress.tick(Date.now()), TICK_MS);
  return {
    handle: (_, event) => progress.handle(event),
    end() {
      clearInterval(timer);
      progress.end();
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
