import { sharedClient, thisProcess } from './client.ts';
import { type CallOptions, validateOptions } from './oauth-profile.ts';
import type { Command, Registry } from './script/command.ts';
import { commandDocs as docsOf } from './script/describe-command.ts';
import type { Listener } from './script/events.ts';
import type { ScriptObject } from './script/parser/object.ts';
import type { RunResult } from './script/result.ts';
import { scriptSchema as schemaOf } from './script/schema.ts';
import { ScriptHost } from './script/script-host.ts';

export { InvalidScriptError, OAuthProfileError, type ScriptIssue } from './errors.ts';
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

/** Options of {@link runScript}. */
export interface RunOptions extends CallOptions {
  /** Your own commands, defined with `defineCommand`. */
  readonly commands?: readonly Command[] | undefined;
  /** Receives the events of the run. No event contains a secret. */
  readonly onEvent?: Listener | undefined;
}

/**
 * Runs a script from a file or an object. Returns a result even if steps fail. Throws an `InvalidScriptError` with all issues if the script is
 * invalid.
 */
export async function runScript(script: string | ScriptObject, options: RunOptions = {}): Promise<RunResult> {
  validateOptions('runScript', options);
  const { data, signal, commands, onEvent } = options;
  if (onEvent !== undefined && typeof onEvent !== 'function')
    throw new TypeError('runScript: onEvent must be a function');
  const client = sharedClient(options);
  const host = new ScriptHost(commands).connect(client);
  try {
    const read = await (typeof script === 'string'
      ? host.read(script, thisProcess)
      : host.readObject(script, thisProcess));
    const { data: entries, source } = read;
    const variables = await client.loadVariables({ data, script: { entries, source } });
    return await host.run(read, variables, signal ?? new AbortController().signal, onEvent ?? (() => {}));
  } finally {
    host.close();
  }
}

/** Documentation of all commands in Markdown, including your own `commands`. */
export function commandDocs(commands?: readonly Command[]): string {
  return docsOf(registryOf(commands));
}

/** JSON Schema (2020-12) of scripts for editors, including your own `commands`. */
export function scriptSchema(commands?: readonly Command[]): Record<string, unknown> {
  return schemaOf(registryOf(commands));
}

function registryOf(commands: readonly Command[] | undefined): Registry {
  const host = new ScriptHost(commands);
  host.close();
  return host.registry;
}
