import { isCollection, isEmpty, mapCollection, type Value } from '../config/value.ts';
import { OAuthProfileError } from '../errors.ts';
import { excerpt, truncate as truncateText } from '../redaction/sanitize.ts';
import { MASK } from '../redaction/secret.ts';
import { isSensitiveName } from '../redaction/sensitive-names.ts';
import { commandName } from './command.ts';
import { displayValue } from './compare.ts';
import { testCondition } from './condition.ts';
import type { ScriptEvent } from './events.ts';
import type { Exchange, Failure, RunResult, StepResult, StepState } from './result.ts';
import { type RunContext, RunningStep, redactLimited } from './running-step.ts';
import type { Script, Step } from './script.ts';
import { StepFailure } from './step-context.ts';

/** Maximum length of a message or value in a result, in characters. */
const MAX_SHOWN = 4_000;
/** Maximum length of one parameter in the title of a step, in characters. */
const MAX_PARAMETER = 60;

/** Runs a script to its end. Failures are part of the result; it never throws. */
export async function runScript(script: Script, context: RunContext): Promise<RunResult> {
  return new Run(script, context).start();
}

class Run {
  readonly #script: Script;
  readonly #context: RunContext;
  readonly #file: string;
  readonly #state = new Map<symbol, unknown>();
  readonly #results: StepResult[] = [];
  readonly #counts: Record<StepState, number> = { passed: 0, failed: 0, skipped: 0 };
  /** A step failed and the script does not continue: only steps with `always` still run. */
  #ended = false;

  constructor(script: Script, context: RunContext) {
    this.#script = script;
    this.#context = context;
    this.#file = script.source.label;
  }

  async start(): Promise<RunResult> {
    const { clock, signal } = this.#context;
    const { name, steps } = this.#script;
    const file = this.#file;
    const startedAt = clock.now();
    this.#emit({ type: 'run-start', at: startedAt, file, name, steps: steps.length });
    for (const [index, step] of steps.entries()) {
      const result = await this.#runStep(step, index + 1);
      this.#counts[result.state]++;
      this.#results.push(result);
      this.#emit({ type: 'step-end', at: clock.now(), file, step: result });
    }
    const elapsedMs = clock.now() - startedAt;
    const interrupted = signal.aborted;
    const state = this.#counts.failed > 0 || interrupted ? 'failed' : 'passed';
    const counts = { ...this.#counts };
    this.#emit({ type: 'run-end', at: clock.now(), file, name, state, interrupted, counts, elapsedMs });
    return { name, file, state, interrupted, startedAt, elapsedMs, counts, steps: this.#results };
  }

  async #runStep(step: Step, number: number): Promise<StepResult> {
    const { clock, signal, redact } = this.#context;
    const startedAt = clock.now();
    const command = commandName(step.command);
    const title = step.name === undefined ? stepTitle(step, redact) : redact(step.name);
    const output: string[] = [];
    const exchanges: Exchange[] = [];
    const end = (state: StepState, more: { reason?: string; failure?: Failure } = {}): StepResult => {
      const elapsedMs = clock.now() - startedAt;
      const { position } = step;
      return { number, command, title, position, state, ...more, startedAt, elapsedMs, output, exchanges };
    };
    if (signal.aborted) return end('skipped', { reason: 'the run was interrupted' });
    if (this.#ended && !step.always) return end('skipped', { reason: 'an earlier step failed' });
    const running = new RunningStep(this.#context, this.#script, {
      state: this.#state,
      log: (line) => output.push(line),
      record: (exchange) => exchanges.push(exchange),
      emit: (event) => this.#emit(event),
    });
    let started = false;
    const start = (): void => {
      started = true;
      this.#emit({ type: 'step-start', at: startedAt, file: this.#file, number, command, title });
    };
    try {
      if (step.condition !== undefined && !testCondition(step.condition, running.lookup)) {
        return end('skipped', { reason: 'its condition is false' });
      }
      start();
      await step.command.run(running.resolveArguments(step), running);
      running.commit(number);
      return end('passed');
    } catch (error) {
      if (!started) start();
      const continues = step.continueOnFailure && !(error instanceof StepFailure && error.endsScript);
      if (!continues) this.#ended = true;
      return end('failed', { failure: toFailure(signal.aborted ? toAbortedError(error) : error, redact) });
    }
  }

  /** An error of the listener does not end the run. */
  #emit(event: ScriptEvent): void {
    try {
      this.#context.listener(event);
    } catch {}
  }
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
  return secret && !isEmpty(value) && !isReference(value) ? MASK : value;
}

/** A single reference without a default: the default could be the secret. */
function isReference(value: Value): boolean {
  return typeof value === 'string' && /^\$\{[^{}]*\}$/.test(value) && !value.includes(':-');
}

/** After an interruption the error of the step is a consequence of it. */
function toAbortedError(error: unknown): OAuthProfileError {
  if (error instanceof OAuthProfileError && error.code === 'aborted') return error;
  return new OAuthProfileError('aborted', 'the run was interrupted', { cause: error });
}

function toFailure(error: unknown, redact: (text: string) => string): Failure {
  const shown = (text: string): string => truncate(redactLimited(text, redact));
  if (error instanceof StepFailure) {
    const { message, hint, expected, actual } = error;
    return {
      code: 'step_failed',
      message: shown(message),
      ...(hint !== undefined && { hint: shown(hint) }),
      ...(expected !== undefined && { expected: shown(displayValue(expected)) }),
      ...(actual !== undefined && { actual: shown(displayValue(actual)) }),
    };
  }
  if (error instanceof OAuthProfileError) {
    const { code, message, hint } = error;
    return { code, message: shown(message), ...(hint !== undefined && { hint: shown(hint) }) };
  }
  return { code: 'step_failed', message: shown(describeThrown(error)) };
}

function truncate(text: string): string {
  if (text.length <= MAX_SHOWN) return text;
  const shown = truncateText(text, MAX_SHOWN);
  return `${shown}… (${text.length - shown.length} more characters)`;
}

/** A command can throw any value, even one that cannot be converted to a string. */
function describeThrown(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : `Error: ${String(error)}`;
  } catch {
    return 'Error: unknown error';
  }
}
