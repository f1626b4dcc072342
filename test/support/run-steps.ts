import { type DataObject, flatten } from '../../src/config/flatten.ts';
import type { Value } from '../../src/config/value.ts';
import { type Source, Variables } from '../../src/config/variables.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import type { Files } from '../../src/ports.ts';
import { Redactor } from '../../src/redaction/redactor.ts';
import { onSecretCreated } from '../../src/redaction/secret.ts';
import type { Command } from '../../src/script/command.ts';
import { Registry } from '../../src/script/command.ts';
import { baseCommands } from '../../src/script/commands/base.ts';
import { jsonCommands } from '../../src/script/commands/json.ts';
import { jwtCommands } from '../../src/script/commands/jwt.ts';
import { numberCommands } from '../../src/script/commands/number.ts';
import { xmlCommands } from '../../src/script/commands/xml.ts';
import { parseCondition } from '../../src/script/condition.ts';
import { runScript } from '../../src/script/engine/run-script.ts';
import type { ScriptEvent } from '../../src/script/events.ts';
import type { RunResult, StepResult } from '../../src/script/result.ts';
import type { Retry, Step } from '../../src/script/script.ts';
import { FakeClock } from './fake-ports.ts';
import { shown } from './resolving.ts';

/** A step of a test: the command, its parameters in order, and the other keys of the step. */
export type TestStep = readonly [
  command: string | Command,
  parameters?: readonly Value[],
  more?: { name?: string; if?: string; continueOnFailure?: boolean; always?: boolean; retry?: Retry },
];

/** Options of {@link runSteps}. */
export interface RunOptions {
  readonly data?: DataObject;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly controller?: AbortController;
  readonly clock?: FakeClock;
  readonly listener?: (event: ScriptEvent) => void;
  readonly variables?: Variables;
  /** Called with each string that is redacted. */
  readonly onRedact?: (text: string) => void;
}

/** Result of {@link runSteps}. */
export interface Outcome {
  readonly result: RunResult;
  readonly events: readonly ScriptEvent[];
  readonly variables: Variables;
  readonly clock: FakeClock;
  /** Returns the value of a variable; secrets are revealed as `{ secret }`. */
  saved(name: string): unknown;
}

/** A clock whose sleep ends when it is aborted. */
export class ScriptClock extends FakeClock {
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await super.sleep(ms);
    if (signal?.aborted) throw new OAuthProfileError('aborted', 'the request was aborted', { cause: signal.reason });
  }
}

const source: Source = { label: 'me.yaml', directory: '/work', trust: 'given' };

/** Runs steps with the real engine. */
export async function runSteps(steps: readonly TestStep[], options: RunOptions = {}): Promise<Outcome> {
  const { data = {}, env = {}, files = {}, controller = new AbortController() } = options;
  const { clock = new ScriptClock(), variables = new Variables() } = options;
  const redactor = new Redactor();
  const known = new Redactor();
  const stop = onSecretCreated((secret) => {
    redactor.add(secret);
    known.add(secret);
  });
  const registry = new Registry([
    ...baseCommands,
    ...numberCommands,
    ...jwtCommands,
    ...jsonCommands(createFiles(files)),
    ...xmlCommands,
  ]);
  try {
    variables.add(flatten(data, 'data'), source);
    const events: ScriptEvent[] = [];
    const script = { name: 'Me', source, data: [], steps: steps.map((one) => toStep(one, registry)) };
    const result = await runScript(script, {
      variables,
      externalSources: { env: (name) => env[name], readFileInside: (path) => files[path] },
      clock,
      signal: controller.signal,
      listener(event) {
        events.push(event);
        options.listener?.(event);
      },
      redact(text) {
        options.onRedact?.(text);
        return redactor.redact(text);
      },
      redactKnown: (text) => known.redact(text),
      addSecret(secret, isKnown) {
        redactor.add(secret);
        if (isKnown) known.add(secret);
      },
      readFile: (path, directory) => createFiles(files).read(path, directory),
    });
    return {
      result,
      events,
      variables,
      clock,
      saved(name) {
        const value = variables.get(name)?.value;
        return value === undefined ? undefined : shown(value);
      },
    };
  } finally {
    stop();
  }
}

/** Runs one step. */
export async function runStep(
  step: TestStep,
  options: RunOptions = {},
): Promise<Outcome & { readonly step: StepResult }> {
  const outcome = await runSteps([step], options);
  const [only] = outcome.result.steps;
  if (only === undefined) throw new TypeError('the step has no result');
  return { ...outcome, step: only };
}

function createFiles(files: Readonly<Record<string, string>>): Pick<Files, 'read'> {
  return {
    async read(path, directory) {
      const text = files[`${directory}/${path}`];
      if (text === undefined) throw new OAuthProfileError('data_invalid', `${path} cannot be read`);
      return new TextEncoder().encode(text);
    },
  };
}

function toStep([given, values = [], more = {}]: TestStep, registry: Registry): Step {
  const command = typeof given === 'string' ? registry.find(given) : given;
  if (command === undefined) throw new TypeError(`unknown command ${given}`);
  const names = command.parameters.map(({ name }) => name);
  return {
    command,
    parameters: Object.fromEntries(values.map((value, index) => [names[index] ?? `${index}`, value])),
    name: more.name,
    condition: more.if === undefined ? undefined : parseCondition(more.if),
    continueOnFailure: more.continueOnFailure ?? false,
    always: more.always ?? false,
    retry: more.retry,
    position: undefined,
  };
}
