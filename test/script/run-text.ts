import { onTestFinished } from 'vitest';
import { createClient } from '../../src/client.ts';
import { InvalidScriptError } from '../../src/errors.ts';
import type { EmulatorEndpoint } from '../../src/ports.ts';
import type { Command } from '../../src/script/command.ts';
import type { ScriptEvent } from '../../src/script/events.ts';
import type { RunResult, StepResult } from '../../src/script/result.ts';
import { ScriptHost } from '../../src/script/script-host.ts';
import { createTestDirectory } from '../support/directory.ts';

/** Options of {@link runText}. */
export interface TextOptions {
  /** Files next to the script, by name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly commands?: readonly Command[];
  readonly signal?: AbortSignal;
  readonly emulator?: EmulatorEndpoint;
  readonly listener?: (event: ScriptEvent) => void;
}

/** Result of {@link runText}. */
export interface TextOutcome {
  readonly result: RunResult;
  readonly steps: readonly StepResult[];
  readonly events: readonly ScriptEvent[];
  /** The lines that the steps have printed. */
  readonly output: readonly string[];
  /** `state title` of each step. */
  readonly lines: readonly string[];
  /** Messages of the failed steps. */
  readonly failures: readonly (string | undefined)[];
  readonly directory: string;
  /** The result and all events as JSON. */
  readonly everything: string;
}

/** Writes a script and other files to a directory and runs it with the real engine and real connections. */
export async function runText(text: string, options: TextOptions = {}): Promise<TextOutcome> {
  const { env = {}, commands = [], emulator } = options;
  const directory = createTestDirectory({ 'main.yaml': text, ...options.files });
  const environment = { env, cwd: directory };
  const client = createClient({ environment, store: 'memory', emulator });
  const host = new ScriptHost(commands).connect(client);
  onTestFinished(async () => {
    host.close();
    await client.close();
  });
  const script = await host.read('main.yaml', environment);
  const { data: entries, source } = script;
  const variables = await client.loadVariables({ script: { entries, source } });
  const events: ScriptEvent[] = [];
  const result = await host.run(script, variables, options.signal ?? new AbortController().signal, (event) => {
    events.push(event);
    options.listener?.(event);
  });
  const { steps } = result;
  return {
    result,
    steps,
    events,
    output: steps.flatMap((step) => step.output),
    lines: steps.map(({ state, title, groups = [] }) => `${state} ${[...groups, title].join(' > ')}`),
    failures: steps.filter(({ state }) => state === 'failed').map(({ failure }) => failure?.message),
    directory,
    get everything() {
      return JSON.stringify([result, events]);
    },
  };
}

/** Returns `file:line:column message` for each issue of a script. */
export async function issuesInText(text: string, options: TextOptions = {}): Promise<readonly string[]> {
  try {
    await runText(text, options);
  } catch (error) {
    if (!(error instanceof InvalidScriptError)) throw error;
    return error.issues.map(({ line, column, message }) => `${error.file}:${line}:${column} ${message}`);
  }
  return [];
}
