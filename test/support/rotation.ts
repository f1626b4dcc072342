import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', 'rotation');

/** A process that answers what it is asked. */
class Partner extends EventEmitter {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  #asked = 0;

  constructor(file: string, env: Record<string, string>) {
    super();
    this.child = fork(join(folder, file), { env: { PATH: process.env['PATH'], ...env }, execArgv: [] });
    this.exited = once(this.child, 'exit');
    this.setMaxListeners(0);
    this.child.on('message', (message: Record<string, unknown>) => {
      for (const [name, value] of Object.entries(message)) this.emit(name, value, message);
    });
    // Whoever was killed reads nothing any more.
    this.child.on('error', () => {});
  }

  ask(order: Record<string, Serializable>): Promise<unknown> {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      const onId = (answered: number, message: { answer?: unknown }): void => {
        if (answered !== id) return;
        this.off('id', onId);
        resolve(message.answer);
      };
      this.on('id', onId);
      this.exited.then(() => reject(new Error('the process ended before it answered')));
      this.child.send({ ...order, id }, () => {});
    });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal);
    await this.exited;
  }
}

/** How a family of refresh tokens behaves. */
export interface ChainWish {
  readonly refresh_token_reuse?: 'allowed' | 'grace' | 'rejected' | 'revokes_family';
  readonly latencyMs?: number;
  /** Replies wait until the test lets them go. */
  readonly gated?: boolean;
  /** Seconds that the access tokens live, the last number for all that follow. */
  readonly lifetimes?: readonly number[];
}

/** What the server has seen of a family. */
interface ChainState {
  readonly requests: number;
  /** Answered with `invalid_grant`. */
  readonly refused: number;
  /** Answered though the refresh token had been used before. */
  readonly forgiven: number;
  /** Requests that came while another of the family was under way. */
  readonly overlaps: number;
  readonly revoked: boolean;
  readonly received: readonly string[];
  readonly current: string;
  readonly issued: readonly string[];
}

/** A family at the server, and the profile that uses it. */
export interface Chain {
  readonly name: string;
  readonly data: { readonly p: Record<string, string> };
  state(): Promise<ChainState>;
  /** Resolves when so many requests have come in all. */
  arrived(count: number): Promise<void>;
  /** From now on replies wait. */
  hold(): Promise<unknown>;
  release(): Promise<unknown>;
}

/** A token endpoint in a process of its own, as strict as providers can be. */
export class StrictServer {
  readonly #partner = new Partner('strict-server.js', {});
  #port = 0;
  #families = 0;

  static async start(): Promise<StrictServer> {
    const server = new StrictServer();
    [server.#port] = await once(server.#partner, 'port');
    return server;
  }

  async family({
    refresh_token_reuse = 'revokes_family',
    latencyMs = 0,
    gated = false,
    lifetimes = [3600],
  }: ChainWish = {}): Promise<Chain> {
    const name = `family${++this.#families}`;
    let seen = 0;
    const onArrived = new EventEmitter();
    this.#partner.on('arrived', (which) => {
      if (which !== name) return;
      seen++;
      onArrived.emit('one');
    });
    const order = { act: 'create', name, refresh_token_reuse, latencyMs, gated, lifetimes: [...lifetimes] };
    const token = await this.#partner.ask(order);
    const p = {
      type: 'custom',
      url: `http://127.0.0.1:${this.#port}/token`,
      grant_type: 'refresh_token',
      client_id: 'fleet',
      client_secret: 'the-secret-of-the-fleet',
      refresh_token: String(token),
      'options.refresh_token_reuse': refresh_token_reuse,
    };
    return {
      name,
      data: { p },
      state: () => this.#partner.ask({ act: 'state', name }) as Promise<ChainState>,
      async arrived(count) {
        while (seen < count) await once(onArrived, 'one');
      },
      hold: () => this.#partner.ask({ act: 'hold', name }),
      release: () => this.#partner.ask({ act: 'release', name }),
    };
  }

  stop(): Promise<void> {
    return this.#partner.kill();
  }
}

/** What came of so many callers. */
export interface Served {
  readonly served: number;
  readonly tokens: readonly string[];
  readonly errors: readonly string[];
}

/** A program that uses the library, in a process of its own. */
export class Worker {
  readonly #partner: Partner;

  private constructor(env: Record<string, string>) {
    this.#partner = new Partner('worker.js', env);
  }

  static async start(env: Record<string, string>): Promise<Worker> {
    const worker = new Worker(env);
    await once(worker.#partner, 'ready');
    return worker;
  }

  /** So many callers at once want a token. */
  get({ data }: Chain, callers = 1): Promise<Served> {
    return this.#partner.ask({ act: 'get', data, callers }) as Promise<Served>;
  }

  /** The same, after the token they had was refused by an API. */
  refresh({ data }: Chain, callers = 1): Promise<Served> {
    return this.#partner.ask({ act: 'refresh', data, callers }) as Promise<Served>;
  }

  /** Refreshes without end, and tells of each time. */
  loop({ data }: Chain, pauseMs: number, onTurn: (errors: readonly string[]) => void): void {
    this.#partner.on('turn', (_, message: { errors: string[] }) => onTurn(message.errors));
    this.#partner.ask({ act: 'loop', data, callers: 2, pauseMs }).catch(() => {});
  }

  signal(name: NodeJS.Signals): void {
    this.#partner.child.kill(name);
  }

  kill(): Promise<void> {
    return this.#partner.kill();
  }

  /** Waits until the process ends because nothing is left to do; gives its exit status. */
  async end(): Promise<number | null> {
    this.#partner.ask({ act: 'end' }).catch(() => {});
    await this.#partner.exited;
    return this.#partner.child.exitCode;
  }
}

/** A home for users of a vault. */
export class Home {
  readonly folder = mkdtempSync(join(tmpdir(), 'oauth-profile-rotation-'));
  readonly vault = join(this.folder, '.local', 'share', 'oauth-profile', 'vault');

  /** The files of the vault. */
  files(): string[] {
    return readdirSync(this.vault).sort();
  }

  /** Everything in the vault's folder, byte by byte. */
  content(): string {
    return this.files()
      .map((file) => `${file}\n${readFileSync(join(this.vault, file), 'latin1')}`)
      .join('\n');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
