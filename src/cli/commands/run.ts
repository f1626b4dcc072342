import { relative, resolve } from 'node:path';
import { createClient } from '../../client.ts';
import type { Variables } from '../../config/variables.ts';
import { InvalidScriptError, OAuthProfileError } from '../../errors.ts';
import { escapeControls, escapeControlsInJson } from '../../redaction/sanitize.ts';
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
import { usageError } from '../args.ts';
import { flagValue, hasFlag } from '../command.ts';
import { assertExclusive, type Context, warn } from '../context.ts';
import { openEmulation } from '../emulation.ts';
import { findScripts } from '../find-scripts.ts';
import { renderError } from '../render-error.ts';
import { clientOptions, variableSources } from '../with-client.ts';
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
  const parallel = parseParallel(flagValue(args, 'parallel'));
  const files = findScripts(args.positionals, environment.cwd);
  const reports = parseReports(args.values.get('report') ?? [], environment.cwd);
  const host = new ScriptHost();
  const options = clientOptions(context);
  const plain = createClient(options);
  const jobs = await readAll(files, host, context, plain.loadVariables);
  if (jobs === undefined) return 2;
  const emulation = await openEmulation(
    context,
    plain.sources,
    jobs.map(({ variables }) => variables),
  );
  const client = emulation === undefined ? plain : createClient({ ...options, emulator: emulation.endpoint });
  try {
    if (emulation !== undefined) warn(context, 'emulated: the providers run on this machine, nothing leaves it');
    host.connect(client);
    const report = { ...(await runAll(jobs, parallel, host, context)), emulated: emulation !== undefined };
    await printReport(report, context, (text) => host.redact(text));
    await writeReports(reports, report, (text) => host.redact(text));
    if (signal.aborted) return 130;
    return report.runs.every(({ state }) => state === 'passed') ? 0 : 1;
  } finally {
    host.close();
    await client.close();
    await emulation?.close();
  }
}

/** Parses every script. The issues of all scripts are printed together. */
async function readAll(
  files: readonly string[],
  host: ScriptHost,
  context: Context,
  loadVariables: ReturnType<typeof createClient>['loadVariables'],
): Promise<Job[] | undefined> {
  const { terminal, environment, args } = context;
  const sources = variableSources(context);
  // Issues of the data concern every script: report them once.
  await loadVariables(sources);
  const jobs: Job[] = [];
  let isInvalid = false;
  for (const file of files) {
    try {
      const script = await host.read(file, environment);
      const { data: entries, source } = script;
      jobs.push({ script, variables: await loadVariables({ ...sources, script: { entries, source } }) });
    } catch (error) {
      if (!(error instanceof OAuthProfileError)) throw error;
      isInvalid = true;
      if (error instanceof InvalidScriptError && !hasFlag(args, 'json'))
        terminal.stderr(renderIssues(error, terminal.style.err));
      renderError(error, context);
    }
  }
  return isInvalid ? undefined : jobs;
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
  if (hasFlag(args, 'events')) {
    return { listener: (event) => terminal.stdout(`${escapeControlsInJson(event)}\n`), end: () => {} };
  }
  if (hasFlag(args, 'json') || hasFlag(args, 'quiet')) return { listener: () => {}, end: () => {} };
  const live = terminal.isInteractive;
  const shown: Progress = createProgress(
    terminal.style.err,
    () => terminal.columns ?? DEFAULT_WIDTH,
    (text) => terminal.stderr(text),
    { live, verbose: hasFlag(args, 'verbose'), scripts },
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
  if (hasFlag(args, 'json')) terminal.stdout(jsonReport(report));
  else if (!hasFlag(args, 'events')) terminal.stdout(formatSummary(report, terminal.style.out));
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

function parseParallel(value: string | undefined): number {
  if (value === undefined) return 1;
  if (!/^[1-9]\d{0,2}$/.test(value))
    throw usageError(
      `invalid --parallel "${escapeControls(value)}": expected a number from 1 to 999`,
      'write --parallel 4',
    );
  return Number(value);
}
