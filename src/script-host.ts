import { composeCallApi, type ProcessEnvironment, readGivenFile } from './compose.ts';
import { isCollection, type Value } from './config/value.ts';
import type { Variables } from './config/variables.ts';
import type { EmulatorEndpoint, Files } from './ports.ts';
import { Redactor } from './redaction/redactor.ts';
import { onSecretCreated, Secret } from './redaction/secret.ts';
import { type Command, Registry } from './script/command.ts';
import { builtinCommands } from './script/commands/builtin.ts';
import { matchesPattern } from './script/commands/time-limit.ts';
import type { TokenService } from './script/commands/ws/oauth.ts';
import type { Listener } from './script/events.ts';
import { loadPathCheck } from './script/parser/parse-context.ts';
import type { RunResult } from './script/result.ts';
import { runScript } from './script/run-script.ts';
import type { Script } from './script/script.ts';
import type { Session } from './session.ts';
import { version } from './version.ts';

/** What scripts reach while they run. */
interface Connection {
  readonly session: Session;
  readonly api: ReturnType<typeof composeCallApi>;
}

/** Reads scripts, and once it is connected runs them: all with the same commands, connections and requests under way. */
export class ScriptHost {
  readonly registry: Registry;
  readonly #redactor = new Redactor();
  readonly #unwatch: () => void;
  #connection: Connection | undefined;

  constructor(commands: readonly Command[] = []) {
    const files: Files = {
      read: (...args) => this.#connected.api.files.read(...args),
      open: (...args) => this.#connected.api.files.open(...args),
      write: (...args) => this.#connected.api.files.write(...args),
      create: (...args) => this.#connected.api.files.create(...args),
    };
    const builtin = builtinCommands({
      files,
      version,
      callApi: (request, bounds) => this.#connected.api.callApi(request, bounds),
      tokens: { getToken: (...args) => this.#getToken(...args) },
    });
    this.registry = new Registry([...builtin, ...commands]);
    this.#unwatch = onSecretCreated((secret) => this.#redactor.add(secret));
  }

  readonly #getToken: TokenService['getToken'] = async (name, variables, { signal, onRequest }) => {
    const { session } = this.#connected;
    const profile = await session.readProfile(name, variables);
    onRequest({ provider: profile.provider.type, grant: profile.grant, url: profile.url.href });
    const { reply, reused } = await session.obtain(profile, { signal });
    return {
      response: reply.response as Readonly<Record<string, Value>>,
      accessToken: reply.accessToken,
      fromCache: reused,
      authorizeOrigin: profile.options.authorizeOrigin,
    };
  };

  /** From now on scripts can run; before, where they will send is not known yet. */
  connect(session: Session, surroundings: ProcessEnvironment, emulator: EmulatorEndpoint | undefined): this {
    this.#connection = { session, api: composeCallApi(surroundings, emulator) };
    return this;
  }

  get #connected(): Connection {
    if (this.#connection === undefined) throw new TypeError('the host of scripts is not connected');
    return this.#connection;
  }

  /** Reads a script's file; everything wrong with it is one error. */
  async read(path: string, surroundings: ProcessEnvironment): Promise<Script> {
    const { text, source } = readGivenFile(path, surroundings, 'script_invalid');
    const checkPath = await loadPathCheck(text, this.registry);
    const { readScript } = await import('./script/parser/yaml.ts');
    return readScript(text, source, this.registry, checkPath);
  }

  /** Runs a script to its end; the outcome is a result, never an error. */
  run(script: Script, variables: Variables, signal: AbortSignal, listener: Listener): Promise<RunResult> {
    const { session } = this.#connected;
    // A program's own secrets may be older than this host.
    for (const { value } of variables) this.#learn(value);
    for (const { parameters } of script.steps) this.#learn(parameters);
    return runScript(script, {
      variables,
      externalSources: session.outside,
      clock: session.ports.clock,
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
