import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type DataObject, flatten } from '../../src/config/flatten.ts';
import { Resolver } from '../../src/config/resolver.ts';
import type { Value } from '../../src/config/value.ts';
import { type Source, Variables } from '../../src/config/variables.ts';
import { localFiles } from '../../src/files/local-files.ts';
import { createApiHeader } from '../../src/oauth/api-header.ts';
import type { CallApi } from '../../src/ports.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import type { Profile } from '../../src/profile/profile.ts';
import { Redactor } from '../../src/redaction/redactor.ts';
import { onSecretCreated, type Secret } from '../../src/redaction/secret.ts';
import { Registry } from '../../src/script/command.ts';
import { builtinCommands } from '../../src/script/commands/builtin.ts';
import type { ScriptToken, TokenService } from '../../src/script/commands/ws/oauth.ts';
import { runScript } from '../../src/script/engine/run-script.ts';
import type { ScriptEvent } from '../../src/script/events.ts';
import type { RunResult, StepResult } from '../../src/script/result.ts';
import { callApiWith } from './api-server.ts';
import { createSources } from './read-sample.ts';
import { shown } from './resolving.ts';

/** The name of a command and its parameters in order; `!` before the name sets `continueOnFailure`. */
export type WsStep = readonly [command: string, ...parameters: Value[]];

/** Returns a token without reading a store. */
export type RequestTestToken = (
  profile: Profile,
  signal: AbortSignal,
) => Promise<Pick<ScriptToken, 'response' | 'fromCache'> & { readonly accessToken: Secret }>;

/** Options of {@link runWs}; by default requests are real and tokens are rejected. */
export interface WsOptions {
  readonly data?: DataObject;
  readonly env?: Readonly<Record<string, string>>;
  readonly callApi?: CallApi;
  readonly requestToken?: RequestTestToken;
  readonly directory?: string;
  readonly signal?: AbortSignal;
}

/** Result of {@link runWs}. */
export interface WsOutcome {
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

/** Creates a directory that is removed after the test. */
export function createTestDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'oauth-profile-ws-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Runs ws steps over real connections. */
export async function runWs(steps: readonly WsStep[], options: WsOptions = {}): Promise<WsOutcome> {
  const { data = {}, env = {}, directory = createTestDirectory(), signal = new AbortController().signal } = options;
  const redactor = new Redactor();
  const known = new Redactor();
  const stop = onSecretCreated((secret) => {
    redactor.add(secret);
    known.add(secret);
  });
  onTestFinished(() => stop());
  const externalSources = createSources({}, env);
  const registry = new Registry(
    builtinCommands({
      callApi: options.callApi ?? callApiWith(),
      files: localFiles,
      version: '1.2.3',
      tokens: createTokenService(externalSources, options.requestToken),
    }),
  );
  const source: Source = { label: 'me.yaml', directory, trust: 'given' };
  const variables = new Variables().add(flatten(data, 'data'), source);
  const events: ScriptEvent[] = [];
  const script = { name: 'Me', source, data: [], steps: steps.map((step) => toStep(step, registry)) };
  const result = await runScript(script, {
    variables,
    externalSources,
    clock: { now: Date.now, sleep: async () => {} },
    signal,
    listener: (event) => events.push(event),
    redact: (text) => redactor.redact(text),
    redactKnown: (text) => known.redact(text),
    addSecret: (secret) => redactor.add(secret),
    readFile: (path, directory) => localFiles.read(path, directory),
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
  externalSources: ReturnType<typeof createSources>,
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

function toStep([name, ...values]: WsStep, registry: Registry) {
  const command = registry.find(name.replace(/^!/, ''));
  if (command === undefined) throw new TypeError(`unknown command ${name}`);
  if (values.length > command.parameters.length) throw new TypeError(`too many parameters for ${name}`);
  return {
    command,
    parameters: Object.fromEntries(
      command.parameters.slice(0, values.length).map((one, i) => [one.name, values[i] ?? '']),
    ),
    name: undefined,
    condition: undefined,
    continueOnFailure: name.startsWith('!'),
    always: false,
    position: undefined,
  };
}
