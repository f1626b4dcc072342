import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type DataObject, flatten } from '../../src/config/flatten.ts';
import { Resolver } from '../../src/config/resolver.ts';
import type { Value } from '../../src/config/value.ts';
import { type Source, Variables } from '../../src/config/variables.ts';
import { localFiles } from '../../src/files/local-files.ts';
import type { CallApi } from '../../src/ports.ts';
import { completeProfile } from '../../src/profile/complete-profile.ts';
import { parseProfile } from '../../src/profile/parse-profile.ts';
import { Redactor } from '../../src/redaction/redactor.ts';
import { onSecretCreated } from '../../src/redaction/secret.ts';
import { baseCommands } from '../../src/script/commands/base.ts';
import { matchesPattern } from '../../src/script/commands/bounded.ts';
import { type WsPorts, wsCommands } from '../../src/script/commands/ws/ws.ts';
import type { ScriptEvent } from '../../src/script/events.ts';
import { Registry } from '../../src/script/registry.ts';
import type { RunResult, StepResult } from '../../src/script/result.ts';
import { runScript } from '../../src/script/run-script.ts';
import { createSources } from './read-sample.ts';
import { shown } from './resolving.ts';

/** The command's name, its parameters in their order; with a `!` in front the step lets the script go on when it fails. */
export type WsStep = readonly [command: string, ...parameters: Value[]];

/** What surrounds the steps; everything real unless it is given. */
export interface WsWorld {
  readonly data?: DataObject;
  readonly env?: Readonly<Record<string, string>>;
  readonly callApi?: CallApi;
  readonly acquire?: WsPorts['acquire'];
  readonly folder?: string;
  readonly signal?: AbortSignal;
}

/** What became of a script. */
export interface WsOutcome {
  readonly result: RunResult;
  readonly steps: readonly StepResult[];
  readonly last: StepResult;
  readonly events: readonly ScriptEvent[];
  readonly folder: string;
  /** What a reference finds now, its secrets in clear but marked. */
  value(reference: string): unknown;
  /** Everything that a person could see of the run. */
  readonly everything: string;
}

/** A folder that goes when the test is done. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'oauth-profile-ws-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs steps of the group ws over real connections. */
export async function runWs(steps: readonly WsStep[], world: WsWorld = {}): Promise<WsOutcome> {
  const { data = {}, env = {}, folder = testFolder(), signal = new AbortController().signal } = world;
  const redactor = new Redactor();
  const stop = onSecretCreated((secret) => redactor.add(secret));
  onTestFinished(() => stop());
  const outside = createSources({}, env);
  const registry = new Registry([
    ...baseCommands,
    ...wsCommands({
      callApi: world.callApi ?? callApiWith(),
      files: localFiles,
      version: '1.2.3',
      readProfile: async (name, variables) => completeProfile(parseProfile(name, variables, outside)),
      acquire: world.acquire ?? (() => Promise.reject(new Error('no token is expected'))),
    }),
  ]);
  const source: Source = { label: 'me.yaml', directory: folder, trust: 'given' };
  const variables = new Variables().add(flatten(data, 'data'), source);
  const events: ScriptEvent[] = [];
  const script = { name: 'Me', source, data: [], steps: steps.map((step) => toStep(step, registry)) };
  const result = await runScript(script, {
    variables,
    outside,
    clock: { now: Date.now, sleep: async () => {} },
    signal,
    listener: (event) => events.push(event),
    redact: (text) => redactor.redact(text),
    matches: matchesPattern,
  });
  const last = result.steps.at(-1);
  if (last === undefined) throw new TypeError('there are no steps');
  return {
    result,
    steps: result.steps,
    last,
    events,
    folder,
    value: (reference) => shown(new Resolver(variables, outside).follow(`\${${reference}}`, source)),
    everything: JSON.stringify([result, events]),
  };
}

function toStep([name, ...values]: WsStep, registry: Registry) {
  const command = registry.find(name.replace(/^!/, ''));
  if (command === undefined) throw new TypeError(`there is no command ${name}`);
  if (values.length > command.parameters.length) throw new TypeError(`${name} has fewer parameters`);
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
