import type { Variables } from './config/variables.ts';
import { type CallOptions, checkOptions, sessionFor, surroundings, variablesFor } from './library-session.ts';
import type { Command, Registry } from './script/command.ts';
import { commandDocs as docsOf } from './script/describe-command.ts';
import type { Listener } from './script/events.ts';
import { parseScriptObject, type ScriptObject } from './script/parser/object.ts';
import { loadPathCheck } from './script/parser/parse-context.ts';
import type { RunResult } from './script/result.ts';
import { scriptSchema as schemaOf } from './script/schema.ts';
import type { Script } from './script/script.ts';
import { ScriptHost } from './script-host.ts';

export { InvalidScriptError, OAuthProfileError, type ScriptIssue as ScriptFault } from './errors.ts';
export {
  type ArgumentsOf,
  type Command,
  type CommandDefinition,
  defineCommand,
  type Parameter,
} from './script/command.ts';
export type { Listener, ScriptEvent } from './script/events.ts';
export type { Kind } from './script/parameter-kinds.ts';
export type { ScriptObject, StepObject } from './script/parser/object.ts';
export type { Counts, Exchange, Failure, RunResult, StepResult, StepState } from './script/result.ts';
export { type StepContext, StepFailure } from './script/step-context.ts';

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
  if (onEvent !== undefined && typeof onEvent !== 'function')
    throw new TypeError('runScript: onEvent must be a function');
  const host = new ScriptHost(commands).connect(sessionFor(options), surroundings, emulator);
  try {
    const read = await (typeof script === 'string' ? host.read(script, surroundings) : readObject(script, host));
    const variables = await withScript(read, options);
    return await host.run(read, variables, signal ?? new AbortController().signal, onEvent ?? (() => {}));
  } finally {
    host.close();
  }
}

/** The page of all commands, in Markdown; with `commands` your own are on it too. */
export function commandDocs(commands?: readonly Command[]): string {
  return docsOf(registryOf(commands));
}

/** What an editor is told of scripts (JSON Schema 2020-12); with `commands` it knows your own too. */
export function scriptSchema(commands?: readonly Command[]): Record<string, unknown> {
  return schemaOf(registryOf(commands));
}

function registryOf(commands: readonly Command[] | undefined): Registry {
  const host = new ScriptHost(commands);
  host.close();
  return host.registry;
}

async function readObject(script: ScriptObject, { registry }: ScriptHost): Promise<Script> {
  const source = { label: 'script', directory: '', trust: 'given' } as const;
  return parseScriptObject(script, source, registry, await loadPathCheck(namesIn(script), registry));
}

/** The names of the commands in an object that may be anything. */
function namesIn(script: unknown): string {
  const { steps } = Object(script);
  return Array.isArray(steps) ? steps.flatMap((step) => Object.keys(Object(step))).join() : '';
}

/** What the caller gives wins over the script's own. */
function withScript({ data: entries, source }: Script, options: CallOptions): Promise<Variables> {
  return variablesFor(options, { entries, source });
}
