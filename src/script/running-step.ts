import { type ExternalSources, Resolver } from '../config/resolver.ts';
import type { Value } from '../config/value.ts';
import type { Variables } from '../config/variables.ts';
import { OAuthProfileError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import type { Secret } from '../redaction/secret.ts';
import type { Lookup, Matches } from './condition.ts';
import type { Listener, ScriptEvent } from './events.ts';
import { InvalidArgument, kinds, splitLines } from './parameter-kinds.ts';
import type { Exchange } from './result.ts';
import type { Script, Step } from './script.ts';
import { type StepContext, StepFailure } from './step-context.ts';

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

/** Redacting a longer string would take longer than the step itself. */
const MAX_REDACTED = 1_048_576;

/** Receives what a step produces. */
interface StepSink {
  readonly state: Map<symbol, unknown>;
  log(line: string): void;
  record(exchange: Exchange): void;
  emit(event: ScriptEvent): void;
}

/** The context of a step that runs. Its changes to variables become visible when it has passed: all or none (D2). */
export class RunningStep implements StepContext {
  readonly #context: RunContext;
  readonly #script: Script;
  readonly #sink: StepSink;
  readonly #changes: { readonly name: string; readonly value: Value | undefined }[] = [];
  #resolver: Resolver | undefined;
  #rawParameters: Step['parameters'] = {};

  constructor(context: RunContext, script: Script, sink: StepSink) {
    this.#context = context;
    this.#script = script;
    this.#sink = sink;
  }

  get variables(): Variables {
    return this.#context.variables;
  }

  get source(): Script['source'] {
    return this.#script.source;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  get clock(): Clock {
    return this.#context.clock;
  }

  /** Resolves the operands of the step's condition. */
  get lookup(): Lookup {
    return {
      matches: this.#context.matches,
      value: (text) => this.#resolve(text),
      isDefined: (text) => {
        try {
          this.#resolve(text);
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

  log(text: string | Secret): void {
    this.#sink.log(redactLimited(String(text), this.#context.redact));
  }

  record(exchange: Exchange): void {
    this.#sink.record(exchange);
  }

  emit(event: ScriptEvent): void {
    this.#sink.emit(event);
  }

  redact(text: string): string {
    return this.#context.redact(text);
  }

  rawParameter(name: string): Value | undefined {
    return Object.hasOwn(this.#rawParameters, name) ? this.#rawParameters[name] : undefined;
  }

  state<T>(key: symbol, create: () => T): T {
    if (!this.#sink.state.has(key)) this.#sink.state.set(key, create());
    return this.#sink.state.get(key) as T;
  }

  /** Resolves the references in the step's parameters and converts each value to the kind of its parameter. */
  resolveArguments({ command, parameters }: Step): Record<string, unknown> {
    const args: Record<string, unknown> = {};
    this.#rawParameters = parameters;
    for (const { name, kind, secret } of command.parameters) {
      const raw = parameters[name];
      if (raw === undefined) continue;
      const value = this.#resolve(kind === 'map' ? splitLines(raw) : raw);
      const converted = kinds[kind].read(value);
      if (converted instanceof InvalidArgument) {
        throw new StepFailure(`${name} must be ${converted.expected}`, secret ? {} : { actual: value });
      }
      args[name] = converted;
    }
    return args;
  }

  /** Applies the step's changes to the variables. */
  commit(number: number): void {
    const { directory } = this.#script.source;
    const source = { label: `step ${number}`, directory, trust: 'given' } as const;
    for (const { name, value } of this.#changes) {
      if (value === undefined) this.variables.delete(name);
      else this.variables.add([{ name, value, literal: true }], source);
    }
  }

  /** One resolver per step: it caches values, which the next step may change. */
  get #references(): Resolver {
    this.#resolver ??= new Resolver(this.variables, this.#context.externalSources);
    return this.#resolver;
  }

  #resolve(value: Value): Value {
    return this.#references.follow(value, this.#script.source);
  }
}

/** Masks the secrets in a string; of a string that is too long to search, only its length is shown. */
export function redactLimited(text: string, redact: (text: string) => string): string {
  return text.length > MAX_REDACTED ? `<${text.length} characters>` : redact(text);
}
