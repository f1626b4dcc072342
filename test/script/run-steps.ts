import { type DataObject, flatten } from '../../src/config/flatten.ts';
import { type ExternalSources, Resolver } from '../../src/config/resolver.ts';
import type { Value } from '../../src/config/value.ts';
import { type Source, Variables } from '../../src/config/variables.ts';
import { OAuthProfileError } from '../../src/errors.ts';
import { localFiles } from '../../src/files/local-files.ts';
import { createApiHeader } from '../../src/oauth/api-header.ts';
import type { CallApi, Clock, Files } from '../../src/ports.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Redactor } from '../../src/redaction/redactor.ts';
import { onSecretCreated, type Secret } from '../../src/redaction/secret.ts';
import { type Command, Registry } from '../../src/script/command.ts';
import { baseCommands } from '../../src/script/commands/base.ts';
import { builtinCommands } from '../../src/script/commands/builtin.ts';
import { jsonCommands } from '../../src/script/commands/json.ts';
import { jwtCommands } from '../../src/script/commands/jwt.ts';
import { numberCommands } from '../../src/script/commands/number.ts';
import type { ScriptToken, TokenService } from '../../src/script/commands/ws/oauth.ts';
import { xmlCommands } from '../../src/script/commands/xml.ts';
import { parseCondition } from '../../src/script/condition.ts';
import { runScript } from '../../src/script/engine/run-script.ts';
import type { ScriptEvent } from '../../src/script/events.ts';
import type { RunResult, StepResult } from '../../src/script/result.ts';
import type { Retry, Step } from '../../src/script/script.ts';
import { createTestDirectory } from '../support/directory.ts';
import { callApiWith, FakeClock } from '../support/ports.ts';
import { createSources, shown } from '../support/variables.ts';

/** A step of a test: the command, its parameters in order, and the other keys of the step. */
export type TestStep = readonly [
  command: string | Command,
  parameters?: readonly Value[],
  more?: { name?: string; if?: string; continueOnFailure?: boolean; always?: boolean; retry?: Retry },
];

/** The engine and its environment. */
interface EngineOptions {
  readonly commands: readonly Command[];
  /** Directory of the script. */
  readonly directory: string;
  readonly data: DataObject | undefined;
  readonly variables?: Variables | undefined;
  readonly externalSources: ExternalSources;
  readonly files: Pick<Files, 'read'>;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly listener?: ((event: ScriptEvent) => void) | undefined;
  /** Called with each string that is redacted. */
  readonly onRedact?: ((text: string) => void) | undefined;
}

async function runEngine(steps: readonly TestStep[], options: EngineOptions) {
  const { data = {}, variables = new Variables(), externalSources, clock, files } = options;
  const { signal = new AbortController().signal } = options;
  const source: Source = { label: 'me.yaml', directory: options.directory, trust: 'given' };
  const registry = new Registry(options.commands);
  const redactor = new Redactor();
  const known = new Redactor();
  const stop = onSecretCreated((secret) => {
    redactor.add(secret);
    known.add(secret);
  });
  try {
    variables.add(flatten(data, 'data'), source);
    const events: ScriptEvent[] = [];
    const script = { name: 'Me', source, data: [], steps: steps.map((step) => toStep(step, registry)) };
    const result = await runScript(script, {
      variables,
      externalSources,
      clock,
      signal,
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
      readFile: (path, directory) => files.read(path, directory),
    });
    return { result, events, variables, source };
  } finally {
    stop();
  }
}

function toStep([given, values = [], more = {}]: TestStep, registry: Registry): Step {
  const command = typeof given === 'string' ? registry.find(given) : given;
  if (command === undefined) throw new TypeError(`unknown command ${given}`);
  const names = command.parameters.map(({ name }) => name);
  if (values.length > names.length) throw new TypeError(`too many parameters for ${command.name}`);
  return {
    command,
    parameters: Object.fromEntries(values.map((value, index) => [names[index] ?? '', value])),
    name: more.name,
    condition: more.if === undefined ? undefined : parseCondition(more.if),
    continueOnFailure: more.continueOnFailure ?? false,
    always: more.always ?? false,
    retry: more.retry,
    position: undefined,
  };
}

/** Options of {@link runSteps}. */
interface RunOptions extends Pick<EngineOptions, 'variables' | 'listener' | 'onRedact'> {
  readonly data?: DataObject;
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly controller?: AbortController;
  readonly clock?: FakeClock;
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

/** Runs steps without connections, with the real engine. */
export async function runSteps(steps: readonly TestStep[], options: RunOptions = {}): Promise<Outcome> {
  const { data, env, files = {}, controller, clock = new ScriptClock(), ...others } = options;
  const fakeFiles = createFiles(files);
  const { result, events, variables } = await runEngine(steps, {
    ...others,
    commands: [...baseCommands, ...numberCommands, ...jwtCommands, ...jsonCommands(fakeFiles), ...xmlCommands],
    directory: '/work',
    data,
    externalSources: createSources(files, env),
    files: fakeFiles,
    clock,
    signal: controller?.signal,
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

/** The name of a command and its parameters in order; `!` before the name sets `continueOnFailure`. */
export type WsStep = readonly [command: string, ...parameters: Value[]];

/** Returns a token without reading a store. */
export type RequestTestToken = (
  profile: Profile,
  signal: AbortSignal,
) => Promise<Pick<ScriptToken, 'response' | 'fromCache'> & { readonly accessToken: Secret }>;

/** Options of {@link runWs}; by default requests are real and tokens are rejected. */
interface WsOptions {
  readonly data?: DataObject;
  readonly env?: Readonly<Record<string, string>>;
  readonly callApi?: CallApi;
  readonly requestToken?: RequestTestToken;
  readonly directory?: string;
  readonly signal?: AbortSignal;
}

/** Result of {@link runWs}. */
interface WsOutcome {
  readonly result: RunResult;
  readonly steps: readonly StepResult[];
  readonly last: StepResult;
  readonly events: readonly ScriptEvent[];
  readonly directory: string;
  /** Resolves a reference after the run; secrets are revealed as `{ secret }`. */
  value(reference: string): unknown;
  /** The result and all events as JSON. */
  readonly everything: string;
}

/** Runs ws steps over real connections. */
export async function runWs(steps: readonly WsStep[], options: WsOptions = {}): Promise<WsOutcome> {
  const { data, env, callApi = callApiWith(), directory = createTestDirectory(), signal } = options;
  const externalSources = createSources({}, env);
  const tokens = createTokenService(externalSources, options.requestToken);
  const testSteps = steps.map(([name, ...parameters]): TestStep => {
    return [name.replace(/^!/, ''), parameters, { continueOnFailure: name.startsWith('!') }];
  });
  const { result, events, variables, source } = await runEngine(testSteps, {
    commands: builtinCommands({ callApi, files: localFiles, version: '1.2.3', tokens }),
    directory,
    data,
    externalSources,
    files: localFiles,
    clock: { now: Date.now, sleep: async () => {} },
    signal,
  });
  const last = result.steps.at(-1);
  if (last === undefined) throw new TypeError('there are no steps');
  return {
    result,
    steps: result.steps,
    last,
    events,
    directory,
    value: (reference) => shown(new Resolver(variables, externalSources).follow(`\${${reference}}`, source)),
    everything: JSON.stringify([result, events]),
  };
}

function createTokenService(
  externalSources: ExternalSources,
  requestToken: RequestTestToken = () => Promise.reject(new Error('unexpected token request')),
): TokenService {
  return {
    async getToken(name, variables, { signal, onRequest }) {
      const profile = completeProfile(parseProfile(name, variables, externalSources));
      onRequest({ provider: profile.provider.type, grant: profile.grant, url: profile.url.href });
      const { accessToken, ...token } = await requestToken(profile, signal);
      const { authorizeOrigin: origin } = profile.options;
      const header =
        origin === undefined
          ? undefined
          : { ...createApiHeader(profile, { accessToken, tokenType: undefined }), origin };
      return { ...token, header };
    },
  };
}
