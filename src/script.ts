import { sharedClient, thisProcess } from './client.ts';
import type { Variables } from './config/variables.ts';
import { findScripts } from './files/find-scripts.ts';
import { describeProject } from './files/project.ts';
import { type CallOptions, validateOptions } from './oauth-profile.ts';
import type { Command, Registry } from './script/command.ts';
import { commandDocs as docsOf } from './script/describe-command.ts';
import { type JobOptions, planJobs, runJobs } from './script/engine/run-jobs.ts';
import type { Listener } from './script/events.ts';
import type { ScriptObject } from './script/parser/object.ts';
import { type Report, redactResults } from './script/reports/report.ts';
import { prepareReports, type ReportFile, writeReports } from './script/reports/write-reports.ts';
import type { RunResult } from './script/result.ts';
import { scriptSchema as schemaOf } from './script/schema.ts';
import type { Script } from './script/script.ts';
import { ScriptHost } from './script/script-host.ts';
import { version } from './version.ts';

export type { Value } from './config/value.ts';
export { InvalidScriptError, OAuthProfileError, type ScriptIssue } from './errors.ts';
export {
  type ArgumentsOf,
  type Command,
  type CommandDefinition,
  defineCommand,
  type Parameter,
} from './script/command.ts';
export type { Listener, ScriptEvent } from './script/events.ts';
export type { RequestSettings } from './script/keys.ts';
export type { Kind } from './script/parameter-kinds.ts';
export type { ScriptObject, StepObject } from './script/parser/object.ts';
export { htmlReport } from './script/reports/html.ts';
export { jsonReport } from './script/reports/json.ts';
export { type JunitOptions, junitReport } from './script/reports/junit.ts';
export type { Report } from './script/reports/report.ts';
export type { ReportFile } from './script/reports/write-reports.ts';
export type { Counts, Exchange, Failure, RunResult, StepResult, StepState } from './script/result.ts';
export { type StepContext, StepFailure } from './script/step-context.ts';

/** Options of {@link runScript}. */
export interface RunOptions extends CallOptions {
  /** Your own commands, defined with `defineCommand`. */
  readonly commands?: readonly Command[] | undefined;
  /** Receives the events of the run. No event contains a secret. */
  readonly onEvent?: Listener | undefined;
}

/**
 * Runs a script from a file or an object. Returns a result even if steps fail. Throws an `InvalidScriptError` with all issues if the script is
 * invalid.
 */
export async function runScript(script: string | ScriptObject, options: RunOptions = {}): Promise<RunResult> {
  return withHost('runScript', options, async ({ host, load, run }) => {
    const read = await (typeof script === 'string'
      ? host.read(script, thisProcess)
      : host.readObject(script, thisProcess));
    return run(read, await load(read), 1);
  });
}

/** Options of {@link runScripts}. */
export interface RunScriptsOptions extends RunOptions, JobOptions {
  /** Reports to write, such as `{ kind: 'junit', file: 'out.xml' }`. */
  readonly reports?: readonly ReportFile[] | undefined;
}

/**
 * Runs scripts as `oauth-profile run` does, once per row of their `rows`, and writes the same reports. `files` are paths of files and directories,
 * and glob patterns. If a script is invalid, none runs, and its `InvalidScriptError` is thrown.
 */
export async function runScripts(files: readonly string[], options: RunScriptsOptions = {}): Promise<Report> {
  return withHost('runScripts', options, async ({ host, load, run }) => {
    validateCount('parallel', 1, options.parallel);
    validateCount('retries', 0, options.retries);
    const { cwd } = thisProcess;
    const reports = prepareReports(options.reports ?? [], cwd);
    const scripts: Script[] = [];
    for (const file of findScripts(files, cwd)) scripts.push(await host.read(file, thisProcess));
    const readRows = (script: Script) => host.readRows(script, thisProcess);
    const jobs = await planJobs(scripts, { readRows, loadVariables: load });
    const results = await runJobs(jobs, (job, ...rest) => run(job.script, ...rest), options);
    const report: Report = {
      version,
      ...results,
      runs: redactResults(results.runs, (text) => host.redact(text)),
      ...(await describeProject(cwd)),
      emulated: options.emulator !== undefined,
    };
    writeReports(reports, report, (text) => host.redactKnown(text));
    return report;
  });
}

function validateCount(name: string, min: number, value = min): void {
  if (!Number.isInteger(value) || value < min)
    throw new TypeError(`runScripts: ${name} must be an integer of at least ${min}`);
}

/** Host of scripts, and how it loads variables and runs a script with the options of a call. */
interface OpenHost {
  readonly host: ScriptHost;
  load(script: Script): Promise<Variables>;
  run(script: Script, variables: Variables, attempt: number): Promise<RunResult>;
}

async function withHost<T>(caller: string, options: RunOptions, use: (open: OpenHost) => Promise<T>): Promise<T> {
  validateOptions(caller, options);
  const { data, signal = new AbortController().signal, commands, onEvent = () => {} } = options;
  if (typeof onEvent !== 'function') throw new TypeError(`${caller}: onEvent must be a function`);
  const client = sharedClient(options);
  const host = new ScriptHost(commands).connect(client);
  try {
    return await use({
      host,
      load: ({ data: entries, source }) => client.loadVariables({ data, script: { entries, source } }),
      run: (script, variables, attempt) => host.run(script, variables, signal, onEvent, attempt),
    });
  } finally {
    host.close();
  }
}

/** Documentation of all commands in Markdown, including your own `commands`. */
export function commandDocs(commands?: readonly Command[]): string {
  return docsOf(registryOf(commands));
}

/** JSON Schema (2020-12) of scripts for editors, including your own `commands`. */
export function scriptSchema(commands?: readonly Command[]): Record<string, unknown> {
  return schemaOf(registryOf(commands));
}

function registryOf(commands: readonly Command[] | undefined): Registry {
  const host = new ScriptHost(commands);
  host.close();
  return host.registry;
}
