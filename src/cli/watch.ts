import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isCollection, type Value } from '../config/value.ts';
import { findScripts } from '../files/find-scripts.ts';
import { profileFileCandidates } from '../files/profile-files.ts';
import { escapeControls } from '../redaction/sanitize.ts';
import { attempt } from '../script/attempt.ts';
import { countOf } from '../script/reports/report.ts';
import type { Script, Step } from '../script/script.ts';
import type { Context } from './context.ts';
import { renderError } from './render-error.ts';

/** Time between two checks, in milliseconds. Unlike the events of `fs.watch`, checks work on every file system. */
const POLL_MS = 300;

/** The files that scripts depend on, and their states when they were read. */
export class Dependencies {
  /** Absolute paths by script. */
  readonly #paths = new Map<string, ReadonlySet<string>>();
  readonly #states = new Map<string, string>();

  /** `shared` are the files that every script depends on. */
  constructor(
    readonly cwd: string,
    readonly shared: readonly string[],
  ) {}

  set(script: string, paths: Iterable<string>): void {
    const own = new Set([...this.shared, ...paths]);
    this.#paths.set(script, own);
    for (const path of own) this.#states.set(path, stateOf(path));
  }

  /** Sets the files that a parsed script depends on: those that it names, and `others`. */
  setScript(name: string, script: Script, others: readonly string[]): void {
    this.set(name, [...filesOf(script, this.cwd), ...others.map((path) => resolve(this.cwd, path))]);
  }

  /** Returns the paths that have changed since the last call or since they were set. */
  takeChanges(): string[] {
    const changed = [...this.#states].filter(([path, state]) => stateOf(path) !== state).map(([path]) => path);
    for (const path of changed) this.#states.set(path, stateOf(path));
    return changed;
  }

  /** Whether a script is new or depends on one of these paths. */
  isAffected(script: string, changed: readonly string[]): boolean {
    const own = this.#paths.get(script);
    return own === undefined || changed.some((path) => own.has(path));
  }
}

function stateOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
}

/** Returns the files that a script names, and those of the scripts that it runs. A path with a reference is not known before the run. */
function filesOf(script: Script, cwd: string, seen = new Set<Script>()): string[] {
  if (seen.has(script)) return [];
  seen.add(script);
  const { source, rows, requests = {}, setup = [], steps, teardown = [] } = script;
  const filesIn = (step: Step): string[] => {
    const own = [...namedFiles(step.forEach?.items), ...('command' in step ? namedFiles(step.parameters) : [])];
    const inner = 'steps' in step ? step.steps.flatMap(filesIn) : 'run' in step ? filesOf(step.script, cwd, seen) : [];
    return [...own, ...inner];
  };
  const { caFile = [], certFile = [], certKeyFile = [] } = requests;
  const named = [caFile, certFile, certKeyFile, namedFiles(rows), [...setup, ...steps, ...teardown].flatMap(filesIn)];
  return [resolve(cwd, source.label), ...named.flat().map((path) => resolve(cwd, source.directory, path))];
}

/** Returns the paths after the `@` in a value: of rows, a body, a template or a schema. */
function namedFiles(value: Value | undefined): string[] {
  if (typeof value === 'string') return value.startsWith('@') ? [value.replace(/^@(?:template:)?/, '')] : [];
  return value !== undefined && isCollection(value) ? Object.values(value).flatMap(namedFiles) : [];
}

/** Runs scripts, and again those whose files have changed, until Ctrl-C. Returns the status of the last run. */
export async function watchScripts(
  context: Context,
  run: (scripts: readonly string[], dependencies: Dependencies) => Promise<number>,
): Promise<number> {
  const { args, environment, signal, terminal } = context;
  const { cwd } = environment;
  const given = ['data', 'env-file', 'rows', 'commands'].flatMap((name) => args.values.get(name) ?? []);
  const dependencies = new Dependencies(cwd, [
    ...given.map((path) => resolve(cwd, path)),
    ...profileFileCandidates(environment),
  ]);
  let scripts = findScripts(args.positionals, cwd);
  for (let affected = scripts; ; ) {
    for (const script of affected) dependencies.set(script, [resolve(cwd, script)]);
    // A new script changes the state of its directory.
    dependencies.set(
      '',
      [...args.positionals, ...scripts.map((script) => dirname(script))].map((path) => resolve(cwd, path)),
    );
    const status = await run(affected, dependencies).catch((error) => renderError(error, context));
    terminal.prompt(
      `${terminal.style.err.dim(`watching ${countOf(scripts.length, 'script')}; press Ctrl-C to stop`)}\n`,
    );
    for (affected = []; affected.length === 0; ) {
      const isEnded = await setTimeout(POLL_MS, false, { signal }).catch(() => true);
      if (isEnded) return status;
      const changed = dependencies.takeChanges();
      if (changed.length > 0) scripts = attempt(() => findScripts(args.positionals, cwd)) ?? scripts;
      affected = scripts.filter((script) => dependencies.isAffected(script, changed));
    }
    terminal.stderr(`changed: ${affected.map(escapeControls).join(', ')}\n`);
  }
}
