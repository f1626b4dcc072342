import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import type { Authority } from './certificates.ts';

/** Whether tests with a real Redis can run; those that cannot are listed as skipped. */
export const hasRedis = isThere();

/** What is different about a server. */
export interface RedisServerOptions {
  readonly password?: string;
  /** Who certifies it; then it speaks TLS alone. */
  readonly authority?: Authority;
  /** Further arguments; a later one wins. */
  readonly args?: readonly string[];
}

/** A Redis of its own, with everything written through to a temporary folder, that can be killed and started again. */
export class RedisServer {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'oauth-profile-redis-'));
  readonly #options: RedisServerOptions;
  #child: ChildProcess | undefined;

  private constructor(port: number, options: RedisServerOptions) {
    this.port = port;
    this.#options = options;
  }

  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), options);
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

  get pid(): number {
    return this.#child?.pid as number;
  }

  /** With the data of the last time. */
  async start(): Promise<void> {
    const { password, authority, args = [] } = this.#options;
    const listen =
      authority === undefined ? ['--port', String(this.port)] : ['--port', '0', ...tlsArguments(authority, this.port)];
    const login = password === undefined ? [] : ['--requirepass', password];
    const keep = ['--dir', this.#folder, '--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
    const child = spawn('redis-server', [...listen, '--bind', '127.0.0.1', ...login, ...keep, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      const lines = createInterface({ input: child.stdout });
      let said = '';
      lines.on('line', (line) => {
        said += `${line}\n`;
        if (line.includes('Ready to accept connections')) resolve();
      });
      child.once('exit', () => reject(new Error(`redis-server did not start:\n${said}`)));
    });
  }

  /** Ends at once, as a power failure would end it. */
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

  /** A plain client, to look at what is there. */
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
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function tlsArguments(authority: Authority, port: number): string[] {
  const { cert, key } = authority.issue({ name: 'redis', hosts: 'DNS:localhost,IP:127.0.0.1' });
  const files = { cert: authority.file('redis.pem', cert), key: authority.file('redis.key', key) };
  return [
    ...['--tls-port', String(port), '--tls-auth-clients', 'no', '--tls-ca-cert-file', authority.caFile],
    ...['--tls-cert-file', files.cert, '--tls-key-file', files.key],
  ];
}

/** A port where nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

function isThere(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
