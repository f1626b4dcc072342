import { basename, dirname, join, resolve } from 'node:path';
import type { Client } from '../client.ts';
import { isCollection, type Value } from '../config/value.ts';
import type { Variables } from '../config/variables.ts';
import { InvalidScriptError, OAuthProfileError } from '../errors.ts';
import { type ProcessEnvironment, readNamedFile } from '../files/profile-files.ts';
import { getProfileToken } from '../get-token.ts';
import { createApiHeader } from '../oauth/api-header.ts';
import type { Send } from '../ports.ts';
import { tlsFiles } from '../profile/profile.ts';
import { Redactor } from '../redaction/redactor.ts';
import { onSecretCreated, Secret } from '../redaction/secret.ts';
import { version } from '../version.ts';
import { type Command, Registry } from './command.ts';
import { builtinCommands } from './commands/builtin.ts';
import { runScript } from './engine/run-script.ts';
import type { Listener } from './events.ts';
import { parseScriptObject, type ScriptObject } from './parser/object.ts';
import { loadPathCheck } from './parser/parse-context.ts';
import type { ParsedScript } from './parser/yaml.ts';
import type { RunResult } from './result.ts';
import { loadRows } from './rows.ts';
import { allSteps, type Script } from './script.ts';

const MAX_INCLUDE_DEPTH = 20;

/** Parses scripts and, once it has a client, runs them. */
export class ScriptHost {
  readonly registry: Registry;
  /** Searches for the secrets of profiles and tokens. */
  readonly #known = new Redactor();
  /** Searches also for the secrets in the data of APIs. */
  readonly #redactor = new Redactor();
  readonly #stopListening: () => void;
  /** Certificates of profiles for the origins of their `options.authorize_origin`. */
  readonly #tlsByOrigin = new Map<string, ReturnType<typeof tlsFiles>>();
  /** By absolute path. */
  readonly #scripts = new Map<string, Promise<Script>>();
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
        this.#connected.callApi({ ...request, tls: request.tls ?? this.#tlsByOrigin.get(request.url.origin) }, limits),
      tokens: {
        getToken: async (name, variables, { signal, onRequest, onExchange }) => {
          const client = this.#connected;
          const profile = await client.loadProfile(name, variables);
          onRequest({ provider: profile.provider.type, grant: profile.grant, url: profile.url.href });
          const { clock } = client.ports;
          const send: Send = async (request, limits) => {
            const startedAt = clock.now();
            let response: Awaited<ReturnType<Send>> | undefined;
            try {
              response = await client.ports.send(request, limits);
              return response;
            } finally {
              onExchange({ request, response, startedAt, elapsedMs: clock.now() - startedAt });
            }
          };
          const recording = { ...client, ports: { ...client.ports, send } };
          const { token, fromCache, profile: bound } = await getProfileToken(recording, profile, { signal });
          const response = token.response as Readonly<Record<string, Value>>;
          const { authorizeOrigin } = profile.options;
          if (authorizeOrigin === undefined) return { response, fromCache, header: undefined };
          this.#tlsByOrigin.set(authorizeOrigin, tlsFiles(profile.options));
          const { dpopKey } = bound;
          const dpop = dpopKey && (await client.ports.dpop());
          const proofs = dpop && {
            create: (method: string, url: URL) => dpop.createProof(dpopKey, method, url, token.accessToken),
            acceptNonce: dpop.acceptNonce,
          };
          return {
            response,
            fromCache,
            header: { ...createApiHeader(bound, token, true), origin: authorizeOrigin },
            proofs,
          };
        },
      },
    });
    this.registry = new Registry([...builtin, ...commands]);
    this.#stopListening = onSecretCreated((secret) => this.#addSecret(secret));
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

  /** Parses a script file and the scripts that it runs. All issues of a file are one error; a file is parsed once. */
  read(path: string, environment: ProcessEnvironment): Promise<Script> {
    return this.#read(path, environment, []);
  }

  /** `ancestors` are the paths of the scripts that run this one, the outermost first. */
  #read(path: string, environment: ProcessEnvironment, ancestors: readonly string[]): Promise<Script> {
    const file = resolve(environment.cwd, path);
    const known = this.#scripts.get(file);
    if (known !== undefined) return known;
    const reading = this.#parse(path, environment, [...ancestors, file]);
    this.#scripts.set(file, reading);
    return reading;
  }

  async #parse(path: string, environment: ProcessEnvironment, ancestors: readonly string[]): Promise<Script> {
    const { text, source } = readNamedFile(path, environment, 'script_invalid');
    const checkPath = await loadPathCheck(text, this.registry);
    const { readScript } = await import('./parser/yaml.ts');
    return this.#include(readScript(text, source, this.registry, checkPath), environment, ancestors);
  }

  async readObject(script: ScriptObject, environment: ProcessEnvironment): Promise<Script> {
    const source = { label: 'script', directory: '', trust: 'given' } as const;
    const checkPath = await loadPathCheck(namesIn(script), this.registry);
    return this.#include(parseScriptObject(script, source, this.registry, checkPath), environment, []);
  }

  async #include({ script, includes }: ParsedScript, environment: ProcessEnvironment, ancestors: readonly string[]) {
    for (const { path, setScript, fail } of includes) {
      const label = join(dirname(script.source.label), path);
      const file = resolve(environment.cwd, label);
      const cycle = ancestors.indexOf(file);
      if (cycle >= 0) {
        const names = [...ancestors.slice(cycle), file].map((one) => basename(one)).join(' → ');
        throw fail(`the scripts run each other: ${names}`, 'remove one of the run steps');
      }
      if (ancestors.length >= MAX_INCLUDE_DEPTH) throw fail(`more than ${MAX_INCLUDE_DEPTH} scripts run each other`);
      setScript(
        await this.#read(label, environment, ancestors).catch((error: unknown) => {
          const isMissing = error instanceof OAuthProfileError && !(error instanceof InvalidScriptError);
          throw isMissing ? fail(error.message, error.hint) : error;
        }),
      );
    }
    return script;
  }

  /** Absolute paths of all scripts that were read, invalid ones included. */
  get files(): readonly string[] {
    return [...this.#scripts.keys()];
  }

  /** Returns the rows that a script runs with; `undefined` if it runs once. `file` replaces the rows of the script. */
  async readRows({ rows, source }: Script, environment: ProcessEnvironment, file?: string) {
    if (file !== undefined) return loadRows(`@${file}`, file, (path) => readNamedFile(path, environment).text);
    if (rows === undefined) return undefined;
    const readText = (path: string) => readNamedFile(join(source.directory, path), environment).text;
    return loadRows(rows, source.label, readText);
  }

  /** Runs a script. Always returns a result. */
  run(script: Script, variables: Variables, signal: AbortSignal, listener: Listener, attempt = 1): Promise<RunResult> {
    const { sources, ports } = this.#connected;
    // Secrets of a program may have been created before this host.
    for (const { value } of variables) this.#addSecrets(value);
    for (const step of allSteps(script)) if ('command' in step) this.#addSecrets(step.parameters);
    return runScript(script, {
      variables,
      externalSources: sources,
      clock: ports.clock,
      signal,
      attempt,
      listener,
      redact: (text) => this.redact(text),
      redactKnown: (text) => this.redactKnown(text),
      addSecret: (secret, isKnown) => (isKnown ? this.#addSecret(secret) : this.#redactor.add(secret)),
      readFile: (path, directory) => this.#connected.files.read(path, directory),
    });
  }

  /** Masks every secret that the scripts have used. */
  redact(text: string): string {
    return this.#redactor.redact(text);
  }

  /** Masks the secrets of profiles and tokens. */
  redactKnown(text: string): string {
    return this.#known.redact(text);
  }

  #addSecret(secret: Secret): void {
    this.#known.add(secret);
    this.#redactor.add(secret);
  }

  #addSecrets(value: Value): void {
    if (value instanceof Secret) this.#addSecret(value);
    else if (isCollection(value)) for (const part of Object.values(value)) this.#addSecrets(part);
  }

  close(): void {
    this.#stopListening();
  }
}

/** The command names in an object of any shape. */
function namesIn(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== 'object' || value === null || seen.has(value)) return '';
  seen.add(value);
  return Object.entries(value)
    .map(([name, part]) => `${name} ${namesIn(part, seen)}`)
    .join();
}
