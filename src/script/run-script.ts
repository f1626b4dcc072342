import { type ExternalSources, Resolver } from '../config/resolver.ts';
import type { Value } from '../config/value.ts';
import type { Variables } from '../config/variables.ts';
import { OAuthProfileError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { truncate } from '../redaction/sanitize.ts';
import { display } from './compare.ts';
import { holds, type Lookup, type Matches } from './condition.ts';
import type { Listener, ScriptEvent } from './events.ts';
import { InvalidArgument, kinds, splitLines } from './parameter-kinds.ts';
import { nameOfCommand } from './registry.ts';
import type { Exchange, Failure, RunResult, StepResult, StepState } from './result.ts';
import type { Script, Step } from './script.ts';
import type { StepContext } from './step-context.ts';
import { StepFailure } from './step-failure.ts';
import { titleOf } from './title.ts';

/** What a run needs of the world. */
export interface RunContext {
  /** The script's own: steps write into it. */
  readonly variables: Variables;
  readonly outside: ExternalSources;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly listener: Listener;
  /** Masks every secret that is known by now. */
  readonly redact: (text: string) => string;
  readonly matches: Matches;
}

/** As much of a value is shown as a person would read. */
const MAX_SHOWN = 4_000;
/** Searching more for secrets would take longer than the step. */
const MAX_SEARCHED = 1_048_576;

/** Runs a script to its end, whatever happens in it: the outcome is a result, never an error. */
export async function runScript(script: Script, world: RunContext): Promise<RunResult> {
  return new Run(script, world).start();
}

class Run {
  readonly #script: Script;
  readonly #world: RunContext;
  readonly #file: string;
  readonly #state = new Map<symbol, unknown>();
  readonly #results: StepResult[] = [];
  readonly #counts: Record<StepState, number> = { passed: 0, failed: 0, skipped: 0 };
  /** A step failed, and the script does not go on. */
  #ended = false;

  constructor(script: Script, world: RunContext) {
    this.#script = script;
    this.#world = world;
    this.#file = script.source.label;
  }

  async start(): Promise<RunResult> {
    const { clock, signal } = this.#world;
    const { name, steps } = this.#script;
    const file = this.#file;
    const startedAt = clock.now();
    tell(this.#world, { type: 'run-start', at: startedAt, file, name, steps: steps.length });
    for (const [index, step] of steps.entries()) {
      const result = await this.#step(step, index + 1);
      this.#counts[result.state]++;
      this.#results.push(result);
      tell(this.#world, { type: 'step-end', at: clock.now(), file, step: result });
    }
    const elapsedMs = clock.now() - startedAt;
    const interrupted = signal.aborted;
    const state = this.#counts.failed > 0 || interrupted ? 'failed' : 'passed';
    const counts = { ...this.#counts };
    tell(this.#world, { type: 'run-end', at: clock.now(), file, name, state, interrupted, counts, elapsedMs });
    return { name, file, state, interrupted, startedAt, elapsedMs, counts, steps: this.#results };
  }

  async #step(step: Step, number: number): Promise<StepResult> {
    const { clock, signal, redact } = this.#world;
    const startedAt = clock.now();
    const command = nameOfCommand(step.command);
    const title = step.name === undefined ? titleOf(step, redact) : redact(step.name);
    const output: string[] = [];
    const exchanges: Exchange[] = [];
    const end = (state: StepState, more: { reason?: string; failure?: Failure } = {}): StepResult => {
      const elapsedMs = clock.now() - startedAt;
      const { position } = step;
      return { number, command, title, position, state, ...more, startedAt, elapsedMs, output, exchanges };
    };
    if (signal.aborted) return end('skipped', { reason: 'the run was interrupted' });
    if (this.#ended && !step.always) return end('skipped', { reason: 'an earlier step failed' });
    const work = new StepWork(this.#world, this.#script, this.#state, output, exchanges);
    let started = false;
    const start = (): void => {
      started = true;
      tell(this.#world, { type: 'step-start', at: startedAt, file: this.#file, number, command, title });
    };
    try {
      if (step.condition !== undefined && !holds(step.condition, work.lookup)) {
        return end('skipped', { reason: 'its condition does not hold' });
      }
      start();
      await step.command.run(work.argumentsOf(step), work);
      work.commit(number);
      return end('passed');
    } catch (error) {
      if (!started) start();
      const goesOn = step.continueOnFailure && !(error instanceof StepFailure && error.endsScript);
      if (!goesOn) this.#ended = true;
      return end('failed', { failure: failureOf(signal.aborted ? interruption(error) : error, redact) });
    }
  }
}

/** A listener that throws does not end the run. */
function tell({ listener }: RunContext, event: ScriptEvent): void {
  try {
    listener(event);
  } catch {}
}

type Change = { readonly name: string; readonly value: Value | undefined };

/** One step at work. What it writes becomes visible when it has passed: all or nothing (D2). */
class StepWork implements StepContext {
  readonly #world: RunContext;
  readonly #script: Script;
  readonly #state: Map<symbol, unknown>;
  readonly #output: string[];
  readonly #exchanges: Exchange[];
  readonly #changes: Change[] = [];
  #resolver: Resolver | undefined;
  #written: Step['parameters'] = {};

  constructor(world: RunContext, script: Script, state: Map<symbol, unknown>, output: string[], exchanges: Exchange[]) {
    this.#world = world;
    this.#script = script;
    this.#state = state;
    this.#output = output;
    this.#exchanges = exchanges;
  }

  get variables(): Variables {
    return this.#world.variables;
  }

  get source(): Script['source'] {
    return this.#script.source;
  }

  get signal(): AbortSignal {
    return this.#world.signal;
  }

  get clock(): Clock {
    return this.#world.clock;
  }

  get lookup(): Lookup {
    return {
      matches: this.#world.matches,
      value: (text) => this.#follow(text),
      isDefined: (text) => {
        try {
          this.#follow(text);
          return true;
        } catch (error) {
          if (error instanceof OAuthProfileError && error.code === 'data_invalid') return false;
          throw error;
        }
      },
    };
  }

  get(name: string): Value | undefined {
    const variable = this.variables.get(name);
    return variable === undefined ? undefined : this.#references.resolve(variable);
  }

  set(name: string, value: Value): void {
    this.#changes.push({ name, value });
  }

  remove(name: string): void {
    this.#changes.push({ name, value: undefined });
  }

  say(text: Parameters<StepContext['say']>[0]): void {
    this.#output.push(masked(String(text), this.#world.redact));
  }

  record(exchange: Exchange): void {
    this.#exchanges.push(exchange);
  }

  emit(event: ScriptEvent): void {
    tell(this.#world, event);
  }

  redact(text: string): string {
    return this.#world.redact(text);
  }

  written(parameter: string): Value | undefined {
    return Object.hasOwn(this.#written, parameter) ? this.#written[parameter] : undefined;
  }

  state<T>(key: symbol, create: () => T): T {
    if (!this.#state.has(key)) this.#state.set(key, create());
    return this.#state.get(key) as T;
  }

  /** The step's parameters, references followed, each as its kind wants it. */
  argumentsOf({ command, parameters }: Step): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    this.#written = parameters;
    for (const { name, kind, secret } of command.parameters) {
      const written = parameters[name];
      if (written === undefined) continue;
      const value = this.#follow(kind === 'map' ? splitLines(written) : written);
      const read = kinds[kind].read(value);
      if (read instanceof InvalidArgument) {
        throw new StepFailure(`${name} must be ${read.wanted}`, secret ? {} : { actual: value });
      }
      found[name] = read;
    }
    return found;
  }

  /** Writes the variables that the step set. */
  commit(number: number): void {
    const { directory } = this.#script.source;
    const source = { label: `step ${number}`, directory, trust: 'given' } as const;
    for (const { name, value } of this.#changes) {
      if (value === undefined) this.variables.delete(name);
      else this.variables.add([{ name, value, literal: true }], source);
    }
  }

  /** References are looked up once a step: the next one may find other values. */
  get #references(): Resolver {
    this.#resolver ??= new Resolver(this.variables, this.#world.outside);
    return this.#resolver;
  }

  #follow(value: Value): Value {
    return this.#references.follow(value, this.#script.source);
  }
}

/** What ends because it was interrupted has not failed at what it did, whatever it says. */
function interruption(error: unknown): OAuthProfileError {
  if (error instanceof OAuthProfileError && error.code === 'aborted') return error;
  return new OAuthProfileError('aborted', 'the run was interrupted', { cause: error });
}

function failureOf(error: unknown, redact: (text: string) => string): Failure {
  const shown = (text: string): string => cut(masked(text, redact));
  if (error instanceof StepFailure) {
    const { message, hint, expected, actual } = error;
    return {
      code: 'step_failed',
      message: shown(message),
      ...(hint !== undefined && { hint: shown(hint) }),
      ...(expected !== undefined && { expected: shown(display(expected)) }),
      ...(actual !== undefined && { actual: shown(display(actual)) }),
    };
  }
  if (error instanceof OAuthProfileError) {
    const { code, message, hint } = error;
    return { code, message: shown(message), ...(hint !== undefined && { hint: shown(hint) }) };
  }
  return { code: 'step_failed', message: shown(wordsOf(error)) };
}

function masked(text: string, redact: (text: string) => string): string {
  return text.length > MAX_SEARCHED ? `<${text.length} characters>` : redact(text);
}

function cut(text: string): string {
  if (text.length <= MAX_SHOWN) return text;
  const kept = truncate(text, MAX_SHOWN);
  return `${kept}… (${text.length - kept.length} more)`;
}

/** Anything can be thrown, even what has no words. */
function wordsOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : `Error: ${String(error)}`;
  } catch {
    return 'Error: something without words';
  }
}
