import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const directory = import.meta.dirname;

/** A child process that runs orders and returns their results. */
class ChildModule extends EventEmitter {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  #orders = 0;

  constructor(file: string, env: Record<string, string>) {
    super();
    this.child = fork(join(directory, file), { env: { PATH: process.env['PATH'], ...env }, execArgv: [] });
    this.exited = once(this.child, 'exit');
    this.setMaxListeners(0);
    this.child.on('message', (message: Record<string, unknown>) => {
      for (const [name, value] of Object.entries(message)) this.emit(name, value, message);
    });
    // Messages to a killed process fail.
    this.child.on('error', () => {});
  }

  call(order: Record<string, Serializable>): Promise<unknown> {
    const id = ++this.#orders;
    return new Promise((resolve, reject) => {
      const onId = (resultId: number, message: { result?: unknown }): void => {
        if (resultId !== id) return;
        this.off('id', onId);
        resolve(message.result);
      };
      this.on('id', onId);
      this.exited.then(() => reject(new Error('the process ended before it returned a result')));
      this.child.send({ ...order, id }, () => {});
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal);
    await this.exited;
  }
}

/** Behaviour of a token family at the server. */
export interface FamilyOptions {
  readonly refresh_token_reuse?: 'allowed' | 'grace' | 'rejected' | 'revokes_family';
  readonly latencyMs?: number;
  /** Responses wait for `release`. */
  readonly gated?: boolean;
  /** Each request needs a proof (RFC 9449) with a nonce that was not used before. */
  readonly dpop?: boolean;
  /** Lifetimes of the access tokens, in seconds. The last one is repeated. Default: 3,600. */
  readonly lifetimes?: readonly number[];
}

/** Counters of the server for one family. */
interface FamilyState {
  /** Requests with a valid proof. */
  readonly requests: number;
  /** Requests that got `use_dpop_nonce`. */
  readonly challenged: number;
  /** Requests that got `invalid_grant`. */
  readonly rejected: number;
  /** Requests that got a token although their refresh token had been used before. */
  readonly reused: number;
  /** Requests that arrived while another one of the family was pending. */
  readonly overlaps: number;
  readonly revoked: boolean;
  readonly received: readonly string[];
  readonly current: string;
  readonly issued: readonly string[];
}

/** A token family at the server, and the profile that uses it. */
export interface TokenFamily {
  readonly name: string;
  readonly data: { readonly p: Record<string, string> };
  state(): Promise<FamilyState>;
  /** Resolves when this many requests have arrived in total. */
  arrived(count: number): Promise<void>;
  /** From now on, responses wait for `release`. */
  hold(): Promise<unknown>;
  release(): Promise<unknown>;
}

/** A token endpoint in a child process. By default it revokes a family whose refresh token is used twice. */
export class StrictServer {
  readonly #child = new ChildModule('strict-server.js', {});
  #port = 0;
  #families = 0;

  static async start(): Promise<StrictServer> {
    const server = new StrictServer();
    [server.#port] = await once(server.#child, 'port');
    return server;
  }

  async family({
    refresh_token_reuse = 'revokes_family',
    latencyMs = 0,
    gated = false,
    dpop = false,
    lifetimes = [3600],
  }: FamilyOptions = {}): Promise<TokenFamily> {
    const name = `family${++this.#families}`;
    let seen = 0;
    const onArrived = new EventEmitter();
    this.#child.on('arrived', (family) => {
      if (family !== name) return;
      seen++;
      onArrived.emit('request');
    });
    const order = { action: 'create', name, refresh_token_reuse, latencyMs, gated, dpop, lifetimes: [...lifetimes] };
    const token = await this.#child.call(order);
    const p = {
      type: 'custom',
      url: `http://127.0.0.1:${this.#port}/token`,
      grant_type: 'refresh_token',
      client_id: 'fleet',
      client_secret: 'the-secret-of-the-fleet',
      refresh_token: String(token),
      'options.refresh_token_reuse': refresh_token_reuse,
      ...(dpop && { 'options.dpop': 'true' }),
    };
    return {
      name,
      data: { p },
      state: () => this.#child.call({ action: 'state', name }) as Promise<FamilyState>,
      async arrived(count) {
        while (seen < count) await once(onArrived, 'request');
      },
      hold: () => this.#child.call({ action: 'hold', name }),
      release: () => this.#child.call({ action: 'release', name }),
    };
  }

  stop(): Promise<void> {
    return this.#child.kill();
  }
}

/** Results of parallel callers. */
export interface Served {
  readonly served: number;
  readonly tokens: readonly string[];
  readonly errors: readonly string[];
}

/** A child process that uses the library. */
export class Worker {
  readonly #child: ChildModule;

  private constructor(env: Record<string, string>) {
    this.#child = new ChildModule('worker.js', env);
  }

  static async start(env: Record<string, string>): Promise<Worker> {
    const worker = new Worker(env);
    await once(worker.#child, 'ready');
    return worker;
  }

  /** Gets a token for this many parallel callers. */
  get({ data }: TokenFamily, callers = 1): Promise<Served> {
    return this.#child.call({ action: 'get', data, callers }) as Promise<Served>;
  }

  /** The same, after an API rejected the token. */
  refresh({ data }: TokenFamily, callers = 1): Promise<Served> {
    return this.#child.call({ action: 'refresh', data, callers }) as Promise<Served>;
  }

  /** Refreshes until the process is killed. */
  loop({ data }: TokenFamily, pauseMs: number, onRefresh: (errors: readonly string[]) => void): void {
    this.#child.on('refresh', (_, message: { errors: string[] }) => onRefresh(message.errors));
    this.#child.call({ action: 'loop', data, callers: 2, pauseMs }).catch(() => {});
  }

  signal(name: NodeJS.Signals): void {
    this.#child.child.kill(name);
  }

  kill(): Promise<void> {
    return this.#child.kill();
  }

  /** Waits until the process ends because it has nothing left to do, and returns its exit status. */
  async end(): Promise<number | null> {
    this.#child.call({ action: 'end' }).catch(() => {});
    await this.#child.exited;
    return this.#child.child.exitCode;
  }
}

/** A temporary home directory with a vault. */
export class Home {
  readonly directory = mkdtempSync(join(tmpdir(), 'oauth-profile-rotation-'));
  readonly vault = join(this.directory, '.local', 'share', 'oauth-profile', 'vault');

  /** Paths of all files in the vault, relative to it. */
  files(): string[] {
    const paths = readdirSync(this.vault, { recursive: true, encoding: 'utf8' });
    return paths.filter((path) => statSync(join(this.vault, path)).isFile());
  }

  /** Names and contents of all files of the vault. */
  content(): string {
    return this.files()
      .map((file) => `${file}\n${readFileSync(join(this.vault, file), 'latin1')}`)
      .join('\n');
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
