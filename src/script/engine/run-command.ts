import { Resolver } from '../../config/resolver.ts';
import type { Value } from '../../config/value.ts';
import { OAuthProfileError } from '../../errors.ts';
import { displayText } from '../compare.ts';
import type { Lookup } from '../condition.ts';
import { InvalidArgument, kinds, splitLines } from '../parameter-kinds.ts';
import type { Exchange } from '../result.ts';
import type { CommandStep } from '../script.ts';
import { type StepContext, StepFailure } from '../step-context.ts';
import type { Scope } from './scope.ts';

/** Prepares a command. Its changes to variables become visible when it has passed: all or none (D2). */
export function prepareCommand(step: CommandStep, scope: Scope) {
  const { run, source, variables } = scope;
  const { clock, listener, redact } = run.context;
  const output: string[] = [];
  const exchanges: Exchange[] = [];
  /** A value of `undefined` removes the variable. */
  const changes: { readonly name: string; readonly value: Value | undefined }[] = [];
  /** Numbers of the steps whose responses the command has read so far. */
  const responsesOf = new Set<number>();
  // One resolver per step: it caches values, which the next step may change.
  const resolver = createResolver(scope, responsesOf);
  const context: StepContext = {
    variables,
    source,
    signal: scope.signal,
    clock,
    redact,
    attempt: scope.attempt,
    requests: scope.requests,
    apiSecrets: run.apiSecrets,
    get(name) {
      const variable = variables.get(name);
      if (variable === undefined) return undefined;
      for (const step of variable.source.responsesOf ?? []) responsesOf.add(step);
      return resolver.resolve(variable);
    },
    set: (name, value) => void changes.push({ name, value }),
    remove: (name) => void changes.push({ name, value: undefined }),
    log: (text) => void output.push(displayText(String(text), Number.POSITIVE_INFINITY, redact)),
    record: (exchange) => void exchanges.push(exchange),
    resolve: (value) => resolver.follow(value, source),
    emit: listener,
    rawParameter: (name) => (Object.hasOwn(step.parameters, name) ? step.parameters[name] : undefined),
    forbidRetry() {
      run.isRetryForbidden = true;
    },
    state<T>(key: unknown, create: () => T): T {
      if (!run.state.has(key)) run.state.set(key, create());
      return run.state.get(key) as T;
    },
    step,
  };
  return {
    output,
    exchanges,
    responsesOf,
    fail: () => step.command.onFailure?.(context),
    async run(number: number) {
      await step.command.run(
        resolveArguments(step, (value) => resolver.follow(value, source)),
        context,
      );
      const changed = {
        label: `step ${number}`,
        directory: source.directory,
        trust: 'given',
        responsesOf: exchanges.length > 0 ? [number] : [...responsesOf],
      } as const;
      for (const { name, value } of changes) {
        if (value === undefined) variables.delete(name);
        else variables.assign(name, run.wrapListedSecrets(name, value), changed);
      }
    },
  };
}

/** Creates a resolver for the current values of the variables. It adds the steps whose responses it reads to `responsesOf`. */
export function createResolver({ run, variables }: Scope, responsesOf = new Set<number>()): Resolver {
  const { context, callFunction } = run;
  return new Resolver(variables, context.externalSources, callFunction, ({ source }) => {
    for (const step of source.responsesOf ?? []) responsesOf.add(step);
  });
}

/** Creates the lookup of a condition. */
export function createLookup(scope: Scope): Lookup {
  const resolver = createResolver(scope);
  const value = (text: string): Value => resolver.follow(text, scope.source);
  return {
    value,
    isDefined(text) {
      try {
        value(text);
        return true;
      } catch (error) {
        if (error instanceof OAuthProfileError && error.code === 'data_invalid') return false;
        throw error;
      }
    },
  };
}

/** Resolves the references in the step's parameters and converts each value to the kind of its parameter. */
function resolveArguments({ command, parameters }: CommandStep, resolve: (value: Value) => Value) {
  const args: Record<string, unknown> = {};
  for (const { name, kind, secret } of command.parameters) {
    const raw = parameters[name];
    if (raw === undefined) continue;
    const value = resolve(kind === 'map' ? splitLines(raw) : raw);
    const converted = kinds[kind].read(value);
    if (converted instanceof InvalidArgument)
      throw new StepFailure(`${name} must be ${converted.expected}`, secret ? {} : { actual: value });
    args[name] = converted;
  }
  return args;
}
