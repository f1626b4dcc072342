import { relative, resolve } from 'node:path';
import type { Client } from '../../client.ts';
import type { Variables } from '../../config/variables.ts';
import { InvalidScriptError, OAuthProfileError } from '../../errors.ts';
import type { Listener } from '../../script/events.ts';
import { renderIssues } from '../../script/parser/render-issues.ts';
import { jsonReport } from '../../script/reports/json.ts';
import type { Report } from '../../script/reports/report.ts';
import { formatSummary } from '../../script/reports/summary.ts';
import { createProgress, type Progress } from '../../script/reports/terminal.ts';
import type { RunResult } from '../../script/result.ts';
import type { Script } from '../../script/script.ts';
import { ScriptHost } from '../../script/script-host.ts';
import { version } from '../../version.ts';
import { assertExclusive, type Context, numberFlag, warn } from '../context.ts';
import { findScripts } from '../find-scripts.ts';
import { renderError } from '../render-error.ts';
import { type OpenClient, variableSources, withClient } from '../with-client.ts';
import { appendSummary, parseReports, writeReports } from '../write-reports.ts';

const TICK_MS = 100;
const DEFAULT_WIDTH = 80;

/** A script and its initial variables. */
interface Job {
  readonly script: Script;
  readonly variables: Variables;
}

/** `run <script…>`: parses all scripts and, if none has an issue, runs them. */
export async function runScripts(context: Context): Promise<number> {
  const { args, environment, signal } = context;
  assertExclusive(context, 'events', 'json');
  const parallel = numberFlag(context, 'parallel', [1, 999], '4') ?? 1;
  const files = findScripts(args.positionals, environment.cwd);
  const reports = parseReports(args.values.get('report') ?? [], environment.cwd);
  const host = new ScriptHost();
  const redact = (text: string): string => host.redact(text);
  let jobs: readonly Job[] = [];
  const load = async (client: Client): Promise<Variables[]> => {
    jobs = await readAll(files, host, context, client);
    return jobs.map(({ variables }) => variables);
  };
  const run = async ({ client, emulation }: OpenClient): Promise<number> => {
    if (emulation !== undefined) {
      const others = emulation.allow?.join(', ') || 'nothing';
      warn(context, `emulated: the providers run on this machine; connections beyond it: ${others}`);
    }
    host.connect(client);
    const report = { ...(await runAll(jobs, parallel, host, context)), emulated: emulation !== undefined };
    await printReport(report, context, redact);
    await writeReports(reports, report, redact);
    if (signal.aborted) return 130;
    return report.runs.every(({ state }) => state === 'passed') ? 0 : 1;
  };
  return withClient(context, run, load).finally(() => host.close());
}

/** Parses every script. The issues of all scripts are printed together; the last error is thrown. */
async function readAll(
  files: readonly string[],
  host: ScriptHost,
  context: Context,
  { loadVariables }: Client,
): Promise<Job[]> {
  const { terminal, environment, args } = context;
  const sources = variableSources(context);
  // Issues of the data concern every script: report them once.
  await loadVariables(sources);
  const jobs: Job[] = [];
  let failure: OAuthProfileError | undefined;
  for (const file of files) {
    try {
      const script = await host.read(file, environment);
      const { data: entries, source } = script;
      jobs.push({ script, variables: await loadVariables({ ...sources, script: { entries, source } }) });
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
      if (failure !== undefined) renderError(failure, context);
      failure = error;
      if (error instanceof InvalidScriptError && !args.switches.has('json'))
        terminal.stderr(renderIssues(error, terminal.style.err));
    }
  }
  if (failure !== undefined) throw failure;
  return jobs;
}

/** Runs `parallel` scripts at a time. The results are in the order of the jobs. */
async function runAll(jobs: readonly Job[], parallel: number, host: ScriptHost, context: Context): Promise<Report> {
  const shown = showProgress(context, jobs.length);
  const startedAt = Date.now();
  const runs: RunResult[] = [];
  const queue = jobs.entries();
  const work = async (): Promise<void> => {
    for (const [index, { script, variables }] of queue) {
      runs[index] = await host.run(script, variables, context.signal, shown.listener);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(parallel, jobs.length) }, work));
  } finally {
    shown.end();
  }
  return { runs, startedAt, elapsedMs: Date.now() - startedAt, version };
}

/** Shows progress on stderr, or prints events with `--events`. */
function showProgress(context: Context, scripts: number): { listener: Listener; end(): void } {
  const { args, terminal } = context;
  if (args.switches.has('events')) {
    return { listener: (event) => terminal.stdoutJson(event, 0), end: () => {} };
  }
  if (args.switches.has('json') || args.switches.has('quiet')) return { listener: () => {}, end: () => {} };
  const live = terminal.isInteractive;
  const shown: Progress = createProgress(
    terminal.style.err,
    () => terminal.columns ?? DEFAULT_WIDTH,
    (text) => terminal.stderr(text),
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
