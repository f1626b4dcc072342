import type { Value } from '../../config/value.ts';
import type { Source } from '../../config/variables.ts';
import { OAuthProfileError } from '../../errors.ts';
import { commandName } from '../command.ts';
import type { StepResult, StepState } from '../result.ts';
import type { CommandStep, RunStep, Script, Step } from '../script.ts';
import { StepFailure } from '../step-context.ts';
import { toFailure } from './failure.ts';
import { type LabelledItem, readItems } from './items.ts';
import { createLookup, createResolver, prepareCommand } from './run-command.ts';
import { AttemptResults, type Scope } from './scope.ts';

/** Maximum number of steps of one run, attempts and items included: the results of more would not fit into memory. */
const MAX_STARTED = 200_000;
/** Time for the teardown after an interruption, in milliseconds. */
const TEARDOWN_MS = 10_000;

/** Runs the setup, the steps and the teardown of a script. Returns whether all of them passed. */
export async function runPhases(script: Script, scope: Scope): Promise<boolean> {
  const { setup = [], steps, teardown = [] } = script;
  const isSetUp = await runSteps(setup, { ...scope, phase: scope.phase ?? 'setup' });
  const isPassed = (await runSteps(steps, scope, !isSetUp)) && isSetUp;
  if (teardown.length === 0) return isPassed;
  // The teardown removes what the steps have created, also after Ctrl-C.
  const signal = scope.signal.aborted ? AbortSignal.timeout(TEARDOWN_MS) : scope.signal;
  const isTornDown = await withoutStop(scope, () => runSteps(teardown, { ...scope, signal, phase: 'teardown' }));
  return isPassed && isTornDown;
}

/** Runs steps although an earlier step has ended the script. */
async function withoutStop<T>({ run }: Scope, work: () => Promise<T>): Promise<T> {
  const before = run.isStopped;
  run.isStopped = false;
  try {
    return await work();
  } finally {
    run.isStopped ||= before;
  }
}

/** Runs steps in order. After a failure, or if `isEnded`, only steps with `always` run. Returns whether all of them passed. */
async function runSteps(steps: readonly Step[], scope: Scope, isEnded = false): Promise<boolean> {
  let isPassed = true;
  for (const step of steps) {
    const passed = await runStep(step, scope, isEnded || scope.run.isStopped);
    isPassed &&= passed;
    if (!passed && !step.continueOnFailure) isEnded = true;
  }
  return isPassed;
}

/** Runs a step, or all items of its `forEach`. Returns whether it passed or was skipped. */
async function runStep(step: Step, scope: Scope, isEnded: boolean): Promise<boolean> {
  const { run } = scope;
  const title = run.titles.get(step) ?? '';
  if (scope.signal.aborted) return skip(step, title, scope, 'the run was interrupted');
  if (isEnded && !step.always) return skip(step, title, scope, 'an earlier step failed');
  let items: readonly LabelledItem[] | undefined;
  const responsesOf = new Set<number>();
  const startedAt = run.context.clock.now();
  try {
    if (step.condition !== undefined && !step.condition(createLookup(scope)))
      return skip(step, title, scope, 'its condition is false');
    if (step.forEach !== undefined) items = await readItems(step.forEach.items, scope, responsesOf);
  } catch (error) {
    emitStart(step, title, startedAt, scope);
    return fail(step, title, startedAt, error, scope);
  }
  if (items === undefined) return runAttempts(step, title, scope);
  return runItems(step, title, items, { ...scope.source, responsesOf: [...responsesOf] }, scope);
}

async function runItems(step: Step, title: string, items: readonly LabelledItem[], source: Source, scope: Scope) {
  const { run, signal, variables } = scope;
  const { variable = '' } = step.forEach ?? {};
  const before = variables.get(variable);
  let isPassed = true;
  for (const { label, value } of items) {
    const itemTitle = `${title} [${label}]`;
    if (signal.aborted || (run.isStopped && !step.always) || (!isPassed && !step.continueOnFailure)) {
      skip(step, itemTitle, scope, signal.aborted ? 'the run was interrupted' : 'an earlier item failed');
      break;
    }
    variables.assign(variable, run.wrapListedSecrets(variable, value), source);
    const passed = await runAttempts(step, itemTitle, scope);
    isPassed &&= passed;
  }
  if (before === undefined) variables.delete(variable);
  else variables.add([before], before.source);
  return isPassed;
}

/** Runs a step until it passes, as often as its `retry` allows. */
async function runAttempts(step: Step, title: string, scope: Scope): Promise<boolean> {
  const { retry } = step;
  if (retry === undefined) return runOnce(step, title, scope);
  const { run } = scope;
  const { clock, listener } = run.context;
  const { times, until, backoff, maxMs } = retry;
  let { intervalMs } = retry;
  for (let attempt = 1; ; attempt++) {
    const startedAt = clock.now();
    const results = new AttemptResults(scope.results);
    const inner = { ...scope, attempt: scope.attempt + attempt - 1, results };
    run.isRetryForbidden = false;
    let isPassed = await runOnce(step, title, inner, attempt < times);
    let isMet = isPassed;
    try {
      isMet &&= until === undefined || until.test(createLookup(inner));
    } catch (error) {
      isPassed = fail(step, title, startedAt, error, inner);
      isMet = false;
    }
    const isLast = attempt >= times || run.isRetryForbidden || run.isStopped || scope.signal.aborted;
    if (isMet || isLast) {
      if (isPassed && !isMet) {
        const message = `the condition is still false after ${attempt} attempts`;
        fail(step, title, startedAt, new StepFailure(message, { expected: until?.text }), inner);
      }
      results.commit(attempt);
      return isMet;
    }
    const file = scope.source.label;
    for (const result of results.numbered())
      listener({ type: 'step-retry', at: clock.now(), file, attempt, step: result });
    try {
      await clock.sleep(Math.min(intervalMs, maxMs), scope.signal);
    } catch (error) {
      results.commit(attempt);
      if (isPassed) fail(step, title, startedAt, error, scope);
      return false;
    }
    intervalMs *= backoff;
  }
}

/** Runs one attempt. If it `isRepeated` after a failure, `onFailure` is not called. */
function runOnce(step: Step, title: string, scope: Scope, isRepeated = false): Promise<boolean> {
  if ('command' in step) return runCommand(step, title, scope, isRepeated);
  const inner = { ...scope, groups: [...scope.groups, title] };
  const work = () => ('steps' in step ? runSteps(step.steps, inner) : runOther(step, title, inner));
  return step.always ? withoutStop(scope, work) : work();
}

async function runCommand(step: CommandStep, title: string, scope: Scope, isRepeated: boolean): Promise<boolean> {
  const { run } = scope;
  const startedAt = run.context.clock.now();
  const prepared = prepareCommand(step, scope);
  emitStart(step, title, startedAt, scope);
  try {
    if (++run.started > MAX_STARTED) {
      const hint = 'reduce the items or attempts';
      throw new StepFailure(`the script has run ${MAX_STARTED} steps`, { hint, endsScript: true });
    }
    await prepared.run(scope.results.next);
    addResult(step, title, startedAt, 'passed', prepared, scope);
    return true;
  } catch (error) {
    if (!isRepeated || run.isRetryForbidden) prepared.fail();
    return fail(step, title, startedAt, error, scope, prepared);
  }
}

/** Runs the steps of another script with the variables of this one. */
async function runOther(step: RunStep, title: string, scope: Scope): Promise<boolean> {
  const { script, save } = step;
  const { run } = scope;
  const startedAt = run.context.clock.now();
  const variables = scope.variables.clone();
  const requests = { ...scope.requests, ...script.requests };
  const inner: Scope = { ...scope, variables, requests, source: script.source };
  try {
    const responsesOf = new Set<number>();
    const resolver = createResolver(scope, responsesOf);
    const given = resolver.follow(step.with, scope.source) as Readonly<Record<string, Value>>;
    const source = { ...scope.source, responsesOf: [...responsesOf] };
    variables.addDefaults(script.data, { ...script.source, trust: 'script' });
    for (const [name, value] of Object.entries(given))
      variables.assign(name, run.wrapListedSecrets(name, value), source);
    if (!(await runPhases(script, inner))) return false;
    for (const name of save) {
      const variable = variables.get(name);
      if (variable === undefined) throw new StepFailure(`${name} is not defined in ${script.source.label}`);
      const { responsesOf } = variable.source;
      scope.variables.assign(name, createResolver(inner).resolve(variable), { ...scope.source, responsesOf });
    }
    return true;
  } catch (error) {
    return fail(step, title, startedAt, error, scope);
  }
}

function emitStart(step: Step, title: string, at: number, { run, results }: Scope): void {
  const file = run.script.source.label;
  run.context.listener({ type: 'step-start', at, file, number: results.next, command: kindOf(step), title });
}

function kindOf(step: Step): string {
  if ('command' in step) return commandName(step.command);
  return 'run' in step ? 'run' : 'group';
}

function skip(step: Step, title: string, scope: Scope, reason: string): boolean {
  addResult(step, title, scope.run.context.clock.now(), 'skipped', { reason }, scope);
  return true;
}

/** Adds the result of a failed step. Returns `false`. */
function fail(step: Step, title: string, startedAt: number, error: unknown, scope: Scope, more: ResultDetails = {}) {
  const { run, signal } = scope;
  if (error instanceof StepFailure && error.details.endsScript) run.isStopped = true;
  // After an interruption the error of the step is a consequence of it.
  const isAborted = error instanceof OAuthProfileError && error.code === 'aborted';
  const cause = signal.aborted && !isAborted ? new OAuthProfileError('aborted', 'the run was interrupted') : error;
  addResult(step, title, startedAt, 'failed', { ...more, failure: toFailure(cause, run.context) }, scope);
  return false;
}

type ResultDetails = Partial<Pick<StepResult, 'reason' | 'failure' | 'output' | 'exchanges'>> & {
  readonly responsesOf?: ReadonlySet<number>;
};

function addResult(
  step: Step,
  title: string,
  startedAt: number,
  state: StepState,
  { reason, failure, output = [], exchanges = [], responsesOf }: ResultDetails,
  { run, groups, phase, source, results }: Scope,
): void {
  results.add({
    command: kindOf(step),
    title,
    ...(groups.length > 0 && { groups }),
    ...(phase !== undefined && { phase }),
    ...(source.label !== run.script.source.label && { file: source.label }),
    position: step.position,
    state,
    ...(reason !== undefined && { reason }),
    ...(failure !== undefined && { failure }),
    startedAt,
    elapsedMs: run.context.clock.now() - startedAt,
    output,
    exchanges,
    ...(responsesOf?.size && { responsesOf: [...responsesOf] }),
  });
}
