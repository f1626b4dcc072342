import type { Client } from './client.ts';
import { isCollection, type Value } from './config/value.ts';
import type { Variables } from './config/variables.ts';
import { type ProcessEnvironment, readNamedFile } from './files/profile-files.ts';
import { getProfileToken } from './get-token.ts';
import { Redactor } from './redaction/redactor.ts';
import { onSecretCreated, Secret } from './redaction/secret.ts';
import type { Command } from './script/command.ts';
import { matchesPattern } from './script/commands/bounded.ts';
import { builtinCommands } from './script/commands/builtin.ts';
import type { Listener } from './script/events.ts';
import { loadPathCheck } from './script/parser/load-path-check.ts';
import { Registry } from './script/registry.ts';
import type { RunResult } from './script/result.ts';
import { runScript } from './script/run-script.ts';
import type { Script } from './script/script.ts';
import { version } from './version.ts';

/** Reads scripts and, once it has a client, runs them. */
export class ScriptHost {
  readonly registry: Registry;
  readonly #redactor = new Redactor();
  readonly #unwatch: () => void;
  #client: Client | undefined;

  constructor(commands: readonly Command[] = []) {
    const builtin = builtinCommands({
      version,
      files: {
        read: (...args) => this.#connected.files.read(...args),
        open: (...args) => this.#connected.files.open(...args),
        write: (...args) => this.#connected.files.write(...args),
        create: (...args) => this.#connected.files.create(...args),
      },
      callApi: (request, limits) => this.#connected.callApi(request, limits),
      readProfile: (name, variables) => this.#connected.loadProfile(name, variables),
      acquire: async (profile, signal) => {
        const { token, fromCache } = await getProfileToken(this.#connected, profile, { signal });
        return { reply: token, reused: fromCache };
      },
    });
    this.registry = new Registry([...builtin, ...commands]);
    this.#unwatch = onSecretCreated((secret) => this.#redactor.add(secret));
  }

  /** Sets the client. Scripts are parsed before it exists: an emulator needs their profiles first. */
  connect(client: Client): this {
    this.#client = client;
    return this;
  }

  get #connected(): Client {
    if (this.#client === undefined) throw new TypeError('the script host has no client');
    return this.#client;
  }

  /** Reads a script's file; everything wrong with it is one error. */
  async read(path: string, environment: ProcessEnvironment): Promise<Script> {
    const { text, source } = readNamedFile(path, environment, 'script_invalid');
    const checkPath = await loadPathCheck(text, this.registry);
    const { readScript } = await import('./script/parser/yaml.ts');
    return readScript(text, source, this.registry, checkPath);
  }

  /** Runs a script to its end; the outcome is a result, never an error. */
  run(script: Script, variables: Variables, signal: AbortSignal, listener: Listener): Promise<RunResult> {
    const client = this.#connected;
    // A program's own secrets may be older than this host.
    for (const { value } of variables) this.#learn(value);
    for (const { parameters } of script.steps) this.#learn(parameters);
    return runScript(script, {
      variables,
      outside: client.sources,
      clock: client.ports.clock,
      signal,
      listener,
      redact: (text) => this.#redactor.redact(text),
      matches: matchesPattern,
    });
  }

  /** Masks every secret that any script has met. */
  redact(text: string): string {
    return this.#redactor.redact(text);
  }

  #learn(value: Value): void {
    if (value instanceof Secret) this.#redactor.add(value);
    else if (isCollection(value)) for (const part of Object.values(value)) this.#learn(part);
  }

  close(): void {
    this.#unwatch();
  }
}
