import type { Variables } from './data/variables.ts';
import { type CallOptions, checkOptions, sessionFor, surroundings, variablesFor } from './library-session.ts';
import type { Command } from './script/command.ts';
import type { Listener } from './script/events.ts';
import { readScriptObject, type ScriptObject } from './script/readers/object.ts';
import type { RunResult } from './script/result.ts';
import type { Script } from './script/script.ts';
import { ScriptHost } from './script-host.ts';

export { OAuthProfileError } from './errors.ts';
export { type Command, type CommandDefinition, defineCommand, type Parameter } from './script/command.ts';
export type { Listener, ScriptEvent } from './script/events.ts';
export type { Kind } from './script/kinds.ts';
export type { ScriptObject, StepObject } from './script/readers/object.ts';
export type { Counts, Exchange, Failure, RunResult, StepResult, StepState } from './script/result.ts';
export type { StepContext } from './script/step-context.ts';
export { StepFailure } from './script/step-failure.ts';

/** What {@link runScript} can be told. */
export interface RunOptions extends CallOptions {
  /** Commands of your own, made with `defineCommand`. */
  readonly commands?: readonly Command[] | undefined;
  /** Hears what happens while it happens; no event carries a secret. */
  readonly onEvent?: Listener | undefined;
}

/**
 * Runs a script, from a file or an object. The outcome is a result, also where steps fail; only a script that cannot be read throws, an
 * `InvalidScriptError` with every fault.
 */
export async function runScript(script: string | ScriptObject, options: RunOptions = {}): Promise<RunResult> {
  checkOptions('runScript', options);
  const { emulator, signal, commands, onEvent } = options;
  const host = new ScriptHost(commands).connect(sessionFor(options), surroundings, emulator);
  try {
    const read = typeof script === 'string' ? await host.read(script, surroundings) : readObject(script, host);
    const variables = await withScript(read, options);
    return await host.run(read, variables, signal ?? new AbortController().signal, onEvent ?? (() => {}));
  } finally {
    host.close();
  }
}

function readObject(script: ScriptObject, { registry }: ScriptHost): Script {
  return readScriptObject(script, { label: 'script', folder: '', trust: 'given' }, registry);
}

/** What the caller gives wins over the script's own. */
function withScript({ data: entries, source }: Script, options: CallOptions): Promise<Variables> {
  return variablesFor(options, { entries, source });
}
