import { type ExternalSources, Resolver } from '../config/resolver.ts';
import { isCollection, isEmpty, mapCollection, type Value } from '../config/value.ts';
import type { Variables } from '../config/variables.ts';
import { OAuthProfileError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { excerpt } from '../redaction/sanitize.ts';
import { MASK } from '../redaction/secret.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';
import { attempt } from './attempt.ts';
import { commandName } from './command.ts';
import { displayText, displayValue } from './compare.ts';
import { type Lookup, type Matches, testCondition } from './condition.ts';
import type { Listener, ScriptEvent } from './events.ts';
import { InvalidArgument, kinds, splitLines } from './parameter-kinds.ts';
import type { Exchange, Failure, RunResult, StepResult, StepState } from './result.ts';
import type { Script, Step } from './script.ts';
import { type FailureDetails, type StepContext, StepFailure } from './step-context.ts';

/** Maximum length of a message or value in a result, in characters. */
const MAX_SHOWN = 4_000;
/** Maximum length of one parameter in the title of a step, in characters. */
const MAX_PARAMETER = 60;

/** Dependencies of a run. */
export interface RunContext {
  /** The variables of this script; steps change them. */
  readonly variables: Variables;
  readonly externalSources: ExternalSources;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly listener: Listener;
  /** Masks every secret known so far. */
  readonly redact: (text: string) => string;
  readonly matches: Matches;
}

/** Runs a script to its end. Failures are part of the result; it never throws. */
export async function runScript(script: Script, context: RunContext): Promise<RunResult> {
  const { clock, signal } = context;
  const { name, source, steps } = script;
  const file = source.label;
  const emit = (event: ScriptEvent): void => {
    try {
      context.listener(event);
    } catch {
      // An error of the listener does not end the run.
    }
  };
  const run: Run = { script, context: { ...context, listener: emit }, state: new Map(), ended: false };
  const startedAt = clock.now();
  const counts: Record<StepState, number> = { passed: 0, failed: 0, skipped: 0 };
  const results: StepResult[] = [];
  emit({ type: 'run-start', at: startedAt, file, name, steps: steps.length });
  for (const [index, step] of steps.entries()) {
    const result = await runStep(step, index + 1, run);
    counts[result.state]++;
    results.push(result);
    emit({ type: 'step-end', at: clock.now(), file, step: result });
  }
  const interrupted = signal.aborted;
  const state = counts.failed > 0 || interrupted ? 'failed' : 'passed';
  const outcome = { name, state, interrupted, counts, elapsedMs: clock.now() - startedAt } as const;
  emit({ type: 'run-end', at: clock.now(), file, ...outcome });
  return { ...outcome, file, startedAt, steps: results };
}

interface Run {
  readonly script: Script;
  readonly context: RunContext;
  /** State that commands share between steps. */
  readonly state: Map<symbol, unknown>;
  /** A step failed and the script does not continue: only steps with `always` still run. */
  ended: boolean;
}

async function runStep(step: Step, number: number, run: Run): Promise<StepResult> {
  const { clock, signal, redact, listener } = run.context;
  const { position } = step;
  const startedAt = clock.now();
  const command = commandName(step.command);
  const title = step.name === undefined ? stepTitle(step, redact) : redact(step.name);
  const { output, exchanges, lookup, run: runCommand } = prepareStep(step, run);
  const end = (state: StepState, more: { reason?: string; failure?: Failure } = {}): StepResult => {
    const elapsedMs = clock.now() - startedAt;
    return { number, command, title, position, state, ...more, startedAt, elapsedMs, output, exchanges };
  };
  if (signal.aborted) return end('skipped', { reason: 'the run was interrupted' });
  if (run.ended && !step.always) return end('skipped', { reason: 'an earlier step failed' });
  let started = false;
  const start = (): void => {
    started = true;
    listener({ type: 'step-start', at: startedAt, file: run.script.source.label, number, command, title });
  };
  try {
    if (step.condition !== undefined && !testCondition(step.condition, lookup)) {
      return end('skipped', { reason: 'its condition is false' });
    }
    start();
    await runCommand(number);
    return end('passed');
  } catch (error) {
    if (!started) start();
    if (!step.continueOnFailure || (error instanceof StepFailure && error.details.endsScript)) run.ended = true;
    // After an interruption the error of the step is a consequence of it.
    const isAborted = error instanceof OAuthProfileError && error.code === 'aborted';
    const cause = signal.aborted && !isAborted ? new OAuthProfileError('aborted', 'the run was interrupted') : error;
    return end('failed', { failure: toFailure(cause, redact) });
  }
}

/** Prepares a step. Its changes to variables become visible when it has passed: all or none (D2). */
function prepareStep(step: Step, { script, context, state }: Run) {
  const { variables, clock, signal, listener, redact, matches } = context;
  const { source } = script;
  const output: string[] = [];
  const exchanges: Exchange[] = [];
  /** A value of `undefined` removes the variable. */
  const changes: { readonly name: string; readonly value: Value | undefined }[] = [];
  // One resolver per step: it caches values, which the next step may change.
  const resolver = new Resolver(variables, context.externalSources);
  const resolve = (value: Value): Value => resolver.follow(value, source);
  const lookup: Lookup = {
    matches,
    value: resolve,
    isDefined(text) {
      try {
        resolve(text);
        return true;
      } catch (error) {
        if (error instanceof OAuthProfileError && error.code === 'data_invalid') return false;
        throw error;
      }
    },
  };
  const stepContext: StepContext = {
    variables,
    source,
    signal,
    clock,
    redact,
    get(name) {
      const variable = variables.get(name);
      return variable === undefined ? undefined : resolver.resolve(variable);
    },
    set: (name, value) => void changes.push({ name, value }),
    remove: (name) => void changes.push({ name, value: undefined }),
    log: (text) => void output.push(displayText(String(text), Number.POSITIVE_INFINITY, redact)),
    record: (exchange) => void exchanges.push(exchange),
    emit: listener,
    rawParameter: (name) => (Object.hasOwn(step.parameters, name) ? step.parameters[name] : undefined),
    state<T>(key: symbol, create: () => T): T {
      if (!state.has(key)) state.set(key, create());
      return state.get(key) as T;
    },
  };
  const run = async (number: number): Promise<void> => {
    await step.command.run(resolveArguments(step, resolve), stepContext);
    const changed = { label: `step ${number}`, directory: source.directory, trust: 'given' } as const;
    for (const { name, value } of changes) {
      if (value === undefined) variables.delete(name);
      else variables.add([{ name, value, literal: true }], changed);
    }
  };
  return { output, exchanges, lookup, run };
}

/** Resolves the references in the step's parameters and converts each value to the kind of its parameter. */
function resolveArguments({ command, parameters }: Step, resolve: (value: Value) => Value): Record<string, unknown> {
  const args: Record<string, unknown> = {};
  for (const { name, kind, secret } of command.parameters) {
    const raw = parameters[name];
    if (raw === undefined) continue;
    const value = resolve(kind === 'map' ? splitLines(raw) : raw);
    const converted = kinds[kind].read(value);
    if (converted instanceof InvalidArgument) {
      throw new StepFailure(`${name} must be ${converted.expected}`, secret ? {} : { actual: value });
    }
    args[name] = converted;
  }
  return args;
}

/**
 * Returns a step as it is written, in one line: `ws.get(https://…, , me)`. References are not resolved, so the title contains no value of a
 * variable. A secret that is written in the script itself is masked before the title is truncated.
 */
export function stepTitle({ command, parameters }: Step, redact = (text: string): string => text): string {
  const shown = command.parameters
    .filter(({ name }) => Object.hasOwn(parameters, name))
    .map(({ name, secret }) => maskLiterals(parameters[name] ?? '', secret === true || isSensitiveName(name)))
    .map((value) => excerpt(redact(displayValue(value)), MAX_PARAMETER));
  return `${commandName(command)}(${shown.join(', ')})`;
}

function maskLiterals(value: Value, secret: boolean): Value {
  if (isCollection(value)) {
    return mapCollection(value, (part, name) => maskLiterals(part, secret || isSensitiveName(name ?? '')));
  }
  // A single reference without a default is shown: the default could be the secret.
  const isReference = typeof value === 'string' && /^\$\{[^{}]*\}$/.test(value) && !value.includes(':-');
  return secret && !isEmpty(value) && !isReference ? MASK : value;
}

function toFailure(error: unknown, redact: (text: string) => string): Failure {
  const shown = (text: string): string => displayText(text, MAX_SHOWN, redact);
  const isKnown = error instanceof StepFailure || error instanceof OAuthProfileError;
  const { hint, expected, actual }: FailureDetails =
    error instanceof StepFailure ? error.details : error instanceof OAuthProfileError ? { hint: error.hint } : {};
  return {
    code: error instanceof OAuthProfileError ? error.code : 'step_failed',
    message: shown(isKnown ? error.message : describeThrown(error)),
    ...(hint !== undefined && { hint: shown(hint) }),
    ...(expected !== undefined && { expected: shown(displayValue(expected)) }),
    ...(actual !== undefined && { actual: shown(displayValue(actual)) }),
  };
}

/** A command can throw any value, even one that cannot be converted to a string. */
function describeThrown(error: unknown): string {
  const describe = () => (error instanceof Error ? `${error.name}: ${error.message}` : `Error: ${String(error)}`);
  return attempt(describe) ?? 'Error: unknown error';
}
