import type { Client } from '../client.ts';
import { isCollection, type Value } from '../config/value.ts';
import type { Variables } from '../config/variables.ts';
import { type ProcessEnvironment, readNamedFile } from '../files/profile-files.ts';
import { getProfileToken } from '../get-token.ts';
import { tlsFiles } from '../profile/profile.ts';
import { Redactor } from '../redaction/redactor.ts';
import { onSecretCreated, Secret } from '../redaction/secret.ts';
import { version } from '../version.ts';
import { type Command, Registry } from './command.ts';
import { builtinCommands } from './commands/builtin.ts';
import { matchesPattern } from './commands/time-limit.ts';
import type { Listener } from './events.ts';
import { loadPathCheck } from './parser/parse-context.ts';
import type { RunResult } from './result.ts';
import { runScript } from './run-script.ts';
import type { Script } from './script.ts';

/** Parses scripts and, once it has a client, runs them. */
export class ScriptHost {
  readonly registry: Registry;
  readonly #redactor = new Redactor();
  readonly #stopListening: () => void;
  /** Certificates of profiles for the origins of their `options.authorize_origin`. */
  readonly #tlsByOrigin = new Map<string, ReturnType<typeof tlsFiles>>();
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
      callApi: (request, limits) =>
        this.#connected.callApi({ ...request, tls: this.#tlsByOrigin.get(request.url.origin) }, limits),
      tokens: {
        getToken: async (name, variables, { signal, onRequest }) => {
          const profile = await this.#connected.loadProfile(name, variables);
          onRequest({ provider: profile.provider.type, grant: profile.grant, url: profile.url.href });
          const { token, fromCache } = await getProfileToken(this.#connected, profile, { signal });
          const response = token.response as Readonly<Record<string, Value>>;
          const { authorizeOrigin } = profile.options;
          if (authorizeOrigin !== undefined) this.#tlsByOrigin.set(authorizeOrigin, tlsFiles(profile.options));
          return { response, accessToken: token.accessToken, fromCache, authorizeOrigin };
        },
      },
    });
    this.registry = new Registry([...builtin, ...commands]);
    this.#stopListening = onSecretCreated((secret) => this.#redactor.add(secret));
  }

  /** Sets the client. Scripts are parsed before it exists, because an emulator needs their profiles first. */
  connect(client: Client): this {
    this.#client = client;
    return this;
  }

  get #connected(): Client {
    if (this.#client === undefined) throw new TypeError('the script host has no client');
    return this.#client;
  }

  /** Parses a script file. All its issues are one error. */
  async read(path: string, environment: ProcessEnvironment): Promise<Script> {
    const { text, source } = readNamedFile(path, environment, 'script_invalid');
    const checkPath = await loadPathCheck(text, this.registry);
    const { readScript } = await import('./parser/yaml.ts');
    return readScript(text, source, this.registry, checkPath);
  }

  /** Runs a script. Always returns a result. */
  run(script: Script, variables: Variables, signal: AbortSignal, listener: Listener): Promise<RunResult> {
    const { sources, ports } = this.#connected;
    // Secrets of a program may have been created before this host.
    for (const { value } of variables) this.#addSecrets(value);
    for (const { parameters } of script.steps) this.#addSecrets(parameters);
    return runScript(script, {
      variables,
      externalSources: sources,
      clock: ports.clock,
      signal,
      listener,
      redact: (text) => this.#redactor.redact(text),
      matches: matchesPattern,
    });
  }

  /** Masks every secret that the scripts have used. */
  redact(text: string): string {
    return this.#redactor.redact(text);
  }

  #addSecrets(value: Value): void {
    if (value instanceof Secret) this.#redactor.add(value);
    else if (isCollection(value)) for (const part of Object.values(value)) this.#addSecrets(part);
  }

  close(): void {
    this.#stopListening();
  }
}
