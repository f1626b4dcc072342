import { relative, resolve } from 'node:path';
import type { Variables } from '../../config/variables.ts';
import { InvalidScriptError, OAuthProfileError } from '../../errors.ts';
import { escapeControlsInJson } from '../../redaction/printable.ts';
import type { Listener } from '../../script/events.ts';
import { renderIssues } from '../../script/parser/render-issues.ts';
import { jsonReport } from '../../script/reports/json.ts';
import type { Report } from '../../script/reports/report.ts';
import { formatSummary } from '../../script/reports/summary.ts';
import { createProgress, type Progress } from '../../script/reports/terminal.ts';
import type { RunResult } from '../../script/result.ts';
import type { Script } from '../../script/script.ts';
import { ScriptHost } from '../../script-host.ts';
import { version } from '../../version.ts';
import { type Context, sessionOf, variablesReader, warn } from '../context.ts';
import { emulationOf } from '../emulation.ts';
import { findScripts } from '../find-scripts.ts';
import { renderError } from '../render-error.ts';
import { usage } from '../usage.ts';
import { appendSummary, parseReports, writeReports } from '../write-reports.ts';

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
  try {
    if (emulation !== undefined) warn(context, 'emulated: providers are played by this machine, nothing leaves it');
    const session = sessionOf(context, emulation?.address);
    try {
      host.connect(session, surroundings, emulation?.address);
      const report = { ...(await runAll(jobs, parallel, host, context)), emulated: emulation !== undefined };
      await tell(report, context, (text) => host.redact(text));
      await writeReports(reports, report, (text) => host.redact(text));
      if (signal.aborted) return 130;
      return report.runs.every(({ state }) => state === 'passed') ? 0 : 1;
    } finally {
      await session.close();
    }
  } finally {
    host.close();
    await emulation?.close();
  }
}

/** Reads every script; the issues of all of them are shown at once. */
async function readAll(files: readonly string[], host: ScriptHost, context: Context): Promise<Job[] | undefined> {
  const { terminal, surroundings, call } = context;
  const readVariables = variablesReader(context);
  // What is wrong with the data is wrong for every script: it is said once.
  await readVariables();
  const jobs: Job[] = [];
  let faulty = false;
  for (const file of files) {
    try {
      const script = await host.read(file, surroundings);
      const { data: entries, source } = script;
      jobs.push({ script, variables: await readVariables({ entries, source }) });
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
      faulty = true;
      const json = call.switches.has('json');
      if (error instanceof InvalidScriptError && !json) terminal.tell(renderIssues(error, terminal.style.err));
      renderError(error, terminal, json, false, call);
    }
  }
  return faulty ? undefined : jobs;
}

/** As many at once as allowed; the results in the order of the jobs. */
async function runAll(jobs: readonly Job[], parallel: number, host: ScriptHost, context: Context): Promise<Report> {
  const shown = showProgress(context, jobs.length);
  const startedAt = Date.now();
  const runs: RunResult[] = [];
  const waiting = jobs.entries();
  const work = async (): Promise<void> => {
    for (const [index, { script, variables }] of waiting) {
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

/** What a person sees of a run that goes on, or what a program reads of it. */
function showProgress(context: Context, scripts: number): { listener: Listener; end(): void } {
  const { call, terminal } = context;
  if (call.switches.has('events')) {
    return { listener: (event) => terminal.print(`${escapeControlsInJson(event)}\n`), end: () => {} };
  }
  if (call.switches.has('json') || call.switches.has('quiet')) return { listener: () => {}, end: () => {} };
  const live = terminal.isLive;
  const shown: Progress = createProgress(
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

async function tell(report: Report, context: Context, redact: (text: string) => string): Promise<void> {
  const { call, terminal, surroundings } = context;
  if (call.switches.has('json')) terminal.print(jsonReport(report));
  else if (!call.switches.has('events')) terminal.print(formatSummary(report, terminal.style.out));
  const { env, cwd } = surroundings;
  if (env['GITHUB_ACTIONS'] !== 'true') return;
  const { githubAnnotations, githubSummary } = await import('../../script/reports/github.ts');
  // The result on stdout stays as it is.
  const pathOf = (file: string): string => relative(env['GITHUB_WORKSPACE'] || cwd, resolve(cwd, file));
  terminal.tellRunner(githubAnnotations(report, pathOf));
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  try {
    appendSummary(file, redact(githubSummary(report)));
  } catch (error) {
    warn(context, (error as Error).message);
  }
}

function parallelOf(given: string | undefined): number {
  if (given === undefined) return 1;
  if (!/^[1-9]\d{0,2}$/.test(given))
    throw usage(['--parallel is no number of scripts'], 'write a number from 1 to 999');
  return Number(given);
}
