import { hasFunction } from '../../config/reference.ts';
import { isCollection, type Value } from '../../config/value.ts';
import { Secret } from '../../redaction/secret.ts';
import { stringifyValue } from '../compare.ts';
import type { ScriptEvent } from '../events.ts';
import type { RunResult, StepResult, StepState } from '../result.ts';
import { allSteps, type Script, type Step } from '../script.ts';
import { createApiSecrets } from './api-secrets.ts';
import { createFunctions } from './functions.ts';
import { createResolver } from './run-command.ts';
import { runPhases } from './run-steps.ts';
import type { ResultSink, Run, RunContext, Scope, UnnumberedResult } from './scope.ts';
import { createTitles } from './step-title.ts';

/** Runs a script to its end. Failures are part of the result; it never throws. */
export async function runScript(script: Script, context: RunContext): Promise<RunResult> {
  const { clock, signal, variables, attempt = 1 } = context;
  const { source } = script;
  const file = source.label;
  const emit = (event: ScriptEvent): void => {
    try {
      context.listener(event);
    } catch {
      // An error of the listener does not end the run.
    }
  };
  const startedAt = clock.now();
  const counts: Record<StepState, number> = { passed: 0, failed: 0, skipped: 0 };
  const steps: StepResult[] = [];
  const results: ResultSink = {
    get next() {
      return steps.length + 1;
    },
    add(result: UnnumberedResult) {
      const step = { number: steps.length + 1, ...result };
      counts[step.state]++;
      steps.push(step);
      emit({ type: 'step-end', at: clock.now(), file, step });
    },
  };
  const run = createRun(script, { ...context, listener: emit });
  const { requests = {} } = script;
  const scope: Scope = { run, source, variables, requests, groups: [], phase: undefined, attempt: 1, signal, results };
  prepareVariables(scope);
  // After the secrets of the data are known, and before a response is.
  run.titles = createTitles(script, context.redact);
  const name = context.redact(script.name);
  emit({ type: 'run-start', at: startedAt, file, name, steps: countSteps(script) });
  await runPhases(script, scope);
  const interrupted = signal.aborted;
  const state = counts.failed > 0 || interrupted ? 'failed' : 'passed';
  const attempts = attempt > 1 ? { attempts: attempt } : {};
  const outcome = { name, state, interrupted, ...attempts, counts, elapsedMs: clock.now() - startedAt } as const;
  emit({ type: 'run-end', at: clock.now(), file, ...outcome });
  return { ...outcome, file, startedAt, steps };
}

function createRun(script: Script, context: RunContext): Run {
  const listed = listedSecrets(script);
  const wrapSecret = (value: Value): Value => {
    if (value instanceof Secret) return value;
    const text = stringifyValue(value);
    const secret = text instanceof Secret ? text : Secret.untracked(text);
    // A secret of the data is known before the run, and may be masked in what the author has written.
    context.addSecret(secret, run.started === 0);
    return secret;
  };
  const run: Run = {
    script,
    context,
    titles: new Map(),
    callFunction: createFunctions(context.clock),
    apiSecrets: createApiSecrets(script.unmask ?? [], (secret) => context.addSecret(secret, false)),
    isListedSecret: (name) => listed.some((path) => path === name || path.startsWith(`${name}.`)),
    wrapListedSecrets(name, value) {
      const paths = listed.filter((path) => path === name || path.startsWith(`${name}.`));
      return paths.reduce(
        (wrapped, path) => changeAt(wrapped, path.slice(name.length).split('.').slice(1), wrapSecret),
        value,
      );
    },
    state: new Map(),
    started: 0,
    isStopped: false,
    isRetryForbidden: false,
  };
  return run;
}

/** The `secrets` of a script and of the scripts that it runs. */
function listedSecrets(script: Script): string[] {
  const others = Array.from(allSteps(script), (step) => ('run' in step ? (step.script.secrets ?? []) : []));
  return [...(script.secrets ?? []), ...others.flat()];
}

/** Changes the part of a value at a path, if there is one. */
function changeAt(value: Value, [name, ...rest]: readonly string[], change: (value: Value) => Value): Value {
  if (name === undefined) return change(value);
  if (!isCollection(value) || !Object.hasOwn(value, name)) return value;
  const part = (value as Readonly<Record<string, Value>>)[name] ?? null;
  const changed = changeAt(part, rest, change);
  if (Array.isArray(value)) return value.map((item: Value, index) => (String(index) === name ? changed : item));
  return { ...value, [name]: changed };
}

/** Wraps the variables that are listed as secrets, and evaluates functions in the data of the script once: `${uuid()}` is the same value in all steps. */
function prepareVariables(scope: Scope): void {
  const { run, variables } = scope;
  const resolver = createResolver(scope);
  for (const variable of [...variables]) {
    const { name, value, source } = variable;
    const isListed = run.isListedSecret(name);
    if (!isListed && !containsFunction(value)) continue;
    try {
      const resolved = resolver.resolve(variable);
      variables.assign(name, isListed ? run.wrapListedSecrets(name, resolved) : resolved, source);
    } catch {
      // A step that uses the variable reports the error.
    }
  }
}

function containsFunction(value: Value): boolean {
  if (typeof value === 'string') return hasFunction(value);
  return isCollection(value) && Object.values(value).some(containsFunction);
}

/** Counts the commands of a script; loops run more. Each script is counted once: two that run each other's parts could multiply. */
function countSteps(script: Script, known = new Map<Script, number>()): number {
  const { setup = [], steps, teardown = [] } = script;
  const count = (list: readonly Step[]): number =>
    list.reduce(
      (sum, step) => sum + ('steps' in step ? count(step.steps) : 'run' in step ? countOther(step.script) : 1),
      0,
    );
  const countOther = (other: Script): number => {
    const found = known.get(other) ?? countSteps(other, known);
    known.set(other, found);
    return found;
  };
  return count(setup) + count(steps) + count(teardown);
}
