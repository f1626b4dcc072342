import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import type { Authority } from './certificates.ts';
import { closedPort } from './server.ts';

/** Whether redis-server is installed. Tests that need it are reported as skipped otherwise. */
export const hasRedis = isInstalled();

const children = new Set<ChildProcess>();
// A test run that fails early leaves no servers.
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** How a server differs from the default one. */
export interface RedisServerOptions {
  readonly password?: string;
  /** Issues the certificate of a server that only accepts TLS. */
  readonly authority?: Authority;
  /** Additional arguments. A later argument overrides an earlier one. */
  readonly args?: readonly string[];
  /** Starts a Sentinel that monitors the primary `main` on this port. */
  readonly sentinelOf?: number;
}

/** A Redis server with a temporary directory, to which every write is synchronized. It can be killed and started again. */
export class RedisServer {
  readonly port: number;
  readonly #directory = mkdtempSync(join(tmpdir(), 'oauth-profile-redis-'));
  readonly #options: RedisServerOptions;
  #child: ChildProcess | undefined;

  private constructor(port: number, options: RedisServerOptions) {
    this.port = port;
    this.#options = options;
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(await closedPort(), options);
    await server.start();
    return server;
  }

  get url(): string {
    const { password, authority } = this.#options;
    const login = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
    return authority === undefined
      ? `redis://${login}127.0.0.1:${this.port}`
      : `rediss://${login}localhost:${this.port}`;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Path of the Unix socket. */
  get socket(): string {
    return join(this.#directory, 'redis.sock');
  }

  get pid(): number {
    return this.#child?.pid as number;
  }

  /** Starts with the data of the previous run. */
  async start(): Promise<void> {
    const child = spawn('redis-server', this.#arguments(), { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    children.add(child);
    child.once('exit', () => children.delete(child));
    await new Promise<void>((resolve, reject) => {
      const lines = createInterface({ input: child.stdout });
      let output = '';
      lines.on('line', (line) => {
        output += `${line}\n`;
        if (/Ready to accept connections|Sentinel ID is/.test(line)) resolve();
      });
      child.once('exit', () => reject(new Error(`redis-server did not start:\n${output}`)));
    });
  }

  /** Ends the server with SIGKILL, as a power failure would. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** Creates a client for inspection. */
  connect(): Redis {
    const { password, authority } = this.#options;
    return new Redis({
      port: this.port,
      ...(password !== undefined && { password }),
      ...(authority !== undefined && { tls: { ca: authority.ca.cert, servername: 'localhost' } }),
      disableClientInfo: true,
    });
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #arguments(): string[] {
    const { password, authority, args = [], sentinelOf } = this.#options;
    if (sentinelOf !== undefined) {
      const settings = [
        ...[`port ${this.port}`, 'bind 127.0.0.1', `dir ${this.#directory}`],
        `sentinel monitor main 127.0.0.1 ${sentinelOf} 2`,
        ...['sentinel down-after-milliseconds main 1000', 'sentinel failover-timeout main 5000'],
      ];
      // Sentinel rewrites its configuration.
      const file = join(this.#directory, 'sentinel.conf');
      writeFileSync(file, `${settings.join('\n')}\n`);
      return [file, '--sentinel'];
    }
    const ports = authority === undefined ? ['--port', String(this.port)] : tlsArguments(authority, this.port);
    const login = password === undefined ? [] : ['--requirepass', password];
    const persistence = ['--dir', this.#directory, '--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
    return [...ports, '--bind', '127.0.0.1', '--unixsocket', this.socket, ...login, ...persistence, ...args];
  }
}

function tlsArguments(authority: Authority, port: number): string[] {
  const { cert, key } = authority.issue({ name: 'redis', hosts: 'DNS:localhost,IP:127.0.0.1' });
  const files = { cert: authority.file('redis.pem', cert), key: authority.file('redis.key', key) };
  return [
    ...['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no', '--tls-ca-cert-file', authority.caFile],
    ...['--tls-cert-file', files.cert, '--tls-key-file', files.key],
  ];
}

/** Counts the sockets and timers that keep this process alive. */
export function activeResources(): number {
  return process.getActiveResourcesInfo().filter((name) => /^(?:TCP|TLS|Pipe)\w*Wrap$|^Timeout$/.test(name)).length;
}

/** Counts them when earlier connections are closed. */
export async function settledResources(): Promise<number> {
  let previous = -1;
  while (previous !== activeResources()) {
    previous = activeResources();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return previous;
}

function isInstalled(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Records every command that a server receives, with MONITOR. */
export class RedisMonitor {
  readonly #server: RedisServer;
  readonly #socket: Socket;
  #output = '';

  private constructor(server: RedisServer, socket: Socket) {
    this.#server = server;
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      this.#output += chunk;
    });
  }

  static async start(server: RedisServer): Promise<RedisMonitor> {
    const socket = connect(server.port, '127.0.0.1');
    const monitor = new RedisMonitor(server, socket);
    socket.write('MONITOR\r\n');
    await monitor.#waitFor('+OK');
    return monitor;
  }

  /** Number of clients that tried to acquire a lock. */
  get lockClients(): number {
    const lines = this.#output.split('\r\n').filter((line) => /"eval".*\{store\}:lock:/i.test(line));
    return new Set(lines.map((line) => line.split(' ')[2])).size;
  }

  /** Stops and returns all commands as lines. */
  async stop(): Promise<string[]> {
    const redis = this.#server.connect();
    await redis.echo('end of the recording');
    redis.disconnect();
    await this.#waitFor('end of the recording');
    this.#socket.destroy();
    return this.#output.split('\r\n').filter((line) => line.startsWith('+1') && !line.includes('end of the recording'));
  }

  async #waitFor(text: string): Promise<void> {
    while (!this.#output.includes(text)) await once(this.#socket, 'data');
  }
}

/** Counts the locks that were acquired. */
export function locksTaken(lines: readonly string[]): number {
  return lines.filter((line) => /"SET" "oauth-profile:\{store\}:lock:/i.test(line)).length;
}

/** A proxy in front of a Redis server that can lose responses. */
export class RedisProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #pattern = '';
  #onLost: (() => void)[] = [];

  private constructor(target: number) {
    this.#server = createServer((client) => {
      const redis = connect(target, '127.0.0.1');
      let losesResponse = false;
      for (const socket of [client, redis]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          client.destroy();
          redis.destroy();
          this.#sockets.delete(socket);
        });
      }
      client.on('data', (chunk) => {
        if (this.#pattern !== '' && chunk.includes(this.#pattern)) {
          losesResponse = true;
          this.#pattern = '';
        }
        redis.write(chunk);
      });
      redis.on('data', (chunk) => {
        if (losesResponse) {
          client.destroy();
          for (const resolve of this.#onLost.splice(0)) resolve();
        } else client.write(chunk);
      });
    });
  }

  static async start(target: number): Promise<RedisProxy> {
    const proxy = new RedisProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  /** Loses the response to the next command that contains `pattern`; Redis runs the command. Resolves when the response is lost. */
  loseResponseTo(pattern: string): Promise<void> {
    this.#pattern = pattern;
    return new Promise((resolve) => this.#onLost.push(resolve));
  }

  async remove(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }
}
